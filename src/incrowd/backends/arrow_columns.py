"""Normalisation of Arrow columns: a missing value is a null, and only common types remain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support import frames as nw
from incrowd.errors import InputError

_FIRST_DAY, _LAST_DAY = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, whether they are stored by dictionary or not."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def is_text(kind: pa.DataType) -> bool:
    """True if the values of a column are text, by dictionary or not."""
    kind = value_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_number(kind: pa.DataType) -> bool:
    """True if the values of a column are whole numbers, floating-point numbers or decimals."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def without_dictionary(column: Any) -> Any:
    """An array, plain or chunked, with its values in place of a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def count_entries(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64]]:
    """The entries of a column's dictionary and the number of cells of each, without decoding the cells."""
    chunks = column.unify_dictionaries().chunks
    entries = chunks[0].dictionary
    times = np.zeros(len(entries), dtype=np.int64)
    for chunk in chunks:
        times += np.bincount(chunk.indices.drop_null().to_numpy(zero_copy_only=False), minlength=len(entries))
    return entries, times


def plain_column(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column of a common type with NaN as null: to an attacker both are missing, and frames disagree on them."""
    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    kind = column.type
    if pa.types.is_dictionary(kind):
        if is_text(kind) and not any(chunk.dictionary.null_count for chunk in column.chunks):
            return column
        return plain_column(column.cast(kind.value_type), name)  # entries may be null, NaN, zeros of both signs
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return column.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return column.cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_interval(kind):
        cells = (cell.as_py() for cell in column)
        return pa.chunked_array([as_text([None if cell is None else " ".join(map(str, cell)) for cell in cells])])
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return _in_calendar(column, name)
    if pa.types.is_float16(kind):
        column = column.cast(pa.float32())
    if not pa.types.is_floating(column.type):
        return column
    nan = pc.is_nan(column)
    if not pc.any(nan).as_py():
        return column
    return pc.if_else(pc.fill_null(nan, False), pa.scalar(None, column.type), column)


def _in_calendar(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """Refuse dates outside the years 1 to 9999, which Python's dates cannot hold; an unknown time zone becomes UTC."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        try:
            pa.lib.string_to_tzinfo(kind.tz)
        except (ValueError, OSError, KeyError):  # KeyError in older versions of Arrow
            column = column.cast(pa.timestamp(kind.unit, "UTC"))
            kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column  # nanoseconds only reach from 1677 to 2262
    limits = pc.min_max(column)
    a_day = pa.scalar(timedelta(days=1), pa.duration(getattr(kind, "unit", "ms")))  # date64 counts milliseconds
    units = 1 if pa.types.is_date32(kind) else a_day.value
    low, high = limits["min"].value, limits["max"].value
    if low is not None and not (_FIRST_DAY * units <= low and high < (_LAST_DAY + 1) * units):
        raise InputError(f"column {name!r} holds dates before the year 1 or after 9999; mend them or leave it out")
    return column


def series_to_arrow(series: nw.Series[Any]) -> pa.ChunkedArray:
    """A series as Arrow; values without a simple Arrow type become text."""
    try:
        cells = series.to_arrow()
        kind = value_type(cells.type)
        plain = not (isinstance(kind, pa.BaseExtensionType) and pa.types.is_nested(kind.storage_type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError):
        plain = False
    if not plain:
        missing = series.is_null().to_list()
        cells = as_text([None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)])
    return cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])


def as_text(values: Sequence[Any]) -> pa.Array:
    """Values of mixed types, or of types that Arrow does not have, as text."""
    if any(isinstance(value, list | dict | set | tuple) for value in values):
        raise InputError("a column holds lists or records; give columns of single values")
    return pa.array([None if value is None else str(value) for value in values], pa.string())
