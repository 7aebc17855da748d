"""The attacker who decides: whom do a release's kept columns find, and whose secrets do they tell?

The attacker knows the exact known columns of everybody and holds the release. Classes are counted elsewhere, exactly;
this attack measures what kept columns say beyond them, on people of whom no model has learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, binom

from incrowd._support.progress import Progress, silent
from incrowd.attacks.columns_as_numbers import features_of, of_people
from incrowd.attacks.learned_posterior import Posterior, posteriors
from incrowd.attacks.learned_secrets import Guesses, secrets_of
from incrowd.attacks.likeness import KnownColumn, Rows
from incrowd.backends import Coded
from incrowd.results import Result
from incrowd.special import Floats

SHARES = (1.0, 0.25, 0.05, 0.01)
"""Shares of the people, the most confident first, each of which is one look at the attack."""

FEWEST = 10
"""People in a look at least, and people whose secret must be learnt before it is more than chance."""

ERROR = 0.01
"""Chance of a false alarm over all looks together."""

_MOST_ROWS = 30_000  # rows of a larger table that are compared: whole classes, drawn at random
_STEPS = (0.95, 0.99, 0.999)  # posteriors that may count as certain; the first that is right as often as it says


@dataclass(frozen=True, slots=True)
class Look(Result):
    """How often people were found, among a share of those of whom the attacker was most confident.

    Attributes:
        share: of the people who were attacked.
        people: how many these are.
        found: how many of them were found.
        low: the exact lower bound of the success, for all looks together.
    """

    share: float
    people: int
    found: int
    low: float
    _derived: ClassVar[tuple[str, ...]] = ("success",)

    @property
    def success(self) -> float:
        """The share of people who were found."""
        return self.found / self.people


@dataclass(frozen=True, slots=True)
class LearntSecret(Result):
    """How many people's secret was learnt.

    Attributes:
        column: the sensitive column.
        people: how many were attacked.
        certain: of how many the attacker was certain.
        right: of how many of these rightly.
        news: of how many of these others would have guessed it wrong, as likely as not, without the person's class.
        low: the exact lower bound of the share of people whose secret is news; 0 if the attacker is wrong too often.
    """

    column: str
    people: int
    certain: int
    right: int
    news: int
    low: float


@dataclass(frozen=True, slots=True)
class LearnedAttack(Result):
    """The result of the attack.

    Attributes:
        known: what the attacker knows.
        coarse: which of these the release does not show exactly.
        kept: the columns from which they learn.
        people: how many people were attacked.
        looks: how many were found, by how confident the attacker was.
        secrets: the sensitive columns, and of how many people they were learnt.
        blamed: kept columns by how much of the attacker's odds comes from them, the largest share first.
    """

    known: tuple[str, ...]
    coarse: tuple[str, ...]
    kept: tuple[str, ...]
    people: int
    looks: tuple[Look, ...]
    secrets: tuple[LearntSecret, ...] = ()
    blamed: tuple[tuple[str, float], ...] = ()
    _derived: ClassVar[tuple[str, ...]] = ("low",)

    @property
    def low(self) -> float:
        """The largest lower bound of all looks: at least so often some people are found."""
        return max((look.low for look in self.looks), default=0.0)

    def renamed(self, name_of: Callable[[str], str]) -> LearnedAttack:
        """The result with other names of columns."""
        secrets = tuple(replace(secret, column=name_of(secret.column)) for secret in self.secrets)
        blamed = tuple((name_of(name), share) for name, share in self.blamed)
        known, coarse, kept = (tuple(map(name_of, names)) for names in (self.known, self.coarse, self.kept))
        return replace(self, known=known, coarse=coarse, kept=kept, secrets=secrets, blamed=blamed)

    def least_seen(self, limit: float) -> float:
        """The smallest success among the most confident people that would have been above a limit; 1 if none would.

        >>> LearnedAttack((), (), (), 400, (Look(1.0, 400, 30, 0.05), Look(0.05, 20, 2, 0.01))).least_seen(1 / 11)
        0.1475
        """
        return min((_least_success(look.people, limit) for look in self.looks), default=1.0)


def _least_success(people: int, limit: float) -> float:
    found = np.arange(people + 1)
    low = _lower_bound(found, people, ERROR / len(SHARES))
    above = np.flatnonzero(low > limit)
    return float(above[0] / people) if above.size else 1.0


def _lower_bound(hits: NDArray[np.int64] | int, people: int, error: float) -> Floats:
    hits = np.asarray(hits)
    return np.asarray(np.where(hits > 0, beta.ppf(error, np.maximum(hits, 1), people - hits + 1), 0.0))


def attack_by_learning(
    known: Sequence[tuple[Coded, bool]],
    kept: Sequence[Coded],
    secrets: Sequence[Coded],
    classes: Rows,
    *,
    person: Rows | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> LearnedAttack:
    """Attack a release by what its kept columns say of exact known values, and of secrets.

    Args:
        known: the known columns of the original in the order of the released rows, each with whether the release made
            it coarser or left it out.
        kept: the columns of the release that the attacker sees and does not know.
        secrets: the sensitive columns of the original, in the order of the released rows.
        classes: the class of every released row, numbered from 0.
        person: whose row each is, numbered from 0; None: every row is another person's.
        seed: of the sample and of the parts.
        progress: called with what is done and how far it is.
    """
    rng = np.random.default_rng([seed, 0x1EA12])
    rows = _some_classes(classes, rng)
    progress("learning what kept columns say", 0.0)
    columns = [column.take(rows) for column in kept]
    features = features_of(columns)
    people = np.arange(rows.size)
    if person is not None:
        _, people, of_row = np.unique(person[rows], return_index=True, return_inverse=True)
        features = [of_people(feature, of_row) for feature in features]
    first = rows[people]
    persons = [KnownColumn.of(column.take(first), is_coarse=is_coarse) for column, is_coarse in known]
    names = tuple(column.name for column in kept)
    _, of_class = np.unique(classes[first], return_inverse=True)
    told = [secrets_of(column.take(first), names) for column in secrets]
    guesses = [Guesses(secret) for secret in told]
    confidence: list[Floats] = []
    is_found: list[NDArray[np.bool_]] = []
    blame: dict[str, float] = {}
    for posterior in posteriors(persons, features, of_class, rng, blame):
        best, hits = _guess_rows(posterior, rng)
        confidence.append(best)
        is_found.append(hits)
        for guess in guesses:
            guess.add(posterior, features)
    progress("looking at what was found", 0.9)
    attacked = sum(part.size for part in confidence)
    looks = _looks(np.concatenate(confidence), np.concatenate(is_found)) if attacked else ()
    return LearnedAttack(
        tuple(column.name for column, _ in known),
        tuple(column.name for column, is_coarse in known if is_coarse),
        names,
        attacked,
        looks,
        tuple(_learnt(guess, persons) for guess in guesses),
        _shares(blame),
    )


def _some_classes(classes: Rows, rng: np.random.Generator) -> Rows:
    """The rows of all classes, or of some that are drawn at random."""
    if classes.size <= _MOST_ROWS:
        return np.arange(classes.size)
    sizes = np.bincount(classes)
    order = rng.permutation(sizes.size)
    is_drawn = np.zeros(sizes.size, dtype=np.bool_)
    is_drawn[order[: 1 + int(np.searchsorted(np.cumsum(sizes[order]), _MOST_ROWS))]] = True
    return np.flatnonzero(is_drawn[classes])


def _guess_rows(posterior: Posterior, rng: np.random.Generator) -> tuple[Floats, NDArray[np.bool_]]:
    """How confident the attacker is of the likeliest row of each member, and whether it is theirs.

    Where only some members of a class were compared, the odds of the others are those of the ones that were: a row is
    found as often as its share of all odds is smaller than its share of those that were compared.
    """
    weights = posterior.weights
    size = posterior.members.size
    ties = weights * (1 + 1e-9 * rng.random(weights.shape))
    guess = ties.argmax(axis=1)
    best = weights[np.arange(size), guess]
    is_own = guess == np.arange(size)
    if posterior.size > size:
        others = (1 - best) * (posterior.size - 1) / (size - 1)
        all_odds = best / (best + others)
        is_own &= rng.random(size) < all_odds / best
        best = all_odds
    return best, is_own


def _looks(confidence: Floats, is_found: NDArray[np.bool_]) -> tuple[Look, ...]:
    order = np.argsort(-confidence, kind="stable")
    looks = []
    for share in SHARES:
        people = min(order.size, max(FEWEST, int(share * order.size)))
        found = int(is_found[order[:people]].sum())
        looks.append(Look(share, people, found, float(_lower_bound(found, people, ERROR / len(SHARES)))))
    return tuple(looks)


def _learnt(guesses: Guesses, known: Sequence[KnownColumn]) -> LearntSecret:
    """Of how many people a secret was learnt, where certain guesses are right as often as they say."""
    posterior, is_right, rows = guesses.together()
    people = posterior.size
    for step in _STEPS:
        certain = posterior >= step
        right = int((certain & is_right).sum())
        is_calibrated = binom.cdf(right, certain.sum(), _STEPS[0]) > ERROR
        if is_calibrated or not certain.any():
            break
    learnt = rows[certain & is_right]
    news = 0
    if is_calibrated and right >= FEWEST:
        news = int((guesses.usual_chance(learnt, known) < 1 / 2).sum())
    low = float(_lower_bound(news, people, ERROR / 2)) if news >= FEWEST else 0.0
    return LearntSecret(guesses.secret.name, people, int(certain.sum()), right, news, low)


def _shares(blame: dict[str, float]) -> tuple[tuple[str, float], ...]:
    total = sum(blame.values()) or 1.0
    ordered = sorted(blame.items(), key=lambda pair: -pair[1])
    return tuple((name, round(float(share / total), 4)) for name, share in ordered if share > 0)
