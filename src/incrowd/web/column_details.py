"""Single columns of a table: what they are, what each would add if others knew it, how its values are spread."""

from __future__ import annotations

import math
from datetime import date
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.protection.interval_labels import EPOCH
from incrowd.protection.problem import as_days, as_floats, offset_of, positions
from incrowd.tables.formats import takes_option
from incrowd.web import column_models as models
from incrowd.web.cells import cell_text
from incrowd.web.crowd import settle_columns
from incrowd.web.session_table import OpenTable

_OUTERMOST = 11  # rows that the first and the last range have at least: a few people at an end are not told apart
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200)


def list_columns(table: OpenTable) -> models.Triage:
    """The columns with their roles, suggestions, scales and codes that may stand for missing values."""
    info, hints, file = table.info(), table.reading_hints(), table.table.source or ""
    stated = info.reading.scales
    columns = [
        models.TriageColumn(
            **column.model_dump(),
            confidence=one.confidence,
            topic=one.topic,
            scale=table.table.scale_of(one.column),
            scale_stated=stated.get(one.column),
            scale_suggested=hints.scales.get(one.column),
            missing_codes=list(hints.missing_codes.get(one.column, ())),
        )
        for column, one in zip(info.columns, table.columns, strict=True)
    ]
    return models.Triage(
        decided=sum(one.decided for one in columns),
        reading=info.reading,
        takes_null=file.lower().endswith(".zip") or takes_option(file, "null"),
        columns=columns,
    )


def count_added(table: OpenTable, question: models.AddsQuestion) -> models.Adds:
    """What each column adds to what others know; of a column that they know, what it adds to the others."""
    known, person = settle_columns(table, question)
    asked = list(dict.fromkeys(question.columns))
    table.check_names(asked)
    now = table.count(known, person)
    columns = []
    for name in asked:
        is_known = name in known
        other = [one for one in known if one != name] if is_known else [*known, name]
        then = now if name == person else table.count(other, person)
        sign = -1 if is_known else 1
        columns.append(
            models.Added(
                column=name,
                known=is_known,
                uniques=then.uniques,
                correctness=then.correctness,
                added_uniques=sign * (then.uniques - now.uniques),
                added_correctness=sign * (then.correctness - now.correctness),
            )
        )
    return models.Adds(people=now.people, uniques=now.uniques, correctness=now.correctness, columns=columns)


def draw_histogram(table: OpenTable, question: models.HistogramQuestion) -> models.Histogram:
    """How many rows have which values: ranges of numbers and dates, or the most common values."""
    table.check_names([question.column])
    (column,) = encode(table.table, [question.column])
    tally = np.bincount(column.codes, minlength=column.size)
    filled = column.filled_size
    found = models.Histogram(
        column=question.column,
        kind="values",
        counts=[],
        edges=None,
        labels=None,
        missing=int(tally[filled:].sum()),
        others=0,
        masked=not question.show,
    )
    if column.has_distances and filled > 1 and question.round_axis:
        found.kind, drawn = "ranges", count_on_round_axis(column, tally[:filled], question.bins)
        found.counts, found.edges = drawn or ([], None)
        return found
    if column.has_distances and filled > 1:
        return _in_ranges(found, column, tally[:filled], question)
    common = np.argsort(-tally[:filled], kind="stable")[: question.bins]
    found.counts = tally[common].tolist()
    found.others = int(tally[:filled].sum()) - sum(found.counts)
    if question.show:
        found.labels = [cell_text(column.values[int(code)].as_py()) for code in common]
    return found


def _in_ranges(
    found: models.Histogram, column: Coded, tally: np.ndarray, question: models.HistogramQuestion
) -> models.Histogram:
    """Ranges of equal length from the smallest value to the largest; whole numbers are not cut apart."""
    place = positions(column)[: tally.size]
    low, high = float(place[0]), float(place[-1])
    is_whole = pa.types.is_integer(column.values.type)
    bins = min(question.bins, int(high - low) + 1) if is_whole else question.bins
    end = high + 1 if is_whole else high
    edges = np.linspace(low, end, bins + 1)
    found.kind = "ranges"
    found.counts = np.histogram(place, edges, weights=tally)[0].astype(np.int64).tolist()
    if question.show:
        found.edges = _edge_values(column, edges)
    return found


def _edge_values(column: Coded, edges: np.ndarray) -> list[float | str]:
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
    """Rows in about so many ranges with round edges, and the edges; the outer ranges hold all that is beyond them.

    None where there are too few rows to hide those at the ends, or numbers too close or too far apart for round edges.
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
