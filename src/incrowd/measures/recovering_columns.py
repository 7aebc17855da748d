"""Kept columns from which a coarsened quasi-identifier is recovered, and the class sizes that result.

There are seven kinds of facts: a column gives a quasi-identifier back, for nearly all records or by single values; or
it follows from quasi-identifiers, without exception, nearly always or for some people; or it lies on one side of one;
or which of its cells are missing follows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from incrowd.results import Result
from incrowd.wording import listed

FACT_FLAGS = ("follows", "missing", "partly", "certain", "ordered", "by_value")
"""Names of the flags that tell the kinds of facts apart."""

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

    _derived: ClassVar[tuple[str, ...]] = (*FACT_FLAGS, "undoes")
    follows: ClassVar[bool] = False
    missing: ClassVar[bool] = False
    partly: ClassVar[bool] = False
    certain: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    by_value: ClassVar[bool] = False
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
    def telling(self) -> str:
        """What the columns tell, in words."""
        if not self.others:
            return f"{self.column} is kept and gives {self.gives_back} back"
        return f"{listed(self.others)} and {self.column} are kept and together give {self.gives_back} back"

    def how_it_tells(self, known: Collection[str]) -> str:
        """How the column makes classes smaller, for a sentence; `~` stands for the s of a verb of one column."""
        if self.others and {*self.others, self.gives_back} <= {*known}:
            return _FOLLOWS
        return f"which give~ back {self.gives_back}{', together with other columns' if self.others else ''}"

    def is_only_told(self, secrets: Collection[str], class_size: int) -> bool:
        """True if the fact is only reported and does not decide, where classes must have `class_size` people."""
        return False

    @property
    def undoes(self) -> bool:
        """True if knowing the column makes the smallest class smaller."""
        return self.k < self.k_without

    @property
    def key(self) -> tuple[object, ...]:
        """What tells facts about the same columns apart."""
        limit = self.gives_back if self.narrows else ""
        return frozenset(self.columns), limit, self.missing, self.ordered, self.by_value

    @property
    def narrows(self) -> bool:
        """True if the column only makes classes smaller: the fact decides if fewer people than required are left."""
        return self.ordered or self.by_value


@dataclass(frozen=True, slots=True)
class RecoveringValues(RecoveringColumn):
    """A column with single values that disclose a quasi-identifier: a score that only people of one origin have.

    `k` is the fewest people who may be the person of a record, to an attacker who does not know the column, and
    `uniques` the number of records with one such person.
    """

    by_value: ClassVar[bool] = True

    @property
    def telling(self) -> str:
        """What the values tell, in words."""
        return f"values of {self.column}, which is kept, give {self.gives_back} back"

    def is_only_told(self, secrets: Collection[str], class_size: int) -> bool:
        """True if enough people are left of each class."""
        return self.k >= class_size


@dataclass(frozen=True, slots=True)
class FollowingColumn(RecoveringColumn):
    """The opposite direction: the column follows from `gives_back` and `others`, so an attacker expects its value."""

    follows: ClassVar[bool] = True

    def how_it_tells(self, known: Collection[str]) -> str:
        """How the column makes classes smaller, for a sentence."""
        return _FOLLOWS

    def is_only_told(self, secrets: Collection[str], class_size: int) -> bool:
        """True if the column is a secret."""
        return self.column in secrets


@dataclass(frozen=True, slots=True)
class ComputedColumn(FollowingColumn):
    """A column that is a function of quasi-identifiers without exception: `over_50` beside an age is no secret."""

    certain: ClassVar[bool] = True

    def is_only_told(self, secrets: Collection[str], class_size: int) -> bool:
        """Always False: an attacker computes the column, whatever it was declared."""
        return False


@dataclass(frozen=True, slots=True)
class ExpectedValue(FollowingColumn):
    """A column that follows for some people only: no pension before 50. `told` is their share."""

    partly: ClassVar[bool] = True

    def is_only_told(self, secrets: Collection[str], class_size: int) -> bool:
        """Always True."""
        return True


@dataclass(frozen=True, slots=True)
class OrderedColumn(FollowingColumn):
    """A column that lies on one side of a quasi-identifier; an attacker leaves out the records that do not.

    `k` is the fewest people who are left of a class, and `uniques` the number of classes of which one person is left,
    by `others` on the same side as well.
    """

    ordered: ClassVar[bool] = True

    @property
    def telling(self) -> str:
        """What the order tells, in words."""
        verbs = "are kept and lie" if self.others else "is kept and lies"
        return f"{listed([*self.others, self.column])} {verbs} on one side of {self.gives_back}"

    def how_it_tells(self, known: Collection[str]) -> str:
        """How the column makes classes smaller, for a sentence."""
        return f"which limit~ {self.gives_back}"

    def is_only_told(self, secrets: Collection[str], class_size: int) -> bool:
        """True if enough people are left of each class: an order gives no value back."""
        return self.k >= class_size


@dataclass(frozen=True, slots=True)
class FollowingMissingCells(RecoveringColumn):
    """Which cells of the column are missing follows (a skip pattern); the attacker knows no more of the column."""

    follows: ClassVar[bool] = True
    missing: ClassVar[bool] = True

    @property
    def telling(self) -> str:
        """What the missing cells tell, in words."""
        return f"{self.column} is kept, and which of its cells are missing gives {self.gives_back} back"

    def how_it_tells(self, known: Collection[str]) -> str:
        """How the missing cells make classes smaller, for a sentence."""
        return f"whose missing cells tell {self.gives_back}"


FACT_KINDS: dict[tuple[bool, ...], type[RecoveringColumn]] = {
    tuple(getattr(kind, flag) for flag in FACT_FLAGS): kind
    for kind in (
        *(RecoveringColumn, RecoveringValues, FollowingColumn, ComputedColumn, ExpectedValue, OrderedColumn),
        FollowingMissingCells,
    )
}
"""The kinds of facts by their flags, which is how they are written."""
