"""What backends answer with, counts of classes, rows and columns, and the memory that work on a record takes."""

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
"""Ways to compare values within classes: by all rows in memory, by parts of them on the disk that hold whole classes,
or by the distinct rows, which the engine counts."""


@dataclass(frozen=True, slots=True)
class MemoryNeeds:
    """Bytes that the work on one record takes; compared with the memory limit before the work starts.

    Attributes:
        record_class: to number the classes: keys, their order, the rows, the numbers and the sizes.
        class_value: to pair a class with a sensitive value: a key, the pair, its count and the value's code.
        split_record: to do both with one part of a table that is split on the disk.
        cell: one cell of a distinct row that is brought here from an engine.
        row: everything else of such a row: its key, its count and the order of keys.
    """

    record_class: int = 52
    class_value: int = 32
    split_record: int = 64
    cell: int = 24
    row: int = 64


@dataclass(frozen=True, slots=True, eq=False)
class CountedRows:
    """Rows of which row i stands for `times[i]` rows of a table; for one row each where `times` is None."""

    backend: Backend
    times: NDArray[np.int64] | None = None

    @property
    def total(self) -> int:
        """Number of rows that all of them represent."""
        return self.backend.rows if self.times is None else int(self.times.sum())


@dataclass(frozen=True, slots=True, eq=False)
class ColumnCounts:
    """Counts of a column by an engine: rows, nulls, distinct values (-1: not counted), and some cells.

    `ends` are the least value, the mean and the largest of numbers; None of other columns, and where there are none.
    """

    name: str
    cells: pa.ChunkedArray
    rows: int
    nulls: int
    distinct: int
    ends: tuple[float, float, float] | None


class TooManyDistinctError(UnsupportedError):
    """More rows differ than may be brought here from an engine."""


def refuse_repeated(columns: Sequence[str], table: str) -> None:
    """Refuse column names that appear more than once."""
    same = [name for name, times in Counter(columns).items() if times > 1]
    if same:
        raise InputError(f"{table}: these column names appear more than once: {', '.join(same[:5])}; rename them")


def record_without_person(person: str) -> InputError:
    """The error for records without a value in the person column."""
    return InputError(f"some records have no value in the person column {person!r}; fill it or leave them out")


def merge_counts(parts: Iterable[ClassCounts]) -> ClassCounts:
    """The class counts of parts that share no class, as those of the whole.

    Args:
        parts: for each part, its distinct class sizes and how many classes have each.
    """
    sizes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    distinct, place = np.unique(sizes, return_inverse=True)
    total = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(total, place, counts)
    return distinct, total
