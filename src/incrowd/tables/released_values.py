"""How values are written in a release: as texts, as days, as sets of one, and as ranges of their limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.arrow_columns import is_text
from incrowd.errors import InputError
from incrowd.tables.generalised import parse_generalised
from incrowd.tables.read import read_table
from incrowd.tables.table import Table

ANYTHING = "*"


def as_written(values: pa.Array) -> pa.Array:
    """Values as cells of a protected column; a text that looks like a range, set, prefix or * becomes a set of one.

    >>> import pyarrow as pa
    >>> as_written(pa.array(["York", "*", "{a,b}"])).to_pylist()
    ['York', '{*}', '{"{a,b}"}']
    """
    text = as_text(values)
    if not is_text(values.type):
        return text
    generalised = may_be_generalised(text)
    for at in np.flatnonzero(generalised).tolist():
        generalised[at] = parse_generalised(text[at].as_py()) is not None
    if not generalised.any():
        return text
    sets = pc.binary_join_element_wise("{", quote_members(text), "}", "")
    return pc.if_else(pa.array(generalised), sets, text)


def may_be_generalised(text: pa.Array) -> NDArray[np.bool_]:
    """Boolean mask of texts that end like a generalised value, so that only these are parsed."""
    ending = pc.fill_null(pc.match_substring_regex(text, r"[*\])}][\s\pZ\pC]*$"), False)
    return np.array(ending.to_numpy(zero_copy_only=False))  # a copy, because Arrow's array is read-only


def as_text(values: pa.Array) -> pa.Array:
    """Values as text; timestamps without a time of day become dates, and those with a time zone are in UTC."""
    kind = values.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError("a quasi-identifier holds raw bytes; make it text first")
    return (as_days_if_whole(values) if pa.types.is_timestamp(kind) else values).cast(pa.string())


def as_days_if_whole(values: pa.Array) -> pa.Array:
    """Timestamps as dates if none has a time of day; otherwise as timestamps, in UTC if they have a time zone."""
    kind = values.type if values.type.tz is None else pa.timestamp(values.type.unit, "UTC")
    values = values.cast(kind)
    days = values.cast(pa.date32(), safe=False)
    return days if pc.all(pc.equal(days.cast(kind, safe=False), values)).as_py() else values


def offset_of(column: Coded) -> int:
    """The offset of positions: 0, or the smallest value if values are too large to be exact as floats."""
    values = column.values.slice(0, column.filled_size)
    if not len(values) or not (pa.types.is_integer(values.type) or pa.types.is_timestamp(values.type)):
        return 0
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.int64())
    smallest, largest = values[0].as_py(), values[-1].as_py()
    return 0 if max(abs(smallest), abs(largest)) <= 2**53 else int(smallest)


def as_days(values: pa.Array) -> pa.Array:
    """The day of every date or timestamp, in UTC if it has a time zone."""
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp(values.type.unit))
    return values.cast(pa.date32(), safe=False)


def bounds_of(name: str) -> tuple[str, str]:
    """The names of the two columns that hold the limits of a column."""
    return f"{name}_low", f"{name}_high"


def join_bounds(released: Table, columns: Sequence[str]) -> Table:
    """A release whose columns of limits are columns of ranges again, under the names in `columns` that it lacks.

    `columns` are those of the original: one that is named like a limit there is a column of its own. Two equal limits
    are a plain value, and a missing limit is an open end; a cell without limits may be anything.
    """
    limits = {*released.columns} - {*columns}
    split = {name: bounds_of(name) for name in columns if name not in released.columns}
    split = {name: ends for name, ends in split.items() if {*ends} <= limits}
    if not split:
        return released
    arrow = released.to_arrow()
    for name, ends in split.items():
        low, high = (pc.fill_null(as_text(pa.concat_arrays(arrow[end].chunks)), ANYTHING) for end in ends)
        ranges = pc.if_else(pc.equal(low, high), low, pc.binary_join_element_wise("[", low, ";", high, "]", ""))
        arrow = arrow.drop_columns(list(ends)).append_column(name, ranges)
    scales = {name: scale for name, scale in released.scales.items() if name in arrow.column_names}
    return replace(released, backend=read_table(arrow, scales=scales, memory=released.memory).backend, native=None)


def quote_members(text: pa.Array) -> pa.Array:
    """Quote members of a set as CSV cells: those with a comma, brace or quotation mark, and the empty text.

    An empty member without quotation marks is a null.
    """
    needs_quotes = pc.match_substring_regex(text, r'[,{}"\r\n]|^\s|\s$|^$')
    doubled = pc.replace_substring(text, '"', '""')
    return pc.if_else(needs_quotes, pc.binary_join_element_wise('"', doubled, '"', ""), text)
