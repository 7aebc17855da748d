"""Coverage of original records by released ones: a range or set covers the records whose values it includes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.measures.arithmetic_relations import read_quantity
from incrowd.tables.generalised import Anything, Choice, Interval, Prefix, parse_ranges

_Codes = NDArray[np.int64]
_Counts = NDArray[np.int32]

_MOST_LOOKED_UP = 4_000_000  # runs of values that are looked up before the search gives up: about two seconds
_AT_ONCE = 250_000  # runs that are looked up at once
_EPOCH = 719_163  # the ordinal of the day that dates are counted from


@dataclass(frozen=True, slots=True)
class _Runs:
    """The values that each label covers, as runs of ranks.

    Attributes:
        ranks: the rank of every value of the original.
        starts: where the runs of every label begin.
        counts: how many runs it has.
        low: the first rank of each run.
        high: the rank after its last.
        widths: how many values each label covers.
    """

    ranks: _Codes
    starts: _Codes
    counts: _Codes
    low: _Codes
    high: _Codes
    widths: _Codes


class LabelCoverage:
    """A release beside its original.

    Rows need not be in the same order: a record may be of all people who are the same in what is released as it was and
    whose values are in its ranges.
    """

    def __init__(self, known: Sequence[Coded], released: Sequence[Coded], coarse: Sequence[str]) -> None:
        self._before = {column.name: column for column in known}
        self._after = {column.name: column for column in released}
        self._as_they_were = [column.name for column in known if column.name not in coarse]
        self._runs = cache(lambda name: _read_runs(self._after[name], self._before[name]))
        self._group = cache(self._group_by)

    def count(self, columns: Sequence[Coded], facts: Sequence[NDArray[Any]], *, same: bool = True) -> _Counts | None:
        """Count the records of the original that may be behind every released record and have a fact.

        Args:
            columns: the columns, some of them made coarser, by which records may be behind others.
            facts: whether every record of the original has each fact.
            same: whether people must be the same in all columns that are released as they were, and not only in those
                of `columns`.

        Returns:
            For every fact the number of every released record; None where it takes too long to count.
        """
        names = [one.name for one in columns]
        before, after = self._group(tuple(one for one in self._as_they_were if same or one in names))
        coarse = [self._before[name] for name in names if name not in self._as_they_were]
        *others, along = sorted(coarse, key=lambda one: one.size)
        keys = before
        for one in (*others, along):
            keys = keys * one.size + self._runs(one.name).ranks[one.codes]
        order = np.argsort(keys)
        keys = keys[order]
        rows, cell_of_record = _distinct([after, *(self._after[one.name].codes for one in coarse)])
        labels = {one.name: self._after[one.name].codes[rows] for one in coarse}
        runs = self._runs(along.name)
        work = runs.counts[labels[along.name]]
        for one in others:
            work = work * self._runs(one.name).widths[labels[one.name]]
        if work.sum() > _MOST_LOOKED_UP:
            return None
        counts = np.zeros((len(facts), rows.size), dtype=np.int32)
        totals = [np.concatenate([[0], np.cumsum(fact[order], dtype=np.int32)]) for fact in facts]
        for part in np.split(np.arange(rows.size), _ends(work)):
            cell, prefix = part, after[rows[part]]
            for one in others:
                cell, prefix = self._spread(one, cell, prefix, labels[one.name])
            at, run = _expand(runs.starts[labels[along.name][cell]], runs.counts[labels[along.name][cell]])
            cell, first = cell[at], prefix[at] * along.size
            low, high = (np.searchsorted(keys, first + limit[run]) for limit in (runs.low, runs.high))
            for count, total in zip(counts, totals, strict=True):
                count += np.bincount(cell, weights=total[high] - total[low], minlength=rows.size).astype(np.int32)
        return counts[:, cell_of_record]

    def _spread(self, column: Coded, cell: _Codes, prefix: _Codes, labels: _Codes) -> tuple[_Codes, _Codes]:
        """Cells and the first digits of their keys, once for every value of a column that the cell's label covers."""
        runs = self._runs(column.name)
        at, run = _expand(runs.starts[labels[cell]], runs.counts[labels[cell]])
        cell, prefix = cell[at], prefix[at]
        at, value = _expand(runs.low[run], (runs.high - runs.low)[run])
        return cell[at], prefix[at] * column.size + value

    def _group_by(self, names: tuple[str, ...]) -> tuple[_Codes, _Codes]:
        """The groups of people who are the same in some columns, before and after."""
        rows = next(iter(self._before.values())).codes.size
        if not names:
            return np.zeros(rows, dtype=np.int64), np.zeros(next(iter(self._after.values())).codes.size, dtype=np.int64)
        both = [_in_one_code(self._before[name], self._after[name]) for name in names]
        groups, _ = class_numbers(pack(both))
        before, after = np.split(groups.astype(np.int64), [rows])
        return before, after


def _in_one_code(original: Coded, released: Coded) -> Coded:
    """A column before and after, by the values of the original; nothing where they are of another type."""
    if released.values.type != original.values.type:
        return Coded(original.name, np.zeros(original.codes.size + released.codes.size, np.int64), pa.nulls(1))
    places = pc.fill_null(pc.index_in(released.values, value_set=original.values), original.size)
    after = places.to_numpy(zero_copy_only=False)[released.codes]
    return Coded(original.name, np.concatenate([original.codes, after]), pa.nulls(original.size + 1))


def _distinct(columns: Sequence[_Codes]) -> tuple[_Codes, _Codes]:
    """A row for each combination of codes, in their order, and which one every row has."""
    coded = [Coded("", codes, pa.nulls(int(codes.max(initial=0)) + 1)) for codes in columns]
    place, sizes = class_numbers(pack(coded))
    rows = np.empty(sizes.size, dtype=np.int64)
    rows[place] = np.arange(place.size)
    return rows, place.astype(np.int64)


def _ends(work: _Codes) -> _Codes:
    """Split points that divide work into parts of bounded size."""
    return np.flatnonzero(np.diff(np.cumsum(work) // _AT_ONCE)) + 1


def _expand(starts: _Codes, counts: _Codes) -> tuple[_Codes, _Codes]:
    """Runs of numbers one after the other: whose each number is, and the number."""
    whose = np.repeat(np.arange(counts.size), counts)
    return whose, np.arange(whose.size) + (starts - np.cumsum(counts) + counts)[whose]


def _read_runs(released: Coded, original: Coded) -> _Runs:
    """Read which values of the original each label may stand for: all, where it is no range or set of some of them."""
    quantity = read_quantity(original)
    places = np.full(original.size, np.nan) if quantity is None else quantity.places
    if pa.types.is_temporal(original.values.type):
        places = np.floor(places) + _EPOCH
    order = np.argsort(places, kind="stable")
    ranks = np.empty(original.size, dtype=np.int64)
    ranks[order] = np.arange(original.size)
    numbers = places[order][: np.count_nonzero(~np.isnan(places))]
    labels = released.values.to_pylist()
    is_text = pa.types.is_string(released.values.type) or pa.types.is_large_string(released.values.type)
    meanings = parse_ranges(released.values, labels) if is_text else [None] * released.size
    ranges = [(number, one) for number, one in enumerate(meanings) if isinstance(one, Interval)]
    limits = [[_place(one.low), _place(one.high)] for _, one in ranges]
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
            codes = [code for one in meant for code in one] if all(meant) else []  # of one not known: stands for all
        elif isinstance(meaning, Prefix):
            codes = lookup("start", len(meaning.start), meaning.hidden)[meaning.start]
        else:
            # a column of ranges has its plain values as text
            codes = [*{*lookup("value")[label], *lookup("value", kind=pa.string())[label]}]
        covered = np.sort(ranks[codes])
        is_first = np.diff(covered, prepend=-2) > 1
        owner.append(np.full(np.count_nonzero(is_first), number))
        lows.append(covered[is_first])
        highs.append(covered[np.append(is_first[1:], True)] + 1 if covered.size else covered)
    runs = np.concatenate(owner), np.concatenate(lows), np.concatenate(highs)
    return _in_order_of_labels(ranks, runs, released.size)


def _in_order_of_labels(ranks: _Codes, runs: tuple[_Codes, _Codes, _Codes], labels: int) -> _Runs:
    """Runs (whose, from, to) label after label; a label without any stands for all."""
    owner, low, high = runs
    some = low < high
    rest = np.flatnonzero(np.bincount(owner[some], minlength=labels) == 0)
    owner = np.concatenate([owner[some], rest])
    low, high = np.append(low[some], np.zeros_like(rest)), np.append(high[some], np.full(rest.size, ranks.size))
    order = np.argsort(owner, kind="stable")
    owner, low, high = owner[order], low[order], high[order]
    counts = np.bincount(owner, minlength=labels)
    widths = np.bincount(owner, weights=high - low, minlength=labels).astype(np.int64)
    return _Runs(ranks, np.cumsum(counts) - counts, counts, low, high, widths)


def _codes_by(values: Sequence[Any], how: str, length: int = 0, hidden: int = 0) -> defaultdict[Any, list[int]]:
    """The codes of values by themselves, by their text, or by its start where so many characters follow."""
    found = defaultdict[Any, list[int]](list)
    for code, value in enumerate(values):
        text = value if how == "value" or value is None else str(value)
        if how != "start":
            found[text].append(code)
        elif text is not None and len(text) == length + hidden:
            found[text[:length]].append(code)
    return found


def _place(limit: float | date) -> float:
    return float(limit.toordinal()) if isinstance(limit, date) else limit
