"""Utility of a protected table: analyses of it compared with those of the original.

A protected number is the middle of its range; a category that may be one of several counts for each in equal parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd.backends import Coded, class_numbers, pack
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import InputError
from incrowd.evaluation.labels import LabelMeanings
from incrowd.evaluation.regressions import (
    USUAL_PENALTY,
    Matrix,
    area_under_curve,
    explained_variance,
    fit_linear,
    fit_logistic,
    sigmoid,
    with_constant,
)
from incrowd.protection.problem import moments
from incrowd.results import Result, Statement
from incrowd.special import NORMAL_QUANTILE
from incrowd.tables.released_values import as_text
from incrowd.wording import number

_GROUPS = 12  # groups of the values of a column: quantiles of numbers; the commonest categories, and others
_MOST_TRIPLES = 84  # sets of three columns that are compared: all sets of nine columns
_BLOCK = 4096  # combinations whose joint shares are in memory at a time


@dataclass(frozen=True, slots=True)
class Coefficient(Result):
    """One coefficient of a regression on the original and on the protected table, with 95 % intervals.

    `overlap` is the average share of each interval that is common to both (1: equal, 0 or less: disjoint).
    """

    _derived: ClassVar[tuple[str, ...]] = ("overlap",)
    name: str
    original: float
    original_interval: tuple[float, float]
    protected: float
    protected_interval: tuple[float, float]

    @property
    def overlap(self) -> float:
        """Karr et al. (2006): the common part over each interval's length, averaged; negative if they are disjoint."""
        (a, b), (c, d) = self.original_interval, self.protected_interval
        common = min(b, d) - max(a, c)
        if b == a or d == c:
            return 1.0 if self.original == self.protected else 0.0
        return 0.5 * (common / (b - a) + common / (d - c))


@dataclass(frozen=True, slots=True)
class Utility(Result):
    """Utility of a protected table for analysts, compared with the original.

    - `marginals`: total variation distance of 1-, 2- and 3-way tables of counts, on average (0: equal, 1: disjoint).
    - `propensity_mse`: how well a logistic regression distinguishes protected from original records by the
      quasi-identifiers (pMSE: 0 if it cannot, `propensity_most` if it always can).
    - `coefficients`: of a regression of the outcome on the quasi-identifiers, None without an outcome.
    - `score_original`, `score_protected`: of that regression on every other record of the original, trained on the rest
      of the original and of the protected table: the area under the curve for an outcome of two values, R² for numbers.
    """

    _derived: ClassVar[tuple[str, ...]] = ("overlap",)
    marginals: tuple[float, ...]
    propensity_mse: float
    propensity_most: float
    outcome: str | None = None
    coefficients: tuple[Coefficient, ...] = ()
    score_original: float | None = None
    score_protected: float | None = None

    @property
    def overlap(self) -> float | None:
        """Overlap of the intervals of coefficients, on average."""
        return float(np.mean([one.overlap for one in self.coefficients])) if self.coefficients else None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """How far tables of counts, single records and a regression are from the original."""
        cells = "Share of records in other cells than before, on average."
        marginals = [
            Statement("utility", f"{ways}-way tables", distance, number(distance), cells)
            for ways, distance in enumerate(self.marginals, start=1)
        ]
        most = f"How well records are told from original ones: 0 not at all, {number(self.propensity_most)} always."
        numbers = [*marginals, Statement("utility", "pMSE", self.propensity_mse, number(self.propensity_mse), most)]
        if self.overlap is not None:
            common = f"Of {len(self.coefficients):,} coefficients for {self.outcome}: 1 the same, below 0 apart."
            numbers.append(Statement("utility", "intervals overlap", self.overlap, number(self.overlap), common))
        if self.score_original is not None and self.score_protected is not None:
            there = number(self.score_original)
            trained = f"Trained on the protected table, tested on the original; {there} if trained there."
            score = self.score_protected
            numbers.append(Statement("utility", "prediction", score, number(score), trained))
        return tuple(numbers)


def measure_utility(
    meanings: Sequence[LabelMeanings],
    outcome: tuple[Coded, Coded] | None = None,
    kept_rows: NDArray[np.int64] | None = None,
    *,
    by_row: bool = True,
) -> Utility:
    """Measure the utility of a protected table for analysts, compared with the original.

    Args:
        meanings: every quasi-identifier of the protected table, as `read_meanings` reads it.
        outcome: a column to be explained by the quasi-identifiers, in the original and in the protected table: of
            numbers, or of two values.
        kept_rows: the original's row of each protected row; None if all rows were kept, or if it is not known.
        by_row: True if it is known which protected row belongs to which original row.

    Returns:
        Distances of marginals, pMSE, and results of regressions.

    Raises:
        InputError: the outcome is neither a number nor one of two values.
    """
    columns = [_Column(meaning) for meaning in meanings]
    before, after = [column.before() for column in columns], [column.after() for column in columns]
    joined, names, is_reference = _features(columns, before, after)
    is_protected = np.repeat([0.0, 1.0], [before[0].codes.size, after[0].codes.size])
    share = float(is_protected.mean())
    propensity = sigmoid(with_constant(joined) @ fit_logistic(with_constant(joined), is_protected)[0])
    utility = Utility(_marginals(before, after), float(np.mean((propensity - share) ** 2)), share * (1 - share))
    if outcome is None:
        return utility
    values = _outcome_values(*outcome)
    tables = np.split(with_constant(joined), [before[0].codes.size])
    models = _Models(tables, values, ["constant", *names], np.append(False, is_reference), outcome[0].size == 2)
    utility = replace(utility, outcome=outcome[0].name, coefficients=models.coefficients())
    kept = np.arange(len(tables[0])) if kept_rows is None else kept_rows
    if not by_row or kept.size != len(tables[1]):
        return utility  # scores need a test set, and it is not known which protected rows belong to it
    original, protected = models.scores(kept)
    return replace(utility, score_original=original, score_protected=protected)


class _Shares(NamedTuple):
    """The possible groups of records as shares: the distinct rows of shares, and the row of each record."""

    rows: Matrix
    codes: NDArray[np.int64]


def _shares(by_label: Matrix, codes: NDArray[Any]) -> _Shares:
    rows, place = np.unique(by_label, axis=0, return_inverse=True)
    return _Shares(rows, place.reshape(-1)[codes])


class _Column:
    """A quasi-identifier as shares of a few groups of values, by original value and by protected label."""

    def __init__(self, meaning: LabelMeanings) -> None:
        self.meaning, original = meaning, meaning.original
        self.name, self.number = original.name, original.has_distances
        tally = original.tally
        if original.size <= _GROUPS:
            groups = np.arange(original.size)
        elif self.number:
            groups = (np.cumsum(tally) - tally) * _GROUPS // tally.sum()
        else:
            groups = np.minimum(np.argsort(np.argsort(-tally, kind="stable"), kind="stable"), _GROUPS - 1)
        self.by_value = np.eye(int(groups.max()) + 1)[groups]

    def before(self) -> _Shares:
        """The group of every original record."""
        return _shares(self.by_value, self.meaning.original.codes)

    def after(self) -> _Shares:
        """The share of every group among the possible values of each protected record."""
        return _shares(self.meaning.shares(self.by_value), self.meaning.codes)

    def middles(self) -> tuple[Matrix, Matrix]:
        """Standardised numbers of the original, and the middles of protected ranges."""
        meaning = self.meaning
        mean, deviation = moments(meaning.original, meaning.place)
        middle = np.where(meaning.wildcard, mean, (meaning.low + meaning.high) / 2)
        scale = deviation if deviation > 0 else 1.0
        return (meaning.place[meaning.original.codes] - mean) / scale, (middle[meaning.codes] - mean) / scale


def _features(
    columns: Sequence[_Column], before: list[_Shares], after: list[_Shares]
) -> tuple[Matrix, list[str], NDArray[np.bool_]]:
    """The features of both tables, stacked: numbers unchanged, categories as shares of their groups.

    Also returns their names, and the features that are the commonest group of a category, the reference of the others.
    """
    parts, names, is_reference = [], [], []
    for column, was, now in zip(columns, before, after, strict=True):
        if column.number:
            parts.append(np.concatenate(column.middles())[:, None])
            names.append(column.name)
            is_reference.append(False)
        else:
            both = np.vstack([one.rows[one.codes] for one in (was, now)])
            commonest = int(both[: was.codes.size].sum(axis=0).argmax())
            parts.append(both)
            names += [f"{column.name}, group {group + 1}" for group in range(both.shape[1])]
            is_reference += [group == commonest for group in range(both.shape[1])]
    return np.hstack(parts), names, np.array(is_reference)


def _marginals(before: list[_Shares], after: list[_Shares]) -> tuple[float, ...]:
    """Mean total variation distance of 1-, 2- and 3-way tables."""
    means = []
    for ways in range(1, min(3, len(before)) + 1):
        sets = list(combinations(range(len(before)), ways))
        chosen = sets if len(sets) <= _MOST_TRIPLES else sets[:: -(-len(sets) // _MOST_TRIPLES)]
        distances = [0.5 * np.abs(_table(before, columns) - _table(after, columns)).sum() for columns in chosen]
        means.append(float(np.mean(distances)))
    return tuple(means)


def _table(shares: list[_Shares], columns: tuple[int, ...]) -> Matrix:
    """The joint distribution of some columns, from the distinct combinations of possible groups."""
    chosen = [shares[column] for column in columns]
    numbers, sizes = class_numbers(pack(Coded("", one.codes, pa.nulls(len(one.rows))) for one in chosen))
    first = first_places(numbers)
    total: Matrix = np.zeros(1)
    for start in range(0, first.size, _BLOCK):
        block = first[start : start + _BLOCK]
        joint = sizes[start : start + _BLOCK, None] / numbers.size
        for one in chosen[:-1]:
            joint = (joint[:, :, None] * one.rows[one.codes[block]][:, None, :]).reshape(block.size, -1)
        total = total + joint.T @ chosen[-1].rows[chosen[-1].codes[block]]
    return total


class _Models(NamedTuple):
    """Regressions of the outcome on the same features of the original and of the protected table."""

    tables: list[Matrix]
    values: list[Matrix]
    names: list[str]
    is_reference: NDArray[np.bool_]
    is_yes_or_no: bool

    def coefficients(self) -> tuple[Coefficient, ...]:
        """The coefficients of both regressions, each category relative to its commonest group."""
        fit = fit_logistic if self.is_yes_or_no else fit_linear
        shown = np.flatnonzero(~self.is_reference)
        models = [fit(table[:, shown], outcome) for table, outcome in zip(self.tables, self.values, strict=True)]
        coefficients = []
        for at, name in enumerate(self.names[place] for place in shown):
            ends = [(float(b[at] - NORMAL_QUANTILE * e[at]), float(b[at] + NORMAL_QUANTILE * e[at])) for b, e in models]
            coefficients.append(Coefficient(name, float(models[0][0][at]), ends[0], float(models[1][0][at]), ends[1]))
        return tuple(coefficients)

    def scores(self, kept: NDArray[np.int64]) -> tuple[float, float]:
        """The accuracy of each model on every other record of the original, after training on the rest.

        `kept` is the original row of each protected row. All groups are features, without a reference, so that groups
        that are always released in one set get equal coefficients. Shares of few sets are nearly collinear, so the
        usual ridge penalty of prediction is used: without it, a rare group that is in two sets gets a huge coefficient.
        """
        fit, score = (fit_logistic, area_under_curve) if self.is_yes_or_no else (fit_linear, explained_variance)
        in_test = np.arange(len(self.tables[0])) % 2 == 1
        training = (~in_test, ~in_test[kept])
        models = [
            fit(self.tables[at][rows], self.values[at][rows], USUAL_PENALTY)[0] for at, rows in enumerate(training)
        ]
        original, protected = (score(self.tables[0][in_test] @ model, self.values[0][in_test]) for model in models)
        return original, protected


def _outcome_values(before: Coded, after: Coded) -> list[Matrix]:
    """The outcome as numbers in both tables; for two values, 1 for the second."""
    if before.size == 2:
        place = pc.index_in(as_text(after.values), value_set=as_text(before.values))
        if not place.null_count:
            return [before.codes.astype(np.float64), place.to_numpy()[after.codes].astype(np.float64)]
    elif all(column.has_distances and not column.has_null for column in (before, after)):
        return [as_floats(column.values)[column.codes] for column in (before, after)]
    raise InputError(
        f"the outcome {before.name!r} has {before.size:,} values; give numbers without gaps, or one of two values"
    )
