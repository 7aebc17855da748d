"""Writing a table: whole or not at all, in a format chosen by the extension."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd._support.files import written_whole
from incrowd.errors import InputError
from incrowd.tables.formats import FORMATS

_WRITERS = {extension: writer for known in FORMATS for extension, writer in known.write.items()}


def write_table(table: pa.Table, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write Parquet, Feather or CSV by the path's extension; the file is there whole or not at all.

    In CSV, text that a spreadsheet would run as a formula gets an apostrophe before it.

    Args:
        table: the rows.
        path: where to; `.parquet`, `.feather`, `.csv` or `.tsv`.
        force: whether to replace a file that exists.

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
        write_into(table, temporary)
    return target


def write_into(table: pa.Table, file: Path) -> None:
    """Write to a file that the caller replaces or removes: after a failure a part of it may be left.

    Args:
        table: the rows.
        file: where to, with one of the extensions of `write_table`.

    Raises:
        InputError: if no format with that extension can be written.
    """
    extension = file.suffix.lower()
    if extension not in _WRITERS:
        kind = extension or "a file without ending"
        raise InputError(f"a table cannot be written as {kind!r}; use .parquet or .csv")
    _WRITERS[extension](table, file)


def to_native(table: pa.Table, like: Any, *, index: bool = True) -> Any:
    """An Arrow table as the kind of frame `like` is; Arrow stays Arrow.

    With `index`, rows that are those of `like` keep the index that pandas gave them.
    """
    import narwhals.stable.v2 as nw

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
