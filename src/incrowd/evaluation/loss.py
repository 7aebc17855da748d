"""The cost of protection: information loss, granularity, correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.evaluation.labels import LabelMeanings
from incrowd.protection.problem import moments

_BLOCK = 250_000  # rows whose coordinates are held at a time


class Loss(NamedTuple):
    """Information loss (eq. 3 and 4) over all columns and by column, and cells that do not cover the original."""

    information: float
    by_column: tuple[float, ...]
    contradicting: int


def information_loss(meanings: Sequence[LabelMeanings], kept: NDArray[np.int64] | None) -> Loss:
    """Mean distance from every record to the far corner of its box, divided by the number of columns (eq. 3 and 4).

    Per column it is the mean difference to the farther limit in standard deviations of the original. A column that is
    constant in the original loses nothing.
    """
    rows = meanings[0].codes.size
    squares = np.zeros(rows)
    by_column, contradicting = [], 0
    for meaning in meanings:
        codes = meaning.original.codes if kept is None else meaning.original.codes[kept]
        value = meaning.place[codes]
        above, below = meaning.high[meaning.codes] - value, value - meaning.low[meaning.codes]
        contradicting += int(np.count_nonzero((above < 0) | (below < 0)))
        _, deviation = moments(meaning.original, meaning.place)
        if deviation > 0.0:
            far = np.maximum(np.abs(above), np.abs(below)) / deviation
            squares += far * far
            by_column.append(float(far.mean()))
        else:
            by_column.append(0.0)
    return Loss(float(np.sqrt(squares).mean()) / len(meanings), tuple(by_column), contradicting)


def granularity(meaning: LabelMeanings) -> float:
    """1 − (values covered − 1) / (values in the domain − 1), on average over the cells of a column."""
    domain = max(meaning.original.size - 1, 1)
    return 1.0 - float(meaning.tally @ (_covered(meaning) - 1)) / domain / float(meaning.codes.size)


def changed_cells(meaning: LabelMeanings) -> int:
    """Cells that cover more than one value."""
    return int(meaning.tally[_covered(meaning) > 1].sum())


def _covered(meaning: LabelMeanings) -> NDArray[np.int64]:
    """Number of possible values of each label; a null may be any value if the original has fewer nulls."""
    original, covered = meaning.original, meaning.covered
    if original.has_null:
        is_null = meaning.is_null
        if np.count_nonzero(is_null[meaning.codes]) > np.count_nonzero(original.codes == original.filled_size):
            covered[is_null] = original.size
    return covered


class Correlations(NamedTuple):
    """Pairwise correlations before and after, NaN if a column is constant (the paper's tables S4 and S5)."""

    names: tuple[str, ...]
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    @property
    def change(self) -> NDArray[np.float64]:
        """After minus before, for every pair that has both."""
        upper = np.triu_indices(len(self.names), 1)
        change = (self.after - self.before)[upper]
        return change[~np.isnan(change)]

    @property
    def agreement(self) -> float | None:
        """Correlation between both sets of correlations, as the paper compares S4 with S5 (0.957 there)."""
        upper = np.triu_indices(len(self.names), 1)
        before, after = self.before[upper], self.after[upper]
        both = ~np.isnan(before) & ~np.isnan(after)
        if both.sum() < 3 or before[both].std() == 0 or after[both].std() == 0:
            return None
        return float(np.corrcoef(before[both], after[both])[0, 1])


def correlations(meanings: Sequence[LabelMeanings]) -> Correlations:
    """Pearson correlations of the original's values, and of the midpoints of protected intervals.

    Wildcards, and nulls of numbers, are left out, because they have no position.
    """
    before = _pairwise([(_without_null(meaning, meaning.place), meaning.original.codes) for meaning in meanings])
    middles = [np.where(meaning.wildcard, np.nan, (meaning.low + meaning.high) / 2) for meaning in meanings]
    after = _pairwise(
        [(_without_null(meaning, middle), meaning.codes) for meaning, middle in zip(meanings, middles, strict=True)]
    )
    return Correlations(tuple(meaning.original.name for meaning in meanings), before, after)


def _without_null(meaning: LabelMeanings, places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions of values, with NaN in place of the artificial position of a null."""
    if not (meaning.original.has_null and meaning.original.has_distances):
        return places
    without: NDArray[np.float64] = np.where(places == meaning.place[-1], np.nan, places)
    return without


def _pairwise(columns: Sequence[tuple[NDArray[np.float64], NDArray[np.unsignedinteger]]]) -> NDArray[np.float64]:
    """Correlations over the rows in which both columns have a number, from sums over blocks of rows."""
    m, rows = len(columns), columns[0][1].size
    centred = [(place - np.nanmean(place) if not np.isnan(place).all() else place, codes) for place, codes in columns]
    n, x, xx, xy = (np.zeros((m, m)) for _ in range(4))
    for start in range(0, rows, _BLOCK):
        block = np.stack([place[codes[start : start + _BLOCK]] for place, codes in centred])
        present = (~np.isnan(block)).astype(np.float64)
        block = np.nan_to_num(block)
        n += present @ present.T
        x += block @ present.T
        xx += (block * block) @ present.T
        xy += block @ block.T
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = x / n
        variance = np.maximum(xx / n - mean * mean, 0.0)
        scale = np.sqrt(variance * variance.T)
        correlation: NDArray[np.float64] = np.where(
            scale > 1e-12 * np.maximum(xx / n, 1e-300), (xy / n - mean * mean.T) / scale, np.nan
        )
    return correlation
