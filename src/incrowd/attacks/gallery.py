"""Search of probes (records of one table) in a gallery (records of another)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd._support.progress import Progress, silent
from incrowd._support.threads import map_in_threads
from incrowd.attacks.encoding import EncodedTables, ScaledColumn, missed_pairs
from incrowd.attacks.record_index import NORMAL, NUMBER, SETS, STEP, RecordColumn, RecordIndex, RecordRuns
from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import UnsupportedError
from incrowd.special import Floats

SLACK = 1e-9
"""Distances that differ by less are a tie: sums of the same numbers in another order differ by rounding."""

_FEW = 1 << 10  # columns with at most this many labels have their costs computed once for every probe
_MOST_LABELS, _MOST_PAIRS = 1 << 16, 1 << 29  # limits for columns with sets, which are compared by their members
_BLOCK = 64  # probes that a thread takes at a time
_FEW_PAIRS = 300_000  # of a probe and a record: below this number no thread is started
_EVERYTHING = -1
_PAIRS = 1000  # pairs of rows that are sampled to order the columns
_USUAL_DISTANCE = 0.25  # assumed distance of a nearest record, to order the columns


@dataclass(frozen=True, slots=True, eq=False)
class Probes:
    """The search targets: an interval in every column, and the label it was taken from (-1: everything fits)."""

    low: Floats
    high: Floats
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, encoded: EncodedTables, side: int, rows: NDArray[np.int64]) -> Probes:
        """Unchanged rows of one of the tables."""
        labels = [column.labels[side] for column in encoded.columns]
        codes = np.stack([one.codes[rows] for one in labels], axis=1)
        low = np.stack([one.low[codes[:, place]] for place, one in enumerate(labels)], axis=1)
        high = np.stack([one.high[codes[:, place]] for place, one in enumerate(labels)], axis=1)
        return cls(low, high, codes)

    def take(self, rows: NDArray[np.int64] | slice) -> Probes:
        """Some of the probes."""
        return Probes(self.low[rows], self.high[rows], self.codes[rows])

    def joined(self, others: Probes) -> Probes:
        """Concatenate these probes and others."""
        return Probes(
            np.concatenate([self.low, others.low]),
            np.concatenate([self.high, others.high]),
            np.concatenate([self.codes, others.codes]),
        )

    def without(self, forgotten: NDArray[np.bool_]) -> Probes:
        """The probes with these cells unknown, so that every value fits."""
        return Probes(
            np.where(forgotten, -np.inf, self.low),
            np.where(forgotten, np.inf, self.high),
            np.where(forgotten, _EVERYTHING, self.codes),
        )


class Gallery:
    """The distinct records of a table, each with the number of its rows.

    Args:
        encoded: the columns.
        side: which of the tables: 0 the original, 1 the released one, 2 the holdout.
        probes_side: the table that probes are taken from.
        rows: the rows that are in the gallery; None for all.
        spread: by column, the published standard deviation of the added noise; the cost of such a column is minus the
            normal log density, instead of a fraction of the column's range.
    """

    def __init__(
        self,
        encoded: EncodedTables,
        side: int,
        probes_side: int,
        *,
        rows: NDArray[np.int64] | None = None,
        spread: Mapping[str, float] | None = None,
    ) -> None:
        wanted = np.arange(encoded.rows[side]) if rows is None else rows
        codes = [column.labels[side].codes[wanted] for column in encoded.columns]
        keys = pack(
            Coded(column.name, code, np.empty(column.labels[side].low.size))
            for column, code in zip(encoded.columns, codes, strict=True)
        )
        numbers, sizes = class_numbers(keys)
        first = first_places(numbers)
        order = np.argsort(first, kind="stable")  # records in the order of the rows, so that the first one is first
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        self.record_of: NDArray[np.int64] = place[numbers]
        self.weights: NDArray[np.int64] = sizes[order]
        self.first_row: NDArray[np.int64] = wanted[first[order]]
        self.rows = int(keys.size)
        records = np.stack([code[first[order]] for code in codes], axis=1)
        self._compiled = _compile(encoded.columns, side, probes_side, records, spread or {})
        self._costs = _sample_costs(encoded.columns, side, codes)
        self._ends = [column.labels[side] for column in encoded.columns], records

    @cached_property
    def _index(self) -> RecordIndex:
        modes, weights = self._compiled[:2]
        labels, records = self._ends
        return RecordIndex(
            [
                RecordColumn(int(mode), float(weight), one.low[at], one.high[at], float(cost), _order(one.low, at))
                for mode, weight, one, at, cost in zip(
                    modes, weights, labels, records.T, self._costs.mean(axis=0), strict=True
                )
            ]
        )

    def _runs(self, probes: Probes, limits: Floats) -> RecordRuns:
        """The candidate records of each probe, which include all records within its limit."""
        return self._index.runs(probes.low, probes.high, probes.codes != _EVERYTHING, limits)

    def _arguments(self, probes: Probes, limit: float) -> tuple[Any, Any]:
        """Probes and gallery for the compiled loops; columns that exclude most records come first."""
        low, high, codes = (np.ascontiguousarray(array) for array in (probes.low, probes.high, probes.codes))
        order = np.argsort(-np.minimum(self._costs, max(limit, SLACK)).mean(axis=0), kind="stable")
        return (low, high, codes), (order, *self._compiled)

    def distances_to(self, probes: Probes, records: NDArray[np.int64]) -> Floats:
        """The distance of each probe to one record of the gallery."""
        from incrowd.attacks import kernels

        distances = np.empty(records.size)
        kernels.pair_distances(*self._arguments(probes, np.inf), records, distances)
        return distances

    def count(
        self, probes: Probes, limits: Floats, *, most: int | None = None, progress: Progress = silent
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For each probe, the numbers of rows nearer than its limit and at it, and one record at it or -1."""
        from incrowd.attacks import kernels

        nearer, level, first = (np.full(limits.size, start, dtype=np.int64) for start in (0, 0, -1))
        arguments, enough = self._arguments(probes, _middle(limits)), self.rows + 1 if most is None else most
        runs = tuple(self._runs(probes, limits))

        def work(begin: int, end: int) -> None:
            kernels.count_within(
                *arguments, runs, self.weights, limits, SLACK, begin, end, enough, nearer, level, first
            )

        self._compare(work, limits.size, progress)
        return nearer, level, first

    def nearest(
        self, probes: Probes, *, wanted: int = 1, progress: Progress = silent
    ) -> tuple[Floats, NDArray[np.int64]]:
        """For each probe the distances and the first rows of the nearest records, nearest first."""
        from incrowd.attacks import kernels

        if wanted > self.rows:
            raise UnsupportedError(f"{wanted:,} neighbours in a table of {self.rows:,} rows; give more rows")
        size = probes.low.shape[0]
        arguments = self._arguments(probes, _USUAL_DISTANCE)

        def search(runs: RecordRuns, report: Progress) -> tuple[Floats, NDArray[np.int64]]:
            distances, records = np.full((size, wanted), np.inf), np.full((size, wanted), -1, dtype=np.int64)
            loops = (*arguments, tuple(runs), self.weights, SLACK)
            self._compare(lambda begin, end: kernels.nearest(*loops, begin, end, distances, records), size, report)
            return distances, records

        limits = np.full(size, np.inf)  # distances to a few near records limit the search among all records
        for runs in self._index.nearby(probes.low, probes.codes != _EVERYTHING):
            limits = np.minimum(limits, search(runs, silent)[0][:, -1])
        distances, records = search(self._runs(probes, limits), progress)
        return distances, self.first_row[records]

    def guess(self, probes: Probes, limits: Floats, secrets: NDArray[np.int64], room: int) -> NDArray[np.int64]:
        """For each probe, the secret that most rows within its limit have; `secrets` has one for every row."""
        from incrowd.attacks import kernels

        pairs, counts = np.unique(self.record_of * room + secrets, return_counts=True)
        heads = np.searchsorted(pairs // room, np.arange(self.weights.size + 1))
        guesses = np.empty(limits.size, dtype=np.int64)
        arguments = *self._arguments(probes, _middle(limits)), tuple(self._runs(probes, limits))

        def work(begin: int, end: int) -> None:
            kernels.guess_secrets(*arguments, limits + SLACK, heads, pairs % room, counts, room, begin, end, guesses)

        self._compare(work, limits.size)
        return guesses

    def _compare(self, work: Callable[[int, int], None], probes: int, progress: Progress = silent) -> None:
        """Call a function for blocks of probes; in threads, unless there are few pairs of a probe and a record."""
        starts = range(0, probes, _BLOCK)
        found = map_in_threads(
            lambda begin: work(begin, min(begin + _BLOCK, probes)),
            starts,
            small=probes * self.weights.size < _FEW_PAIRS,
        )
        for done, _ in enumerate(found):
            progress("comparing records", (done + 1) / len(starts))


def _order(values: Floats, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The records sorted by their values, stably; short ranks sort many times faster."""
    distinct, ranks = np.unique(values, return_inverse=True)
    return np.argsort(ranks.astype(np.min_scalar_type(distinct.size))[codes], kind="stable")


def _compile(
    columns: Sequence[ScaledColumn],
    side: int,
    probes_side: int,
    records: NDArray[np.int64],
    spread: Mapping[str, float],
) -> tuple[Any, ...]:
    """The arrays of a gallery for the compiled loops: see `kernels`."""
    modes, starts, sizes, miss_starts = (np.zeros(len(columns), dtype=np.int64) for _ in range(4))
    costs = np.ones(len(columns))
    labels = [column.labels[side] for column in columns]
    few = np.array([one.low.size <= _FEW or column.has_sets for one, column in zip(labels, columns, strict=True)])
    misses, missed = [np.zeros(0, dtype=np.bool_)], 0
    ends: list[tuple[Floats, Floats]] = []
    codes = np.empty(records.shape, dtype=np.int32)
    filled = 0
    for at in np.argsort(~few, kind="stable").tolist():  # columns with few labels first: their costs are one array
        column, one = columns[at], labels[at]
        modes[at] = NUMBER if column.number else STEP
        if column.name in spread and column.number:
            modes[at], costs[at] = NORMAL, column.size / spread[column.name]
        if column.has_sets:
            modes[at], miss_starts[at] = SETS, missed
            misses.append(_missed_pairs(column, side, probes_side))
            missed += misses[-1].size
        starts[at], sizes[at] = filled, one.low.size if few[at] else 0
        codes[:, at] = filled + (records[:, at] if few[at] else np.arange(len(records)))
        ends.append((one.low, one.high) if few[at] else (one.low[records[:, at]], one.high[records[:, at]]))
        filled += ends[-1][0].size
    low, high = (np.concatenate(part) for part in zip(*ends, strict=True))
    return modes, costs, codes, starts, sizes, low, high, np.concatenate(misses), miss_starts


def _sample_costs(columns: Sequence[ScaledColumn], side: int, codes: Sequence[NDArray[np.int64]]) -> Floats:
    """The cost of each column between sampled pairs of rows."""
    some = slice(None, None, max(1, codes[0].size // _PAIRS))
    costs = []
    for column, code in zip(columns, codes, strict=True):
        low = np.clip(column.labels[side].low[code[some]], -1.0, None)
        gap = np.abs(low - low[::-1])
        costs.append(np.minimum(gap, 1.0) if column.number else (gap > 0).astype(np.float64))
    return np.stack(costs, axis=1)


def _middle(limits: Floats) -> float:
    return float(np.median(limits)) if limits.size else 0.0


def _missed_pairs(column: ScaledColumn, side: int, probes_side: int) -> NDArray[np.bool_]:
    probes, gallery = column.labels[probes_side], column.labels[side]
    if gallery.low.size > _MOST_LABELS or probes.low.size * gallery.low.size > _MOST_PAIRS:
        raise UnsupportedError(
            f"column {column.name!r} has sets and {gallery.low.size:,} different labels, too many to compare by their "
            "members; leave it out"
        )
    return missed_pairs(probes, gallery).ravel()
