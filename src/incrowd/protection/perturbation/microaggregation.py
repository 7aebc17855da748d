"""Microaggregation: similar records are grouped, k or more together, and get the mean of their group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import silent
from incrowd.backends import class_numbers, pack
from incrowd.errors import InputError, UnsupportedError
from incrowd.protection.outputs import class_means
from incrowd.protection.partition import partition_classes
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, read_names
from incrowd.protection.problem import Demand, Problem
from incrowd.protection.recoding import Grouping
from incrowd.wording import listed

_MOST_ROWS = 50_000  # for MDAV, whose work grows with the square of the rows


@dataclass(frozen=True, slots=True)
class Microaggregate(Step):
    """Means of groups of `k` or more records that are similar in the columns of the step.

    `by` is "partition" (the classes of the partition) or "mdav" (Domingo-Ferrer & Torra 2005), which is slower. All
    records of a group have equal values in the columns of `within`.
    """

    k: int
    by: str = "partition"
    within: tuple[str, ...] = ()
    kind: ClassVar[str] = "microaggregate"
    label: ClassVar[str] = "means of small groups"
    words: ClassVar[str] = "Means of groups of people who are alike in these columns; the number is the smallest group."
    usual: ClassVar[str] = "5"
    reads: ClassVar[Readers] = {"k": int, "by": str, "within": read_names}
    is_random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.k < 2:
            raise InputError(f"groups of {self.k!r} records; give a whole number of 2 or more")
        if self.by not in ("partition", "mdav"):
            raise InputError(f"groups cannot be made by {self.by!r}; use partition or mdav")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Replace every value by the mean of its group; the mean is missing if a member of the group has no value."""
        found = [column for column, _ in columns.numbers(self.columns)]
        rows = columns.table.rows
        if rows < self.k:
            raise InputError(f"groups of {self.k:,} from {rows:,} rows; ask for smaller groups")
        if self.by == "mdav" and rows > _MOST_ROWS:
            raise UnsupportedError(f"MDAV takes up to {_MOST_ROWS:,} rows, and there are {rows:,}; use the partition")
        problem = Problem(found, rows, Demand(self.k), aim="information").counted()
        numbers = np.empty(rows, dtype=np.uint32)
        groups_so_far = 0
        for members in self._strata(columns):
            if self.by == "partition":
                grouping = partition_classes(problem.part(members, silent))
            else:
                grouping = mdav(problem.part(members, silent).points(), self.k)
            numbers[members] = groups_so_far + grouping.numbers(members.size)
            groups_so_far += grouping.ends.size
        similarity = f"alike in {listed(self.columns)}" + (f", of one {listed(self.within)}" if self.within else "")
        return StepOutcome(
            {column.name: class_means(column, column.codes, numbers).take(numbers) for column in found},
            f"values are means of groups of {self.k:,} or more records that are {similarity}",
            "totals and means are kept, but for rounding"
            + (f", also by {listed(self.within)}" if self.within else "")
            + "; variances are too small by what varies within groups, so that standard errors are understated",
        )

    def _strata(self, columns: ColumnsSoFar) -> list[NDArray[np.int64]]:
        """Sets of records, by equal values in `within`; a group lies in one of them."""
        if not self.within:
            return [np.arange(columns.table.rows)]
        numbers, sizes = class_numbers(pack(columns.coded(self.within)))
        if few := int(np.count_nonzero(sizes < self.k)):
            raise InputError(
                f"{few:,} of the {sizes.size:,} groups by {listed(self.within)} have fewer than {self.k:,} records, so "
                "that no mean can be taken within them; join them first, or ask for smaller groups"
            )
        return Grouping.by_class(numbers).members


def mdav(points: NDArray[np.float32], k: int) -> Grouping:
    """Maximum distance to average vector: groups of k around the record farthest from the mean, and around the one
    farthest from that; the last group has up to 2k - 1.

    >>> mdav(np.array([[0.0], [1.0], [9.0], [10.0], [4.0]], dtype=np.float32), 2).sizes.tolist()
    [2, 3]
    """
    remaining, groups = np.arange(len(points)), []

    def take_nearest(centre: NDArray[np.float32]) -> None:
        nonlocal remaining
        distance = np.square(points[remaining] - centre).sum(axis=1)
        near = np.argsort(distance, kind="stable")[:k]
        groups.append(remaining[near])
        remaining = np.delete(remaining, near)

    def farthest_from(centre: NDArray[np.float32]) -> NDArray[np.float32]:
        farthest: NDArray[np.float32] = points[remaining[np.argmax(np.square(points[remaining] - centre).sum(axis=1))]]
        return farthest

    while remaining.size >= 3 * k:
        first = farthest_from(points[remaining].mean(axis=0))
        take_nearest(first)
        take_nearest(farthest_from(first))
    if remaining.size >= 2 * k:
        take_nearest(farthest_from(points[remaining].mean(axis=0)))
    groups.append(remaining)
    return Grouping(np.concatenate(groups), np.cumsum([group.size for group in groups]))
