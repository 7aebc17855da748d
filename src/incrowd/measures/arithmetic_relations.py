"""Kept numbers and dates from which a number or date that was made coarser can be computed.

A difference, a sum or a rescaled copy is linear in the kept columns; a product, a ratio or a power is so in their
logarithms. Both are fitted on one half of the rows and judged on the other, so that many columns do not fit few rows by
accident, and a few altered cells do not hide the formula.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd.backends import Coded
from incrowd.measures.determination import Determination
from incrowd.tables.measured_texts import read_measured_texts

Floats = NDArray[np.float64]

_FIT_ROWS, _ROWS_PER_COLUMN = 2_000, 10  # rows that a formula is fitted on, at most: the larger of the two
_MOST_COLUMNS = 200  # columns that are fitted together; of more, those that correlate most
_STARTS = 10  # small samples of rows, of which the one that fits most rows best is where the fit starts
_WELL_FITTED, _STEPS = 0.8, 10  # share of rows that a formula is fitted to again, and how often
_MAY_TELL = 0.5  # share of the deviation that a fit may leave, above which nothing is looked at further
_SLIGHT = 0.05  # what missing cells may weigh, in standard deviations of what is guessed
_OUTERMOST = 0.05  # records at each end of a range that may be altered
_CLOSE = 0.125  # how near a guess must be, as a share of what the released value leaves open
_NEARLY_ALL = 0.95  # share of the records that are guessed as well as that
_EXACT = 0.9  # share of the guesses whose nearest value is the right one, from which all count as such a value
_POSITIVE = 0.99  # share of the values that must be positive for logarithms
_MOST_KEPT = 4_000_000  # rows of which the random order is kept, for every target of a table asks for it
_US_PER_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column of numbers, dates or times; `places` are its distinct values as numbers, NaN for a null."""

    name: str
    codes: NDArray[Any]
    places: Floats

    def at(self, rows: NDArray[Any] | slice) -> Floats:
        """The numbers of some rows."""
        numbers: Floats = self.places[self.codes[rows]]
        return numbers


@dataclass(frozen=True, slots=True)
class Relation:
    """Columns from which another one can be computed, where it was made coarser.

    Attributes:
        columns: the columns, of which none can be spared.
        told: the share of records whose value is guessed far more closely than the released value tells it.
        by_chance: the share that would be without the columns.
        guesses: what the released rows are guessed to have, as codes from 0.
        step: how wide the steps of guesses are; 0 where they are values of the column.
    """

    columns: tuple[str, ...]
    told: float
    by_chance: float
    guesses: NDArray[np.int64]
    step: float


def read_quantity(column: Coded) -> Quantity | None:
    """A column as numbers; None where it holds neither numbers, dates or times nor texts that write some.

    >>> from incrowd.backends import encode
    >>> from incrowd.tables import read_table
    >>> read_quantity(encode(read_table({"age": [40, None, 30]}), ["age"])[0]).at(slice(None)).tolist()
    [40.0, nan, 30.0]
    """
    kind, types, values = column.values.type, pa.types, column.values
    days = 1
    if types.is_date32(kind):
        values = values.cast(pa.int32())
    elif types.is_date(kind) or types.is_timestamp(kind):
        values, days = pc.cast(values, pa.timestamp("us"), safe=False).cast(pa.int64()), _US_PER_DAY
    elif types.is_time(kind):
        values, days = pc.cast(values, pa.time64("us")).cast(pa.int64()), _US_PER_DAY
    elif types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif types.is_string(kind) or types.is_large_string(kind):
        written = read_measured_texts(values)
        return None if written is None else Quantity(column.name, column.codes, written)
    elif not (types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)):
        return None
    numbers = pc.cast(values, pa.float64(), safe=False)
    places = np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64) / days
    return Quantity(column.name, column.codes, np.where(np.isfinite(places), places, np.nan))


_Design: TypeAlias = tuple[Floats, Floats, Floats, Floats]
Designs: TypeAlias = dict[tuple[bool, tuple[int, ...], bytes], _Design]
_DESIGNS = 8  # sets of columns and rows that are prepared for several targets


def find_relation(
    target: Quantity,
    released: NDArray[Any],
    before: Sequence[Quantity],
    after: Sequence[Quantity],
    designs: Designs | None = None,
) -> Relation | None:
    """The fewest columns from which another can be computed, more closely than its released values tell it.

    Args:
        target: the column as it was.
        released: codes from 0 of what is released of it.
        before: the columns that may tell it, beside the target.
        after: the same columns, in the same order, beside what is released.
        designs: what was prepared of `before` for other targets, and is used and added to here.

    Returns:
        The relation, linear or linear in logarithms, that needs the fewest columns; None where there is none.

    >>> draw = np.random.default_rng(0)
    >>> numbers = [draw.integers(0, 50, 400) for _ in range(3)]
    >>> one, other, noise = (Quantity(str(n), codes, np.arange(50.0)) for n, codes in enumerate(numbers))
    >>> total = Quantity("total", numbers[0] + numbers[1], np.arange(100.0))
    >>> columns = [one, other, noise]
    >>> find_relation(total, total.codes // 20, columns, columns).columns
    ('0', '1')
    """
    with np.errstate(
        all="ignore"
    ):  # squares of the largest and the smallest numbers are none; such columns are left out
        relations = [
            relation
            for is_log in (False, True)
            if (relation := _Search(target, released, before, after, designs, is_log=is_log).run()) is not None
        ]
    return min(relations, key=lambda one: (len(one.columns), -one.told), default=None)


@dataclass(frozen=True, slots=True)
class _Formula:
    """Weights of standardised columns, the constant last, that guess a standardised target."""

    columns: tuple[int, ...]
    centre: Floats
    scale: Floats
    weights: Floats

    def guess(self, matrix: Floats) -> Floats:
        """The guess of every row; NaN where cells are missing that weigh something.

        Columns are added one by one: a product of matrices rounds a row by where it stands.
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
        """Least squares, from the best of several starts again and again on the rows that fit well.

        Altered cells bend a fit of all rows; some of a few small samples have none of them.
        """
        truth, (matrix, centre, scale, standard) = self._truth(self.fitted), self._design(columns)

        def solve(rows: NDArray[Any] | slice) -> tuple[_Formula, Floats]:
            weights = np.asarray(np.linalg.lstsq(standard[rows], truth[rows], rcond=None)[0], dtype=np.float64)
            formula = _Formula(columns, centre, scale, weights)
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
        """The columns on the rows that are fitted, as they are and standardised, and their centres and scales."""
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
        """True if one fit of all columns explains enough of other rows that a closer look is worth it."""
        rows = self.judged[:_FIT_ROWS]
        errors = np.abs(self._fit(columns, steps=0).guess(self._matrix(self.before, columns, rows)) - self._truth(rows))
        return _usual_error(errors) <= _MAY_TELL * float(np.abs(self._truth(rows)).mean())

    def _eliminate(self, columns: tuple[int, ...], relation: Relation) -> Relation:
        """The relation of a smallest set that still tells: many columns of little weight are left out, then each."""
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
        """Fit a formula of some columns and judge it on other rows, against chance; None if it discloses too little."""
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
            return None  # guesses behind one released value differ by no more than all guesses do
        near = _CLOSE * _left_open(self.released, after, usual / _CLOSE)
        told = float(np.mean(errors <= near))
        determined = Determination(truth.size, told, _best_window(truth, 2 * near))
        if not (near > 0 and determined.tells_nearly_all):
            return None
        is_exact = np.mean(self.values[_nearest(self.values, guesses)] == truth) >= _EXACT
        names = tuple(self.before[n].name for n in columns)
        step = 0.0 if is_exact else 2 * usual
        return Relation(names, told, determined.by_chance, _as_codes(after, step or self.values), step)

    def _in_units(self, guesses: Floats) -> Floats:
        """Guesses in the units of the target; absurd ones far beyond its values are no guesses."""
        plain = guesses * self.spread + self.centre
        if self.is_log:
            limit = np.log(self.values[-1]) + 10
            return np.exp(np.where(plain > limit, limit, plain))
        return plain


@lru_cache(maxsize=2)  # of all rows, and of those that have a logarithm
def _shuffled(size: int) -> NDArray[np.int64]:
    """A random order, always the same."""
    return np.random.default_rng(0).permutation(size)


def _scaled(places: Floats, is_log: bool) -> Floats:
    """Numbers as they are, or their logarithms; NaN where there is none."""
    if not is_log:
        return places
    return np.log(np.where(places > 0, places, np.nan))


def _usual_error(errors: Floats) -> float:
    """The mean of the errors without the largest of them; infinite where there are hardly any."""
    known = np.sort(errors[~np.isnan(errors)])
    well = known[: int(_WELL_FITTED * known.size)]
    return float(well.mean()) if well.size > _SLIGHT * errors.size else np.inf


def _left_open(released: NDArray[Any], guesses: Floats, least: float) -> float:
    """Distance between the guesses behind one released value: the median record's, of those that differ more.

    Most cells may be as they were: behind their released values guesses differ by their errors alone.
    """
    known = np.flatnonzero(~np.isnan(guesses))
    order = known[np.argsort(guesses[known])]
    order = order[np.argsort(released[order], kind="stable")]  # of few bits, which takes no comparisons
    if not order.size:
        return 0.0
    starts = np.flatnonzero(np.diff(released[order].astype(np.int64), prepend=-1))
    sizes = np.diff(starts, append=order.size)
    low = starts + np.floor(_OUTERMOST * (sizes - 1)).astype(np.int64)
    high = starts + np.ceil((1 - _OUTERMOST) * (sizes - 1)).astype(np.int64)
    widths = guesses[order[high]] - guesses[order[low]]
    coarse = widths > least
    return float(np.median(np.repeat(widths[coarse], sizes[coarse]))) if coarse.any() else 0.0


def _best_window(values: Floats, width: float) -> float:
    """The largest share of values within a window of some width: what a guess without any column tells."""
    ordered = np.sort(values)
    ends = np.searchsorted(ordered, ordered + width, side="right")
    return float((ends - np.arange(ordered.size)).max()) / values.size


def _nearest(values: Floats, guesses: Floats) -> NDArray[np.intp]:
    """Index of the nearest of some ascending values, for each guess."""
    return np.searchsorted((values[1:] + values[:-1]) / 2, guesses)


def _as_codes(guesses: Floats, grid: Floats | float) -> NDArray[np.int64]:
    """Guesses as codes from 0: of the nearest value, or of the step of that width; missing ones have their own."""
    known = ~np.isnan(guesses)
    places = np.full(guesses.size, -1.0)
    if isinstance(grid, float):
        places[known] = np.floor((guesses[known] - guesses[known].min()) / grid)
    else:
        places[known] = _nearest(grid, guesses[known])
    return np.unique(places, return_inverse=True)[1].astype(np.int64)
