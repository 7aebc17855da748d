"""Labels of a release as runs of original values: a range or set covers the values that it includes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd.backends import Coded
from incrowd.measures.quantities import read_quantity
from incrowd.measures.released_labels import label_position
from incrowd.tables.generalised import Anything, Choice, Interval, Prefix, parse_ranges

_Codes = NDArray[np.int64]

_EPOCH = 719_163  # the ordinal of 1970-01-01, from which Arrow counts dates


@dataclass(frozen=True, slots=True)
class Runs:
    """The values that each label covers, as runs of ranks.

    Attributes:
        ranks: the rank of every value of the original.
        size: the number of ranks.
        starts: where the runs of every label begin.
        counts: the number of runs of every label.
        low: the first rank of each run.
        high: the rank after the last one of each run.
        widths: the number of values that every label covers.
        is_understood: mask of the labels that are ranges, sets or known values; the others cover all values.
        is_suppressed: mask of those others that have no meaning of their own: `*`, and a null where none was before.
    """

    ranks: _Codes
    size: int
    starts: _Codes
    counts: _Codes
    low: _Codes
    high: _Codes
    widths: _Codes
    is_understood: NDArray[np.bool_]
    is_suppressed: NDArray[np.bool_]


def read_runs(released: Coded, original: Coded) -> Runs:
    """The original values that each label covers; a label that is not a range, set or known value covers all."""
    quantity = read_quantity(original)
    places = np.full(original.size, np.nan) if quantity is None else quantity.places
    if pa.types.is_temporal(original.values.type):
        places = np.floor(places) + _EPOCH
    order = np.argsort(places, kind="stable")
    ranks = np.empty(original.size, dtype=np.int64)
    ranks[order] = np.arange(original.size)
    numbers = places[order][: np.count_nonzero(~np.isnan(places))]
    labels = released.values.to_pylist()
    meanings = parse_ranges(released.values, labels) if released.is_text else [None] * released.size
    ranges = [(number, one) for number, one in enumerate(meanings) if isinstance(one, Interval)]
    limits = [[label_position(one.low), label_position(one.high)] for _, one in ranges]
    low, high = np.array(limits, dtype=np.float64).reshape(-1, 2).T
    owner = [np.array([number for number, _ in ranges], dtype=np.int64)]
    lows, highs = [np.searchsorted(numbers, low)], [np.searchsorted(numbers, high, side="right")]
    values = cache(lambda kind: (original.values if kind is None else original.values.cast(kind)).to_pylist())
    lookup = cache(lambda how, *length, kind=None: _codes_by(values(kind), how, *length))
    for number, (label, meaning) in enumerate(zip(labels, meanings, strict=True)):
        if isinstance(meaning, Interval | Anything):
            continue
        if isinstance(meaning, Choice):
            meant = [{*lookup("text")[text], *lookup("value", kind=pa.string())[text]} for text in meaning.values]
            codes = [code for one in meant for code in one] if all(meant) else []  # an unknown member: all values
        elif isinstance(meaning, Prefix):
            codes = lookup("start", len(meaning.start), meaning.hidden)[meaning.start]
        else:
            # in a column of ranges, plain values are texts
            codes = [*{*lookup("value")[label], *lookup("value", kind=pa.string())[label]}]
        covered = np.sort(ranks[codes])
        is_first = np.diff(covered, prepend=-2) > 1
        owner.append(np.full(np.count_nonzero(is_first), number))
        lows.append(covered[is_first])
        highs.append(covered[np.append(is_first[1:], True)] + 1 if covered.size else covered)
    runs = np.concatenate(owner), np.concatenate(lows), np.concatenate(highs)
    has_no_meaning = [
        isinstance(meaning, Anything) or label is None for label, meaning in zip(labels, meanings, strict=True)
    ]
    return _in_order_of_labels(ranks, runs, np.array(has_no_meaning, dtype=bool))


def _in_order_of_labels(ranks: _Codes, runs: tuple[_Codes, _Codes, _Codes], has_no_meaning: NDArray[np.bool_]) -> Runs:
    """Runs (label, first rank, rank after the last) sorted by label; a label without a run covers all values."""
    labels = has_no_meaning.size
    owner, low, high = runs
    filled = low < high
    without = np.flatnonzero(np.bincount(owner[filled], minlength=labels) == 0)
    owner = np.concatenate([owner[filled], without])
    low = np.append(low[filled], np.zeros_like(without))
    high = np.append(high[filled], np.full(without.size, ranks.size))
    order = np.argsort(owner, kind="stable")
    owner, low, high = owner[order], low[order], high[order]
    counts = np.bincount(owner, minlength=labels)
    widths = np.bincount(owner, weights=high - low, minlength=labels).astype(np.int64)
    is_understood = np.ones(labels, dtype=bool)
    is_understood[without] = False
    is_suppressed = has_no_meaning & ~is_understood
    starts = np.cumsum(counts) - counts
    return Runs(ranks, ranks.size, starts, counts, low, high, widths, is_understood, is_suppressed)


def merge_values(runs: Runs) -> Runs:
    """Runs in which neighbouring values that no label tells apart have one rank."""
    limits = distinct_values(np.concatenate([runs.low, runs.high]))
    ranks, low, high = (np.searchsorted(limits, one, side="right") for one in (runs.ranks, runs.low, runs.high))
    owner = np.repeat(np.arange(runs.counts.size), runs.counts)
    widths = np.bincount(owner, weights=high - low, minlength=runs.counts.size).astype(np.int64)
    return replace(runs, ranks=ranks, size=limits.size + 1, low=low, high=high, widths=widths)


def _codes_by(values: Sequence[Any], how: str, length: int = 0, hidden: int = 0) -> defaultdict[Any, list[int]]:
    """Index of the codes of values: by the value, by its text, or by the first `length` characters of its text.

    By the first characters, only texts with exactly `hidden` further characters are included.
    """
    index = defaultdict[Any, list[int]](list)
    for code, value in enumerate(values):
        text = value if how == "value" or value is None else str(value)
        if how != "start":
            index[text].append(code)
        elif text is not None and len(text) == length + hidden:
            index[text[:length]].append(code)
    return index
