"""What a posterior over rows says of a sensitive column, and what would be said of a person without their class.

A candidate row says of the secret what its label covers or, if the secret was left out, what a model says that was
learned on other people. The sum over candidates is the attack. The control is what is true of everybody: it is learned
from the known columns alone, also on other people. Only what the attack adds counts, and only if it is right as often
as it says.

See docs/dev/maths.md on learned posteriors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import expit, logit

from incrowd.attacks.columns_as_numbers import Codes, Feature, numbers_of
from incrowd.attacks.learned_posterior import RowPosterior
from incrowd.attacks.likeness import KnownColumn
from incrowd.attacks.released_columns import ReleasedColumn, classes_of, covering_classes
from incrowd.attacks.secret_models import fit_codes, fit_numbers
from incrowd.special import Floats

Rows = NDArray[np.int64]
Learner = Callable[[Floats, Rows], Callable[[Floats], csr_array]]

TOLERANCE = 0.05  # a number is learnt if it is known within this share of it; a date, of the spread of all dates
_FEW_VALUES = 20  # up to so many different numbers are told apart exactly
_MOST_NUMBERS = 300  # numbers that stand for all of a column
_MOST_CANDIDATES = 200  # rows of a person that are compared
_MOST_BALANCED = 3_000  # people by whom it is measured how many a row suits
_LEAST_ODDS = 1e-3  # of a candidate row whose label the control thinks impossible
_STEPS, _PENALTY = 20, 1.0  # of the logistic regression that calibrates


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs of a person and a row that may be theirs.

    Attributes:
        targets: the people who are attacked.
        owner: for each pair the place of the person among the targets.
        rows: for each pair the row.
        weights: for each pair the probability that the row is the person's.
    """

    targets: Rows
    owner: Rows
    rows: Rows
    weights: Floats

    @classmethod
    def of_posteriors(cls, posteriors: Sequence[RowPosterior], most: int) -> Candidates:
        """The members of classes, up to so many people."""
        if not posteriors:
            nobody = np.empty(0, dtype=np.int64)
            return cls(nobody, nobody, nobody, np.empty(0))
        people = np.cumsum([posterior.members.size for posterior in posteriors])
        some = posteriors[: 1 + int(np.searchsorted(people, most))]
        targets = np.concatenate([posterior.members for posterior in some])
        sizes = np.concatenate([np.full(posterior.members.size, posterior.members.size) for posterior in some])
        rows = np.concatenate([np.tile(posterior.members, posterior.members.size) for posterior in some])
        weights = np.concatenate([posterior.weights.ravel() for posterior in some])
        return cls(targets, np.repeat(np.arange(targets.size), sizes), rows, weights)

    @classmethod
    def of_covering(
        cls, known: Sequence[ReleasedColumn], people: int, most: int, rng: np.random.Generator
    ) -> Candidates:
        """The rows whose labels cover what is known of some people; all alike, and at most so many of each person."""
        targets = rng.permutation(people)[:most]
        classes = classes_of(known, people)
        sizes = np.bincount(classes)
        starts = np.cumsum(sizes) - sizes
        members = np.argsort(classes, kind="stable")
        owner, place = covering_classes(known, classes, targets)
        pairs = np.repeat(np.arange(owner.size), sizes[place])
        offset = np.arange(pairs.size) - np.repeat(np.cumsum(sizes[place]) - sizes[place], sizes[place])
        rows = members[starts[place[pairs]] + offset]
        owner = owner[pairs]
        order = np.lexsort([rng.random(owner.size), owner])
        owner, rows = owner[order], rows[order]
        rank = np.arange(owner.size) - np.searchsorted(owner, owner)
        owner, rows = owner[rank < _MOST_CANDIDATES], rows[rank < _MOST_CANDIDATES]
        return cls(targets, owner, rows, np.ones(owner.size)).normalised()

    def without_weights(self) -> Candidates:
        """The pairs with each row of a person as likely as the others."""
        return replace(self, weights=np.ones(self.weights.size)).normalised()

    def normalised(self) -> Candidates:
        """The pairs with weights that sum to 1 for each person."""
        sums = np.bincount(self.owner, self.weights, self.targets.size)
        return replace(self, weights=self.weights / np.maximum(sums, 1e-300)[self.owner])


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """Two halves of the classes; `place` is that of everybody's class in a random order."""

    place: Rows

    @classmethod
    def of(cls, classes: Rows, rng: np.random.Generator) -> Halves:
        """Halves at random."""
        return cls(rng.permutation(int(classes.max()) + 1)[classes])

    @property
    def is_second(self) -> NDArray[np.bool_]:
        """Who is in the second half."""
        return np.asarray(self.place % 2 == 1)

    def without(self, half: bool) -> Rows:
        """Everybody of the other half, class by class, so that the last ones are not of the classes of the first."""
        rows = np.flatnonzero(self.is_second != half)
        return rows[np.argsort(self.place[rows], kind="stable")]


@dataclass(frozen=True, slots=True, eq=False)
class SecretInputs:
    """What is known of people but for the secret, and what their rows say, as numbers; `texts` are known codes."""

    of_people: Floats
    of_rows: Floats
    texts: tuple[int, ...]

    @classmethod
    def of(cls, known: Sequence[KnownColumn], features: Sequence[Feature]) -> SecretInputs:
        """Inputs of models."""
        people = known[0].codes.size if known else features[0].codes.size if features else 0
        usable = [feature.values for feature in features if np.isfinite(feature.values).any()]
        return cls(
            np.column_stack([np.zeros(people), *(column.as_input for column in known)]),
            np.column_stack([np.zeros(people), *usable]),
            tuple(1 + place for place, column in enumerate(known) if column.values is None),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveColumn:
    """A sensitive column, with a missing cell as one of its values.

    Attributes:
        column: the column of the original and of the release.
        codes: the value of every person, or the nearest of the numbers that stand for all.
        numbers: these numbers, NaN for the missing one; None where values are told apart exactly.
        truth: the exact number of every person.
        room: how far from each person's number a guess may be.
    """

    column: ReleasedColumn
    codes: Codes
    size: int
    numbers: Floats | None = None
    truth: Floats | None = None
    room: Floats | None = None

    @classmethod
    def of(cls, column: ReleasedColumn) -> SensitiveColumn:
        """The secret of a column of the original."""
        before = column.before
        by_value = numbers_of(before.values) if before.has_distances and before.filled_size > _FEW_VALUES else None
        if by_value is None or not np.isfinite(by_value).any():
            return cls(column, before.codes.astype(np.int64), before.size)
        truth = by_value[before.codes]
        finite = np.unique(truth[np.isfinite(truth)])
        if finite.size > _MOST_NUMBERS:
            finite = np.unique(np.quantile(truth[np.isfinite(truth)], np.linspace(0, 1, _MOST_NUMBERS)))
        numbers = np.append(finite, np.nan)
        room = TOLERANCE * np.abs(truth)
        if pa.types.is_temporal(before.values.type):
            room = np.full(truth.size, TOLERANCE * float(np.nanstd(truth)))
        return cls(column, _nearest(numbers, truth), numbers.size, numbers, truth, room)

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.before.name

    def near(self, table: csr_array) -> csr_array:
        """The probability that the number is about as large as each value, from the probabilities of all values."""
        if self.numbers is None:
            return table
        room = TOLERANCE * np.abs(self.numbers)
        if self.room is not None and np.ptp(self.room) == 0:
            room = np.full(self.size, self.room[0])
        is_near = np.abs(self.numbers[:, None] - self.numbers) <= room
        is_near[-1, -1] = True
        return csr_array(table.toarray() @ is_near)

    def is_right(self, people: Rows, guesses: Codes) -> NDArray[np.bool_]:
        """Whether guesses of people's values are right."""
        if self.numbers is None or self.truth is None or self.room is None:
            return np.asarray(self.codes[people] == guesses)
        is_close = np.abs(self.numbers[guesses] - self.truth[people]) <= self.room[people]
        is_missing = np.isnan(self.truth[people]) & (guesses == self.size - 1)
        return np.asarray(is_close | is_missing)

    def learner(self, texts: Sequence[int]) -> Learner:
        """Fits a model of the secret; `texts` are the inputs that are codes."""
        if self.numbers is None or self.truth is None:
            return lambda inputs, fitted: fit_codes(inputs, self.codes, self.size, fitted, texts)
        numbers, truth, size = self.numbers, self.truth, self.size
        return lambda inputs, fitted: fit_numbers(inputs, truth, fitted, lambda values: _nearest(numbers, values), size)

    @property
    def covered(self) -> csr_array | None:
        """Released labels by values: how many people have each covered value; None if the secret was left out."""
        cover, after = self.column.cover, self.column.after
        if cover is None or after is None:
            return None
        by_value = np.zeros(self.column.before.size, dtype=np.int64)
        by_value[self.column.before.codes] = self.codes
        tally = self.column.before.tally
        matrix = cover.matrix().tocoo()
        label, value, mass = matrix.row, by_value[matrix.col], tally[matrix.col].astype(np.float64)
        if self.numbers is not None:  # a number that nobody has, as of a column with noise, says that it is about that
            shown = numbers_of(after.values)
            other = np.flatnonzero(cover.counts == 0) if shown is not None else np.empty(0, dtype=np.int64)
            if shown is not None:
                value = np.concatenate([value, _nearest(self.numbers, shown[other])])
            label = np.concatenate([label, other])
            mass = np.concatenate([mass, np.ones(other.size)])
        return csr_array((mass, (label, value)), shape=(len(after.values), self.size))


def _nearest(numbers: Floats, values: Floats) -> Codes:
    """The place of the nearest number, and the last one for what is missing."""
    finite = numbers[:-1]
    place = np.searchsorted((finite[1:] + finite[:-1]) / 2, values)
    return np.where(np.isfinite(values), place, finite.size).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Guesses:
    """What the attack says of people, and what is said of them without it.

    Attributes:
        is_right: whether the likeliest value is theirs.
        certainty: how often such guesses are right, by other people's.
        usual: the probability of their value by the control.
    """

    is_right: NDArray[np.bool_]
    certainty: Floats
    usual: Floats


def guess_secret(
    secret: SensitiveColumn,
    candidates: Candidates,
    inputs: SecretInputs,
    halves: Halves,
    certain: float,
) -> Guesses:
    """Guess a secret of the targets.

    Args:
        secret: the sensitive column.
        candidates: whose rows may be whose.
        inputs: what is known of everybody without the secret, and what their rows say without it.
        halves: of the classes; models of one half are used on the other one.
        certain: a posterior that counts as knowing. If hardly anybody's comes near it, nothing is calibrated.
    """
    if not candidates.targets.size:
        return Guesses(np.empty(0, dtype=np.bool_), np.empty(0), np.empty(0))
    learn = secret.learner(inputs.texts)
    covered = secret.covered
    if covered is None:
        said = _by_model(learn, secret, candidates, inputs, halves)
    else:
        said = _by_label(secret, candidates, covered)
    chance = secret.near(said)
    guess = np.asarray(chance.argmax(axis=1)).ravel().astype(np.int64)
    best = _entries(chance, guess)
    is_right = secret.is_right(candidates.targets, guess)
    usual = np.ones(best.size)
    is_close = best >= certain - _FAR
    if is_close.sum() < _FEWEST:
        return Guesses(is_right, np.zeros(best.size), usual)
    control = secret.near(_control(learn, inputs.of_people, halves, candidates.targets))
    has_value = secret.column.before.is_filled[candidates.targets]  # that a value is missing is no secret
    usual = np.where(has_value, _entries(control, secret.codes[candidates.targets]), 1.0)
    logits = [logit(np.clip(values, 1e-3, 1 - 1e-3)) for values in (best, _entries(control, guess))]
    certainty = _certainty(logits, is_right, halves.is_second[candidates.targets])
    if covered is not None:  # all candidates say the same, which needs no experience with others
        certainty = np.where(best > 1 - 1e-9, 1.0, certainty)
    return Guesses(is_right, certainty, usual)


_FAR, _FEWEST = 0.25, 10


def guess_by_label(secret: SensitiveColumn, candidates: Candidates) -> Floats:
    """The posterior of the likeliest value of every target by the labels of candidates."""
    covered = secret.covered
    assert covered is not None
    chance = secret.near(_by_label(secret, candidates, covered))
    return np.asarray(chance.max(axis=1).toarray()).ravel()


def weigh_by_control(
    secret: SensitiveColumn,
    candidates: Candidates,
    known: Sequence[ReleasedColumn],
    inputs: SecretInputs,
    halves: Halves,
    rng: np.random.Generator,
) -> Candidates:
    """Weigh rows by how likely their label is for the person, over how likely it is for everybody whom the row covers.

    For the latter some people are drawn; rows are people's, so it is at least the number of such rows.
    """
    covered, after = secret.covered, secret.column.after
    assert covered is not None
    assert after is not None
    people_in_all = halves.place.size
    people = np.concatenate(
        [candidates.targets, rng.permutation(np.setdiff1d(np.arange(people_in_all), candidates.targets))]
    )
    people = people[:_MOST_BALANCED]
    control = _control(secret.learner(inputs.texts), inputs.of_people, halves, people)
    of_label = (control @ (covered > 0).astype(float).T).toarray()
    classes = classes_of(known, people_in_all)
    person, place = covering_classes(known, classes, people)
    balance = np.zeros((int(classes.max()) + 1, of_label.shape[1]))
    np.add.at(balance, place, of_label[person])
    balance *= people_in_all / people.size
    tally = np.zeros_like(balance)
    np.add.at(tally, (classes, after.codes), 1.0)
    balance = np.maximum(balance, tally)
    label = after.codes[candidates.rows]
    odds = np.maximum(of_label[candidates.owner, label], _LEAST_ODDS)
    return replace(candidates, weights=odds / balance[classes[candidates.rows], label]).normalised()


def _by_label(secret: SensitiveColumn, candidates: Candidates, covered: csr_array) -> csr_array:
    """What the labels of candidate rows cover, by how frequent the values are."""
    after = secret.column.after
    assert after is not None
    says = _normalised(covered)
    return csr_array(_summed(candidates, after.codes.size) @ says[after.codes])


def _by_model(
    learn: Learner, secret: SensitiveColumn, candidates: Candidates, inputs: SecretInputs, halves: Halves
) -> csr_array:
    """What a model says of a secret that was left out, by a candidate's kept columns and a person's known ones."""
    people = candidates.targets[candidates.owner]
    said = np.zeros((candidates.targets.size, secret.size))
    of_own = np.column_stack([inputs.of_people, inputs.of_rows])
    for half in (False, True):
        model = learn(of_own, halves.without(half))
        pairs = np.flatnonzero(halves.is_second[people] == half)
        of_pairs = np.column_stack([inputs.of_people[people[pairs]], inputs.of_rows[candidates.rows[pairs]]])
        weights = csr_array(
            (candidates.weights[pairs], (candidates.owner[pairs], np.arange(pairs.size))),
            shape=(candidates.targets.size, pairs.size),
        )
        said += (weights @ model(of_pairs)).toarray()
    return csr_array(said)


def _control(learn: Learner, of_people: Floats, halves: Halves, people: Rows) -> csr_array:
    """What is said of people by those of the other half."""
    tables = []
    places = []
    for half in (False, True):
        asked = np.flatnonzero(halves.is_second[people] == half)
        model = learn(of_people, halves.without(half))
        tables.append(model(of_people[people[asked]]).toarray())
        places.append(asked)
    table = np.empty((people.size, tables[0].shape[1]))
    for asked, part in zip(places, tables, strict=True):
        table[asked] = part
    return csr_array(table)


def _summed(candidates: Candidates, rows: int) -> csr_array:
    """People by rows: the weights of candidates."""
    shape = (candidates.targets.size, rows)
    return csr_array((candidates.weights, (candidates.owner, candidates.rows)), shape=shape)


def _normalised(table: csr_array) -> csr_array:
    sums = np.asarray(table.sum(axis=1)).ravel()
    return csr_array(table.multiply((1 / np.where(sums > 0, sums, 1.0))[:, None]))


def _entries(table: csr_array, columns: Codes) -> Floats:
    """One entry of each row of a table."""
    if not columns.size:
        return np.empty(0)
    return np.asarray(table[np.arange(columns.size), columns]).ravel().astype(np.float64)


def _certainty(logits: Sequence[Floats], is_right: NDArray[np.bool_], side: NDArray[np.bool_]) -> Floats:
    """How often guesses of such posteriors are right, by a logistic regression on people of the other half."""
    inputs = np.column_stack([np.ones(is_right.size), *logits])
    certainty = np.zeros(is_right.size)
    for half in (False, True):
        fit, weights = inputs[side != half], np.zeros(inputs.shape[1])
        for _ in range(_STEPS):
            chance = expit(fit @ weights)
            curvature = (fit.T * (chance * (1 - chance))) @ fit + _PENALTY * np.eye(weights.size)
            weights += np.linalg.solve(curvature, fit.T @ (is_right[side != half] - chance) - _PENALTY * weights)
        certainty[side == half] = expit(inputs[side == half] @ weights)
    return certainty
