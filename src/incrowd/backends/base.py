"""Base of all backends: columns are encoded and packed here while they fit, and left to the engine beyond."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.arrow_columns import plain_column
from incrowd.backends.class_size_writer import written_by_duckdb
from incrowd.backends.encode import Coded, encode, encode_each
from incrowd.backends.packed_keys import class_numbers, frequencies, pack
from incrowd.backends.person_classes import history_classes
from incrowd.backends.protocol import (
    Backend,
    ClassCounts,
    ColumnCounts,
    ComparisonWay,
    CountedRows,
    Found,
    MemoryNeeds,
    Otherwise,
)
from incrowd.backends.relational import count_in_engine, distinct_in_engine
from incrowd.backends.scales import Scale
from incrowd.errors import ColumnNotFoundError, InputError, UnsupportedError
from incrowd.wording import data_size

if TYPE_CHECKING:
    from incrowd.backends.cell_protection import CellJob, Checked, ProtectedCells

_COUNTS_KEPT = 256  # class counts that are remembered: each is a few thousand numbers


class BaseBackend:
    """Rows that can be read here. Subclasses say how: `_count_rows`, `_read`, `lazy`, and more where they know better.

    What a method gives is said in `Backend`, where nothing is said here.

    Args:
        columns: the names of the columns.
        name: how messages call the table.
        memory: bytes that work on the rows keeps to.
        needs: what work on a record takes.
    """

    keeps_row_order = True
    rows_are_local = True
    needs_credentials = False

    def __init__(self, columns: Sequence[str], *, name: str, memory: int, needs: MemoryNeeds | None = None) -> None:
        self.columns = tuple(columns)
        self.name, self.memory, self.needs = name, memory, needs or MemoryNeeds()
        self.encoded: dict[str, Coded] = {}
        self.scales: dict[str, Scale] = {}
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
        """The named columns, renamed c0, c1, …, as a relation of the engine."""
        raise NotImplementedError

    def require_local(self, what: str, advice: str) -> None:
        """Nothing to stop: the rows are here."""

    def examine_rows(self, examine: Callable[[], Found], otherwise: Otherwise) -> Found | Otherwise:
        return examine()

    def count_distinct(self, names: Sequence[str]) -> int:
        rows = pa.table(dict(self.read(names)))
        return int(rows.group_by(list(names)).aggregate([]).num_rows)

    def check_unchanged(self) -> None:
        """Stop if the rows changed since the table was opened; what the caller holds, only the caller can change."""

    @property
    def rows(self) -> int:
        if self._rows is None:
            self._rows = self._count_rows()
        return self._rows

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        if isinstance(names, str):
            raise InputError(f"{what} must be a list of column names, not one text; write [{names!r}]")
        wanted = list(names)
        existing: Collection[str] = (
            self.columns if len(wanted) == 1 else set(self.columns)
        )  # one is found faster than a set is made
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
        for name, column in self._read(self.require(names)):
            yield name, plain_column(column, name)

    def types(self) -> dict[str, pa.DataType]:
        if self._types is None:
            self._types = self._read_types()
        return self._types

    def _read_types(self) -> dict[str, pa.DataType]:
        return {name: column.type for name, column in self.read(self.columns)}

    def fits(self, names: Sequence[str]) -> bool:
        needed = self.bytes_to_count(names)
        return needed is None or needed <= self.memory

    def fits_classes(self) -> bool:
        return self.rows * self.needs.record_class <= self.memory

    def fits_records(self, size: int) -> bool:
        return self.rows * size <= self.memory

    def way_to_compare(self, names: Sequence[str], person: str | None = None) -> ComparisonWay:
        return "rows" if self.fits_values(names, person) else "parts"

    def count_columns(self, names: Sequence[str], sample: int) -> list[ColumnCounts] | None:
        """Nothing: the cells are read here."""
        return None

    def fits_values(self, names: Sequence[str], person: str | None = None) -> bool:
        if person is not None:
            return self.fits_classes()
        return self.fits(names) and self.rows * self.needs.class_value <= self.memory

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """About how much memory counting by these columns takes; None where the rows are in memory already."""
        return None

    def count_classes(self, names: Sequence[str], person: str | None = None) -> ClassCounts:
        """Distinct class sizes, in people, and how many classes have each; counted once for each set of columns."""
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
        if self._counts_in_engine(names):
            return {name: int(self.count_classes([name])[1].sum()) for name in names}
        return {column.name: column.size for column in encode_each(self, names)}

    def assign_classes(
        self, names: Sequence[str], person: str | None = None
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
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
        return self.memory // 4 // (self.needs.cell * columns + self.needs.row)

    def distinct_rows(self, names: Sequence[str], most: int) -> CountedRows | None:
        """The rows that differ in these columns, counted by the engine; None where there are more than `most`."""
        distinct = distinct_in_engine(self, names, most)
        return None if distinct is None else CountedRows(self._derived(distinct[0]), distinct[1])

    def _derived(self, rows: pa.Table) -> BaseBackend:
        """Rows made of these, with the same name, limits and scales."""
        from incrowd.backends.frame_backend import arrow_backend

        backend = arrow_backend(rows, name=self.name, memory=self.memory, needs=self.needs)
        backend.scales = self.scales
        return backend

    def counted_rows(self, names: Sequence[str]) -> CountedRows:
        """The rows themselves."""
        return CountedRows(self)

    def counted_parts(self, names: Sequence[str], column: str) -> AbstractContextManager[Iterable[CountedRows]]:
        """All rows as one part."""
        return nullcontext([self.counted_rows([*names, column])])

    def split_by_class(self, names: Sequence[str], others: Sequence[str], person: str | None) -> Iterable[Backend]:
        from incrowd.backends.class_parts import split_by_class

        return split_by_class(self, names, others, person)

    def merge_histories(self, names: Sequence[str], others: Sequence[str], person: str) -> Backend:
        """The rows with the number of their class as the value of `person`."""
        classes, _ = self.assign_classes(names, person)
        return self._derived(pa.table({**dict(self.read([*names, *others])), person: classes}))

    def protect_cells(self, job: CellJob[Checked]) -> ProtectedCells[Checked]:
        """Refused: rows that can be read here are protected here."""
        raise UnsupportedError("rows that can be read here are protected here, and written as a file; leave out=")

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        raise UnsupportedError("a frame in memory is not written by an engine; give the file, or a Spark frame")

    def write_relation(self, frame: nw.LazyFrame[Any], out: str, force: bool) -> AbstractContextManager[dict[int, int]]:
        return written_by_duckdb(frame, out, force=force, table=self.name)


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
