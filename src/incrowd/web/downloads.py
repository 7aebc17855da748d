"""Downloads: file names, and protected tables in the format that is asked for."""

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
from incrowd.tables.write import is_text, write_into
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable

OFFERED = tuple(ending.removeprefix(".") for ending in WRITERS)
"""The endings of files that a protected table can be downloaded as."""

if TYPE_CHECKING:
    Format = str
else:
    Format = Literal[*OFFERED]
_ROWS = 50_000  # of a table, in memory at a time


def upload_ending(table: OpenTable) -> Format:
    """The format of the file that a table came from, or CSV where it cannot be written."""
    name = table.source.file if table.source.kind == "path" else table.name
    ending = full_suffix(Path(name)).lower().split(".")
    found = next((one for one in ending if one in OFFERED), "csv")
    return "parquet" if table.source.kind in ("demo", "protection") else found


def file_name(table: str, what: str, ending: str) -> str:
    """A file name for a download, of the name of the table and what it is.

    >>> file_name("people 2024.csv", "partition, k = 5", "csv")
    'people-2024-partition-k-5.csv'
    """
    stem = re.sub(r"[^\w-]+", "-", f"{Path(table).stem[:60]}-{what}").strip("-")
    return f"{re.sub('-+', '-', stem) or 'table'}.{ending}"


def as_attachment(name: str) -> dict[str, str]:
    """The header that makes a browser save an answer under this name."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name)}"}


def csv_of(file: Path, wanted: TextDialect, ending: str) -> Iterator[bytes]:
    """A Parquet file as text, in the nearest dialect that holds it; a block of rows at a time, to bound memory."""
    dialect = wanted.for_file(load_batches(file, _ROWS), f".{ending}")
    return csv_blocks(load_batches(file, _ROWS), dialect)


def release_hashes(release: Release, name: str, table: OpenTable) -> dict[str, str]:
    """The SHA-256 of a protected table by the names of its downloads: in Parquet, and as text where it came so.

    Files of other formats are written anew for each download and may differ in their dates.
    """
    ending = upload_ending(table)
    found = {file_name(table.name, name, "parquet"): file_hash(release.file)}
    if is_text(Path(f"table.{ending}")):
        text = hashlib.sha256()
        for block in csv_of(release.file, table.table.codebook.dialect, ending):
            text.update(block)
        found = {file_name(table.name, name, ending): text.hexdigest()} | found
    return found


def write_as(release: Release, target: Path, table: OpenTable) -> Path:
    """A protected table in another format, read again and counted: a type that the format lacks may part classes.

    Raises:
        UnsupportedError: the file would not keep the smallest class.
    """
    write_into(load_rows(release.file), target, table.table.codebook)
    written = read_table(target)
    same = written.rows == release.table.rows and set(release.quasi_identifiers) <= {*written.columns}
    if same:
        sizes = ClassSizes.from_table(written, quasi_identifiers=release.quasi_identifiers, person=release.person)
        same = sizes.smallest >= int(release.classes.people.min())
    if not same:
        target.unlink()
        raise UnsupportedError(
            f"written as {target.suffix} the table would not be as it was judged; take CSV or Parquet"
        )
    return target
