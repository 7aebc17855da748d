"""Interval labels: for every value of a column of numbers or dates, the fixed interval it lies in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import InputError
from incrowd.protection.recoding import format_set, interval_labels
from incrowd.tables.released_values import ANYTHING, as_days, as_text, as_written, offset_of, quote_members

Labels = list[str | None]
MOST_PARTS = 1_000_000  # intervals of the domain of a column
LARGEST_SET = 1_000  # values that a set lists; every cell repeats the whole list
EPOCH = date(1970, 1, 1).toordinal()


class ValueLabels(Labels):
    """Labels made from the column's own values: sets of values, or ranges between two values."""


class OpenEndedLabels(ValueLabels):
    """Ranges between values of the column; the first and the last range hide the extreme values (see `widen`)."""


def label_groups(column: Coded, groups: Sequence[Sequence[int]]) -> ValueLabels:
    """The label of every value, given groups of ascending codes: a set, `*` if it is too large, or the single value."""
    labels: Labels = as_written(column.values).to_pylist()
    members: list[Any] = quote_members(as_text(column.values)).fill_null("").to_pylist()
    for codes in groups:
        if len(codes) > 1:
            label = format_set([members[code] for code in codes]) if len(codes) <= LARGEST_SET else ANYTHING
            for code in codes:
                labels[code] = label
    return ValueLabels(labels)


def equal_parts(column: Coded, parts: int) -> Labels:
    """Algorithm S3: cut the domain into `parts` intervals of about the same length.

    Whole numbers and dates are cut at min + ⌊i (max − min + 1) / parts⌋, which gives the paper's tables S7 and S8.
    Other numbers are cut at equal distances, and an interval excludes its upper end. Text is cut into runs of its
    sorted values; a run of more than 1,000 values becomes `*`.
    """
    if not 1 <= parts <= MOST_PARTS:
        raise InputError(f"a resolution of {parts:,} intervals for {column.name!r}; give 1 to {MOST_PARTS:,}")
    if not column.has_distances:
        starts = [index * column.size // parts for index in range(parts + 1)]
        return label_groups(column, [range(start, end) for start, end in pairwise(starts)])
    place, whole, start = _places(column)
    low, high = place[0], place[-1]
    if whole:
        edges = low + np.floor(np.arange(parts + 1) * (high - low + 1) / parts)
        edges = np.unique(edges)
    else:
        edges = np.linspace(low, high, parts + 1)
        edges[1:-1] = _written_short(edges[1:-1], (high - low) / parts)
    return ValueLabels(_between(column, place, edges, whole, start))


def grid(column: Coded, width: float, origin: float) -> Labels:
    """Intervals of one width, counted from an origin."""
    if not 0 < width < math.inf:
        raise InputError(f"an interval of width {width:g} for {column.name!r}; give a positive width")
    if not column.has_distances:
        raise InputError(f"intervals for {column.name!r}, which is text; give its hierarchy as a file")
    place, whole, start = _places(column)
    if start:  # positions are counted from an integer too large for floats, so the origin is moved there exactly
        origin = -float((start - Fraction(origin)) % Fraction(width))
    edges = _edges_near(place, width, origin)
    if not np.isfinite(edges).all():
        raise InputError(f"intervals of width {width:g} are too wide for the numbers of {column.name!r}; narrow them")
    if width != int(width):
        edges = _written_short(edges, width)
    if not (np.diff(edges) > 0).all():
        raise InputError(f"intervals of width {width:g} are too narrow for the numbers of {column.name!r}; widen them")
    return _between(column, place, edges, whole, start)


def _written_short(edges: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Edges rounded to twelve digits if their distance allows it, so that 0.1 + 0.2 is written as 0.3."""
    if not edges.size or not width * 1e11 > np.abs(edges).max():
        return edges
    return np.array([float(f"{edge:.12g}") for edge in edges])


def _edges_near(place: NDArray[np.float64], width: float, origin: float) -> NDArray[np.float64]:
    """Edges of the grid cells that hold values, and of their neighbours; edges of other empty cells are left out.

    `place` is ascending. If cells are too narrow for floats, the edges are equal; if they overflow, infinite.
    """
    with np.errstate(over="ignore"):
        cells = np.floor((place - origin) / width)
    if not np.abs(cells).max() < 2**52:
        return np.zeros(2)
    cell_number = cells - cells[0]
    near = np.unique(np.concatenate([cell_number + step for step in (-1, 0, 1, 2)]))
    near = near[(near >= 0) & (near <= cell_number[-1] + 1)]
    with np.errstate(over="ignore", invalid="ignore"):  # checked by the caller
        edges: NDArray[np.float64] = near * width + (origin + cells[0] * width)
    return edges


def round_widths(column: Coded) -> list[float]:
    """Widths of round intervals for a column, each a multiple of the one before: 5, 10, 20 for ages."""
    place, whole, _ = _places(column)
    span = float(place[-1] - place[0]) + whole
    if not span / 20 > 0:  # one value, or values too close for floats
        return []
    unit = Fraction(10) ** math.floor(math.log10(span / 20))
    widths = [float(unit * times) for times in (1, 5, 10, 20, 100)]
    return [width for width in widths if width < span and (width > 1 or not whole)]


def quantile_parts(column: Coded, parts: int, joined: int) -> Labels:
    """Cut into `parts` quantiles (about equally many records each), then join every `joined` neighbours.

    The first and the last range hide the extreme values, which may belong to a single person.
    """
    if not column.has_distances:
        raise InputError(f"quantiles of {column.name!r}, which is text; give its hierarchy as a file")
    filled = column.filled_size
    tally = column.tally[:filled]
    return _value_ranges(column, (np.cumsum(tally) - tally) * parts // max(int(tally.sum()), 1) // joined)


def cut_parts(column: Coded, points: Sequence[float | date]) -> Labels:
    """Ranges of the values between cut points; a cut point belongs to the range above it.

    The first and the last range hide the extreme values, which may belong to a single person.
    """
    if not column.has_distances:
        raise InputError(f"cut points for {column.name!r}, which is text; give its hierarchy as a file")
    place, _, start = _places(column)
    days = pa.types.is_temporal(column.values.type)
    if any(isinstance(point, date) != days for point in points):
        raise InputError(f"cut points for {column.name!r} must be {'days: 1980-01-31' if days else 'numbers'}")
    edges = [
        point.toordinal() - EPOCH if isinstance(point, date) else float(Fraction(point) - start) for point in points
    ]
    return _value_ranges(column, np.searchsorted(np.unique(edges), place, side="right"))


def _value_ranges(column: Coded, part: NDArray[np.int64]) -> Labels:
    """The range of every value: from the first to the last value of its part. A null stays null."""
    low, high = np.searchsorted(part, part), np.searchsorted(part, part, side="right") - 1
    filled = Coded(column.name, column.codes, column.values.slice(0, part.size))
    labels: Labels = interval_labels(filled, low, high).to_pylist()
    for code in np.flatnonzero((low == 0) | (high == part.size - 1)).tolist():
        labels[code] = widen(column, labels[code], bool(low[code] == 0), bool(high[code] == part.size - 1))
    return OpenEndedLabels([*labels, None] if column.has_null else labels)


def widen(column: Coded, label: str | None, is_lowest: bool, is_highest: bool) -> str | None:
    """The label of the lowest or highest range of a column, widened so that it hides the extreme value.

    Ranges of numbers get an open end, as in top and bottom coding. Ranges of dates and timestamps end with the decade.

    >>> widen(Coded("pay", np.array([0, 1]), pa.array([1200, 9000])), "[1200;1800]", True, False)
    '[*;1800]'
    """
    if label is None or label == ANYTHING or (is_lowest and is_highest):
        return label if label is None else ANYTHING
    low, high = label[1:-1].split(";") if label.startswith("[") else (label, label)
    if pa.types.is_date(column.values.type) or pa.types.is_timestamp(column.values.type):
        low, high = _decade_end(low, 0) if is_lowest else low, _decade_end(high, 1) if is_highest else high
    else:
        low, high = ANYTHING if is_lowest else low, ANYTHING if is_highest else high
    return f"[{low};{high}]" if low != high else label


def _decade_end(text: str, end: Literal[0, 1]) -> str:
    """The first or last day of a date's decade, or its first or last moment, in the format of the text.

    >>> _decade_end("1931-05-07", 0), _decade_end("2024-02-29 13:14:15.000Z", 1)
    ('1930-01-01', '2029-12-31 23:59:59.999Z')
    """
    day, space, clock = text.partition(" ")
    decade = day[: -len("1-05-07")]
    zone = "Z" if clock.endswith("Z") else ""
    moment = ("00:00:00.000000000", "23:59:59.999999999")[end][: len(clock) - len(zone)]
    return max((f"{decade}0-01-01", f"{decade}9-12-31")[end], date.min.isoformat()) + space + moment + zone


def calendar(column: Coded, months: int) -> Labels:
    """Dates in intervals of `months` months, counted from January of year 0."""
    if not pa.types.is_temporal(column.values.type) or pa.types.is_time(column.values.type):
        raise InputError(f"calendar intervals for {column.name!r}, which holds no dates")
    labels: Labels = []
    for day in as_days(column.values).to_pylist():
        if day is None:
            labels.append(None)
            continue
        start = (day.year * 12 + day.month - 1) // months * months
        end = _month_start(start + months) - 1
        labels.append(f"[{date.fromordinal(_month_start(start))};{date.fromordinal(end)}]")
    return labels


def _month_start(month: int) -> int:
    """The first day of a month as an ordinal; months are counted from January of year 0, up to December 9999."""
    year, number = divmod(month, 12)
    return date(max(year, 1), number + 1, 1).toordinal() if year <= date.max.year else date.max.toordinal() + 1


def _places(column: Coded) -> tuple[NDArray[np.float64], bool, int]:
    """Positions of the values without the null, whether they are whole (numbers or days), and their offset."""
    values = column.values.slice(0, column.filled_size)
    if not len(values):
        raise InputError(f"column {column.name!r} has no values at all; leave it out of the quasi-identifiers")
    if pa.types.is_timestamp(values.type):
        values = as_days(values)
    start = offset_of(column) if pa.types.is_integer(values.type) else 0
    return as_floats(values, start), pa.types.is_integer(values.type) or pa.types.is_date(values.type), start


def _between(column: Coded, place: NDArray[np.float64], edges: NDArray[np.float64], whole: bool, start: int) -> Labels:
    """The interval of every value, given ascending edges; a null stays null."""
    part_of = np.clip(np.searchsorted(edges, place, side="right") - 1, 0, len(edges) - 2)
    days = pa.types.is_temporal(column.values.type)
    names: dict[int, str] = {}
    for part in np.unique(part_of).tolist():
        low, high = edges[part], edges[part + 1] - 1 if whole else edges[part + 1]
        if whole:
            low, high = np.ceil(low), np.ceil(edges[part + 1]) - 1
        closing = "]" if whole or part == len(edges) - 2 else ")"
        first, last = _write_end(low, days, start), _write_end(high, days, start)
        names[part] = first if whole and low == high else f"[{first};{last}{closing}"
    labels: Labels = [names[part] for part in part_of.tolist()]
    return [*labels, None] if column.has_null else labels


def _write_end(value: float, days: bool, start: int) -> str:
    if days:
        day = int(value) + EPOCH
        return date.fromordinal(min(max(day, 1), date.max.toordinal())).isoformat()
    is_short = bool(start) or abs(value) < 1e16  # larger floats would be written with hundreds of meaningless digits
    return str(start + int(value)) if value == int(value) and is_short else repr(float(value))
