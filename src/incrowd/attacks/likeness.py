"""How well a released row goes with a person: what kept columns say of the exact values that the person is known by.

For a person i with known values q_i and a row j with kept columns x_j, every feature says how much better x_j goes with
q_i than with somebody else. All are learned from other people:

- residuals: each kept column explained by the known columns and the other kept ones, and each coarsened known number
  explained by the kept columns; first linear in values and logarithms, then by trees. Such a residual is a row's part
  less a person's part, so that a pair costs a subtraction.
- counts: log P(x_j | q_i) / P(x_j) for the values of one or two known columns.

See docs/dev/maths.md on learned posteriors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from incrowd.attacks.columns_as_numbers import MOST_CODES, Codes, Feature, bin_codes, count_codes, numbers_of
from incrowd.attacks.trees import fit_trees, gains, predict
from incrowd.backends import Coded
from incrowd.special import Floats

Rows = NDArray[np.int64]

MOST_FITTED = 8_000  # rows that one model is fitted on
_MOST_MODELS = 24  # features that are explained
_MOST_COUNTED = 24  # features that are counted by each coarsened column
_MOST_PAIRS = 10  # pairs of known columns by whose values features are counted
_CATEGORIES = 40  # most frequent values of a known column that have an effect of their own
_PRIOR = 3.0  # weight of the overall shares of values, where values are counted within one value of a known column
_RIDGE = 1e-7
_HELD = 4  # one in so many fitted rows shows how much trees explain of others


@dataclass(frozen=True, slots=True, eq=False)
class KnownColumn:
    """What an attacker knows of everybody: one value for each released row.

    Attributes:
        name: the column.
        values: its numbers; None for texts.
        codes: its values as small whole numbers.
        is_coarse: whether the release does not show these values, so that something is left to learn.
    """

    name: str
    values: Floats | None
    codes: Codes
    is_coarse: bool

    @classmethod
    def of(cls, column: Coded, *, is_coarse: bool) -> KnownColumn:
        """A column of the original whose rows are in the order of the release."""
        numbers = numbers_of(column.values)
        values = None if numbers is None else numbers[column.codes]
        return cls(column.name, values, column.codes.astype(np.int64), is_coarse)

    @property
    def counted(self) -> Codes:
        """Codes for counting."""
        if self.values is not None and np.unique(self.codes).size > MOST_CODES:
            return bin_codes(self.values, 60)
        return count_codes(self.codes)

    @property
    def as_input(self) -> Floats:
        """Numbers for trees: values, or codes of texts."""
        return count_codes(self.codes, 60).astype(np.float64) if self.values is None else self.values


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """A feature of pairs of a person and a row.

    Attributes:
        of_pairs: the numbers for the places of people and of rows.
        shares: how much of it comes from each kept column; they sum to 1.
    """

    of_pairs: Callable[[Rows, Rows], Floats]
    shares: Mapping[str, float] = field(default_factory=dict)


def even_shares(columns: Sequence[str]) -> dict[str, float]:
    """Shares of columns that contribute alike."""
    return dict.fromkeys(columns, 1 / len(columns))


class _Inputs:
    """Inputs of linear models: standardised values and logarithms, and their cross products over the fitted rows."""

    def __init__(self, known: Sequence[KnownColumn], features: Sequence[Feature], fitted: Rows) -> None:
        self._parts: list[Floats] = []
        self.of_known = {column.name: self._add(_inputs_of_known(column)) for column in known}
        with_numbers = [place for place, feature in enumerate(features) if np.isfinite(feature.values).any()]
        self.of_feature = {place: self._add(_value_and_logarithm(features[place].values)) for place in with_numbers}
        table = np.column_stack(self._parts)
        table -= table.mean(axis=0)
        spread = table.std(axis=0)
        self.table = table / np.where(spread > 0, spread, 1.0)
        self.products = self.table[fitted].T @ self.table[fitted] / fitted.size

    def _add(self, inputs: Iterator[Floats]) -> list[int]:
        before = len(self._parts)
        self._parts += inputs
        return list(range(before, len(self._parts)))

    def weights(self, inputs: Rows, output: int) -> Floats:
        """Least squares of one column by others; a refinement takes the small ridge back."""
        if not inputs.size:
            return np.empty(0)
        gram, wanted = self.products[np.ix_(inputs, inputs)], self.products[inputs, output]
        ridged = cho_factor(gram + _RIDGE * np.eye(inputs.size))
        weights = cho_solve(ridged, wanted)
        return np.asarray(weights + cho_solve(ridged, wanted - gram @ weights), dtype=np.float64)


def _inputs_of_known(column: KnownColumn) -> Iterator[Floats]:
    if column.values is not None:
        yield from _value_and_logarithm(column.values)
        return
    for code in np.argsort(-np.bincount(column.codes), kind="stable")[:_CATEGORIES]:
        yield (column.codes == code).astype(np.float64)


def _value_and_logarithm(values: Floats) -> Iterator[Floats]:
    filled = np.isfinite(values)
    mean = values[filled].mean() if filled.any() else 0.0
    yield np.where(filled, values, mean)
    if filled.any() and values[filled].min() > 0:
        logarithms = np.log(np.where(filled, values, 1.0))
        yield np.where(filled, logarithms, logarithms[filled].mean())


def residual_likenesses(known: Sequence[KnownColumn], features: Sequence[Feature], fitted: Rows) -> Iterator[Likeness]:
    """Residuals of coarsened known numbers by kept columns, and of kept columns by known ones."""
    rows = fitted[:MOST_FITTED]
    inputs = _Inputs(known, features, rows)
    single = [place for place in inputs.of_feature if len(features[place].columns) == 1]
    coarse = [column for column in known if column.is_coarse and column.values is not None]
    yield from (_residual_of_known(column, features, single, inputs, rows) for column in coarse)
    of_people = np.column_stack([column.as_input for column in known])
    texts = [place for place, column in enumerate(known) if column.values is None]
    for place in list(inputs.of_feature)[:_MOST_MODELS]:
        feature = features[place]
        others = [at for at in single if at != place and features[at].columns != feature.columns]
        others = [at for at in others if features[at].columns[0] not in feature.columns]
        yield _residual_of_feature(place, feature, others, inputs, rows, of_people, texts)


def _residual_of_known(
    column: KnownColumn, features: Sequence[Feature], single: Sequence[int], inputs: _Inputs, rows: Rows
) -> Likeness:
    """A coarsened number, explained by the kept columns of the row and the other known columns of the person."""
    table, output = inputs.table, inputs.of_known[column.name][0]
    by_person = np.array([at for name, ats in inputs.of_known.items() if name != column.name for at in ats], dtype=int)
    by_row = np.array([at for place in single for at in inputs.of_feature[place]])
    weights = inputs.weights(np.concatenate([by_person, by_row]), output)
    of_person = table[:, output] - table[:, by_person] @ weights[: by_person.size]
    of_row = table[:, by_row] @ weights[by_person.size :]
    values = np.column_stack([features[place].values for place in single])
    explained, by_trees = _explained(values, of_person - of_row, rows)
    linear = dict(zip(by_row.tolist(), np.abs(weights[by_person.size :]), strict=True))
    shares: dict[str, float] = {}
    for place, gain in zip(single, explained, strict=True):
        (name,) = features[place].columns
        shares[name] = shares.get(name, 0.0) + gain + sum(linear[at] for at in inputs.of_feature[place])
    total = sum(shares.values()) or 1.0
    of_row = of_row + by_trees
    return _residual(of_person, of_row, rows, {name: share / total for name, share in shares.items()})


def _residual_of_feature(
    place: int,
    feature: Feature,
    others: Sequence[int],
    inputs: _Inputs,
    rows: Rows,
    of_people: Floats,
    texts: Sequence[int],
) -> Likeness:
    """A kept column, explained by the known columns of the person and the other kept columns of the row."""
    table, outputs = inputs.table, inputs.of_feature[place]
    output = outputs[-1] if not feature.is_flag and _skewness(feature.values) > 1 else outputs[0]
    by_person = np.array([at for ats in inputs.of_known.values() for at in ats], dtype=int)
    by_row = np.array([at for other in others for at in inputs.of_feature[other]], dtype=int)
    weights = inputs.weights(np.concatenate([by_person, by_row]), output)
    of_person = table[:, by_person] @ weights[: by_person.size]
    of_row = table[:, output] - table[:, by_row] @ weights[by_person.size :]
    filled = np.isfinite(feature.values)
    some = rows[filled[rows]]
    if some.size:
        _, by_trees = _explained(of_people, of_row - of_person, some, texts)
        of_person = of_person + by_trees
    return _residual(of_person, of_row, some, even_shares(feature.columns), filled)


def _explained(inputs: Floats, rest: Floats, rows: Rows, texts: Sequence[int] = ()) -> tuple[Floats, Floats]:
    """What trees say of the rest that a linear model leaves, for every row, and each input's share in it.

    Trees find something in noise too. So they count as much as they explain of rows that they were not fitted on.
    """
    if rows.size < _HELD:
        return np.zeros(inputs.shape[1]), np.zeros(rest.size)
    held = rows.size // _HELD
    trees = fit_trees(inputs[rows[held:]], rest[rows[held:]], categories=texts)
    by_trees = predict(trees, inputs)
    tried = by_trees[rows[:held]]
    size = max(float(tried @ tried), 1e-300)
    share = float(np.clip(float(tried @ rest[rows[:held]]) / size, 0.0, 1.0))
    gain = gains(trees)
    of_inputs: Floats = gain * (share / max(float(gain.sum()), 1e-300))
    return of_inputs, share * by_trees


def _residual(
    of_person: Floats, of_row: Floats, rows: Rows, shares: Mapping[str, float], filled: NDArray[np.bool_] | None = None
) -> Likeness:
    scale = max(float(np.std(of_row[rows] - of_person[rows])), 1e-6) if rows.size else 1.0

    def of_pairs(people: Rows, candidates: Rows) -> Floats:
        residual = (of_row[candidates] - of_person[people]) / scale
        return residual if filled is None else np.where(filled[candidates], residual, np.nan)

    return Likeness(of_pairs, shares)


def _skewness(values: Floats) -> float:
    filled = values[np.isfinite(values)]
    spread = filled.std()
    return float(((filled - filled.mean()) ** 3).mean() / spread**3) if spread > 0 else 0.0


def count_likenesses(
    known: Sequence[KnownColumn], features: Sequence[Feature], fitted: Rows
) -> Iterator[list[Likeness]]:
    """Counts of kept values by the values of each coarsened column, and of pairs with another known one."""
    singles = [column.counted for column in known if column.is_coarse]
    others = [column.counted for column in known if not column.is_coarse]
    pairs = [*combinations(singles, 2), *product(singles, others)]
    counted = [_Counted(codes, features, fitted) for codes in singles]
    two = [_Counted(first * (second.max() + 1) + second, features, fitted) for first, second in pairs]
    for codes in [*counted, *sorted(two, key=lambda codes: -codes.most)[:_MOST_PAIRS]]:
        if codes.best:
            yield [codes.likeness(place) for place in codes.best]


class _Counted:
    """Values of one or two known columns, and the features that go with them, the most informative first."""

    def __init__(self, known: Codes, features: Sequence[Feature], fitted: Rows) -> None:
        _, self._person = np.unique(known, return_inverse=True)
        self._features, self._fitted = features, fitted
        informative = [_information(self._person[fitted], feature.codes[fitted]) for feature in features]
        order = np.argsort(informative)[::-1][:_MOST_COUNTED]
        self.best = [int(place) for place in order if informative[place] > 0]
        self.most = max(informative, default=0.0)

    def likeness(self, place: int) -> Likeness:
        feature = self._features[place]
        return Likeness(_counter(self._person, feature.codes, self._fitted), even_shares(feature.columns))


def _information(first: Codes, second: Codes) -> float:
    """Mutual information of two codes in nats, less what chance gives (Miller and Madow)."""
    _, joint = np.unique(first * (second.max() + 1) + second, return_counts=True)
    tallies = [np.bincount(first), np.bincount(second), joint]
    shares = [tally[tally > 0] / first.size for tally in tallies]
    entropies = [-float(share @ np.log(share)) for share in shares]
    by_chance = (shares[2].size - shares[0].size - shares[1].size + 1) / (2 * first.size)
    return entropies[0] + entropies[1] - entropies[2] - by_chance


def _counter(person: Codes, value: Codes, fitted: Rows) -> Callable[[Rows, Rows], Floats]:
    """log P(value of a row | known value of a person) / P(value), by smoothed counts of the fitted rows."""
    width = int(value.max()) + 1
    cells, seen = np.unique(person[fitted] * width + value[fitted], return_counts=True)
    people = np.bincount(person[fitted], minlength=int(person.max()) + 1)
    usual = np.bincount(value[fitted], minlength=width) + 0.5
    usual = usual / usual.sum()

    def of_pairs(people_of_pairs: Rows, candidates: Rows) -> Floats:
        wanted = person[people_of_pairs] * width + value[candidates]
        place = np.minimum(np.searchsorted(cells, wanted), cells.size - 1)
        count = np.where(cells[place] == wanted, seen[place], 0)
        share = usual[value[candidates]]
        result: Any = np.log((count + _PRIOR * share) / (people[person[people_of_pairs]] + _PRIOR) / share)
        return np.asarray(result, dtype=np.float64)

    return of_pairs
