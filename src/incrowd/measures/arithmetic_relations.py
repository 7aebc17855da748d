"""Formulas that compute a coarsened number or date from kept numbers and dates.

A difference, a sum or a rescaled copy is linear in the kept columns; a product, a ratio or a power is linear in their
logarithms. Both are fitted on one half of the rows and judged on the other, so that many columns do not fit few rows by
accident. The fit is robust, so that a few altered cells do not hide the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values, run_starts
from incrowd.measures.determination import Determination
from incrowd.measures.quantities import Floats, Quantity

_FIT_ROWS = 2_000  # rows that a formula is fitted on, at most, unless the next line asks for more
_ROWS_PER_COLUMN = 10  # rows for each column of the formula
_MOST_COLUMNS = 200  # columns in one fit; of more, those with the highest correlation with the target
_STARTS = 10  # small random samples of rows; the robust fit starts from the one with the smallest usual error
_WELL_FITTED, _STEPS = 0.8, 10  # share of the rows with the smallest errors that is fitted again, and how often
_MAY_TELL = 0.5  # share of the target's mean deviation; a first fit with larger errors ends the search
_TALL = 4  # rows for each column, above which a fit is by normal equations
_DISTINCT = 1e-10  # smallest eigenvalue of these, as a share of the largest, with which they are precise enough
_SLIGHT = 0.05  # largest weight of missing cells in a guess, in standard deviations of the target
_OUTERMOST = 0.05  # share of the records at each end of a range that may be altered
_CLOSE = 0.125  # largest error of a close guess, as a share of the width that the released value leaves open
_NEARLY_ALL = 0.95  # share of the guesses that must be close
_EXACT = 0.9  # share of the guesses whose nearest value is the true one, from which guesses are rounded to values
_POSITIVE = 0.99  # share of the values that must be positive for logarithms
_MOST_KEPT = 4_000_000  # rows up to which the random order is cached, because every target needs the same order


@dataclass(frozen=True, slots=True)
class Relation:
    """Columns from which a coarsened column can be computed.

    Attributes:
        columns: the columns; each of them is needed.
        told: the share of records whose value is guessed far more closely than the released value shows it.
        by_chance: the share of records that a guess without the columns reaches.
        guesses: the guessed value of every released row, as codes from 0.
        step: the width of the steps that guesses are rounded to; 0 if they are rounded to values of the column.
        guessed: the guess of every released row as a number, NaN where it is missing.
    """

    columns: tuple[str, ...]
    told: float
    by_chance: float
    guesses: NDArray[np.int64]
    step: float
    guessed: Floats


_Design: TypeAlias = tuple[Floats, Floats, Floats, Floats]
Designs: TypeAlias = dict[tuple[bool, tuple[int, ...], bytes], _Design]
_DESIGNS = 8  # design matrices in the cache that several targets share


def find_relation(
    target: Quantity,
    released: NDArray[Any],
    before: Sequence[Quantity],
    after: Sequence[Quantity],
    designs: Designs | None = None,
) -> Relation | None:
    """Find the fewest columns from which a target can be computed more closely than its released values show it.

    Args:
        target: the column of the original.
        released: the released labels of the target, as codes from 0.
        before: the columns of the formula, with the rows of the original.
        after: the same columns in the same order, with the rows of the release.
        designs: cache of design matrices of `before`; targets of one table may share it.

    Returns:
        The relation, linear or linear in logarithms, that needs the fewest columns; None if there is none.

    >>> draw = np.random.default_rng(0)
    >>> numbers = [draw.integers(0, 50, 400) for _ in range(3)]
    >>> one, other, noise = (Quantity(str(n), codes, np.arange(50.0)) for n, codes in enumerate(numbers))
    >>> total = Quantity("total", numbers[0] + numbers[1], np.arange(100.0))
    >>> columns = [one, other, noise]
    >>> find_relation(total, total.codes // 20, columns, columns).columns
    ('0', '1')
    """
    with np.errstate(all="ignore"):  # squares of extreme numbers overflow; such columns are left out of the fit
        relations = [
            relation
            for is_log in (False, True)
            if (relation := _Search(target, released, before, after, designs, is_log=is_log).run()) is not None
        ]
    return min(relations, key=lambda one: (len(one.columns), -one.told), default=None)


@dataclass(frozen=True, slots=True)
class _Formula:
    """A linear formula for a standardised target: weights of standardised columns, the constant last."""

    columns: tuple[int, ...]
    centre: Floats
    scale: Floats
    weights: Floats

    def guess(self, matrix: Floats) -> Floats:
        """The guess of every row; NaN if cells are missing whose weight matters.

        Columns are added one by one: the rounding of a matrix product depends on the position of the row.
        """
        *weights, constant = self.weights
        guesses, unknown = np.full(len(matrix), constant), np.zeros(len(matrix))
        for column, centre, scale, weight in zip(matrix.T, self.centre, self.scale, weights, strict=True):
            part = weight * ((column - centre) / scale)
            missing = np.isnan(part)
            unknown[missing] += abs(weight)
            part[missing] = 0.0
            guesses += part
        guesses[unknown > _SLIGHT] = np.nan
        return guesses


class _Search:
    """The search for a formula of one target, linear in the columns or in their logarithms."""

    def __init__(
        self,
        target: Quantity,
        released: NDArray[Any],
        before: Sequence[Quantity],
        after: Sequence[Quantity],
        designs: Designs | None,
        *,
        is_log: bool,
    ) -> None:
        self.is_log, self.released, self.before, self.after = is_log, released, before, after
        self.designs = {} if designs is None else designs
        places = _scaled(target.places, is_log)
        times = np.where(np.isnan(places), 0, np.bincount(target.codes, minlength=places.size))
        size = int(times.sum())
        order = _shuffled(size) if size <= _MOST_KEPT else _shuffled.__wrapped__(size)
        if size < target.codes.size:
            order = np.flatnonzero((times > 0)[target.codes])[order]
        half, most = order.size // 2, max(_FIT_ROWS, _ROWS_PER_COLUMN * len(before))
        self.fitted, self.judged = order[: min(half, most)], order[half:]
        self.values = distinct_values(target.places[times > 0])
        self.has_answer = half > 1 and self.values.size > 1
        self.centre, self.spread = 0.0, 1.0
        if self.has_answer:
            sample = places[target.codes[order[:half]]][: 10 * _FIT_ROWS]
            self.centre, self.spread = float(np.median(sample)), float(np.std(sample)) or 1.0
            self.has_answer = bool(np.isfinite(self.centre) and np.isfinite(self.spread))
        self.target = target
        self.places = (places - self.centre) / self.spread

    def _truth(self, rows: NDArray[Any]) -> Floats:
        """The standardised target of some rows."""
        truth: Floats = self.places[self.target.codes[rows]]
        return truth

    def run(self) -> Relation | None:
        columns = tuple(n for n in range(len(self.before)) if self._can_weigh(n)) if self.has_answer else ()
        columns = self._most_correlated(columns)
        if not columns or not self._may_tell(columns):
            return None
        relation = self._judge(columns)
        return None if relation is None else self._eliminate(columns, relation)

    def _can_weigh(self, number: int) -> bool:
        """True if a column varies, and has logarithms where they are needed."""
        values = self.before[number].at(self.fitted)
        filled = np.count_nonzero(~np.isnan(values))
        values = _scaled(values, self.is_log)
        values = values[~np.isnan(values)]
        return bool(values.size > 1 and values.size >= _POSITIVE * filled and 0 < np.std(values) < np.inf)

    def _most_correlated(self, columns: tuple[int, ...]) -> tuple[int, ...]:
        if len(columns) <= _MOST_COLUMNS:
            return columns
        matrix, truth = self._matrix(self.before, columns, self.fitted), self._truth(self.fitted)
        centred = np.nan_to_num(matrix - np.nanmean(matrix, axis=0))
        strength = np.abs(centred.T @ (truth - truth.mean())) / np.maximum(np.linalg.norm(centred, axis=0), 1e-300)
        return tuple(sorted(np.array(columns)[np.argsort(-strength, kind="stable")[:_MOST_COLUMNS]].tolist()))

    def _matrix(self, table: Sequence[Quantity], columns: Sequence[int], rows: NDArray[Any] | slice) -> Floats:
        return np.column_stack([_scaled(table[n].places, self.is_log)[table[n].codes[rows]] for n in columns])

    def _fit(self, columns: tuple[int, ...], steps: int = _STEPS) -> _Formula:
        """Robust least squares: start from the best of several fits, then repeat the fit on the rows with small errors.

        Altered cells distort a fit of all rows; among several small samples, some are likely to contain none.
        """
        truth, (matrix, centre, scale, standard) = self._truth(self.fitted), self._design(columns)

        def solve(rows: NDArray[Any] | slice) -> tuple[_Formula, Floats]:
            formula = _Formula(columns, centre, scale, _least_squares(standard[rows], truth[rows]))
            return formula, np.abs(formula.guess(matrix) - truth)

        draw, size = np.random.default_rng(1), 3 + standard.shape[1] * 3 // 2
        samples = [draw.integers(0, truth.size, size) for _ in range(_STARTS)] if size < truth.size else []
        starts = [solve(rows) for rows in (slice(None), *samples)]
        formula, errors = min(starts, key=lambda start: _usual_error(start[1]))
        rows = np.zeros(0, dtype=np.int64)
        for _ in range(steps):
            known = np.flatnonzero(~np.isnan(errors))
            well = np.sort(known[np.argsort(errors[known], kind="stable")[: int(_WELL_FITTED * known.size)]])
            if well.size <= standard.shape[1] or np.array_equal(well, rows):
                break
            rows = well
            formula, errors = solve(rows)
        return formula

    def _design(self, columns: tuple[int, ...]) -> _Design:
        """The columns on the fitted rows, their centres and scales, and the standardised design matrix (cached)."""
        key = self.is_log, columns, self.fitted.tobytes()
        if key not in self.designs:
            if len(self.designs) >= _DESIGNS:
                self.designs.clear()
            matrix = self._matrix(self.before, columns, self.fitted)
            centre, scale = np.nanmedian(matrix, axis=0), np.nanstd(matrix, axis=0)
            standard = np.column_stack([np.nan_to_num((matrix - centre) / scale), np.ones(self.fitted.size)])
            self.designs[key] = matrix, centre, scale, standard
        return self.designs[key]

    def _may_tell(self, columns: tuple[int, ...]) -> bool:
        """True if a first fit of all columns explains enough of the other rows to continue the search."""
        rows = self.judged[:_FIT_ROWS]
        errors = np.abs(self._fit(columns, steps=0).guess(self._matrix(self.before, columns, rows)) - self._truth(rows))
        return _usual_error(errors) <= _MAY_TELL * float(np.abs(self._truth(rows)).mean())

    def _eliminate(self, columns: tuple[int, ...], relation: Relation) -> Relation:
        """Backward elimination: the relation of a smallest set of columns that still passes `_judge`.

        First half of the columns are removed at once, those with the smallest weights; then fewer; then single ones.
        """
        step = len(columns) // 2
        while step:
            lightest = np.argsort(np.abs(self._fit(columns).weights[:-1]), kind="stable")[:step].tolist()
            fewer = tuple(n for place, n in enumerate(columns) if place not in lightest)
            smaller = self._judge(fewer)
            if smaller is not None:
                columns, relation = fewer, smaller
            step = len(columns) // 2 if smaller is not None else step // 2
        for number in columns:
            fewer = tuple(n for n in columns if n != number)
            if fewer and (smaller := self._judge(fewer)) is not None:
                columns, relation = fewer, smaller
        return relation

    def _judge(self, columns: tuple[int, ...]) -> Relation | None:
        """Fit a formula of some columns and test it on other rows, against chance; None if it discloses too little."""
        formula = self._fit(columns)
        guesses = self._in_units(formula.guess(self._matrix(self.before, columns, self.judged)))
        known = ~np.isnan(guesses)
        if not known.any():
            return None
        guesses, truth = guesses[known], self.target.at(self.judged[known])
        errors = np.abs(guesses - truth)
        usual = float(np.quantile(errors, _NEARLY_ALL))
        after = self._in_units(formula.guess(self._matrix(self.after, columns, slice(None))))
        widest = _CLOSE * float(np.fmax.reduce(after) - np.fmin.reduce(after))
        if not Determination(truth.size, float(np.mean(errors <= widest)), 0.0).tells_nearly_all:
            return None  # an upper bound: guesses within one released value spread no more than all guesses
        near = _CLOSE * _open_width(self.released, after, usual / _CLOSE)
        told = float(np.mean(errors <= near))
        determined = Determination(truth.size, told, _best_window(truth, 2 * near))
        if not (near > 0 and determined.tells_nearly_all):
            return None
        is_exact = np.mean(self.values[_nearest(self.values, guesses)] == truth) >= _EXACT
        names = tuple(self.before[n].name for n in columns)
        step = 0.0 if is_exact else 2 * usual
        guessed = np.where(np.isnan(after), np.nan, self.values[_nearest(self.values, after)]) if is_exact else after
        return Relation(names, told, determined.by_chance, _as_codes(after, step or self.values), step, guessed)

    def _in_units(self, guesses: Floats) -> Floats:
        """Guesses in the units of the target; exponents are capped far above its largest value, against overflow."""
        plain = guesses * self.spread + self.centre
        if self.is_log:
            limit = np.log(self.values[-1]) + 10
            return np.exp(np.where(plain > limit, limit, plain))
        return plain


def _least_squares(matrix: Floats, truth: Floats) -> Floats:
    """The weights of least squares; those of least norm where columns depend on each other.

    A tall matrix is fitted by its normal equations, if its columns differ enough: its decomposition has threads, which
    take a hundred times as long where they wait for busy cores. A second fit, of the remainder, recovers the digits
    that squaring loses.
    """
    if len(matrix) > _TALL * matrix.shape[1]:
        square, weights = matrix.T @ matrix, np.zeros(matrix.shape[1])
        for _ in range(2):
            more, _, _, scales = np.linalg.lstsq(square, matrix.T @ (truth - matrix @ weights), rcond=None)
            weights += more
        if scales[-1] > _DISTINCT * scales[0]:
            return np.asarray(weights)
    return np.asarray(np.linalg.lstsq(matrix, truth, rcond=None)[0], dtype=np.float64)


@lru_cache(maxsize=2)  # one for all rows, one for the rows that have a logarithm
def _shuffled(size: int) -> NDArray[np.int64]:
    """A random order with a fixed seed."""
    return np.random.default_rng(0).permutation(size)


def _scaled(places: Floats, is_log: bool) -> Floats:
    """Numbers, or their logarithms if `is_log`; NaN where there is no logarithm."""
    if not is_log:
        return places
    return np.log(np.where(places > 0, places, np.nan))


def _usual_error(errors: Floats) -> float:
    """The mean of the errors without the largest ones; infinite if too few are known."""
    known = np.sort(errors[~np.isnan(errors)])
    well = known[: int(_WELL_FITTED * known.size)]
    return float(well.mean()) if well.size > _SLIGHT * errors.size else np.inf


def _open_width(released: NDArray[Any], guesses: Floats, least: float) -> float:
    """Width of the guesses within one released value: the median over the records of values wider than `least`.

    Narrower values were not made coarser: their guesses differ by the errors of the formula alone.
    """
    known = np.flatnonzero(~np.isnan(guesses))
    order = known[np.argsort(guesses[known])]
    order = order[np.argsort(released[order], kind="stable")]  # a radix sort, because the codes have few bits
    if not order.size:
        return 0.0
    starts = run_starts(released[order])
    sizes = np.diff(starts, append=order.size)
    low = starts + np.floor(_OUTERMOST * (sizes - 1)).astype(np.int64)
    high = starts + np.ceil((1 - _OUTERMOST) * (sizes - 1)).astype(np.int64)
    widths = guesses[order[high]] - guesses[order[low]]
    coarse = widths > least
    return float(np.median(np.repeat(widths[coarse], sizes[coarse]))) if coarse.any() else 0.0


def _best_window(values: Floats, width: float) -> float:
    """The largest share of values within a window of this width: what a guess without any column reaches."""
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, ordered + width, side="right")
    return float((ends - np.arange(ordered.size)).max()) / values.size


def _nearest(values: Floats, guesses: Floats) -> NDArray[np.intp]:
    """Index of the nearest of some ascending values, for each guess."""
    return np.searchsorted((values[1:] + values[:-1]) / 2, guesses)


def _as_codes(guesses: Floats, grid: Floats | float) -> NDArray[np.int64]:
    """Guesses as codes from 0: of the nearest value in `grid`, or of steps of that width. A missing one has a code."""
    known = ~np.isnan(guesses)
    places = np.full(guesses.size, -1.0)
    if isinstance(grid, float):
        places[known] = np.floor((guesses[known] - guesses[known].min()) / grid)
    else:
        places[known] = _nearest(grid, guesses[known])
    return np.unique(places, return_inverse=True)[1].astype(np.int64)
