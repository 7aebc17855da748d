"""What a posterior over rows says of a sensitive column, and what would be said of a person without their class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from incrowd.attacks.columns_as_numbers import Codes, Feature, count_codes, numbers_of
from incrowd.attacks.learned_posterior import Posterior
from incrowd.attacks.likeness import MOST_FITTED, KnownColumn, Rows
from incrowd.attacks.trees import fit_trees, predict
from incrowd.backends import Coded
from incrowd.special import Floats

_MOST_VALUES = 30  # values of a secret that are told apart where a model learns them; rarer ones count as one
_FEW_VALUES = 20  # up to so many different numbers are told apart exactly
TOLERANCE = 0.05  # a number is learnt if it is known within this share of it


@dataclass(frozen=True, slots=True, eq=False)
class SecretColumn:
    """A sensitive column: its values by row; `numbers` is None where values are told apart exactly."""

    name: str
    codes: Codes
    numbers: Floats | None
    is_kept: bool
    is_missing: NDArray[np.bool_]


def secrets_of(column: Coded, kept: Sequence[str]) -> SecretColumn:
    """A sensitive column of the original, in the order of the released rows."""
    numbers = numbers_of(column.values) if column.has_distances and column.filled_size > _FEW_VALUES else None
    return SecretColumn(
        column.name,
        column.codes.astype(np.int64),
        None if numbers is None else numbers[column.codes],
        column.name in kept,
        ~column.is_filled,
    )


@dataclass(slots=True, eq=False)
class Guesses:
    """The likeliest value of a secret for every person who was attacked."""

    secret: SecretColumn
    posteriors: list[Floats] = field(default_factory=list)
    hits: list[NDArray[np.bool_]] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    _model: tuple[Rows, Floats, Floats] | None = None  # rows that it was fitted on, and what it says of every row

    def add(self, posterior: Posterior, features: Sequence[Feature]) -> None:
        """Guess the secret of the members of a class whose value is not missing."""
        members, weights = posterior.members, posterior.weights
        if self.secret.is_kept and self.secret.numbers is None:
            chance, is_right = self._by_value(members, weights)
        elif self.secret.is_kept:
            chance, is_right = self._by_number(members, weights, np.zeros(members.size))
        else:
            chance, is_right = self._by_model(posterior, features)
        asked = ~self.secret.is_missing[members]
        self.posteriors.append(chance[asked])
        self.hits.append(is_right[asked])
        self.rows.append(members[asked])

    def together(self) -> tuple[Floats, NDArray[np.bool_], Rows]:
        """The posterior of each guess, whether it is right, and whose it is."""
        if not self.rows:
            return np.empty(0), np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int64)
        return np.concatenate(self.posteriors), np.concatenate(self.hits), np.concatenate(self.rows)

    def _by_value(self, members: Rows, weights: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        _, value = np.unique(self.secret.codes[members], return_inverse=True)
        says = np.zeros((members.size, int(value.max()) + 1))
        says[np.arange(members.size), value] = 1.0
        chance = weights @ says
        guess = chance.argmax(axis=1)
        return chance[np.arange(members.size), guess], guess == value

    def _by_number(self, members: Rows, weights: Floats, spread: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """The number of the likeliest row, and the weight of rows that say the same within the tolerance."""
        numbers = self.secret.numbers
        assert numbers is not None
        said = numbers[members] if not spread.any() else spread  # what each row says
        guess = said[weights.argmax(axis=1)]
        room = TOLERANCE * np.abs(guess)
        chance = (weights * (np.abs(said[None, :] - guess[:, None]) <= room[:, None])).sum(axis=1)
        return chance, np.abs(numbers[members] - guess) <= room

    def _by_model(self, posterior: Posterior, features: Sequence[Feature]) -> tuple[Floats, NDArray[np.bool_]]:
        """A secret that was left out: what other kept columns say of it, learned on other people."""
        members, weights = posterior.members, posterior.weights
        usable = [feature for feature in features if np.isfinite(feature.values).any()]
        if not usable:
            return np.zeros(members.size), np.zeros(members.size, dtype=np.bool_)
        if self._model is None or self._model[0] is not posterior.fitted:
            inputs = np.column_stack([feature.values for feature in usable])
            self._model = (posterior.fitted, *self._fit(inputs, posterior.fitted))
        _, said, spread = self._model
        if self.secret.numbers is None:
            chance = weights @ said[members]
            guess = chance.argmax(axis=1)
            value = _few_values(self.secret.codes)[members]
            return chance[np.arange(members.size), guess], guess == value
        numbers = said[members]
        guess = numbers[weights.argmax(axis=1)]
        room = TOLERANCE * np.abs(guess)
        scale = np.maximum(spread[0], 1e-9)
        distance = numbers[None, :] - guess[:, None]
        within = norm.cdf((room[:, None] - distance) / scale) - norm.cdf((-room[:, None] - distance) / scale)
        return (weights * within).sum(axis=1), np.abs(self.secret.numbers[members] - guess) <= room

    def _fit(self, inputs: Floats, fitted: Rows) -> tuple[Floats, Floats]:
        filled = fitted[~self.secret.is_missing[fitted]]
        if self.secret.numbers is None:
            return _classify(inputs, _few_values(self.secret.codes), filled[:MOST_FITTED]), np.zeros(1)
        return _regress(inputs, self.secret.numbers, filled[:MOST_FITTED])

    def usual_chance(self, rows: Rows, known: Sequence[KnownColumn]) -> Floats:
        """How likely the values of some people are to somebody who knows the known columns and everybody else's values.

        Learned on people who were not among those that are asked about.
        """
        others = [column for column in known if column.name != self.secret.name]
        inputs = np.column_stack([column.as_input for column in others])
        is_asked = np.zeros(self.secret.codes.size, dtype=np.bool_)
        is_asked[rows] = True
        chance = np.empty(rows.size)
        half = np.arange(rows.size) % 2 == 0
        for side in (half, ~half):
            taught = np.ones(is_asked.size, dtype=np.bool_)
            taught[rows[side]] = False
            fitted = np.flatnonzero(taught & ~self.secret.is_missing)[-MOST_FITTED:]
            if self.secret.numbers is None:
                values = _few_values(self.secret.codes)
                chance[side] = _classify(inputs, values, fitted)[rows[side], values[rows[side]]]
            else:
                said, spread = _regress(inputs, self.secret.numbers, fitted)
                truth = self.secret.numbers[rows[side]]
                room, miss = TOLERANCE * np.abs(truth), said[rows[side]] - truth
                scale = np.maximum(spread[0], 1e-9)
                chance[side] = norm.cdf((room - miss) / scale) - norm.cdf((-room - miss) / scale)
        return chance


def _few_values(codes: Codes) -> Codes:
    return count_codes(codes, _MOST_VALUES)


def _classify(inputs: Floats, values: Codes, fitted: Rows) -> Floats:
    """The probability of every value for every row; values that no fitted row has are not expected."""
    seen, place = np.unique(values[fitted], return_inverse=True)
    chances = np.zeros((values.size, int(values.max()) + 1))
    if seen.size == 1:
        chances[:, seen[0]] = 1.0
        return chances
    settings = {"objective": "multiclass", "num_class": seen.size} if seen.size > 2 else {"objective": "binary"}
    model = fit_trees(inputs[fitted], place.astype(float), rounds=30, **settings)
    said = predict(model, inputs, raw=False)
    chances[:, seen] = said if seen.size > 2 else np.column_stack([1 - said, said])
    return chances


def _regress(inputs: Floats, numbers: Floats, fitted: Rows) -> tuple[Floats, Floats]:
    """The expected number of every row, and the spread of what is left: linear, then trees."""
    table = np.nan_to_num(inputs, nan=0.0)
    mean, scale = table[fitted].mean(axis=0), table[fitted].std(axis=0)
    design = np.column_stack([np.ones(numbers.size), (table - mean) / np.where(scale > 0, scale, 1.0)])
    taught, held = fitted[fitted.size // 5 :], fitted[: fitted.size // 5]
    weights = np.linalg.lstsq(design[taught], numbers[taught], rcond=None)[0]
    linear = design @ weights
    trees = fit_trees(inputs[taught], numbers[taught] - linear[taught])
    both = linear + predict(trees, inputs)
    misses = [np.abs(numbers[held] - said[held]) for said in (linear, both)] if held.size else [np.zeros(1), np.ones(1)]
    best = int(np.median(misses[0]) > np.median(misses[1]))
    spread = np.quantile(misses[best], 0.68)
    return (linear, both)[best], np.array([spread])
