"""Results of the attack that decides: how many people were found, how many secrets were learnt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd.results import Result
from incrowd.special import Floats

ERROR = 0.01
"""Chance of a false alarm over all looks together."""

FEWEST = 10
"""People in a look at least, and people whose secret must be learnt before it is more than chance."""

ROWS_OF_PERSON = "the number of rows"
"""The name of how many rows a person has, which a release of several rows shows."""

POSITION = "the order of the rows"
"""The name of the position of rows, which is a kept column of a release whose rows are not in random order."""

SHARES = (1.0, 0.25, 0.05, 0.01)
"""Shares of the people, the most confident first, each of which is one look at the attack."""


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
        kept: the columns from which they learn; those with one value tell nothing.
        people: how many people were attacked; 0 if nothing can be learnt, or people are too few to learn from.
        looks: how many were found, by how confident the attacker was.
        secrets: the sensitive columns, and of how many people they were learnt.
        blamed: kept columns by how much of the attacker's odds comes from them, the largest share first.
        person: the released column that says whose row each is; None: every row is another person's.
    """

    known: tuple[str, ...]
    coarse: tuple[str, ...]
    kept: tuple[str, ...]
    people: int
    looks: tuple[Look, ...]
    secrets: tuple[LearntSecret, ...] = ()
    blamed: tuple[tuple[str, float], ...] = ()
    person: str | None = None
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
        person = None if self.person is None else name_of(self.person)
        return replace(self, known=known, coarse=coarse, kept=kept, secrets=secrets, blamed=blamed, person=person)

    def joined(self, other: LearnedAttack) -> LearnedAttack | None:
        """What two attacks on one release show together: the worse of each, for the columns that both know and see.

        None if they count different people.
        """
        if self.person != other.person:
            return None
        worse, better = (self, other) if self.low >= other.low else (other, self)
        secrets = {secret.column: secret for secret in better.secrets}
        for secret in worse.secrets:
            if secret.column not in secrets or secret.low >= secrets[secret.column].low:
                secrets[secret.column] = secret
        return replace(
            worse,
            known=tuple(name for name in worse.known if name in better.known),
            coarse=tuple(dict.fromkeys((*worse.coarse, *better.coarse))),
            kept=tuple(name for name in worse.kept if name in better.kept),
            secrets=tuple(secrets.values()),
        )

    def least_seen(self, limit: float) -> float:
        """The smallest success among the most confident people that would have been above a limit; 1 if none would.

        >>> LearnedAttack((), (), (), 400, (Look(1.0, 400, 30, 0.05), Look(0.05, 20, 2, 0.01))).least_seen(1 / 11)
        0.135
        """
        return min((_least_success(look.people, limit) for look in self.looks), default=1.0)


def _least_success(people: int, limit: float) -> float:
    found = np.arange(people + 1)
    low = lower_bound(found, people, ERROR / len(SHARES))
    above = np.flatnonzero(low > limit)
    return float(above[0] / people) if above.size else 1.0


def lower_bound(hits: NDArray[np.int64] | int, people: int, error: float) -> Floats:
    """The exact lower bound of a share (Clopper and Pearson), for numbers of hits among people."""
    from scipy.stats import beta  # reading a mark needs none of it

    hits = np.asarray(hits)
    return np.asarray(np.where(hits > 0, beta.ppf(error, np.maximum(hits, 1), people - hits + 1), 0.0))
