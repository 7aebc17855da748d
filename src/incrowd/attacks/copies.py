"""People who stand in a synthetic release as they are: more of them than chance puts there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.protection.recoding import as_text
from incrowd.results import Result
from incrowd.tables import Table
from incrowd.wording import listed, number, people

_MISSING = "\x00"  # joins match no nulls
_SURE = 0.05  # the chance of as many copies among people whom the release does not know


@dataclass(frozen=True, slots=True)
class CopiedPeople(Result):
    """Unique people of the original, and of the holdout, whose record stands in the release as it is.

    Attributes:
        columns: the columns that are compared.
        unique: people of the original whom no other is like in all of them.
        copied: those of them who stand in the release.
        unique_others: people of the holdout whom no other is like.
        copied_others: those of them who stand in the release, which did not know them: that is chance.
    """

    columns: tuple[str, ...]
    unique: int
    copied: int
    unique_others: int
    copied_others: int
    _derived: ClassVar[tuple[str, ...]] = ("by_chance", "proven")

    @property
    def by_chance(self) -> float:
        """How many of the unique people would stand in the release if it did not know them."""
        return self.unique * self.copied_others / self.unique_others if self.unique_others else 0.0

    @property
    def proven(self) -> bool:
        """Whether chance hardly gives as many: by the exact test of two shares, given both together.

        Without unique people in the holdout nothing is proven; `attack_release` then says that it could not be told.
        """
        both, people_of_both = self.copied + self.copied_others, self.unique + self.unique_others
        if not self.copied:
            return False
        from scipy.stats import hypergeom  # a slow import

        return bool(hypergeom.sf(self.copied - 1, people_of_both, self.unique, both) < _SURE)

    @property
    def sentence(self) -> str:
        """Who stands in the release, against chance."""
        return (
            f"The release holds exact copies ({listed(self.columns)}) of {people(self.copied)} unique in the original; "
            f"chance explains about {number(self.by_chance, 2)}."
        )


def count_copied_people(original: Table, released: Table, holdout: Table, columns: Sequence[str]) -> CopiedPeople:
    """Count the unique people of the original, and of a holdout, who stand in a release as they are.

    Args:
        original: the table that the release was made from.
        released: the release.
        holdout: people of the same population whom the release was not made from.
        columns: the columns that are compared, which all three have.
    """
    names = list(columns)
    in_release = _as_texts(released, names).group_by(names).aggregate([])
    counts = []
    for table in (original, holdout):
        groups = _as_texts(table, names).group_by(names).aggregate([([], "count_all")])
        alone = groups.filter(pc.equal(groups["count_all"], 1)).select(names)
        counts += [alone.num_rows, alone.join(in_release, names, join_type="left semi").num_rows]
    return CopiedPeople(tuple(names), *counts)


def _as_texts(table: Table, names: Sequence[str]) -> pa.Table:
    """The columns as text, so that a number is the same whatever its type."""
    return pa.table({name: pc.fill_null(as_text(column), _MISSING) for name, column in table.read(names)})
