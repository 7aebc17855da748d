"""The risk of a leak."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from incrowd.results import Result
from incrowd.wording import counted, odds, probability_digits

LeakMethod = Literal["exact", "recursion", "recursion_by_people"]

RECURSION = "as published: a new leak is drawn for every target, and a class counts as one however many people it holds"
RECURSION_BY_PEOPLE = "as published, but a class counts by its people; a new leak is still drawn for every target"


@dataclass(frozen=True, slots=True)
class LeakRisk(Result):
    """Chance that an attacker who holds a leak names all the people they look for, on average over whom they look for.

    The logarithm is stored too, because with many targets the probability is too small for a float. `highest` is the
    exact chance of the person at highest risk, who is in the smallest class; None for several targets.
    """

    people: int
    leaked: int
    targets: int
    method: LeakMethod
    probability: float
    log_probability: float
    highest: float | None = None
    _derived: ClassVar[tuple[str, ...]] = ("share_leaked", "odds", "in_words")
    _keys: ClassVar[Mapping[str, Any]] = {"log_probability": float | None}

    @property
    def share_leaked(self) -> float:
        """The share of the table's people that leaked."""
        return self.leaked / self.people

    @property
    def judged(self) -> float:
        """The chance that limits are compared with: of the person at highest risk, or of all targets together."""
        return self.probability if self.highest is None else self.highest

    @property
    def odds(self) -> str:
        """The probability as "1 in …"."""
        return odds(self.log_probability)

    @property
    def in_digits(self) -> str:
        """The probability with four digits, also if it is too small for a float."""
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
        """The result in plain JSON types; the log of a probability of 0 is null."""
        log_probability = self.log_probability if math.isfinite(self.log_probability) else None
        return Result.to_dict(self) | {"log_probability": log_probability}
