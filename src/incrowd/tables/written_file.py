"""Checks that a written file holds nothing but its cells."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from incrowd.backends.arrow_columns import count_entries
from incrowd.errors import UnsupportedError
from incrowd.tables.formats import format_of
from incrowd.tables.read import read_table
from incrowd.tables.write import is_text_file


def check_metadata(file: Path) -> None:
    """Compare a file's dictionaries and labels with its cells, and refuse metadata.

    Raises:
        UnsupportedError: the file holds more than its cells.
    """
    if is_text_file(file):
        return
    known = format_of(file)
    if known is None or known.stored is None:
        if unused := read_table(file).codebook.unused_labels:
            raise UnsupportedError(f"the file has labels of {unused[0]!r} that no cell has; no file is left")
        return
    stored = known.stored(file)
    if stored.metadata:
        raise UnsupportedError("the file holds metadata in addition to its cells; no file is left")
    table = pa.table({}) if stored.columns is None else stored.columns
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type) and column.num_chunks and _has_unused_entries(column):
            raise UnsupportedError(f"the file's dictionary of {name!r} differs from its cells; no file is left")


def _has_unused_entries(column: pa.ChunkedArray) -> bool:
    """True if the dictionaries of a column hold an entry that no cell has, or one twice."""
    first = column.chunk(0).dictionary
    return len(first.unique()) < len(first) or not count_entries(column)[1].all()
