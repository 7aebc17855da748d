"""Normalisation of Arrow columns: a missing value is a null, and only common types remain."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support import frames as nw
from incrowd.errors import InputError

_BITS, _DIGITS_IN_128, _DIGITS = 128, 38, 76  # of decimals
_HEXADECIMAL, _ZERO_BYTE = "0x", "\0"
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
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        return pa.chunked_array([part.dictionary_decode() for part in column.chunks], column.type.value_type)
    return column.dictionary_decode()


def as_floats(values: pa.Array, first: int = 0) -> NDArray[np.float64]:
    """Numbers, dates and times as the nearest floats, minus the offset `first`."""
    kind = values.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        values = values.cast(pa.int64())
    if first:
        values = pa.array([None if value is None else float(value - first) for value in values.to_pylist()])
    floats: NDArray[np.float64] = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return floats


def count_entries(column: pa.ChunkedArray) -> tuple[pa.Array, NDArray[np.int64]]:
    """The entries of a column's dictionary and the number of cells of each, without decoding the cells."""
    chunks = column.unify_dictionaries().chunks
    entries = chunks[0].dictionary
    times = np.zeros(len(entries), dtype=np.int64)
    for chunk in chunks:
        times += np.bincount(chunk.indices.drop_null().to_numpy(zero_copy_only=False), minlength=len(entries))
    return entries, times


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type in which a column is worked with, whatever type it is stored as.

    These are truth values, whole numbers, 32- and 64-bit floats, decimals of a scale from 0, dates, times, timestamps,
    texts, and lists and records, which are not compared. Bytes and intervals are texts, a duration is a whole number of
    its unit, and a column that is always missing is a text. Dictionaries of texts stay.

    >>> plain_type(pa.dictionary(pa.int8(), pa.binary(16))), plain_type(pa.decimal128(5, -2))
    (DataType(string), Decimal128Type(decimal128(7, 0)))
    """
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        return plain_type(kind.storage_type)
    if types.is_dictionary(kind) and is_text(kind):
        return kind
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if (
        types.is_nested(kind)
        or is_text(kind)
        or types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_time(kind)
    ):
        return kind
    if types.is_floating(kind):
        return pa.float32() if types.is_float16(kind) else kind
    if types.is_decimal(kind):
        return _plain_decimal(kind)
    if types.is_date(kind) or types.is_timestamp(kind):
        return pa.date32() if types.is_date(kind) else pa.timestamp(kind.unit, _known_zone(kind.tz))
    if types.is_duration(kind):
        return pa.int64()
    if types.is_string_view(kind):
        return pa.large_string()
    if types.is_null(kind) or types.is_interval(kind) or is_bytes(kind):
        return pa.string()
    raise InputError(f"columns of type {kind} are not supported; store them as text or numbers")


def plain_column(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """A column in its plain type, with NaN as null: to an attacker both are missing, and frames disagree on them."""
    kind, types = column.type, pa.types
    try:
        plain = plain_type(kind)
        if types.is_dictionary(plain) and any(part.dictionary.null_count for part in column.chunks):
            plain = kind.value_type
        if plain == kind and types.is_dictionary(kind):
            return column
        if isinstance(kind, pa.BaseExtensionType):
            return plain_column(pa.chunked_array([part.storage for part in column.chunks], kind.storage_type), name)
        if types.is_dictionary(kind):  # entries may be null, NaN, zeros of both signs
            parts = [_entries(part, name).take(part.indices) for part in column.chunks]
            return pa.chunked_array(parts, plain)
        if types.is_run_end_encoded(kind):
            decoded = [pc.run_end_decode(part) for part in column.chunks]
            return plain_column(pa.chunked_array(decoded, kind.value_type), name)
        return _converted(column, plain)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # its words may quote a cell
        raise InputError(f"column {name!r} has a value that its type, {kind}, cannot hold; store it as text") from None
    except InputError as error:
        raise InputError(f"column {name!r}: {error}") from None


def _entries(part: pa.DictionaryArray, name: str) -> pa.Array:
    """The entries of a dictionary in their plain type."""
    entries = plain_column(pa.chunked_array([part.dictionary]), name)
    return entries.combine_chunks() if entries.num_chunks != 1 else entries.chunk(0)


def _converted(column: pa.ChunkedArray, plain: pa.DataType) -> pa.ChunkedArray:
    """Cells of a type that is neither a dictionary nor run-end encoded as cells of their plain type."""
    kind, types = column.type, pa.types
    if types.is_interval(kind):
        cells = (cell.as_py() for cell in column)
        return pa.chunked_array([as_text([None if cell is None else " ".join(map(str, cell)) for cell in cells])])
    if is_bytes(kind):
        return pa.chunked_array([_bytes_as_text(part) for part in column.chunks], plain)
    if types.is_decimal(kind) and kind.scale < 0:
        cells = column.to_pylist()
        return pa.chunked_array([pa.array(cells, plain)])
    if kind != plain:
        column = column.cast(plain)
    if types.is_date(plain) or types.is_timestamp(plain):
        return _in_calendar(column)
    if not types.is_floating(plain):
        return column
    nan = pc.is_nan(column)
    return pc.if_else(pc.fill_null(nan, False), pa.scalar(None, plain), column) if pc.any(nan).as_py() else column


def _plain_decimal(kind: pa.DataType) -> pa.DataType:
    """A decimal of at least 128 bits and a scale from 0."""
    precision = kind.precision - min(kind.scale, 0)
    if precision > _DIGITS:
        raise InputError(f"decimals of up to {precision} digits are more than the {_DIGITS} that can be held")
    of_size = pa.decimal256 if precision > _DIGITS_IN_128 or kind.bit_width > _BITS else pa.decimal128
    return of_size(precision, max(kind.scale, 0))


def is_bytes(kind: pa.DataType) -> bool:
    """True if the values of a column are bytes, which need not be text."""
    types = pa.types
    return bool(
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
    )


def _bytes_as_text(part: pa.Array) -> pa.Array:
    """Bytes as the text that they are in UTF-8; others as 0x and hexadecimal digits, as texts that begin with 0x."""
    values = part.cast(pa.large_binary())
    try:
        texts = values.cast(pa.string())
        odd = pc.or_(pc.starts_with(texts, _HEXADECIMAL), pc.match_substring(texts, _ZERO_BYTE))
        if not pc.any(odd).as_py():
            return texts
    except pa.ArrowInvalid:
        pass
    return pa.array([None if cell is None else _cell_as_text(cell) for cell in values.to_pylist()], pa.string())


def _cell_as_text(cell: bytes) -> str:
    try:
        text = cell.decode("utf-8")
    except UnicodeDecodeError:
        return _HEXADECIMAL + cell.hex()
    return _HEXADECIMAL + cell.hex() if text.startswith(_HEXADECIMAL) or _ZERO_BYTE in text else text


@cache
def _known_zone(zone: str | None) -> str | None:
    """A time zone that this machine knows; else UTC."""
    if zone is None:
        return None
    try:
        pa.lib.string_to_tzinfo(zone)
    except (ValueError, OSError, KeyError):  # KeyError in older versions of Arrow
        return "UTC"
    return zone


def _in_calendar(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Refuse dates outside the years 1 to 9999, which Python's dates cannot hold."""
    kind = column.type
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return column  # nanoseconds only reach from 1677 to 2262
    limits = pc.min_max(column)
    units = 1 if pa.types.is_date32(kind) else pa.scalar(timedelta(days=1), pa.duration(kind.unit)).value
    low, high = limits["min"].value, limits["max"].value
    if low is not None and not (_FIRST_DAY * units <= low and high < (_LAST_DAY + 1) * units):
        raise InputError("dates before the year 1 or after 9999 cannot be held; mend them or leave the column out")
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
