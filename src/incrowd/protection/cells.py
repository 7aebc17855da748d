"""What the workers of a cluster do: one cell of the space at a time, by the same code as on one machine.

Everything here is sent to the workers by name, so that they need this package installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, codes_among, encode
from incrowd.backends.row_hash import row_hashes
from incrowd.backends.spark.kd_tree import Tree
from incrowd.protection.partition import partition_classes
from incrowd.protection.problem import Demand, Problem
from incrowd.protection.recoding import Grouping, as_written, generalise_classes
from incrowd.protection.sorted_runs import distance_to_zero
from incrowd.tables import read_table

if TYPE_CHECKING:
    import pyarrow as pa

_TOGETHER = 100_000  # rows that are coded at a time
CELL, CLASS, DISTANCE, HASH = "incrowd cell", "incrowd class", "incrowd distance", "incrowd hash"
PLACE = "incrowd place"


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """What a worker must know of the whole table: the values of every column, how often they occur, what is asked."""

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    tallies: tuple[NDArray[np.int64], ...]
    demand: Demand
    aim: str
    sensitive: str | None = None
    secrets: pa.Array | None = None

    def problem(self, rows: pa.Table) -> Problem:
        """The problem of some rows, with places and scales of the whole table."""
        secrets: list[Coded] = []
        if self.sensitive is not None and self.sensitive in rows.column_names:
            secrets = coded(rows, (self.sensitive,), (self.secrets,))
        columns = coded(rows, self.names, self.values)
        return Problem(columns, rows.num_rows, self.demand, secrets, self.aim, tallies=self.tallies)


def coded(rows: pa.Table, names: Sequence[str], values: Sequence[pa.Array]) -> list[Coded]:
    """Columns as codes of the whole table's values."""
    found = encode(read_table(rows), names)
    return [Coded(part.name, codes_among(part, every), every) for part, every in zip(found, values, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class CountValues:
    """In place of rows, the values of every column: its place, the value in that column and nulls in all others."""

    times: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        import pyarrow as pa

        for rows in tables(batches):
            for place, name in enumerate(rows.column_names):
                values, counts = rows[name].value_counts().flatten()
                others = {other.name: pa.nulls(len(values), other.type) for other in rows.schema}
                places = pa.repeat(pa.scalar(place, pa.int32()), len(values))
                found = pa.table({PLACE: places} | others | {name: values, self.times: counts})
                yield from found.to_batches()


@dataclass(frozen=True, slots=True, eq=False)
class AddHash:
    """Adds a hash of every row, and leaves out the rows whose hash is not below a limit."""

    scale: Scale
    below: int

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        import pyarrow as pa

        for rows in tables(batches):
            hashes = row_hashes(self.scale.problem(rows.select(self.scale.names)).columns)
            chosen = np.flatnonzero(hashes < self.below)
            yield from with_column(rows.take(pa.array(chosen)), HASH, hashes[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class AddCell:
    """Adds the cell of the tree that every row is in."""

    scale: Scale
    tree: Tree

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        for rows in tables(batches):
            points = self.scale.problem(rows.select(self.scale.names)).points()
            yield from with_column(rows, CELL, self.tree.cells(points))


@dataclass(frozen=True, slots=True, eq=False)
class CountCells:
    """In place of rows, how many of them are in each cell of the tree."""

    scale: Scale
    tree: Tree
    rows: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        import pyarrow as pa

        for rows in tables(batches):
            found = self.tree.cells(self.scale.problem(rows).points())
            cell, counts = np.unique(found, return_counts=True)
            yield from pa.table({CELL: cell, self.rows: counts}).to_batches()


@dataclass(frozen=True, slots=True, eq=False)
class AddDistance:
    """Adds the distance to zero of every row, which the paper's algorithms sort by, and a hash to break ties by."""

    scale: Scale

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        import pyarrow as pa

        for rows in tables(batches):
            problem = self.scale.problem(rows.select(self.scale.names))
            rows = rows.append_column(DISTANCE, pa.array(distance_to_zero(problem)))
            yield from with_column(rows, HASH, row_hashes(problem.columns))


@dataclass(frozen=True, slots=True, eq=False)
class AddSecret:
    """Adds the code of the sensitive value, and which part of all codes it is in: parts begin at `starts`."""

    scale: Scale
    starts: NDArray[np.int64]
    code: str
    part: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        import pyarrow as pa

        for rows in tables(batches):
            (secret,) = coded(rows, (str(self.scale.sensitive),), (self.scale.secrets,))
            codes = secret.codes.astype(np.int64)
            numbered = rows.append_column(self.code, pa.array(codes))
            yield from with_column(numbered, self.part, np.searchsorted(self.starts, codes, "right") - 1)


@dataclass(frozen=True, slots=True, eq=False)
class AddPart:
    """Adds which part of a line every row is in: parts begin at `cuts` of a column."""

    column: str
    cuts: NDArray[np.float64]
    part: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batch by batch."""
        for rows in tables(batches):
            yield from with_column(rows, self.part, np.searchsorted(self.cuts, rows[self.column].to_numpy(), "right"))


@dataclass(frozen=True, slots=True, eq=False)
class FinishCell:
    """Makes the classes of a cell and writes them: by the compiled partition, or those that are numbered already."""

    scale: Scale
    kept: tuple[str, ...]

    def __call__(self, rows: pa.Table) -> pa.Table:
        """The protected rows of one cell."""
        import pyarrow as pa

        rows = in_one_order(rows)
        problem = self.scale.problem(rows)
        if CLASS in rows.column_names:
            numbers = rows[CLASS].to_numpy()
            _, sizes = np.unique(numbers, return_counts=True)
            grouping = Grouping(np.argsort(numbers, kind="stable"), np.cumsum(sizes))
        else:
            grouping = partition_classes(problem)
        made = generalise_classes(problem, grouping).columns
        for column in problem.columns:
            if column.name not in made:  # nothing changed in this cell, but it may have in others
                made[column.name] = as_written(column.values).take(pa.array(column.codes))
        return pa.table({name: made[name].cast(pa.string()) if name in made else rows[name] for name in self.kept})


def in_one_order(rows: pa.Table) -> pa.Table:
    """The same rows in an order that does not depend on how they came: classes are then the same each time."""
    import pyarrow as pa

    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return rows.take(pa.array(np.argsort(row_hashes(encode(read_table(rows), plain)), kind="stable")))


def tables(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches gathered into tables that are worth coding; Spark sends ten thousand rows at a time."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= _TOGETHER:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if sum(one.num_rows for one in waiting):
        yield pa.Table.from_batches(waiting)


def with_column(rows: pa.Table, name: str, values: NDArray[np.int64]) -> list[pa.RecordBatch]:
    """The rows with one column more."""
    import pyarrow as pa

    batches: list[pa.RecordBatch] = rows.append_column(name, pa.array(values)).to_batches()
    return batches
