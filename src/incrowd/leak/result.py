"""The answer to a leak, and what a question about a leak must satisfy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.notebook import Shown

Method = Literal["exact", "recursion", "recursion_by_people"]

THRESHOLDS = {0.33: "a trusted recipient", 0.09: "public release", 0.05: "public release, strict"}
"""The largest chance of naming one person that health-data guides accept, and for whom."""

RECURSION = "as published: a new leak is drawn for every target, and a class counts as one however many people it holds"
RECURSION_BY_PEOPLE = "as published, but a class counts by its people; a new leak is still drawn for every target"


@dataclass(frozen=True, slots=True)
class LeakRisk(Shown):
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
        if self.log_probability == -math.inf:
            return "never"
        exponent = -self.log_probability / math.log(10)
        if exponent >= 6:
            return f"1 in 10^{exponent:.1f}"
        one_in = 1 / self.probability
        return f"1 in {one_in:,.0f}" if one_in >= 20 else f"1 in {one_in:.1f}".removesuffix(".0")

    @property
    def in_words(self) -> str:
        """The answer in a sentence."""
        who = "one person" if self.targets == 1 else f"all of {self.targets:,} people"
        if self.targets > self.leaked:
            return f"never: a leak of {self.leaked:,} cannot name {self.targets:,} people"
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


def checked(sizes: ClassSizes, leaked: int, targets: int = 1) -> None:
    """Refuse a leak of more people than there are, and a search for more."""
    people = sizes.people
    if not all(hasattr(number, "__index__") for number in (leaked, targets)):
        raise InputError(
            f"a leak of {leaked} and {targets} targets; give whole people (share_of makes people of a share)"
        )
    if not 0 <= leaked <= people:
        raise InputError(f"a leak of {leaked:,} people from a table of {people:,}; give 0 to {people:,}")
    if not 1 <= targets <= people:
        raise InputError(f"{targets:,} targets in a table of {people:,} people; give 1 to {people:,}")


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
