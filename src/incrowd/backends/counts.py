"""Types that backends return: counts of classes, rows and columns; and the memory that work on a record needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from incrowd.backends.base import Backend

ClassCounts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Distinct class sizes, and how many classes have each."""

ComparisonWay = Literal["rows", "parts", "distinct"]
"""How values within classes are compared: all rows in memory ("rows"), parts on disk with whole classes ("parts"), or
distinct rows that the engine counts ("distinct")."""


@dataclass(frozen=True, slots=True)
class MemoryNeeds:
    """Estimated bytes per record for each kind of work; compared with the memory limit before the work starts."""

    record_class: int = 52  # to number the classes: keys, their order, the rows, the numbers and the sizes
    class_value: int = 32  # to pair a class with a sensitive value: a key, the pair, its count and the value's code
    split_record: int = 64  # to do both for one part of a table that is split on disk
    cell: int = 24  # for one cell of a distinct row that an engine sends
    row: int = 64  # for a distinct row besides its cells: its key, its count and the order of keys


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """Distinct rows with counts: row i stands for `times[i]` equal rows, or for one row if `times` is None."""

    backend: Backend
    times: NDArray[np.int64] | None = None

    @property
    def total(self) -> int:
        """Number of rows of the table: the sum of the counts."""
        return self.backend.rows if self.times is None else int(self.times.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCounts:
    """Counts of a column by an engine: rows, nulls, distinct values (-1: not counted), and some cells.

    `ends` are minimum, mean and maximum of a column of numbers; None for other columns and columns without values.
    """

    name: str
    cells: pa.ChunkedArray
    rows: int
    nulls: int
    distinct: int
    ends: tuple[float, float, float] | None


class TooManyDistinctError(UnsupportedError):
    """An engine has more distinct rows than fit into the memory limit of this process."""


def refuse_repeated(columns: Sequence[str], table: str) -> None:
    """Refuse column names that appear more than once."""
    repeated = [name for name, times in Counter(columns).items() if times > 1]
    if repeated:
        raise InputError(f"{table}: these column names appear more than once: {', '.join(repeated[:5])}; rename them")


def record_without_person(person: str) -> InputError:
    """The error for records without a value in the person column."""
    return InputError(f"some records have no value in the person column {person!r}; fill it or leave them out")


def merge_counts(parts: Iterable[ClassCounts]) -> ClassCounts:
    """Add the class counts of parts of a table that have no class in common.

    Args:
        parts: for each part, its distinct class sizes and how many classes have each.
    """
    sizes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    distinct, inverse = np.unique(sizes, return_inverse=True)
    total = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(total, inverse, counts)
    return distinct, total
