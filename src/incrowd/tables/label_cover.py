"""The values that the labels of a released column cover, as runs of ranks: memory grows with labels plus values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LabelCover:
    """The values that each label of a released column covers.

    Attributes:
        places: the places of the values by rank: ascending where they are numbers or dates, missing values last.
        starts: where the runs of every label begin in `run_start` and `run_end`, and where the last ones end.
        run_start: the first rank of each run of covered values.
        run_end: the rank after the last one of each run.
        positions: the number of every value, NaN where it has none: days of dates, units of times. Where floats cannot
            tell numbers apart, they are counted from the smallest.
        low: the lower bound of each label on the scale of `positions`, NaN where it has none; infinite if it is open.
        high: the upper bound.
        excludes_low: mask of labels whose lower bound itself is not covered.
        excludes_high: mask of labels whose upper bound itself is not covered.
        is_list: mask of labels that list their values, as sets and names of a hierarchy do; the others are ranges.
        hides_all: mask of labels that cover every value, the missing ones too.
        is_unread: mask of labels that are not understood; they cover nothing, so nothing follows from them.
    """

    places: Places
    starts: Places
    run_start: Places
    run_end: Places
    positions: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    excludes_low: NDArray[np.bool_]
    excludes_high: NDArray[np.bool_]
    is_list: NDArray[np.bool_]
    hides_all: NDArray[np.bool_]
    is_unread: NDArray[np.bool_]

    @property
    def unread(self) -> Places:
        """The places of the labels that are not understood."""
        return np.flatnonzero(self.is_unread)

    @cached_property
    def ranks(self) -> Places:
        """The rank of every value."""
        ranks = np.empty(self.places.size, dtype=np.int64)
        ranks[self.places] = np.arange(self.places.size)
        return ranks

    @cached_property
    def counts(self) -> Places:
        """The number of values that each label covers."""
        return np.diff(np.concatenate([[0], np.cumsum(self.run_end - self.run_start)])[self.starts])

    def pairs(self, labels: ArrayLike, values: ArrayLike) -> NDArray[np.bool_]:
        """For places of labels and of values, mark the pairs in which the label covers the value.

        >>> import pyarrow as pa
        >>> from incrowd.tables.labels import read_labels
        >>> cover = read_labels(pa.array(["[20;29]", "*"]), pa.array([25, 30]))
        >>> cover.pairs([0, 0, 1], [0, 1, 1]).tolist()
        [True, False, True]
        """
        labels, ranks = np.asarray(labels, dtype=np.int64), self.ranks[np.asarray(values, dtype=np.int64)]
        labels, ranks = np.broadcast_arrays(labels, ranks)
        width = self.places.size + 1
        if (np.diff(self.starts) <= 1).all():  # the last run that begins in time is the only one of the label
            run = self.starts[labels]
            is_one = run < self.starts[labels + 1]
        else:
            owner = np.repeat(np.arange(self.low.size), np.diff(self.starts))
            run = np.searchsorted(owner * width + self.run_start, labels * width + ranks, "right") - 1
            is_one = run >= self.starts[labels]
        run = np.where(is_one, run, 0)
        if not self.run_start.size:
            return np.zeros(labels.shape, dtype=np.bool_)
        return np.asarray(is_one & (self.run_start[run] <= ranks) & (ranks < self.run_end[run]))

    def values_of(self, label: int) -> Places:
        """The places of the values that a label covers, ascending."""
        runs = range(self.starts[label], self.starts[label + 1])
        ranks = [np.arange(self.run_start[run], self.run_end[run]) for run in runs]
        return np.sort(self.places[np.concatenate(ranks)]) if ranks else np.empty(0, dtype=np.int64)

    def labels_of(self, value: int) -> Places:
        """The places of the labels that cover a value, ascending."""
        rank = self.ranks[value]
        runs = np.flatnonzero((self.run_start <= rank) & (rank < self.run_end))
        return np.searchsorted(self.starts, runs, "right") - 1

    def matrix(self) -> csr_array:
        """Labels by values, True where a label covers a value."""
        from scipy.sparse import csr_array  # not loaded where labels are only read

        _, ranks = expand(self.run_start, self.run_end)
        ends = np.concatenate([[0], np.cumsum(self.counts)])
        columns = self.places[ranks]
        cells = csr_array((np.ones(columns.size, dtype=np.bool_), columns, ends), (self.low.size, self.places.size))
        cells.sort_indices()
        return cells


def expand(starts: Places, ends: Places) -> tuple[Places, Places]:
    """All numbers of some ranges in sequence, and before them the place of each number's range.

    >>> [part.tolist() for part in expand(np.array([5, 9]), np.array([7, 10]))]
    [[0, 0, 1], [5, 6, 9]]
    """
    counts = ends - starts
    owner = np.repeat(np.arange(counts.size), counts)
    return owner, np.arange(owner.size) + (starts - np.cumsum(counts) + counts)[owner]


def joined_runs(owner: Places, start: Places, end: Places, labels: int, values: int) -> tuple[Places, Places, Places]:
    """Runs in the order of their labels without overlaps: where those of each label begin, their starts and their ends.

    >>> runs = joined_runs(*(np.array(one) for one in ([1, 1, 0], [3, 1, 2], [5, 4, 2])), labels=2, values=5)
    >>> [part.tolist() for part in runs]
    [[0, 0, 1], [1], [5]]
    """
    filled = start < end
    first, last = (owner * (values + 1) + side for side in (start, end))
    first, last = first[filled], last[filled]
    order = np.argsort(first, kind="stable")
    first, last = first[order], np.maximum.accumulate(last[order])
    is_new = np.append(True, first[1:] > last[:-1])[: first.size]
    first, last = first[is_new], last[np.append(is_new[1:], True)[: last.size]]
    owner = first // (values + 1)
    starts = np.searchsorted(owner, np.arange(labels + 1))
    return starts, first % (values + 1), last - owner * (values + 1)
