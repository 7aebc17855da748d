"""Plain numbers in place of ranges, such as the middle of each class, read as ranges of the original values."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends import Coded, encode
from incrowd.tables import Table, read_table


def numbers_as_ranges(original: Table, released: Table, columns: Sequence[str]) -> Table:
    """The release with ranges in place of the plain numbers and dates of some columns.

    Args:
        original: the table before protection; its rows are in the same order.
        released: the protected table.
        columns: the columns that were changed.

    Returns:
        The release; in place of each number stands the range of the original values in the records that have it.

    >>> before, after = read_table({"age": [30, 34, 61, 65]}), read_table({"age": [32, 32, 63, 63]})
    >>> numbers_as_ranges(before, after, ["age"]).to_arrow()["age"].to_pylist()
    ['[30;34]', '[30;34]', '[61;65]', '[61;65]']
    """
    ranges = {
        after.name: _ranges(before, after)
        for before, after in zip(encode(original, columns), encode(released, columns), strict=True)
        if _is_measured(before) and _is_measured(after)
    }
    if not ranges:
        return released
    table = released.to_arrow()
    for name, cells in ranges.items():
        table = table.set_column(table.column_names.index(name), name, cells)
    return read_table(table)


def _is_measured(column: Coded) -> bool:
    kind, types = column.values.type, pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_date(kind) or types.is_timestamp(kind))


def _ranges(before: Coded, after: Coded) -> pa.Array:
    """For every record the range of the original values of all records with its released value.

    A released value in place of missing cells only has a range of its own.
    """
    rows = before.is_filled & after.is_filled
    low, high = np.full(after.size, before.size), np.full(after.size, -1)
    np.minimum.at(low, after.codes[rows], before.codes[rows])
    np.maximum.at(high, after.codes[rows], before.codes[rows])
    values = before.values.to_pylist()
    labels = [
        None if own is None else _range(values[first], values[last]) if last >= 0 else _range(own, own)
        for own, first, last in zip(after.values.to_pylist(), low.tolist(), high.tolist(), strict=True)
    ]
    return pc.take(pa.array(labels, pa.string()), pa.array(after.codes))


def _range(low: Any, high: Any) -> str:
    return f"[{_written(low)};{_written(high)}]"


def _written(value: Any) -> str:
    """A number or date as the limit of a range."""
    if isinstance(value, datetime.datetime):
        value = value.date()
    return value.isoformat() if isinstance(value, datetime.date) else repr(value)
