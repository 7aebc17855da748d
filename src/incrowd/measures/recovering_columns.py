"""Kept columns by which a quasi-identifier is recovered, and what that leads to."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from incrowd.results import Result
from incrowd.wording import listed


@dataclass(frozen=True, slots=True)
class RecoveringColumn(Result):
    """A kept column that tells a quasi-identifier, for nearly all records or by single values, and what that leads to.

    Attributes:
        column: the column that is kept as it is.
        gives_back: the quasi-identifier that it tells best.
        told: the share of records, of those that share their value of the column, whose quasi-identifier it tells.
        by_chance: the share that would be told without the column.
        k: the smallest class for whoever knows the column and the quasi-identifiers.
        uniques: the people who are unique by these.
        k_without: the smallest class by the quasi-identifiers alone.
        others: the further columns that are needed to recover the quasi-identifier. Then `k` and `uniques` are for an
            attacker who computes it from all of them.
        follows: whether it is the other way round: the column follows from the quasi-identifier and the others, so that
            whoever knows these expects its value.
        missing: whether only that is known which of the column's cells are missing, as that follows.
        partly: whether it follows for some people only: no pension before 50. `told` is their share.
    """

    _derived: ClassVar[tuple[str, ...]] = ("undoes",)
    column: str
    gives_back: str
    told: float
    by_chance: float
    k: int
    uniques: int
    k_without: int
    others: tuple[str, ...] = ()
    follows: bool = False
    missing: bool = False
    partly: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The column and those that it tells the quasi-identifier together with."""
        return (self.column, *self.others)

    @property
    def telling(self) -> str:
        """The columns that give something back, in words."""
        if self.missing:
            return f"{self.column} is kept, and which of its cells are missing gives"
        if not self.others:
            return f"{self.column} is kept and gives"
        return f"{listed(self.others)} and {self.column} are kept and together give"

    def is_only_told(self, secrets: Collection[str]) -> bool:
        """True if it is told and decides nothing: values that follow, of a secret or for some people only."""
        return self.follows and not self.missing and (self.partly or self.column in secrets)

    @property
    def undoes(self) -> bool:
        """True if knowing the column makes the smallest class smaller."""
        return self.k < self.k_without
