"""Labels of released columns as positions on a line: limits and middles of ranges."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.tables import parse_generalised
from incrowd.tables.generalised import Anything, Choice, Generalised, Interval, Prefix, parse_ranges


def _limits(
    labels: Sequence[str | None], parsed: Sequence[Generalised | None]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """The limits of every label, NaN for a null and *; None if some are not ranges of numbers or dates."""
    if not any(isinstance(meaning, Interval) for meaning in parsed):
        return None
    low, high = np.full(len(labels), np.nan), np.full(len(labels), np.nan)
    for place, (label, meaning) in enumerate(zip(labels, parsed, strict=True)):
        if isinstance(meaning, Interval):
            low[place], high[place] = label_position(meaning.low), label_position(meaning.high)
        elif label is not None and not isinstance(meaning, Anything):
            value = None if meaning is not None else plain_position(label)
            if value is None:
                return None
            low[place] = high[place] = value
    return low, high


def range_middles(column: Coded) -> NDArray[np.float64] | None:
    """The middle of every range of a column, NaN for a null and *; None if the column does not hold ranges."""
    if not column.is_text:
        return None
    ranges, others = (pc.match_substring_regex(column.values, signs) for signs in (r"[\[(]", r"[{*]"))
    if not pc.any(ranges).as_py():
        return None
    if any(isinstance(parse_generalised(label), Choice | Prefix) for label in column.values.filter(others).to_pylist()):
        return None
    labels = column.values.to_pylist()
    limits = _limits(labels, parse_ranges(column.values, labels))
    return None if limits is None else (limits[0] + limits[1]) / 2


def label_position(value: float | date) -> float:
    """A limit of a range as a number: a date is its ordinal."""
    return float(value.toordinal()) if isinstance(value, date) else value


def plain_position(label: str) -> float | None:
    """A plain number or date as a position, None for any other text."""
    try:
        return float(label)
    except ValueError:
        try:
            return float(date.fromisoformat(label).toordinal())
        except ValueError:
            return None
