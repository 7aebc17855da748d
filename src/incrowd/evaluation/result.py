"""The result of an evaluation: risk, disclosure and loss, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from incrowd.evaluation.disclosure import Disclosure
from incrowd.evaluation.utility import Utility
from incrowd.measures import Diversity
from incrowd.results import Result
from incrowd.wording import how_often, percent


@dataclass(frozen=True, slots=True)
class ColumnCost(Result):
    """Cost of protection in one quasi-identifier. `loss` is None if rows cannot be compared."""

    column: str
    changed: int
    granularity: float
    loss: float | None


@dataclass(frozen=True, slots=True)
class Evaluation(Result):
    """A protected table against its original.

    - `uniques`: records that are unique by the box rule, `undecided` of them because the search was cut short; with a
      person column, people whose history nobody else has.
    - `k`: the smallest class of records with the same values (of people with the same histories).
    - `correctness`: chance that a random guess within the class names the right record, on average.
    - `information_loss` (eq. 3 and 4) in standard deviations per column; None if it is not known which rows were
      dropped. `granularity`: 1 for the original, 0 if every cell may be any value. `discernibility`: the sum of squared
      class sizes; a suppressed row counts as all rows.
    - `disclosure`: eq. 5 for the given secret; `sensitive`: l and t of every sensitive column; `diversity`: those of
      the column with the smallest l, and among equal l with the largest t.
    - `correlation_change`: mean and largest absolute change of pairwise correlations; `correlation_agreement`: the
      correlation between the correlations before and after (1: they agree perfectly).
    - `contradicting`: cells that do not cover the original's value; above 0 if rows are in another order, or values
      were replaced instead of generalised.
    """

    _derived: ClassVar[tuple[str, ...]] = ("correctness", "uniqueness", "diversity", "verdict")
    records: int
    suppressed: int
    people: int
    uniques: int
    undecided: int
    k: int
    classes: int
    columns: tuple[ColumnCost, ...]
    information_loss: float | None
    granularity: float
    discernibility: int
    correlation_change: tuple[float, float] | None
    correlation_agreement: float | None
    contradicting: int | None
    sensitive: tuple[Diversity, ...] = ()
    disclosure: Disclosure | None = None
    notes: tuple[str, ...] = ()
    utility: Utility | None = None

    @property
    def correctness(self) -> float:
        """Classes ÷ people: the chance of correct random re-identification."""
        return self.classes / self.people

    @property
    def uniqueness(self) -> float:
        """The share of people who are unique: records by the box rule (eq. 1), or whole histories."""
        return self.uniques / self.people

    @property
    def diversity(self) -> Diversity | None:
        """l and t of the least protected sensitive column; None without sensitive columns."""
        return min(self.sensitive, key=lambda one: (one.distinct, -one.t), default=None)

    @property
    def counted(self) -> str:
        """The unit of `uniques`: records, or people if a person has several records."""
        return "records" if self.people == self.records else "people"

    @property
    def verdict(self) -> str:
        """The result in plain words."""
        if self.uniques:
            everyone = f"{self.people:,} {self.counted}"
            risk = f"not safe: {self.uniques:,} of {everyone} ({percent(self.uniqueness)}) are still unique"
        elif self.k < 2:
            risk = "no record is unique, but some share their exact values with nobody"
        else:
            risk = (
                f"no record is unique; everybody shares their values with at least {self.k - 1:,} "
                f"other{'s' if self.k > 2 else ''}, and a guess is right {how_often(self.correctness)} on average"
            )
        if self.disclosure is not None:
            risk += f"; the secret is certain for {percent(self.disclosure.risk)} of those who have it"
        loss = f"; {percent(self.granularity)} of the detail is kept"
        if self.suppressed:
            loss += f" in the {self.records:,} remaining rows ({self.suppressed:,} were dropped)"
        return risk + loss
