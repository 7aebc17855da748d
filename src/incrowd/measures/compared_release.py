"""A release beside its original: what all detectors of kept columns compare, computed once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode, pack
from incrowd.measures.auxiliary import count_classes, count_with_auxiliary
from incrowd.measures.label_coverage import LabelCoverage
from incrowd.tables import Table


@dataclass(frozen=True, eq=False)
class ComparedRelease:
    """A protected table and the quasi-identifiers of its original.

    Attributes:
        known: the quasi-identifiers of the original.
        table: the protected table; its rows may be in another order.
        coarse: the names of the quasi-identifiers that were made coarser.
        person: the column that identifies the person of each record, if people have several records.
        secrets: the sensitive columns.
        whose: the person of each original record, if people have several records.
    """

    known: Sequence[Coded]
    table: Table
    coarse: Collection[str]
    person: str | None = None
    secrets: Collection[str] = ()
    whose: Coded | None = None

    @property
    def names(self) -> list[str]:
        """The names of the quasi-identifiers."""
        return [column.name for column in self.known]

    @property
    def coarsened(self) -> list[Coded]:
        """The quasi-identifiers of the original that were made coarser."""
        return [column for column in self.known if column.name in self.coarse]

    @property
    def labels(self) -> list[Coded]:
        """The quasi-identifiers of the protected table."""
        return encode(self.table, self.names)

    def column(self, name: str) -> Coded:
        """A column of the protected table."""
        return encode(self.table, [name])[0]

    def count_with(self, column: Coded, expected: NDArray[np.bool_]) -> tuple[int, int]:
        """The smallest class, and the classes of one person, for an attacker who knows a further column.

        Args:
            column: what the attacker knows of every record of the protected table.
            expected: mask of the records for which they know it; only classes with such a record count.
        """
        return count_classes(self.table, [*self.labels, column], expected, self.person)

    def to_remove(self, columns: Sequence[str]) -> str:
        """The column to remove, of those that give a quasi-identifier back together."""
        return name_to_remove(columns, self.secrets)

    @cached_property
    def k(self) -> int:
        """The smallest class by the quasi-identifiers alone."""
        return count_with_auxiliary(self.table, self.names, [], person=self.person).k

    @cached_property
    def coverage(self) -> LabelCoverage:
        """The original records that each released record covers."""
        return LabelCoverage(self.known, self.labels, list(self.coarse))


def one_of_each(whose: Coded, columns: Sequence[Coded]) -> NDArray[np.intp]:
    """One row for every person and combination of values: the records of one person prove nothing about others."""
    return np.unique(pack([whose, *columns]), return_index=True)[1]


def name_to_remove(columns: Sequence[str], secrets: Collection[str]) -> str:
    """The column to remove: the last that is no secret, because computed columns usually follow their sources."""
    return ([name for name in columns if name not in secrets] or columns)[-1]
