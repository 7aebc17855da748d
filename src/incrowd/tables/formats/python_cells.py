"""Conversion of Python cells (from workbooks or JSON) to an Arrow table."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from incrowd.backends.arrow_columns import as_text
from incrowd.backends.counts import refuse_repeated
from incrowd.errors import InputError


def table_of_cells(header: list[str], columns: list[list[Any]], name: str) -> pa.Table:
    """Columns of cells as Arrow: a blank cell is a null, mixed types become text.

    >>> table_of_cells(["age", "zip"], [[30, ""], ["00501", 2139]], "people.xlsx").to_pydict()
    {'age': [30, None], 'zip': ['00501', '2139']}
    """
    if "" in header:
        raise InputError(f"{name}: column {header.index('') + 1} has no name in the header")
    refuse_repeated(header, name)
    try:
        return pa.table({key: _column_of(cells) for key, cells in zip(header, columns, strict=True)})
    except UnicodeEncodeError:
        raise InputError(f"{name} holds half a character (a lone surrogate); correct it") from None


def _column_of(cells: list[Any]) -> pa.Array:
    """Convert cells to one common type: integers if all numbers are whole, text if there is no common type."""
    cells = [None if cell == "" else cell for cell in cells]
    if any(isinstance(cell, float) for cell in cells) and all(
        cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool) and float(cell).is_integer())
        for cell in cells
    ):
        cells = [None if cell is None else int(cell) for cell in cells]
    types = {type(cell) for cell in cells if cell is not None}
    if len(types) > 1 and not types <= {int, float}:
        return _as_texts(cells)
    try:
        return pa.array(cells)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        return _as_texts(cells)


def _as_texts(cells: list[Any]) -> pa.Array:
    """Cells as text; lists and records as JSON."""
    return as_text(
        [
            json.dumps(cell, sort_keys=True, ensure_ascii=False) if isinstance(cell, dict | list) else cell
            for cell in cells
        ]
    )
