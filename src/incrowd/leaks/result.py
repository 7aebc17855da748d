"""The answer to a leak, and what a question about a leak must satisfy."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.wording import counted, odds, probability_digits

Method = Literal["exact", "recursion", "recursion_by_people"]

RECURSION = "as published: a new leak is drawn for every target, and a class counts as one however many people it holds"
RECURSION_BY_PEOPLE = "as published, but a class counts by its people; a new leak is still drawn for every target"


@dataclass(frozen=True, slots=True)
class LeakRisk(Result):
    """Chance that an attacker who holds a leak names all the people they look for.

    The log is kept beside the probability, which is too small for a float when the targets are many.
    """

    people: int
    leaked: int
    targets: int
    method: Method
    probability: float
    log_probability: float

    @property
    def share_leaked(self) -> float:
        """The share of the table's people that leaked."""
        return self.leaked / self.people

    @property
    def odds(self) -> str:
        """The same number for people who do not read decimals."""
        return odds(self.log_probability)

    @property
    def in_digits(self) -> str:
        """The chance with four digits, also where it is too small for a float."""
        return probability_digits(self.log_probability)

    @property
    def in_words(self) -> str:
        """The answer in a sentence."""
        who = "one person" if self.targets == 1 else f"all of {self.targets:,} people"
        if self.targets > self.leaked:
            return f"never: a leak of {self.leaked:,} cannot name {counted(self.targets, 'person', 'people')}"
        how = {"exact": "", "recursion": f" ({RECURSION})", "recursion_by_people": f" ({RECURSION_BY_PEOPLE})"}
        return f"{self.odds} to name {who} from a leak of {self.leaked:,} out of {self.people:,}{how[self.method]}"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the log of a chance of nothing is null."""
        return {
            "people": self.people,
            "leaked": self.leaked,
            "share_leaked": self.share_leaked,
            "targets": self.targets,
            "method": self.method,
            "probability": self.probability,
            "log_probability": self.log_probability if math.isfinite(self.log_probability) else None,
            "odds": self.odds,
            "in_words": self.in_words,
        }


def checked(sizes: ClassSizes, leaked: int, targets: int = 1) -> tuple[int, int]:
    """The leak and the targets as plain whole numbers; refuses more people than there are."""
    people = sizes.people
    leaked, targets = whole(leaked, "a leak"), whole(targets, "a number of targets")
    if not 0 <= leaked <= people:
        raise InputError(
            f"a leak of {counted(leaked, 'person', 'people')} from a table of {people:,}; give 0 to {people:,}"
        )
    if not 1 <= targets <= people:
        raise InputError(
            f"{counted(targets, 'target', 'targets')} in a table of {counted(people, 'person', 'people')}; "
            f"give 1 to {people:,}"
        )
    return leaked, targets


def whole(number: int, what: str, give: str = "whole people such as 3 (share_of makes people of a share)") -> int:
    """Any kind of whole number as a plain one; a float is refused, for 0.5 may be meant as a share.

    >>> whole(np.int32(3), "a leak")
    3
    """
    if isinstance(number, bool | np.bool_) or not hasattr(number, "__index__"):
        raise InputError(f"{what} of {number!r}; give {give}")
    return operator.index(number)


def share_of(share: float | Fraction, people: int) -> int:
    """A share of the people, rounded up to whole people so that the risk is not understated.

    >>> share_of(0.1, 48_842)
    4885
    """
    if not 0 <= share <= 1:
        raise InputError(f"a leak of {float(share) * 100:g} % of the people; give 0 to 100 %")
    # 0.07 is not seven hundredths in binary: a decimal is taken as written
    exact = share if isinstance(share, Fraction) else Fraction(repr(float(share)))
    return math.ceil(exact * people)
