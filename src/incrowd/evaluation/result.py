"""The result of an evaluation: risk, disclosure and loss, in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from incrowd.evaluation.disclosure import Disclosure
from incrowd.evaluation.utility import Utility
from incrowd.measures import Diversity
from incrowd.results import DataTable, Result, Statement
from incrowd.wording import how_often, number, percent


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
    def statements(self) -> tuple[Statement, ...]:
        """The risk that remains, what protection cost, and the utility for analysts."""
        utility = () if self.utility is None else self.utility.statements
        return (*self._risks(), *self._costs(), *utility)

    def _risks(self) -> Iterator[Statement]:
        of_records = self.counted == "records"
        unique = f"{self.uniques:,} ({percent(self.uniqueness)})"
        alone = (
            "Records that cannot be anybody else's: some value of theirs fits no other record."
            if of_records
            else "People whose history nobody else has."
        )
        yield Statement("risk", "unique", self.uniqueness, unique, alone)
        alike = "Records with the same values." if of_records else "People with the same histories."
        yield Statement("risk", "smallest class (k)", self.k, f"{self.k:,}", alike)
        guess = "Chance that a guess within the class is right."
        yield Statement("risk", "average risk (κ)", self.correctness, percent(self.correctness), guess)
        if self.undecided:
            cut_short = "Counted as unique: the search for a cover was cut short."
            yield Statement("risk", "undecided", self.undecided, f"{self.undecided:,}", cut_short)
        for column in self.sensitive:
            yield from (statement for statement in column.statements if not statement.is_detail)
        if secret := self.disclosure:
            certain = f"{secret.disclosed:,} of {secret.records:,} with {secret.secret} are in classes of it alone."
            yield Statement("risk", "secret certain", secret.risk, percent(secret.risk), certain)

    def _costs(self) -> Iterator[Statement]:
        kept = "Granularity: 100% is the original, 0% is nothing left."
        yield Statement("cost", "detail kept", self.granularity, percent(self.granularity), kept)
        if self.information_loss is not None:
            far = "How far a value may be from what is written, in standard deviations, a column."
            yield Statement("cost", "information loss", self.information_loss, number(self.information_loss), far)
        if self.suppressed:
            yield Statement("cost", "rows dropped", self.suppressed, f"{self.suppressed:,}", "Suppressed.")
        if self.correlation_change is not None:
            mean, most = self.correlation_change
            moved = f"On average over pairs of columns; {number(most)} at most."
            yield Statement("cost", "correlations moved", mean, number(mean), moved)
        if self.contradicting:
            wrong = "Cells that do not cover the original: is the order right?"
            yield Statement("cost", "contradicting", self.contradicting, f"{self.contradicting:,}", wrong)

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """What protection cost in each column."""
        rows = tuple(
            (column.column, percent(column.changed / self.records), percent(column.granularity), column.loss)
            for column in self.columns
        )
        return (DataTable("Cost by column", ("column", "cells changed", "detail kept", "loss"), rows),)

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
