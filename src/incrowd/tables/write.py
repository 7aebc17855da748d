"""Writing of a table, complete or not at all, in the format of the file extension."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd._support.compressed_files import COMPRESSIONS, full_suffix
from incrowd._support.files import written_whole
from incrowd._support.private_folders import PrivateFolder
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats import WRITERS


def write_table(
    table: pa.Table, path: str | os.PathLike[str], *, force: bool = False, codebook: FileCodebook | None = None
) -> Path:
    """Write a file in the format of the path's extension. The file is complete or does not exist.

    In CSV, text that a spreadsheet would run as a formula gets an apostrophe before it. A table that was read from text
    has its separator, decimal sign and encoding in its codebook, and is written with them again.

    Args:
        table: the rows.
        path: the file to write: `.parquet`, `.feather`, `.orc`, `.csv`, `.tsv`, also compressed as `.csv.gz`, or
            `.sav`, `.zsav`, `.dta`, `.xpt`.
        force: whether to replace a file that exists.
        codebook: value labels and descriptions, as `Table.codebook` has them, for formats that hold them.

    Returns:
        The path.

    Raises:
        InputError: if the extension is none of these, or the file exists or cannot be written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_table(pa.table({"age": [30]}), f"{folder}/people.csv").read_text()
    '"age"\\n30\\n'
    """
    target = Path(path)
    with written_whole(target, force=force) as temporary:
        write_into(table, temporary, codebook)
    return target


def write_into(table: pa.Table, file: Path, codebook: FileCodebook | None = None) -> None:
    """Write to a file that the caller replaces or removes: after a failure a part of it may be left.

    Args:
        table: the rows.
        file: the file; its ending says in which format.
        codebook: value labels and descriptions, for formats that hold them.
    """
    extension = file.suffix.lower()
    if extension in COMPRESSIONS and is_text_file(file):
        with closing(PrivateFolder()) as private:  # only its owner may read the uncompressed copy
            plain = private.path / file.with_suffix("").name
            write_into(table, plain, codebook)
            with open(plain, "rb") as source, COMPRESSIONS[extension](file, "wb") as target:
                shutil.copyfileobj(source, target)
        return
    if extension not in WRITERS:
        kind = extension or "a file without ending"
        raise InputError(f"a table cannot be written as {kind!r}; use {', '.join(WRITERS)}")
    WRITERS[extension](table, file, codebook or FileCodebook())


def is_text_file(file: Path) -> bool:
    """True if a file is delimited text, compressed or not.

    >>> is_text_file(Path("people.csv.gz")), is_text_file(Path("people.parquet"))
    (True, False)
    """
    return bool(re.search(r"\.(csv|tsv)(\.|$)", full_suffix(file).lower()))


def describe_text(table: pa.Table, file: Path, codebook: FileCodebook) -> str:
    """Describe the text dialect that `write_into` uses; empty if the original has no special dialect.

    >>> from incrowd.tables.text_dialect import TextDialect
    >>> describe_text(pa.table({"x": [1.5], "y": [2]}), Path("a.csv"), FileCodebook(dialect=TextDialect(";", ",")))
    'cells parted by semicolons, decimal commas'
    """
    if not is_text_file(file):
        return ""
    ending = ".tsv" if ".tsv" in full_suffix(file).lower() else ".csv"
    return codebook.dialect.for_file([table], ending).in_words(codebook.dialect)


def to_native(table: pa.Table, like: Any, *, index: bool = True) -> Any:
    """An Arrow table as the kind of frame `like` is; Arrow stays Arrow.

    Args:
        table: the rows.
        like: a frame of pandas, Polars or Arrow, or None.
        index: rows that are those of `like` keep the index that pandas gave them.
    """
    if like is None:
        return table
    kind = nw.from_native(like).implementation
    if kind.is_pyarrow():
        return table
    if kind.is_pandas():
        frame = table.to_pandas()
        if index and len(like) == len(frame):
            frame.index = like.index
        return frame
    if kind.is_polars():
        import polars as pl

        rows = pl.DataFrame(table)
        return rows.lazy() if isinstance(like, pl.LazyFrame) else rows
    return table
