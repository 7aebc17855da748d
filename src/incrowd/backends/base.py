"""Base class of all backends: rows are counted in memory if they fit into the limit, otherwise by the engine.

Rows that a backend derives of its own are `ArrowRows`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support import frames as nw
from incrowd._support.memory import default_memory
from incrowd._support.private_folders import PrivateFolder
from incrowd.backends.arrow_columns import plain_column
from incrowd.backends.class_size_writer import written_by_duckdb
from incrowd.backends.counts import (
    ClassCounts,
    ColumnCounts,
    ComparisonWay,
    CountedRows,
    MemoryNeeds,
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
    from incrowd.backends.block_protection import BlockJob, Checked, ProtectedBlocks

_COUNTS_KEPT = 256  # entries of the cache of class counts; each is a few thousand numbers


class Backend:
    """Rows, held in memory, in files, in a database or in a cluster.

    Every backend gives the same numbers, so that callers need not know the engine. A null is a value, NaN is a null,
    -0.0 is 0.0, and text is compared by its bytes. A subclass implements `_count_rows`, `_read` and `lazy`, and
    overrides further methods if its engine has a faster way.

    Args:
        columns: the names of the columns.
        name: the table's name in messages.
        memory: memory limit in bytes.
        needs: estimated bytes per record for each kind of work.
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
        """Cache of encoded columns, filled by `encode`."""
        self.scales: dict[str, Scale] = {}
        """Scales that differ from the default scale of the column's type."""
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
        """The named columns, renamed c0, c1, …, as a relation that the engine can group without sending rows here."""
        raise NotImplementedError

    @property
    def rows(self) -> int:
        """Number of rows; counted once."""
        if self._rows is None:
            self._rows = self._count_rows()
        return self._rows

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        """Return the names as a list; raise an error if one does not exist or is repeated, or if there are none."""
        if isinstance(names, str):
            raise InputError(f"{what} must be a list of column names, not one text; write [{names!r}]")
        wanted = list(names)
        existing = self.columns if len(wanted) == 1 else {*self.columns}  # for one name, building a set is slower
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
        """The Arrow type that `read` gives each column."""
        if self._types is None:
            self._types = self._read_types()
        return self._types

    def _read_types(self) -> dict[str, pa.DataType]:
        return {name: column.type for name, column in self.read(self.columns)}

    def require_local(self, what: str, advice: str) -> None:
        """Raise an error if the rows are not on this machine; `what` needs them, `advice` says what to do instead."""

    def check_unchanged(self) -> None:
        """Raise an error if the rows changed since the table was opened; frames in memory are not checked."""

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """Estimated memory for counting classes by these columns; None if the rows are in memory already."""
        return None

    def fits_count(self, names: Sequence[str]) -> bool:
        """True if the classes by these columns can be counted within the memory limit."""
        needed = self.bytes_to_count(names)
        return needed is None or needed <= self.memory

    def fits_records(self, bytes_each: int) -> bool:
        """True if so many bytes for each record, such as those of `needs`, are within the memory limit."""
        return self.rows * bytes_each <= self.memory

    def way_to_compare(self, names: Sequence[str], person: str | None = None) -> ComparisonWay:
        """Choose how sensitive values are compared within the classes by these columns, within the memory limit."""
        if person is not None:
            fits = self.fits_records(self.needs.record_class)
        else:
            fits = self.fits_count(names) and self.fits_records(self.needs.class_value)
        return "rows" if fits else "parts"

    def count_columns(self, names: Sequence[str], sample: int) -> list[ColumnCounts] | None:
        """Counts of columns by the engine, with the first `sample` cells of each column of texts or numbers.

        None if the cells are read on this machine.
        """
        return None

    def count_distinct(self, names: Sequence[str]) -> int:
        """Number of distinct rows of some columns."""
        return int(pa.table(dict(self.read(names))).group_by(list(names)).aggregate([]).num_rows)

    def count_classes(self, names: Sequence[str], person: str | None = None) -> ClassCounts:
        """Distinct class sizes, in people, and how many classes have each; counted once for each set of columns.

        With a `person` column, two people are in one class if they have the same multiset of records; `count_people` of
        `class_parts` counts them if they do not fit into the memory limit too.
        """
        return self.count_once(names, person, lambda: self._count_classes(self.require(names), person))

    def count_once(self, names: Sequence[str], person: str | None, count: Callable[[], ClassCounts]) -> ClassCounts:
        """The class counts by these columns of an earlier call if the rows did not change; otherwise `count()`."""
        key = (frozenset(names), person)
        cached = self._class_counts.get(key)
        if cached is not None:
            self.check_unchanged()
            return cached
        counts = count()
        while len(self._class_counts) >= _COUNTS_KEPT:
            self._class_counts.pop(next(iter(self._class_counts)), None)
        self._class_counts[key] = counts
        return counts

    def _count_classes(self, names: Sequence[str], person: str | None) -> ClassCounts:
        if person is None:
            if self._counts_in_engine(names):
                return count_in_engine(self, names)
            return frequencies(pack(encode_each(self, names)))
        sizes, counts = np.unique(self.assign_classes(names, person)[1], return_counts=True)
        return sizes, counts

    def _counts_in_engine(self, names: Sequence[str]) -> bool:
        """True if the engine, not this process, groups the rows by these columns."""
        return not self.fits_count(names)

    def count_values(self, names: Sequence[str]) -> dict[str, int]:
        """Number of distinct values of each of these columns, null included."""
        if self._counts_in_engine(names):
            return {name: int(self.count_classes([name])[1].sum()) for name in names}
        return {column.name: column.size for column in encode_each(self, names)}

    def assign_classes(
        self, names: Sequence[str], person: str | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """The class of every record, numbered from 0, and the size of every class in people."""
        if not self.fits_records(self.needs.record_class):
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
        """Number of distinct rows with this many columns that fit into a quarter of the memory limit."""
        return self.memory // 4 // (self.needs.cell * columns + self.needs.row)

    def distinct_rows(self, names: Sequence[str], most: int) -> CountedRows | None:
        """The distinct rows of these columns with their counts, from the engine; None if there are more than `most`.

        For one column these are value counts, for two a contingency table.
        """
        distinct = distinct_in_engine(self, names, most)
        return None if distinct is None else CountedRows(self._derived(distinct[0]), distinct[1])

    def _derived(self, rows: pa.Table) -> ArrowRows:
        """A backend for rows computed from this one's, with its name, memory limit and scales."""
        backend = ArrowRows(rows, name=self.name, memory=self.memory, needs=self.needs)
        backend.scales = self.scales
        return backend

    def counted_rows(self, names: Sequence[str]) -> CountedRows:
        """The rows themselves if they are local; otherwise the distinct rows with their counts, which are cached.

        Raises:
            TooManyDistinctError: there are more distinct rows than fit into the memory limit.
        """
        return CountedRows(self)

    def counted_parts(self, names: Sequence[str], column: str) -> AbstractContextManager[Iterable[CountedRows]]:
        """The rows of `names` and `column`, in parts that fit into memory; rows equal in `names` are in one part."""
        return nullcontext([self.counted_rows([*names, column])])

    def merge_histories(self, names: Sequence[str], others: Sequence[str], person: str) -> Backend:
        """The rows with one value of `person` for all people whose histories by `names` are equal."""
        classes, _ = self.assign_classes(names, person)
        return self._derived(pa.table({**dict(self.read([*names, *others])), person: classes}))

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A small table as a relation of this backend's engine, to be joined with its rows."""
        raise UnsupportedError("a frame in memory is not written by an engine; give the file, or a Spark frame")

    def folder_to_write(self) -> PrivateFolder:
        """A new private folder that this backend's engine may write to."""
        return PrivateFolder()

    def write_relation(self, frame: nw.LazyFrame[Any], out: str, force: bool) -> AbstractContextManager[dict[int, int]]:
        """Let the engine write one of its relations as Parquet; the file gets its name if the block succeeds.

        The context manager yields the number of written records for each value of the column `class_size`.
        """
        return written_by_duckdb(frame, out, force=force, table=self.name)

    def protect_blocks(self, job: BlockJob[Checked]) -> ProtectedBlocks[Checked]:
        """Protect the rows in the engine, block by block, and write them after the check has passed."""
        raise UnsupportedError("rows that can be read here are protected here, and written as a file; leave out=")


class ArrowRows(Backend):
    """An Arrow table in memory."""

    def __init__(
        self, rows: pa.Table, *, name: str = "the table", memory: int | None = None, needs: MemoryNeeds | None = None
    ) -> None:
        limit = default_memory() if memory is None else memory
        super().__init__(rows.column_names, name=name, memory=limit, needs=needs)
        self._table = rows

    def _count_rows(self) -> int:
        return int(self._table.num_rows)

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        return ((name, self._table.column(name)) for name in names)

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …"""
        renamed = [nw.col(name).alias(f"c{place}") for place, name in enumerate(names)]
        frame: nw.LazyFrame[Any] = nw.from_native(self._table).lazy().select(*renamed)
        return frame
