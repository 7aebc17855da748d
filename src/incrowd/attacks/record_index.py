"""An index of records, so that a search compares only a part of them, the candidates.

A record whose distance to a probe is within a limit is within the limit in every column. If records are sorted by a
column of numbers, such records are consecutive (a run). If the limit is below the cost of a different text, texts must
be equal; if records are sorted by the combination of all text columns, these are a run too. For each probe the shortest
run is searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.special import Floats

NUMBER, STEP, NORMAL, SETS = 0, 1, 2, 3
"""The cost function of a column: the gap up to 1, 0 or 1, half the squared gap, or a lookup by both labels."""

_NEARBY = 64  # records on either side of a probe that give a first limit
_MOST_COMBINATIONS = 1 << 52
_APART = 8.0  # distance between combinations of text on the sorted scale; numbers within one are below it (a null is 2)
_MARGIN = 1e-6  # added to limits, so that rounding excludes no record


class RecordRuns(NamedTuple):
    """For each probe a run of records: from `begins` to `ends` of the order `which`."""

    orders: NDArray[np.int32]
    which: NDArray[np.int64]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordColumn:
    """A column of a gallery's records: the position of every cell, its cost function, its usual cost, and the order."""

    mode: int
    weight: float
    low: Floats
    high: Floats
    usual_cost: float
    order: NDArray[np.int64]

    @property
    def is_exact(self) -> bool:
        """True if no cell is a range, a set or *."""
        return self.mode != SETS and bool(np.array_equal(self.low, self.high))

    def reach(self, limits: Floats) -> Floats:
        """The largest distance of a cell from a probe within each limit; inf if everything is within it."""
        room = np.maximum(limits, 0.0) + _MARGIN
        if self.mode == STEP:
            return np.where(room < self.weight, 0.5, np.inf)
        if self.mode == NORMAL:
            return np.asarray(np.sqrt(2.0 * room) / self.weight)
        return np.where(room < 1.0, room / self.weight, np.inf)


class RecordIndex:
    """The records of a gallery in the order of each exact column, and of all exact columns of text together."""

    def __init__(self, columns: Sequence[RecordColumn]) -> None:
        self._columns = columns
        exact = [place for place, column in enumerate(columns) if column.is_exact]
        self._single = [(place, columns[place].order) for place in exact]
        self._values = [columns[place].low[order] for place, order in self._single]
        records = columns[0].low.size
        orders = [np.arange(records), *(order for _, order in self._single)]
        self._texts = [place for place in exact if columns[place].mode == STEP]
        self._number = max(
            (place for place in exact if columns[place].mode == NUMBER),
            key=lambda place: columns[place].usual_cost,
            default=None,
        )
        sizes = [columns[place].low.max() + 1.0 for place in self._texts]
        self._radix = np.concatenate([[1.0], np.cumprod(sizes)])[:-1]
        self._combined = bool(self._texts) and float(np.prod(sizes)) < _MOST_COMBINATIONS
        if self._combined:
            keys = self._keys([columns[place].low for place in self._texts])
            self._combinations, numbers = np.unique(keys, return_inverse=True)
            place = numbers * _APART + (0.0 if self._number is None else columns[self._number].low)
            order = np.argsort(place, kind="stable")
            self._places = place[order]
            orders.append(order)
        self._orders = np.stack(orders).astype(np.int32)

    def _keys(self, texts: Sequence[Floats]) -> Floats:
        """Combinations of text as numbers in mixed radix."""
        return np.asarray(sum(radix * text for radix, text in zip(self._radix, texts, strict=True)))

    def runs(self, low: Floats, high: Floats, named: NDArray[np.bool_], limits: Floats) -> RecordRuns:
        """For each probe the shortest run that holds every record within its limit.

        Args:
            low: start of the interval of each probe in each column.
            high: end of this interval.
            named: mask of the columns that each probe uses; every value fits in the others.
            limits: the limit of each probe.
        """
        size, records = limits.size, self._orders.shape[1]
        which, begins, ends = np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, records)
        candidate_runs = []
        for (place, _), values in zip(self._single, self._values, strict=True):
            some = np.flatnonzero(named[:, place])
            reach = self._columns[place].reach(limits[some])
            first = np.searchsorted(values, low[some, place] - reach, "left")
            candidate_runs.append((some, first, np.searchsorted(values, high[some, place] + reach, "right")))
        if self._combined:
            candidate_runs.append(self._runs_of_combinations(low, high, named, limits))
        for number, (some, first, last) in enumerate(candidate_runs, start=1):
            shorter = last - first < ends[some] - begins[some]
            better = some[shorter]
            which[better], begins[better], ends[better] = number, first[shorter], last[shorter]
        return RecordRuns(self._orders, which, begins, np.maximum(ends, begins))

    def nearby(self, low: Floats, named: NDArray[np.bool_]) -> Iterator[RecordRuns]:
        """The records on either side of each probe in each order, for a first limit."""
        records = self._orders.shape[1]
        middles = [
            np.where(named[:, place], np.searchsorted(values, low[:, place]), -_NEARBY)
            for (place, _), values in zip(self._single, self._values, strict=True)
        ]
        if self._combined:
            number = np.zeros(low.shape[0]) if self._number is None else np.maximum(low[:, self._number], -1.0)
            middles.append(np.searchsorted(self._places, self._place(low, number)))
        for order, middle in enumerate(middles, start=1):
            begins, ends = np.clip(middle - _NEARBY, 0, records), np.clip(middle + _NEARBY, 0, records)
            yield RecordRuns(self._orders, np.full(middle.size, order), begins, ends)

    def _place(self, low: Floats, number: Floats) -> Floats:
        """The positions of probes in the order of combinations; unknown combinations come before all."""
        keys = self._keys([low[:, place] for place in self._texts])
        at = np.minimum(np.searchsorted(self._combinations, keys), self._combinations.size - 1)
        return np.where(self._combinations[at] == keys, at * _APART + number, -np.inf)

    def _runs_of_combinations(
        self, low: Floats, high: Floats, named: NDArray[np.bool_], limits: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The probes whose limit is below the cost of a different text, and runs of records with their texts.

        The runs are narrowed to near values of one column of numbers.
        """
        texts = self._texts
        least = min(self._columns[place].weight for place in texts)
        known = named[:, texts].all(axis=1) & np.equal(low[:, texts], high[:, texts]).all(axis=1)
        some = np.flatnonzero(known & (limits + _MARGIN < least))
        begin, end = np.full(some.size, -1.0), np.full(some.size, 3.0)
        if self._number is not None:
            reach = np.where(named[some, self._number], self._columns[self._number].reach(limits[some]), np.inf)
            begin = np.maximum(low[some, self._number] - reach, begin)
            end = np.minimum(high[some, self._number] + reach, end)
        first = np.searchsorted(self._places, self._place(low[some], begin), "left")
        return some, first, np.searchsorted(self._places, self._place(low[some], end), "right")
