"""Kept columns from which a coarsened quasi-identifier is recovered, and the class sizes that result."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from incrowd.results import Result
from incrowd.wording import listed


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
        follows: True for the opposite direction: the column follows from the quasi-identifier and `others`, so an
            attacker who knows these expects its value.
        missing: True if the attacker knows only which cells of the column are missing (a skip pattern).
        partly: True if the column follows for some people only: no pension before 50. `told` is their share.
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
        """The column and the further columns that are needed to recover the quasi-identifier."""
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
        """True if the fact is only reported and does not decide: it `follows`, and is partial or about a secret."""
        return self.follows and not self.missing and (self.partly or self.column in secrets)

    @property
    def undoes(self) -> bool:
        """True if knowing the column makes the smallest class smaller."""
        return self.k < self.k_without
