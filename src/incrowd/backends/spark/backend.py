"""Rows that stay in a Spark cluster: workers count and write them, and only counts are sent to this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Never

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd.backends.base import ArrowRows
from incrowd.backends.block_protection import BlockJob, BlockLimits, Checked, ProtectedBlocks
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
from incrowd.backends.frame_backend import FrameBackend
from incrowd.backends.relational import class_counts, comparable, count_columns, count_in_engine, tally_groups
from incrowd.backends.spark.column_types import column_by_bytes
from incrowd.backends.spark.session import send_to_spark, spark_errors
from incrowd.backends.spark.store import written_by_spark
from incrowd.errors import InputError, UnsupportedError
from incrowd.wording import data_size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_PARTS = 2  # an average part has half of the rows that may be sent here, because some parts are larger


class SparkBackend(FrameBackend):
    """A frame whose rows stay in a cluster.

    Args:
        frame: the Spark frame, wrapped by narwhals.
        name: the table's name in messages.
        memory: memory limit of this process in bytes; rows from the cluster may take a quarter of it.
        needs: estimated bytes per record for each kind of work.
        files: the files that the frame reads, if known; they must not change.
        block_limits: limits on the data that the driver or a worker holds at a time while rows are protected.
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
        block_limits: BlockLimits | None = None,
    ) -> None:
        super().__init__(frame, name=name, memory=memory, needs=needs)
        self.block_limits = block_limits or BlockLimits()
        self.files = files
        self._state_when_opened = self._state()
        self._distinct: tuple[tuple[str, ...], CountedRows] | None = None

    def require_local(self, what: str, advice: str) -> None:
        """Raise UnsupportedError: the rows stay in the cluster."""
        raise UnsupportedError(
            f"{what} needs the rows on this machine, and those of {self.name} stay in their cluster; {advice}"
        )

    def fits_records(self, bytes_each: int) -> bool:
        """Always True: only distinct rows are processed here, and `counted_rows` refuses too many."""
        return True

    def way_to_compare(self, names: Sequence[str], person: str | None = None) -> ComparisonWay:
        """Always "distinct": the cluster counts the distinct rows."""
        return "distinct"

    def count_columns(self, names: Sequence[str], sample: int) -> list[ColumnCounts]:
        """Counts of columns by the cluster, in one query, with the first `sample` cells of texts and numbers."""
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
        """A backend for another frame of the cluster, with this backend's name and limits."""
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
        """Some columns under their own names, normalised so that all engines agree on equality."""
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
        """Raise InputError if a file that the cluster reads changed since it was opened."""
        if self._state() != self._state_when_opened:
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
        """Raise UnsupportedError: the class of every record stays in the cluster."""
        raise UnsupportedError(
            f"{self.name} stays in its cluster, and every record's class with it; the cluster can write them "
            "(write_class_sizes), and what looks at each record here is not done there",
            hint="records",
        )

    def counted_rows(self, names: Sequence[str]) -> CountedRows:
        """The distinct rows with their counts, from the workers; the last result is cached."""
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
        """The distinct rows with their counts, cached by the workers while the block runs, and sent here in parts."""
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
        """The rows with one value of `person`, the smallest, for all people whose histories by `names` are equal."""
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        wanted = [*names, *others, person]
        with engine_errors(self.name):
            rows = self._with_person(wanted)
            person_key = rows.columns[-1]
            first = sql.min(person_key).over(Window.partitionBy("history")).alias("first")
            people = _histories(rows, rows.columns[: len(names)]).select(person_key, first)
            return self.like(rows.join(people, person_key).drop(person_key).toDF(*wanted))

    def _with_person(self, names: Sequence[str]) -> DataFrame:
        """Some columns, the last of which is the person; raises InputError if a record has no person."""
        from pyspark.sql import functions as sql

        rows: DataFrame = comparable(self.lazy(names)).to_native()
        if rows.where(sql.col(rows.columns[-1]).isNull()).limit(1).count():
            raise record_without_person(names[-1])
        return rows

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A small table as a frame of the cluster, to be joined with its rows."""
        if not self._frame.implementation.is_pyspark():
            raise UnsupportedError("only Spark writes a table record by record; give the file, or a Spark frame")
        return nw.from_native(send_to_spark(rows, self.native.sparkSession))

    def write_relation(self, frame: nw.LazyFrame[Any], out: str, force: bool) -> AbstractContextManager[dict[int, int]]:
        """Let the workers write a frame to a folder; yields the number of written records of each class size."""
        return _written_with_sizes(frame.to_native(), out, force, self.name)

    def protect_blocks(self, job: BlockJob[Checked]) -> ProtectedBlocks[Checked]:
        """Protect the rows in the cluster and let the workers write them."""
        from incrowd.backends.spark.protect_blocks import protect_on_spark

        return protect_on_spark(self, job, self.block_limits)

    def _state(self) -> dict[str, tuple[int, int]]:
        """Length and modification time of each file, from its store; files that do not exist are left out."""
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
    """Distinct rows with counts, cached by the workers and sent here part by part.

    Rows that differ only in the last column are in one part. The parts can be iterated repeatedly.
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
                local = ArrowRows(rows, name=backend.name, memory=backend.memory, needs=backend.needs)
                yield CountedRows(local, counted["count"].to_numpy())


@contextmanager
def _written_with_sizes(frame: DataFrame, out: str, force: bool, table: str) -> Iterator[dict[int, int]]:
    with written_by_spark(frame, out, force=force) as folder, spark_errors(table, "it cannot be counted"):
        sizes = frame.sparkSession.read.parquet(folder).groupBy(CLASS_SIZE).count().toArrow()
        yield dict(zip(*(column.to_pylist() for column in sizes.columns), strict=True))


def _histories(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Every person with their history: the sorted list of their records, so that equal histories are equal values."""
    from pyspark.sql import functions as sql

    return rows.groupBy(rows.columns[-1]).agg(sql.sort_array(sql.collect_list(sql.struct(*keys))).alias("history"))
