"""Downloads: file names, and protected tables in the requested format."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from incrowd._support.compressed_files import full_suffix
from incrowd._support.files import file_hash
from incrowd.backends.spool import load_batches, load_rows
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.tables import read_table
from incrowd.tables.formats import WRITERS
from incrowd.tables.formats.write_delimited import csv_blocks
from incrowd.tables.text_dialect import TextDialect
from incrowd.tables.write import is_text_file, write_into
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable

OFFERED = tuple(ending.removeprefix(".") for ending in WRITERS)
"""The endings of files that a protected table can be downloaded as."""

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[*OFFERED]
_ROWS_AT_A_TIME = 50_000


def upload_ending(table: OpenTable) -> Format:
    """The format of the file that a table was read from, or CSV if that format cannot be written."""
    name = table.source.file if table.source.kind == "path" else table.name
    ending = full_suffix(Path(name)).lower().split(".")
    found = next((one for one in ending if one in OFFERED), "csv")
    return "parquet" if table.source.kind in ("demo", "protection") else found


def file_name(table: str, what: str, ending: str) -> str:
    """A file name for a download, from the name of the table and a word for the content.

    >>> file_name("people 2024.csv", "partition, k = 5", "csv")
    'people-2024-partition-k-5.csv'
    """
    stem = re.sub(r"[^\w-]+", "-", f"{Path(table).stem[:60]}-{what}").strip("-")
    return f"{re.sub('-+', '-', stem) or 'table'}.{ending}"


def as_attachment(name: str) -> dict[str, str]:
    """The header that makes a browser save a response under this name."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"}


def csv_of(file: Path, wanted: TextDialect, ending: str) -> Iterator[bytes]:
    """A Parquet file as delimited text in blocks of rows; in another dialect if the wanted one cannot hold it."""
    dialect = wanted.for_file(load_batches(file, _ROWS_AT_A_TIME), f".{ending}")
    return csv_blocks(load_batches(file, _ROWS_AT_A_TIME), dialect)


def release_hashes(release: Release, name: str, table: OpenTable) -> dict[str, str]:
    """The SHA-256 of a protected table's downloads by name: as Parquet, and as text if its original is text.

    Files of other formats are written for each download and may differ in their dates, so they have no hash.
    """
    ending = upload_ending(table)
    found = {file_name(table.name, name, "parquet"): file_hash(release.file)}
    if is_text_file(Path(f"table.{ending}")):
        text = hashlib.sha256()
        for block in csv_of(release.file, table.table.codebook.dialect, ending):
            text.update(block)
        found = {file_name(table.name, name, ending): text.hexdigest()} | found
    return found


def write_as(release: Release, target: Path, table: OpenTable) -> Path:
    """Write a protected table in another format; read the file again and count its classes.

    A class may be split if the format lacks a type.

    Raises:
        UnsupportedError: the smallest class of the file is smaller.
    """
    write_into(load_rows(release.file), target, table.table.codebook)
    written = read_table(target)
    is_safe = written.rows == release.table.rows and set(release.quasi_identifiers) <= {*written.columns}
    if is_safe:
        sizes = ClassSizes.from_table(written, quasi_identifiers=release.quasi_identifiers, person=release.person)
        is_safe = sizes.smallest >= int(release.classes.people.min())
    if not is_safe:
        target.unlink()
        raise UnsupportedError(
            f"written as {target.suffix} the table would not be as it was judged; take CSV or Parquet"
        )
    return target
