"""Rows that stay in a Spark cluster: workers count and write them, and only counts come here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Never

import narwhals.stable.v2 as nw
import pyarrow as pa

from incrowd.backends.cell_protection import CellJob, CellLimits, Checked, ProtectedCells
from incrowd.backends.class_size_writer import CLASS_SIZE
from incrowd.backends.counts import (
    ClassCounts,
    ColumnCounts,
    ComparisonWay,
    CountedRows,
    MemoryNeeds,
    TooManyDistinctError,
    record_without_person,
)
from incrowd.backends.engine_errors import engine_errors
from incrowd.backends.frame_backend import FrameBackend, arrow_backend
from incrowd.backends.relational import class_counts, comparable, count_columns, count_in_engine, tally_groups
from incrowd.backends.spark.column_types import column_by_bytes
from incrowd.backends.spark.session import send_to_spark, spark_errors
from incrowd.backends.spark.store import written_by_spark
from incrowd.errors import InputError, UnsupportedError
from incrowd.wording import data_size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PARTS = 2  # parts are half of what may come here on average: some are larger


class SparkBackend(FrameBackend):
    """A frame whose rows stay in a cluster.

    Args:
        frame: the Spark frame, wrapped by narwhals.
        name: how messages call the table.
        memory: bytes that work here keeps to; a quarter of it may be rows from the cluster.
        needs: what work on a record takes.
        files: the files that the frame reads, where they are known; they must not change.
        cell_limits: how much the driver and a worker hold at a time while the rows are protected.
    """

    keeps_row_order = False
    rows_are_local = False

    def __init__(
        self,
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
        *,
        name: str,
        memory: int,
        needs: MemoryNeeds | None = None,
        files: Sequence[str] = (),
        cell_limits: CellLimits | None = None,
    ) -> None:
        super().__init__(frame, name=name, memory=memory, needs=needs)
        self.cell_limits = cell_limits or CellLimits()
        self.files = files
        self._seen = self._state()
        self._distinct: tuple[tuple[str, ...], CountedRows] | None = None

    def require_local(self, what: str, advice: str) -> None:
        """Stop: only counts come here."""
        raise UnsupportedError(
            f"{what} needs the rows on this machine, and those of {self.name} stay in their cluster; {advice}"
        )

    def fits_records(self, size: int) -> bool:
        """Always: only distinct rows are worked on here, and `counted_rows` refuses too many."""
        return True

    def way_to_compare(self, names: Sequence[str], person: str | None = None) -> ComparisonWay:
        """By the distinct rows, counted by the cluster."""
        return "distinct"

    def count_columns(self, names: Sequence[str], sample: int) -> list[ColumnCounts]:
        """Counted by the cluster, all columns at once; the cells are the first that are filled."""
        return count_columns(self, names, sample)

    def _read_types(self) -> dict[str, pa.DataType]:
        schema = self.lazy(self.columns).head(0).collect("pyarrow").to_native().schema
        return dict(zip(self.columns, schema.types, strict=True))

    def count_distinct(self, names: Sequence[str]) -> int:
        """Number of distinct rows of some columns, counted by the cluster."""
        return int(self.lazy(names).unique().select(nw.len().alias("n")).collect("pyarrow").rows()[0][0])

    @property
    def native(self) -> DataFrame:
        """The Spark frame."""
        frame: DataFrame = self._frame.to_native()
        return frame

    def like(self, frame: DataFrame) -> SparkBackend:
        """Another frame of the same cluster, with the same name and limits."""
        return SparkBackend(nw.from_native(frame), name=self.name, memory=self.memory, needs=self.needs)

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …; narwhals would read a dot in a name as a field of a record."""
        if not self._frame.implementation.is_pyspark():
            return super().lazy(names)
        with spark_errors("the frame", "its columns cannot be read"):
            columns = [column_by_bytes(self.native, name).alias(f"c{place}") for place, name in enumerate(names)]
            renamed: nw.LazyFrame[Any] = nw.from_native(self.native.select(*columns))
        return renamed

    def comparable(self, names: Sequence[str]) -> DataFrame:
        """Some columns, under their names, so that every engine compares them alike."""
        frame: DataFrame = comparable(self.lazy(names)).to_native().toDF(*names)
        return frame

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The rows of a small table; one that takes more than a quarter of the memory is refused."""
        needed = self.rows * len(self.columns) * self.needs.cell
        if needed > self.memory / 4:
            raise UnsupportedError(
                f"{self.name} stays in its cluster, and this needs its rows here: about {data_size(needed)}, more "
                f"than a quarter of the memory limit of {data_size(self.memory)}; give a sample of the rows, fewer "
                "columns or more memory",
                hint="memory",
            )
        return super()._read(names)

    def check_unchanged(self) -> None:
        """Stop if a file that the cluster reads is not what it was when it was opened."""
        if self._state() != self._seen:
            raise InputError("a file changed while the cluster read it; nothing of it can be trusted, read it again")

    def _count_classes(self, names: Sequence[str], person: str | None) -> ClassCounts:
        if person is None:
            return count_in_engine(self, names)
        with engine_errors(self.name):
            rows = self._with_person([*names, person])
            tally = tally_groups(nw.from_native(_histories(rows, rows.columns[:-1]).select("history")))
        self.check_unchanged()
        return class_counts(tally, self.name)

    def assign_classes(self, names: Sequence[str], person: str | None = None) -> Never:
        """Refused: the class of every record stays in the cluster."""
        raise UnsupportedError(
            f"{self.name} stays in its cluster, and every record's class with it; the cluster can write them "
            "(write_class_sizes), and what looks at each record here is not done there",
            hint="records",
        )

    def counted_rows(self, names: Sequence[str]) -> CountedRows:
        """The rows that differ, counted by the workers; those of the last question are kept."""
        wanted = tuple(self.require(names))
        if self._distinct is not None and self._distinct[0] == wanted:
            return self._distinct[1]
        self._distinct = None
        most = self.most_distinct(len(wanted))
        distinct = self.distinct_rows(wanted, most)
        if distinct is None:
            raise TooManyDistinctError(
                f"{self.name} stays in its cluster, and has more than {most:,} rows that differ in "
                f"{', '.join(wanted[:9])}: too many for a quarter of the memory limit of {data_size(self.memory)}; "
                "give more memory, or leave out what needs every combination of values",
                hint="memory",
            )
        self._distinct = (wanted, distinct)
        return distinct

    @contextmanager
    def counted_parts(self, names: Sequence[str], column: str) -> Iterator[CountedParts]:
        """The rows that differ, counted and kept by the workers while the block runs, and brought here in parts."""
        wanted = (*names, column)
        with engine_errors(self.name):
            rows: DataFrame = comparable(self.lazy(wanted)).to_native()
            counted = rows.groupBy(*rows.columns).count().persist()
        try:
            parts = CountedParts(self, wanted, counted)
            self.check_unchanged()
            yield parts
        finally:
            counted.unpersist()

    def merge_histories(self, names: Sequence[str], others: Sequence[str], person: str) -> SparkBackend:
        """The rows with the first of all people whose histories are equal as the value of `person`."""
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        wanted = [*names, *others, person]
        with engine_errors(self.name):
            rows = self._with_person(wanted)
            whose = rows.columns[-1]
            first = sql.min(whose).over(Window.partitionBy("history")).alias("first")
            people = _histories(rows, rows.columns[: len(names)]).select(whose, first)
            return self.like(rows.join(people, whose).drop(whose).toDF(*wanted))

    def _with_person(self, names: Sequence[str]) -> DataFrame:
        """Some columns, of which the last says whose record it is, of a table in which everybody is known."""
        from pyspark.sql import functions as sql

        rows: DataFrame = comparable(self.lazy(names)).to_native()
        if rows.where(sql.col(rows.columns[-1]).isNull()).limit(1).count():
            raise record_without_person(names[-1])
        return rows

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A few rows as a frame of the same cluster."""
        if not self._frame.implementation.is_pyspark():
            raise UnsupportedError("only Spark writes a table record by record; give the file, or a Spark frame")
        return nw.from_native(send_to_spark(rows, self.native.sparkSession))

    def write_relation(self, frame: nw.LazyFrame[Any], out: str, force: bool) -> AbstractContextManager[dict[int, int]]:
        """Let the workers write a frame to a folder; the block is handed how many records have each class size."""
        return _written_with_sizes(frame.to_native(), out, force, self.name)

    def protect_cells(self, job: CellJob[Checked]) -> ProtectedCells[Checked]:
        """Protect the rows in the cluster and let the workers write them."""
        from incrowd.backends.spark.protect_cells import protect_on_spark

        return protect_on_spark(self, job, self.cell_limits)

    def _state(self) -> dict[str, tuple[int, int]]:
        """Length and time of writing of each file, by its store; files that are gone are left out."""
        if not self.files:
            return {}
        session = self.native.sparkSession
        jvm, settings = session.sparkContext._jvm, session.sparkContext._jsc.hadoopConfiguration()
        states = {}
        with spark_errors("the files", "their store does not tell whether they changed"):
            paths = [jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file)) for file in self.files]  # type: ignore[union-attr]
            folders = {path.getParent().toString(): path.getParent() for path in paths}
            for folder in folders.values():
                system = folder.getFileSystem(settings)
                for status in system.listStatus(folder) if system.exists(folder) else ():
                    name = status.getPath().toUri().toString()
                    states[name] = (int(status.getLen()), int(status.getModificationTime()))
            names = {path.toUri().toString() for path in paths}
        return {name: state for name, state in states.items() if name in names}


class CountedParts:
    """Distinct rows, counted and kept by the workers, and brought here part by part.

    Rows that are equal but for the last column are always in the same part. The parts may be gone through repeatedly.
    """

    def __init__(self, backend: SparkBackend, names: Sequence[str], counted: DataFrame) -> None:
        self._backend, self._names, self._counted = backend, names, counted
        self._most = backend.most_distinct(len(names))
        with engine_errors(backend.name):
            self._parts = 1 + _PARTS * counted.count() // self._most

    def __iter__(self) -> Iterator[CountedRows]:
        from pyspark.sql import functions as sql

        backend = self._backend
        *keys, _ = (f"c{place}" for place in range(len(self._names)))
        for number in range(self._parts):
            with engine_errors(backend.name):
                part = self._counted.where(sql.pmod(sql.xxhash64(*keys), sql.lit(self._parts)) == number)
                counted = part.limit(self._most + 1).toArrow()
            if counted.num_rows > self._most:
                raise UnsupportedError(
                    f"more than {self._most:,} values of {self._names[-1]} are in a few classes: too many for a "
                    f"quarter of the memory limit of {data_size(backend.memory)}; give more memory or round them",
                    hint="memory",
                )
            if counted.num_rows:
                rows = counted.drop_columns("count").rename_columns(list(self._names))
                local = arrow_backend(rows, name=backend.name, memory=backend.memory, needs=backend.needs)
                yield CountedRows(local, counted["count"].to_numpy())


@contextmanager
def _written_with_sizes(frame: DataFrame, out: str, force: bool, table: str) -> Iterator[dict[int, int]]:
    with written_by_spark(frame, out, force=force) as folder, spark_errors(table, "it cannot be counted"):
        sizes = frame.sparkSession.read.parquet(folder).groupBy(CLASS_SIZE).count().toArrow()
        yield dict(zip(*(column.to_pylist() for column in sizes.columns), strict=True))


def _histories(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Everybody with their history: their records in order, so that equal histories are equal values."""
    from pyspark.sql import functions as sql

    return rows.groupBy(rows.columns[-1]).agg(sql.sort_array(sql.collect_list(sql.struct(*keys))).alias("history"))
