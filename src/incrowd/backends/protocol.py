"""The backend protocol: what rows can be asked for, wherever they are held."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.encode import Coded
from incrowd.backends.scales import Scale
from incrowd.errors import UnsupportedError

if TYPE_CHECKING:
    from incrowd.backends.cell_protection import CellJob, Checked, ProtectedCells

ClassCounts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Distinct class sizes, and how many classes have each."""

ComparisonWay = Literal["rows", "parts", "distinct"]
"""Ways to compare values within classes: by all rows in memory, by parts of them on the disk that hold whole classes,
or by the distinct rows, which the engine counts."""

Found = TypeVar("Found")
Otherwise = TypeVar("Otherwise")


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


class Backend(Protocol):
    """Rows, held in memory, in files, in a database or in a cluster.

    Callers ask for what they need and never for the engine: each backend counts in its own way, to the same numbers.
    A null is a value, NaN is a null, -0.0 is 0.0, and text is compared by its bytes.
    """

    name: str
    """Name of the table in messages."""
    memory: int
    """Bytes that work on the rows keeps to."""
    needs: MemoryNeeds
    """Bytes that work on a record takes."""
    encoded: dict[str, Coded]
    """Columns that `encode` keeps for the next question."""
    scales: dict[str, Scale]
    """The scales of columns that differ from those of their types."""
    keeps_row_order: bool
    """True if the rows come in the same order each time, so that tables can be compared row by row."""
    rows_are_local: bool
    """True if rows are read and protected on this machine; otherwise the engine writes them, and counts come here."""
    needs_credentials: bool
    """True if opening the table again takes a user and a password."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""

    @property
    def rows(self) -> int:
        """Number of rows; counted once."""

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        """The names, if all exist, none is repeated and there is at least one; an error that lists what exists."""

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The named columns as Arrow, one at a time, all in the same row order; a NaN is a null."""

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column, as `read` gives it."""

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …, as a relation that the engine groups without bringing rows here."""

    def require_local(self, what: str, advice: str) -> None:
        """Stop work that needs the rows on this machine, where they are elsewhere; `advice` is what to do instead."""

    def examine_rows(self, examine: Callable[[], Found], otherwise: Otherwise) -> Found | Otherwise:
        """Call `examine`, which reads rows, and return its result; return `otherwise` if the rows stay elsewhere."""

    def count_distinct(self, names: Sequence[str]) -> int:
        """Number of distinct rows of some columns."""

    def check_unchanged(self) -> None:
        """Stop if the rows are not the ones they were when the table was opened."""

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """About how much memory counting by these columns takes; None where the rows take none but their own."""

    def fits(self, names: Sequence[str]) -> bool:
        """True if counting the classes by these columns in memory keeps to the limit."""

    def fits_classes(self) -> bool:
        """True if telling every record its class keeps to the limit."""

    def fits_values(self, names: Sequence[str], person: str | None = None) -> bool:
        """True if comparing sensitive values within the classes by these columns keeps to the limit."""

    def fits_records(self, size: int) -> bool:
        """True if so many bytes for each record that is worked on here keep to the limit."""

    def way_to_compare(self, names: Sequence[str], person: str | None = None) -> ComparisonWay:
        """Choose how sensitive values are compared within the classes by these columns, within the memory limit."""

    def count_columns(self, names: Sequence[str], sample: int) -> list[ColumnCounts] | None:
        """Counts by the engine of columns whose cells are not read here; None if they are read here.

        `sample` is how many cells come here of each column of texts or numbers.
        """

    def count_classes(self, names: Sequence[str], person: str | None = None) -> ClassCounts:
        """Distinct class sizes, in people, and how many classes have each; counted once for each set of columns.

        With a `person` column, people are in one class if their records are the same, each as often.
        """

    def count_values(self, names: Sequence[str]) -> dict[str, int]:
        """Number of distinct values of each of these columns, null included."""

    def assign_classes(
        self, names: Sequence[str], person: str | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The class of every record, numbered from 0, and the size of every class in people."""

    def most_distinct(self, columns: int) -> int:
        """Number of distinct rows of this many columns that may be read here: a quarter of the memory limit."""

    def distinct_rows(self, names: Sequence[str], most: int) -> CountedRows | None:
        """The rows that differ in these columns, counted by the engine; None where there are more than `most`.

        Those of one column are its value counts, those of two columns a contingency table.
        """

    def counted_rows(self, names: Sequence[str]) -> CountedRows:
        """The rows themselves where they are local, otherwise the distinct ones, kept for the next question.

        Raises:
            TooManyDistinctError: more rows differ than may be brought here.
        """

    def counted_parts(self, names: Sequence[str], column: str) -> AbstractContextManager[Iterable[CountedRows]]:
        """The rows by `names` and one column more in parts that fit; equal values of `names` share a part."""

    def split_by_class(self, names: Sequence[str], others: Sequence[str], person: str | None) -> Iterable[Backend]:
        """The rows split on the disk into parts that fit in memory, each class (each history) whole in one of them."""

    def merge_histories(self, names: Sequence[str], others: Sequence[str], person: str) -> Backend:
        """The rows with one value of `person` for all people whose histories by `names` are equal."""

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A few rows as a relation of the same engine, to be joined with its own."""

    def write_relation(self, frame: nw.LazyFrame[Any], out: str, force: bool) -> AbstractContextManager[dict[int, int]]:
        """Let the engine write one of its relations as Parquet; the file gets its name when the block ends well.

        The block is handed how many of the written records have each value of the column `class_size`.
        """

    def protect_cells(self, job: CellJob[Checked]) -> ProtectedCells[Checked]:
        """Protect the rows where they are held, cell by cell, and write them once the check has passed."""
