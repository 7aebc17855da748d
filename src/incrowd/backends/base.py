"""What rows can be asked for, wherever they are held: counted here while they fit, by the engine beyond."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.arrow_columns import plain_column
from incrowd.backends.class_size_writer import written_by_duckdb
from incrowd.backends.counts import (
    ClassCounts,
    ColumnCounts,
    ComparisonWay,
    CountedRows,
    MemoryNeeds,
    merge_counts,
    record_without_person,
    refuse_repeated,
)
from incrowd.backends.encode import Coded, encode, encode_each
from incrowd.backends.packed_keys import class_numbers, frequencies, history_classes, pack
from incrowd.backends.relational import count_in_engine, distinct_in_engine
from incrowd.backends.scales import Scale
from incrowd.errors import ColumnNotFoundError, InputError, UnsupportedError
from incrowd.wording import data_size

if TYPE_CHECKING:
    from incrowd.backends.cell_protection import CellJob, Checked, ProtectedCells

_COUNTS_KEPT = 256  # class counts that are remembered: each is a few thousand numbers


class Backend:
    """Rows, held in memory, in files, in a database or in a cluster.

    Callers ask for what they need and never for the engine: each backend counts in its own way, to the same numbers.
    A null is a value, NaN is a null, -0.0 is 0.0, and text is compared by its bytes. A subclass says how its rows are
    counted and read (`_count_rows`, `_read`, `lazy`), and overrides more where its engine knows better.

    Args:
        columns: the names of the columns.
        name: how messages call the table.
        memory: bytes that work on the rows keeps to.
        needs: what work on a record takes.
    """

    keeps_row_order = True
    """True if the rows come in the same order each time, so that tables can be compared row by row."""
    rows_are_local = True
    """True if rows are read and protected on this machine; otherwise the engine writes them, and counts come here."""
    needs_credentials = False
    """True if opening the table again takes a user and a password."""

    def __init__(self, columns: Sequence[str], *, name: str, memory: int, needs: MemoryNeeds | None = None) -> None:
        self.columns = tuple(columns)
        self.name, self.memory, self.needs = name, memory, needs or MemoryNeeds()
        self.encoded: dict[str, Coded] = {}
        """Columns that `encode` keeps for the next question."""
        self.scales: dict[str, Scale] = {}
        """The scales of columns that differ from those of their types."""
        self._rows: int | None = None
        self._types: dict[str, pa.DataType] | None = None
        self._class_counts: dict[tuple[frozenset[str], str | None], ClassCounts] = {}
        refuse_repeated(self.columns, name)
        if not self.columns:
            raise InputError(f"{name}: there are no columns")

    def _count_rows(self) -> int:
        raise NotImplementedError

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        raise NotImplementedError

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …, as a relation that the engine groups without bringing rows here."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """Number of rows; counted once."""
        if self._rows is None:
            self._rows = self._count_rows()
        return self._rows

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        """The names, if all exist, none is repeated and there is at least one; an error that lists what exists."""
        if isinstance(names, str):
            raise InputError(f"{what} must be a list of column names, not one text; write [{names!r}]")
        wanted = list(names)
        existing = self.columns if len(wanted) == 1 else {*self.columns}  # one is found faster than a set is made
        missing = [name for name in wanted if name not in existing]
        if missing:
            raise ColumnNotFoundError.of(missing, self.columns)
        if len(set(wanted)) < len(wanted):
            twice = sorted({name for name in wanted if wanted.count(name) > 1})
            raise InputError(f"{what} named more than once: {', '.join(twice)}; name each once")
        if not wanted:
            raise InputError(f"no {what} given; the table has: {', '.join(self.columns[:30])}")
        return wanted

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The named columns as Arrow, one at a time, all in the same row order; a NaN is a null."""
        for name, column in self._read(self.require(names)):
            yield name, plain_column(column, name)

    def types(self) -> dict[str, pa.DataType]:
        """The type of every column, as `read` gives it."""
        if self._types is None:
            self._types = self._read_types()
        return self._types

    def _read_types(self) -> dict[str, pa.DataType]:
        return {name: column.type for name, column in self.read(self.columns)}

    def require_local(self, what: str, advice: str) -> None:
        """Stop work that needs the rows on this machine, where they are elsewhere; `advice` is what to do instead."""

    def check_unchanged(self) -> None:
        """Stop if the rows changed since the table was opened; what the caller holds, only the caller can change."""

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """About how much memory counting by these columns takes; None where the rows take none but their own."""
        return None

    def fits(self, names: Sequence[str]) -> bool:
        """True if counting the classes by these columns in memory keeps to the limit."""
        needed = self.bytes_to_count(names)
        return needed is None or needed <= self.memory

    def fits_records(self, size: int) -> bool:
        """True if so many bytes for each record that is worked on here keep to the limit."""
        return self.rows * size <= self.memory

    def fits_classes(self) -> bool:
        """True if telling every record its class keeps to the limit."""
        return self.rows * self.needs.record_class <= self.memory

    def fits_values(self, names: Sequence[str], person: str | None = None) -> bool:
        """True if comparing sensitive values within the classes by these columns keeps to the limit."""
        if person is not None:
            return self.fits_classes()
        return self.fits(names) and self.rows * self.needs.class_value <= self.memory

    def way_to_compare(self, names: Sequence[str], person: str | None = None) -> ComparisonWay:
        """Choose how sensitive values are compared within the classes by these columns, within the memory limit."""
        return "rows" if self.fits_values(names, person) else "parts"

    def count_columns(self, names: Sequence[str], sample: int) -> list[ColumnCounts] | None:
        """Counts by the engine of columns whose cells are not read here; None if they are read here.

        `sample` is how many cells come here of each column of texts or numbers.
        """
        return None

    def count_distinct(self, names: Sequence[str]) -> int:
        """Number of distinct rows of some columns."""
        return int(pa.table(dict(self.read(names))).group_by(list(names)).aggregate([]).num_rows)

    def count_classes(self, names: Sequence[str], person: str | None = None) -> ClassCounts:
        """Distinct class sizes, in people, and how many classes have each; counted once for each set of columns.

        With a `person` column, people are in one class if their records are the same, each as often.
        """
        key = (frozenset(names), person)
        known = self._class_counts.get(key)
        if known is not None:
            self.check_unchanged()
            return known
        counts = self._count_classes(self.require(names), person)
        while len(self._class_counts) >= _COUNTS_KEPT:
            self._class_counts.pop(next(iter(self._class_counts)), None)
        self._class_counts[key] = counts
        return counts

    def _count_classes(self, names: Sequence[str], person: str | None) -> ClassCounts:
        if person is None:
            if self._counts_in_engine(names):
                return count_in_engine(self, names)
            return frequencies(pack(encode_each(self, names)))
        if self.fits_classes():
            sizes, counts = np.unique(self.assign_classes(names, person)[1], return_counts=True)
            return sizes, counts
        parts = self.split_by_class(names, [], person)
        return merge_counts(part.count_classes(names, person) for part in parts)

    def _counts_in_engine(self, names: Sequence[str]) -> bool:
        """True if the engine groups the rows by these columns, rather than memory."""
        return not self.fits(names)

    def count_values(self, names: Sequence[str]) -> dict[str, int]:
        """Number of distinct values of each of these columns, null included."""
        if self._counts_in_engine(names):
            return {name: int(self.count_classes([name])[1].sum()) for name in names}
        return {column.name: column.size for column in encode_each(self, names)}

    def assign_classes(
        self, names: Sequence[str], person: str | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The class of every record, numbered from 0, and the size of every class in people."""
        if not self.fits_classes():
            needed = self.rows * self.needs.record_class
            raise UnsupportedError(
                f"telling {self.rows:,} records their class takes about {data_size(needed)}, more than the limit of "
                f"{data_size(self.memory)}; give more memory",
                hint="memory",
            )
        if person is None:
            return class_numbers(pack(encode_each(self, names)))
        (people,) = encode(self, [person])
        if people.has_null:
            raise record_without_person(person)
        records, _ = class_numbers(pack(encode_each(self, names)))
        classes, sizes = history_classes(records, people.codes)
        return classes[people.codes], sizes

    def most_distinct(self, columns: int) -> int:
        """Number of distinct rows of this many columns that may be read here: a quarter of the memory limit."""
        return self.memory // 4 // (self.needs.cell * columns + self.needs.row)

    def distinct_rows(self, names: Sequence[str], most: int) -> CountedRows | None:
        """The rows that differ in these columns, counted by the engine; None where there are more than `most`.

        Those of one column are its value counts, those of two columns a contingency table.
        """
        distinct = distinct_in_engine(self, names, most)
        return None if distinct is None else CountedRows(self._derived(distinct[0]), distinct[1])

    def _derived(self, rows: pa.Table) -> Backend:
        """Rows made of these, with the same name, limits and scales."""
        from incrowd.backends.frame_backend import arrow_backend

        backend = arrow_backend(rows, name=self.name, memory=self.memory, needs=self.needs)
        backend.scales = self.scales
        return backend

    def counted_rows(self, names: Sequence[str]) -> CountedRows:
        """The rows themselves where they are local, otherwise the distinct ones, kept for the next question.

        Raises:
            TooManyDistinctError: more rows differ than may be brought here.
        """
        return CountedRows(self)

    def counted_parts(self, names: Sequence[str], column: str) -> AbstractContextManager[Iterable[CountedRows]]:
        """The rows by `names` and one column more in parts that fit; equal values of `names` share a part."""
        return nullcontext([self.counted_rows([*names, column])])

    def split_by_class(self, names: Sequence[str], others: Sequence[str], person: str | None) -> Iterable[Backend]:
        """The rows split on the disk into parts that fit in memory, each class (each history) whole in one of them."""
        from incrowd.backends.class_parts import split_by_class

        return split_by_class(self, names, others, person)

    def merge_histories(self, names: Sequence[str], others: Sequence[str], person: str) -> Backend:
        """The rows with one value of `person` for all people whose histories by `names` are equal."""
        classes, _ = self.assign_classes(names, person)
        return self._derived(pa.table({**dict(self.read([*names, *others])), person: classes}))

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A few rows as a relation of the same engine, to be joined with its own."""
        raise UnsupportedError("a frame in memory is not written by an engine; give the file, or a Spark frame")

    def write_relation(self, frame: nw.LazyFrame[Any], out: str, force: bool) -> AbstractContextManager[dict[int, int]]:
        """Let the engine write one of its relations as Parquet; the file gets its name when the block ends well.

        The block is handed how many of the written records have each value of the column `class_size`.
        """
        return written_by_duckdb(frame, out, force=force, table=self.name)

    def protect_cells(self, job: CellJob[Checked]) -> ProtectedCells[Checked]:
        """Protect the rows where they are held, cell by cell, and write them once the check has passed."""
        raise UnsupportedError("rows that can be read here are protected here, and written as a file; leave out=")
