"""The distribution of a column's values: rows by ranges of numbers and dates, or by the commonest values."""

from __future__ import annotations

import math
from datetime import date
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.arrow_columns import as_floats
from incrowd.protection.interval_labels import EPOCH
from incrowd.protection.problem import positions
from incrowd.tables.released_values import as_days, offset_of

_OUTERMOST = 11  # fewest rows in the first and the last range, so that a few people at an end are not singled out
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200)


class ValueSpread(NamedTuple):
    """Row counts by range (`edges` has one entry more than `counts`) or by value (`codes`, the commonest first).

    `others` counts rows with a value that is not among those, `missing` rows without a value.
    """

    kind: Literal["ranges", "values"]
    counts: list[int]
    missing: int
    edges: list[float | str] | None = None
    codes: tuple[int, ...] = ()
    others: int = 0


def count_values(column: Coded, bins: int, *, round_axis: bool = False) -> ValueSpread:
    """Count rows by value: in ranges for quantities, otherwise for the commonest values.

    Args:
        round_axis: use ranges with round edges, and outer ranges of several people; `edges` is None if impossible.
    """
    filled = column.filled_size
    tally, missing = column.tally[:filled], int(column.tally[filled:].sum())
    if column.has_distances and filled > 1:
        drawn = (count_on_round_axis if round_axis else count_in_ranges)(column, tally, bins)
        counts, edges = drawn or ([], None)
        return ValueSpread("ranges", counts, missing, edges)
    common = most_common(tally, bins)
    counts = tally[common].tolist()
    return ValueSpread("values", counts, missing, None, tuple(common.tolist()), int(tally.sum()) - sum(counts))


def most_common(tally: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """The codes of the commonest values, limited in number; of two equally common ones the smaller value first."""
    return np.argsort(-tally, kind="stable")[:most]


def count_in_ranges(column: Coded, tally: NDArray[np.int64], bins: int) -> tuple[list[int], list[float | str]]:
    """Count rows in ranges of equal length from the smallest value to the largest; edges do not split whole numbers."""
    place = positions(column)[: tally.size]
    low, high = float(place[0]), float(place[-1])
    is_whole = pa.types.is_integer(column.values.type)
    edges = np.linspace(low, high + 1 if is_whole else high, (min(bins, int(high - low) + 1) if is_whole else bins) + 1)
    return np.histogram(place, edges, weights=tally)[0].astype(np.int64).tolist(), _edge_values(column, edges)


def _edge_values(column: Coded, edges: NDArray[np.float64]) -> list[float | str]:
    """The ends of ranges as numbers, or as days."""
    kind = column.values.type
    first = offset_of(column)
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind) and not pa.types.is_duration(kind):
        unit = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        days = as_days(pa.array([int(edge) + first for edge in edges], unit).cast(kind))
        return [str(day) for day in days.to_pylist()]
    return [float(edge) + first for edge in edges]


def count_on_round_axis(
    column: Coded, tally: NDArray[np.int64], bins: int
) -> tuple[list[int], list[float | str]] | None:
    """Count rows in ranges with round edges, and return the edges; the outer ranges include all values beyond them.

    None if there are too few rows to hide those at the ends, or if numbers are too close or too far apart for round
    edges.
    """
    values = column.values.slice(0, tally.size)
    days = pa.types.is_temporal(values.type)
    if pa.types.is_time(values.type) or pa.types.is_duration(values.type):
        return None
    place = as_floats(as_days(values) if days else values, 0)
    ends = np.cumsum(tally)
    if ends[-1] < 2 * _OUTERMOST or not np.isfinite(place).all():
        return None
    low = float(place[np.searchsorted(ends, _OUTERMOST)])
    high = float(place[np.searchsorted(ends, ends[-1] - _OUTERMOST, side="right")])
    if not math.isfinite(high - low):
        return None
    edges = _month_edges(low, high, bins) if days else _number_edges(low, high, bins, pa.types.is_integer(values.type))
    if not all(before < after for before, after in pairwise(edges)):
        return None
    where = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, len(edges) - 2)
    counts = np.bincount(where, weights=tally, minlength=len(edges) - 1).astype(np.int64).tolist()
    return counts, [date.fromordinal(int(edge) + EPOCH).isoformat() for edge in edges] if days else list(edges)


def _number_edges(low: float, high: float, bins: int, is_whole: bool) -> list[float]:
    """Edges at multiples of 1, 2 or 5 times a power of ten.

    >>> _number_edges(18, 81, 8, True)
    [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    """
    least = max((high - low) / bins, 1.0 if is_whole else 0.0) or 1.0
    unit = 10.0 ** math.floor(math.log10(least))
    width = next(unit * times for times in (1, 2, 5, 10) if unit * times >= least * (1 - 1e-9))
    first, last = math.floor(low / width), math.floor(high / width) + 1
    return [float(f"{number * width:.12g}") for number in range(first, last + 1)]


def _month_edges(low: float, high: float, bins: int) -> list[float]:
    """Edges at the beginnings of months, quarters, years or decades, as days since 1970."""
    first, last = (_month_of(date.fromordinal(int(place) + EPOCH)) for place in (low, high))
    step = next((months for months in _MONTHS if (last - first) // months < bins), _MONTHS[-1])
    numbers = range(first // step * step, last // step * step + step + 1, step)
    return [_first_day(month).toordinal() - EPOCH for month in numbers]


def _first_day(month: int) -> date:
    """The first day of a month, as far as the calendar goes."""
    return date.max if month // 12 > date.max.year else date(max(month // 12, 1), month % 12 + 1, 1)


def _month_of(day: date) -> int:
    return day.year * 12 + day.month - 1
