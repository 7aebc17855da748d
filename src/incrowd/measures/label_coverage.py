"""Coverage of original records by released ones: a range or set covers the records whose values it includes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd.backends import Coded, class_numbers, pack
from incrowd.measures.common_coding import in_one_code
from incrowd.measures.label_runs import Runs, merge_values, read_runs

_Codes = NDArray[np.int64]
_Counts = NDArray[np.int32]

_MOST_LOOKED_UP = 4_000_000  # runs of values to look up, above which nothing is counted: about two seconds
_AT_ONCE = 250_000  # runs that are looked up in one block
_LARGEST_KEY = 2**63  # of a whole number


@dataclass(frozen=True, slots=True)
class _Covered:
    """The original records that each distinct combination of labels (cell) covers.

    Attributes:
        keys: one number for the values of each original record, in ascending order.
        order: the original records that count, in this order.
        cells: the number of cells.
        cell_of_record: the cell of every released record.
        parts: arrays of cells, and of the limits in `keys` between which a cell covers all records.
    """

    keys: _Codes
    order: _Codes
    cells: int
    cell_of_record: _Codes
    parts: Iterator[tuple[_Codes, _Codes, _Codes]]


class LabelCoverage:
    """Counts of original records that each released record covers.

    Rows need not be in the same order. A released record covers an original record if both are equal in the unchanged
    columns and its ranges and sets include the original values.
    """

    def __init__(self, known: Sequence[Coded], released: Sequence[Coded], coarse: Sequence[str]) -> None:
        self._before = {column.name: column for column in known}
        self._after = {column.name: column for column in released}
        self._unchanged = [column.name for column in known if column.name not in coarse]
        self._runs = cache(lambda name: read_runs(self._after[name], self._before[name]))
        self._short_runs = cache(lambda name: merge_values(self._runs(name)))
        self._group = cache(self._group_by)

    def count(self, columns: Sequence[Coded], facts: Sequence[NDArray[Any]], *, same: bool = True) -> _Counts | None:
        """Count, for every released record, the original records that it covers and that a mask selects.

        Args:
            columns: the columns to compare; at least one was made coarser.
            facts: one or more masks of the original records.
            same: True to compare all unchanged columns, False to compare only those in `columns`.

        Returns:
            For every mask, the count of every released record; None if counting takes too long.
        """
        covered = self._cover([one.name for one in columns], same)
        if covered is None:
            return None
        counts = np.zeros((len(facts), covered.cells), dtype=np.int32)
        totals = [np.concatenate([[0], np.cumsum(fact[covered.order], dtype=np.int32)]) for fact in facts]
        for cell, low, high in covered.parts:
            for count, total in zip(counts, totals, strict=True):
                count += np.bincount(cell, weights=total[high] - total[low], minlength=covered.cells).astype(np.int32)
        return counts[:, covered.cell_of_record]

    def has_gaps(self, name: str) -> bool:
        """True if a label covers values with others between them, as sets of names and codes do; a null is no value."""
        runs, original = self._runs(name), self._before[name]
        null = runs.ranks[original.filled_size] if original.has_null else -1
        owner = np.repeat(np.arange(runs.counts.size), runs.counts)
        return bool((np.bincount(owner[runs.low != null]) > 1).any())

    def widths(self, name: str) -> _Codes:
        """The number of original values that the label of every released record covers."""
        widths: _Codes = self._runs(name).widths[self._after[name].codes]
        return widths

    def outermost(self, name: str, *, among: NDArray[np.bool_]) -> tuple[_Codes, _Codes] | None:
        """The smallest and the largest value of a coarsened column among the original records that each record covers.

        All quasi-identifiers are compared if that is quick enough, else the column and those that were not changed.

        Args:
            name: the column.
            among: mask of the original records that count. Of a suppressed cell, those that no other label covers.

        Returns:
            Two codes of the column for every released record, both -1 if its label is neither understood nor a
            suppressed cell, or covers none of the records; None if even the shorter comparison takes too long.
        """
        compared = [*self._before]
        covered = self._cover(compared, True, along=name, among=among)
        if covered is None:
            compared = [name]
            covered = self._cover(compared, True, among=among)
        if covered is None:
            return None
        size, runs, labels = self._before[name].size, self._runs(name), self._after[name].codes
        smallest, largest = np.full(covered.cells, size), np.full(covered.cells, -1)
        is_understood = np.zeros(covered.cells, dtype=bool)
        is_understood[covered.cell_of_record] = runs.is_understood[labels]
        starts = np.zeros(covered.keys.size + 1, dtype=np.int64)  # less the ends of what cells cover before each record
        for cell, low, high in covered.parts:
            found = (low < high) & is_understood[cell]
            np.minimum.at(smallest, cell[found], covered.keys[low[found]] % size)
            np.maximum.at(largest, cell[found], covered.keys[high[found] - 1] % size)
            starts += np.bincount(low[found], minlength=starts.size) - np.bincount(high[found], minlength=starts.size)
        alone = np.flatnonzero(np.cumsum(starts)[:-1] == 0)
        again = None
        if alone.size and runs.is_suppressed.any() and (runs.is_understood | runs.is_suppressed).all():
            again = self._cover(compared, True, along=name, among=among)
        if again is not None:
            for cell, low, high in again.parts:
                first, last = np.searchsorted(alone, low), np.searchsorted(alone, high)
                found = (first < last) & ~is_understood[cell]
                np.minimum.at(smallest, cell[found], covered.keys[alone[first[found]]] % size)
                np.maximum.at(largest, cell[found], covered.keys[alone[last[found] - 1]] % size)
        code_of_rank = np.argsort(runs.ranks)
        is_found = largest[covered.cell_of_record] >= 0
        smallest, largest = (np.clip(one[covered.cell_of_record], 0, size - 1) for one in (smallest, largest))
        return np.where(is_found, code_of_rank[smallest], -1), np.where(is_found, code_of_rank[largest], -1)

    def _cover(
        self,
        names: Sequence[str],
        same: bool,
        *,
        along: str | None = None,
        among: NDArray[np.bool_] | slice = slice(None),
    ) -> _Covered | None:
        """Find the original records of every distinct combination of labels; None if that takes too long.

        `along` is the column by which the records of one combination are sorted; None: the one with the most values.
        `among` are the original records that count.
        """
        before, after = self._group(tuple(one for one in self._unchanged if same or one in names))
        coarse = [self._before[name] for name in names if name not in self._unchanged]
        *others, last = sorted(coarse, key=lambda one: (one.name == along, one.size))
        groups = max(int(one.max(initial=0)) for one in (before, after)) + 1
        runs = self._runs(last.name)
        short = {one.name: self._short_runs(one.name) for one in others}
        if math.prod((groups, runs.size, *(one.size for one in short.values()))) >= _LARGEST_KEY:
            return None
        keys = before[among]
        for one in others:
            keys = keys * short[one.name].size + short[one.name].ranks[one.codes[among]]
        keys = keys * runs.size + runs.ranks[last.codes[among]]
        order = np.argsort(keys)
        keys = keys[order]
        rows, cell_of_record = _distinct([after, *(self._after[one.name].codes for one in coarse)])
        labels = {one.name: self._after[one.name].codes[rows] for one in coarse}
        work = runs.counts[labels[last.name]].astype(np.float64)
        for name, of_column in short.items():
            work = work * of_column.widths[labels[name]]
        if work.sum() > _MOST_LOOKED_UP:
            return None

        def parts() -> Iterator[tuple[_Codes, _Codes, _Codes]]:
            for part in np.split(np.arange(rows.size), _ends(work)):
                cell, prefix = part, after[rows[part]]
                for name, of_column in short.items():
                    cell, prefix = _spread(of_column, cell, prefix, labels[name])
                at, run = _expand(runs.starts[labels[last.name][cell]], runs.counts[labels[last.name][cell]])
                cell, first = cell[at], prefix[at] * runs.size
                yield cell, np.searchsorted(keys, first + runs.low[run]), np.searchsorted(keys, first + runs.high[run])

        return _Covered(keys, order, rows.size, cell_of_record, parts())

    def _group_by(self, names: tuple[str, ...]) -> tuple[_Codes, _Codes]:
        """Group numbers of the original and of the released records: equal for records with equal values of `names`."""
        rows = next(iter(self._before.values())).codes.size
        if not names:
            return np.zeros(rows, dtype=np.int64), np.zeros(next(iter(self._after.values())).codes.size, dtype=np.int64)
        both = [in_one_code(self._before[name], self._after[name]) for name in names]
        groups, _ = class_numbers(pack(both))
        before, after = np.split(groups.astype(np.int64), [rows])
        return before, after


def _spread(runs: Runs, cell: _Codes, prefix: _Codes, labels: _Codes) -> tuple[_Codes, _Codes]:
    """Repeat cells and the prefixes of their keys for every rank of a column that the cell's label covers."""
    at, run = _expand(runs.starts[labels[cell]], runs.counts[labels[cell]])
    cell, prefix = cell[at], prefix[at]
    at, rank = _expand(runs.low[run], (runs.high - runs.low)[run])
    return cell[at], prefix[at] * runs.size + rank


def _distinct(columns: Sequence[_Codes]) -> tuple[_Codes, _Codes]:
    """One row for each distinct combination of codes, and the number of each row's combination."""
    coded = [Coded("", codes, pa.nulls(int(codes.max(initial=0)) + 1)) for codes in columns]
    place = class_numbers(pack(coded))[0].astype(np.int64)
    return first_places(place), place


def _ends(work: NDArray[np.float64]) -> _Codes:
    """Split points that divide work into parts of bounded size."""
    return np.flatnonzero(np.diff(np.cumsum(work) // _AT_ONCE)) + 1


def _expand(starts: _Codes, counts: _Codes) -> tuple[_Codes, _Codes]:
    """Concatenate ranges, given by their starts and lengths: the index of each number's range, and the number."""
    owner = np.repeat(np.arange(counts.size), counts)
    return owner, np.arange(owner.size) + (starts - np.cumsum(counts) + counts)[owner]
