"""Kept columns from which a coarsened quasi-identifier is recovered, and the class sizes that result.

There are eight kinds of facts: a column gives a quasi-identifier back, for nearly all records or by single values; or
it follows from quasi-identifiers, without exception, nearly always or for some people; or it lies on one side of one;
or which of its cells are missing follows; or it gives back a secret that the release leaves out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from incrowd.results import Result
from incrowd.wording import counted, listed, percent

_FOLLOWS = "which follow~ from what others know"


@dataclass(frozen=True, slots=True)
class RecoveringColumn(Result):
    """A kept column that discloses a quasi-identifier, for nearly all records or for single values.

    Attributes:
        column: the kept column.
        gives_back: the quasi-identifier that it determines best.
        told: the share of records whose quasi-identifier is determined, among those that share their value of the
            column.
        by_chance: the share of these records that would be determined without the column.
        k: the smallest class for an attacker who knows the column and the quasi-identifiers.
        uniques: the number of people who are unique to that attacker.
        k_without: the smallest class by the quasi-identifiers alone.
        others: further columns that are needed to recover the quasi-identifier. `k` and `uniques` are then for an
            attacker who computes it from all of them.
    """

    _derived: ClassVar[tuple[str, ...]] = ("kind", "undoes")
    kind: ClassVar[str] = "recovering column"
    narrows: ClassVar[bool] = False  # True if the fact decides only if it leaves fewer people than required
    column: str
    gives_back: str
    told: float
    by_chance: float
    k: int
    uniques: int
    k_without: int
    others: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The column and the further columns that are needed to recover the quasi-identifier."""
        return (self.column, *self.others)

    @property
    def visible(self) -> tuple[str, ...]:
        """All columns of the release that the fact is about."""
        return (*self.columns, self.gives_back)

    @property
    def sentence(self) -> str:
        """What the columns tell, in words."""
        if not self.others:
            return f"{self.column} is kept and gives {self.gives_back} back"
        return f"{listed(self.others)} and {self.column} are kept and together give {self.gives_back} back"

    @property
    def consequence(self) -> str:
        """What an attacker who knows the columns reaches, in words."""
        return (
            f"with {'them' if self.others else 'it'} the smallest class has {self.k:,} and not {self.k_without:,}, and "
            f"{self.uniques:,} are unique"
        )

    @property
    def remedy(self) -> str:
        """What to do about the columns, in words."""
        advice, them = (f"remove {self.column}", "them as quasi-identifiers")
        if not self.others:
            advice, them = ("remove it", "it as a quasi-identifier")
        return f"{advice}, or name {them} too"

    def clause(self, known: Collection[str]) -> str:
        """How the column makes classes smaller, for a sentence; `~` stands for the s of a verb of one column."""
        if self.others and {*self.others, self.gives_back} <= {*known}:
            return _FOLLOWS
        return f"which give~ back {self.gives_back}{', together with other columns' if self.others else ''}"

    def is_reported_only(self, secrets: Collection[str], class_size: int) -> bool:
        """True if the fact is only reported and does not decide, where classes must have `class_size` people."""
        return False

    @property
    def undoes(self) -> bool:
        """True if knowing the column makes the smallest class smaller."""
        return self.k < self.k_without

    @property
    def key(self) -> tuple[object, ...]:
        """What tells facts about the same columns apart."""
        return (frozenset(self.columns),)


@dataclass(frozen=True, slots=True)
class NarrowingColumn(RecoveringColumn):
    """A column that only makes classes smaller: it decides if fewer people than required are left."""

    narrows: ClassVar[bool] = True

    def is_reported_only(self, secrets: Collection[str], class_size: int) -> bool:
        """True if enough people are left of each class."""
        return self.k >= class_size

    @property
    def key(self) -> tuple[object, ...]:
        """What tells facts about the same columns apart."""
        return frozenset(self.columns), self.gives_back, self.kind


@dataclass(frozen=True, slots=True)
class RecoveringValues(NarrowingColumn):
    """A column with single values that disclose a quasi-identifier: a score that only people of one origin have.

    `k` is the fewest people who may be the person of a record, to an attacker who does not know the column, and
    `uniques` the number of records with one such person.
    """

    kind: ClassVar[str] = "recovering values"

    @property
    def sentence(self) -> str:
        """What the values tell, in words."""
        if self.others:
            return f"differences of {listed([*self.others, self.column])}, which are kept, give {self.gives_back} back"
        return f"values of {self.column}, which is kept, give {self.gives_back} back"


@dataclass(frozen=True, slots=True)
class FollowingColumn(RecoveringColumn):
    """The opposite direction: the column follows from `gives_back` and `others`, so an attacker expects its value."""

    kind: ClassVar[str] = "following column"

    def clause(self, known: Collection[str]) -> str:
        """How the column makes classes smaller, for a sentence."""
        return _FOLLOWS

    def is_reported_only(self, secrets: Collection[str], class_size: int) -> bool:
        """True if the column is a secret."""
        return self.column in secrets


@dataclass(frozen=True, slots=True)
class ComputedColumn(FollowingColumn):
    """A column that is a function of quasi-identifiers without exception: `over_50` beside an age is no secret."""

    kind: ClassVar[str] = "computed column"

    def is_reported_only(self, secrets: Collection[str], class_size: int) -> bool:
        """Always False: an attacker computes the column, whatever it was declared."""
        return False


@dataclass(frozen=True, slots=True)
class ExpectedValue(FollowingColumn):
    """A column that follows for some people only: no pension before 50. `told` is their share."""

    kind: ClassVar[str] = "expected value"

    def is_reported_only(self, secrets: Collection[str], class_size: int) -> bool:
        """Always True."""
        return True


@dataclass(frozen=True, slots=True)
class OrderedColumn(NarrowingColumn):
    """A column that lies on one side of a quasi-identifier; an attacker leaves out the records that do not.

    `k` is the fewest people who are left of a class, and `uniques` the number of classes of which one person is left,
    by `others` on the same side as well.
    """

    kind: ClassVar[str] = "ordered column"

    @property
    def sentence(self) -> str:
        """What the order tells, in words."""
        verbs = "are kept and lie" if self.others else "is kept and lies"
        return f"{listed([*self.others, self.column])} {verbs} on one side of {self.gives_back}"

    def clause(self, known: Collection[str]) -> str:
        """How the column makes classes smaller, for a sentence."""
        return f"which limit~ {self.gives_back}"


@dataclass(frozen=True, slots=True)
class FollowingMissingCells(RecoveringColumn):
    """Which cells of the column are missing follows (a skip pattern); the attacker knows no more of the column."""

    kind: ClassVar[str] = "missing cells"

    @property
    def sentence(self) -> str:
        """What the missing cells tell, in words."""
        return f"{self.column} is kept, and which of its cells are missing gives {self.gives_back} back"

    def clause(self, known: Collection[str]) -> str:
        """How the missing cells make classes smaller, for a sentence."""
        return f"whose missing cells tell {self.gives_back}"

    @property
    def key(self) -> tuple[object, ...]:
        """What tells facts about the same columns apart."""
        return frozenset(self.columns), self.kind


@dataclass(frozen=True, slots=True)
class RegainedSecret(RecoveringColumn):
    """A secret that the release leaves out (`gives_back`), and that kept columns give back.

    Attributes:
        news: the records whose regained value their class discloses, and for whom that is news.
        records: all records.
    """

    kind: ClassVar[str] = "regained secret"
    news: int = 0
    records: int = 1

    @property
    def visible(self) -> tuple[str, ...]:
        """All columns of the release that the fact is about."""
        return self.columns

    @property
    def news_share(self) -> float:
        """The share of all records whose secret is certain and news."""
        return self.news / self.records

    @property
    def sentence(self) -> str:
        """What the columns tell, in words."""
        verbs = "are kept and together give" if self.others else "is kept and gives"
        return f"{listed([*self.others, self.column])} {verbs} back the left-out secret {self.gives_back}"

    @property
    def consequence(self) -> str:
        """What an attacker reaches, in words."""
        return (
            f"{self.gives_back} is then certain, or nearly so, for {counted(self.news, 'record', 'records')} "
            f"({percent(self.news_share)}), and most people do not have that value (attribute disclosure)"
        )

    @property
    def remedy(self) -> str:
        """What to do about the columns, in words."""
        return f"remove {self.column} too"

    @property
    def undoes(self) -> bool:
        """True if the secret of somebody is certain, and that is news."""
        return self.news > 0

    @property
    def key(self) -> tuple[object, ...]:
        """What tells facts about the same columns apart."""
        return frozenset(self.columns), self.gives_back, self.kind


FACT_KINDS: dict[str, type[RecoveringColumn]] = {
    kind.kind: kind
    for kind in (
        *(RecoveringColumn, RecoveringValues, FollowingColumn, ComputedColumn, ExpectedValue, OrderedColumn),
        *(FollowingMissingCells, RegainedSecret),
    )
}
"""The kinds of facts by their names, which are written with them."""
