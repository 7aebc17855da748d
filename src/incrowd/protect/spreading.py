"""Which worker of a cluster gets which rows: cells of a k-d tree, or runs of the paper's sorted order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.engines import Coded, encode, most_distinct
from incrowd.engines.relational import plain_keys
from incrowd.errors import UnsupportedError
from incrowd.progress import Progress
from incrowd.protect import cells
from incrowd.protect.checks import check_values
from incrowd.protect.problem import Demand, settle_aim
from incrowd.protect.sorted import distance_to_zero
from incrowd.protect.tcloseness import strata_for
from incrowd.protect.tree import Tree, fit_tree, quantiles
from incrowd.table import Table, read_table
from incrowd.table.clusterframe import quoted

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_CELL = 200_000  # records a worker holds at a time, about
_SAMPLE = 100_000  # distinct rows that the tree is fitted on
_MOST_VALUES = 5_000_000  # of one column, which every worker is told
_LEAST = 20  # a cell has at least so many classes
_TIMES, _STRATUM, _PART = "incrowd times", "incrowd stratum", "incrowd part"
_ROW, _BEFORE = "incrowd row", "incrowd before"


class Spreading:
    """What is known of the table, and the rows with their cells."""

    def __init__(
        self,
        table: Table,
        names: list[str],
        demand: Demand,
        sensitive: str | None,
        aim: str | None,
        removed: Sequence[str],
        progress: Progress,
    ) -> None:
        self.table, self.names, self.demand = table, names, demand
        self.rows: DataFrame = table.native.drop(*removed)
        self._distinct = self._count_distinct(names)
        progress("looking at the columns", 0.0)
        columns, tallies = zip(*(self._values(self._distinct, name) for name in names), strict=True)
        check_values(columns)
        secret = self._values(self._count_distinct([sensitive], keep=False), sensitive) if sensitive else None
        self.secret_tally = secret[1] if secret else None
        self.scale = cells.Scale(
            tuple(names),
            tuple(column.values for column in columns),
            tallies,
            demand,
            settle_aim(aim, columns),
            sensitive,
            secret[0].values if secret else None,
        )
        progress("looking at a sample", 0.1)
        self.sample, self.weights = self._sampled()

    def close(self) -> None:
        """Give back what the workers kept."""
        self._distinct.unpersist()

    def _count_distinct(self, names: Sequence[str], *, keep: bool = True) -> DataFrame:
        """The distinct rows of some columns and how often each occurs, kept by the workers."""
        keys: DataFrame = plain_keys(self.table.lazy(names)).to_native().toDF(*names)
        counted = keys.groupBy(*(quoted(name) for name in names)).count().withColumnRenamed("count", _TIMES)
        return counted.persist() if keep else counted

    def _values(self, distinct: DataFrame, name: str) -> tuple[Coded, NDArray[np.int64]]:
        """The values of a column in order, and how often each occurs."""
        found = distinct.groupBy(quoted(name)).agg({_TIMES: "sum"}).toDF(name, _TIMES)
        most = min(_MOST_VALUES, most_distinct(self.table, 1))
        rows = found.limit(most + 1).toArrow()
        if rows.num_rows > most:
            raise UnsupportedError(
                f"column {name!r} has more than {most:,} values, too many to tell every worker; round it first"
            )
        (column,) = encode(read_table(rows), [name])
        tally = np.zeros(column.size, dtype=np.int64)
        tally[column.codes] = rows[_TIMES].to_numpy()
        return column, tally

    def _sampled(self) -> tuple[pa.Table, NDArray[np.int64]]:
        """The distinct rows with the smallest hashes, and how often each occurs: the same rows on every engine."""
        share = min(1.0, 3 * _SAMPLE / self._distinct.count())  # hashes are even, so enough are below this limit
        chosen = cells.AddHash(self.scale, int(share * 2.0**63))
        hashed = self._distinct.mapInArrow(chosen, _with_type(self._distinct, cells.HASH, "bigint"))
        ordered = hashed.orderBy(quoted(cells.HASH), *(quoted(name) for name in self.names))
        rows = ordered.limit(_SAMPLE).toArrow()
        return rows.select(self.names), rows[_TIMES].to_numpy()

    def by_cells(self) -> tuple[DataFrame, dict[str, int]]:
        """Every row with its cell of a k-d tree."""
        from pyspark.sql import functions as sql

        wanted = max(1, round(self.table.rows / _CELL))
        tree = fit_tree(self.scale.problem(self.sample).points(), self.weights, wanted)
        placed = self._distinct.mapInArrow(
            cells.AddCell(self.scale, tree), _with_type(self._distinct, cells.CELL, "bigint")
        )
        counted = placed.groupBy(quoted(cells.CELL)).agg(sql.sum(quoted(_TIMES)).alias("rows")).toArrow()
        ends = np.zeros(tree.size + 1, dtype=np.int64)
        ends[1 + counted[cells.CELL].to_numpy()] = counted["rows"].to_numpy()
        ends = np.cumsum(ends)
        diverse = self._diverse(tree)
        least = _LEAST * self.demand.smallest
        tree = tree.joined(lambda start, end: ends[end] - ends[start] >= least and diverse(start, end))
        rows = self.rows.mapInArrow(cells.AddCell(self.scale, tree), _with_type(self.rows, cells.CELL, "bigint"))
        return rows, {"cells": tree.size}

    def _diverse(self, tree: Tree) -> Callable[[int, int], bool]:
        """Whether neighbouring cells together are l-diverse, from how often each sensitive value is in each cell."""
        demand, scale = self.demand, self.scale
        if demand.l is None or scale.sensitive is None or tree.size == 1:
            return lambda start, end: True
        rows = self.rows.mapInArrow(cells.AddCell(scale, tree), _with_type(self.rows, cells.CELL, "bigint"))
        secret = scale.sensitive
        found = rows.groupBy(quoted(cells.CELL), quoted(secret)).count().limit(_MOST_VALUES + 1).toArrow()
        if found.num_rows > _MOST_VALUES:
            return lambda start, end: True  # cells are rich in values then; a worker that finds one poor says so
        found = found.sort_by(cells.CELL)
        codes = cells.coded(found, (secret,), (scale.secrets,))[0].codes
        starts = np.searchsorted(found[cells.CELL].to_numpy(), np.arange(tree.size + 1))
        times = found["count"].to_numpy()

        def diverse(start: int, end: int) -> bool:
            here = slice(starts[start], starts[end])
            counts = np.bincount(codes[here], weights=times[here])
            shares = counts[counts > 0] / counts.sum()
            reached = np.exp(-(shares @ np.log(shares))) if demand.diversity == "entropy" else shares.size
            return bool(reached >= (demand.l or 0))

        return diverse

    def by_ranks(self, method: str) -> tuple[DataFrame, dict[str, int]]:
        """Every row with the class that the paper's sorting gives it, and a cell of whole classes."""
        from pyspark.sql import functions as sql

        n, k = self.table.rows, self.demand.k
        kinds = f"{_type_of(self.rows)}, {quoted(cells.DISTANCE)} double, {quoted(cells.HASH)} bigint"
        rows = self.rows.mapInArrow(cells.AddDistance(self.scale), kinds)
        if method == "sorted":
            rows = self._ranked(rows.withColumn(_STRATUM, sql.lit(0)))
            number = sql.least(sql.floor(sql.col(quoted(_ROW)) / k), sql.lit(n // k - 1))
            settings: dict[str, int] = {}
            size = k
        else:
            size = strata_for(n, k, self.demand.t)
            length = n // size
            rows = self._ranked(self._in_strata(rows, length))
            number, settings = sql.col(quoted(_ROW)), {"strata": size}
        rows = rows.withColumn(cells.CLASS, number.cast("bigint"))
        each = max(1, _CELL // size)  # classes in a cell
        return rows.withColumn(cells.CELL, sql.floor(sql.col(quoted(cells.CLASS)) / each)), settings

    def _in_strata(self, rows: DataFrame, length: int) -> DataFrame:
        """Every row with its stratum: runs of so many rows in ascending order of the sensitive value.

        Values are never cut apart before the rows of each part are numbered, and equal values are ordered by a hash.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        scale, tally = self.scale, self.secret_tally
        assert scale.sensitive is not None
        assert tally is not None
        ends = np.cumsum(tally)
        starts = np.unique(np.searchsorted(ends, np.arange(0, ends[-1], _CELL), "right"))  # first value of each part
        before = np.concatenate([[0], ends])[starts]
        coded = rows.mapInArrow(
            cells.AddSecret(scale, starts, _ROW, _PART),
            f"{_type_of(rows)}, {quoted(_ROW)} bigint, {quoted(_PART)} bigint",
        )
        order = [quoted(_ROW), quoted(cells.HASH), *self._ties()]
        within = sql.row_number().over(Window.partitionBy(quoted(_PART)).orderBy(*order)) - 1
        offsets = sql.array(*(sql.lit(int(count)) for count in before))
        rank = within + sql.get(offsets, sql.col(quoted(_PART)).cast("int"))
        return coded.withColumn(_STRATUM, sql.floor(rank / length)).drop(_ROW, _PART)

    def _ranked(self, rows: DataFrame) -> DataFrame:
        """Every row with its place among those of its stratum, by distance: parts of the line are numbered apart."""
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        problem = self.scale.problem(self.sample)
        cuts = quantiles(distance_to_zero(problem), self.weights, max(1, round(self.table.rows / _CELL)))
        parts = rows.mapInArrow(cells.AddPart(cells.DISTANCE, cuts, _PART), f"{_type_of(rows)}, {quoted(_PART)} bigint")
        keys = (quoted(_STRATUM), quoted(_PART))
        counted = parts.groupBy(*keys).count().toArrow().sort_by([(_STRATUM, "ascending"), (_PART, "ascending")])
        offsets = self.table.native.sparkSession.createDataFrame(_offsets(counted))
        order = [quoted(cells.DISTANCE), quoted(cells.HASH), *self._ties()]
        within = sql.row_number().over(Window.partitionBy(*keys).orderBy(*order)) - 1
        numbered = parts.withColumn(_ROW, within).join(sql.broadcast(offsets), [_STRATUM, _PART])
        return numbered.withColumn(_ROW, sql.col(quoted(_ROW)) + sql.col(quoted(_BEFORE))).drop(
            _BEFORE, _PART, _STRATUM
        )

    def _ties(self) -> list[str]:
        """What orders rows that are equal otherwise: every column that can be compared."""
        return [quoted(name) for name, kind in self.rows.dtypes if not kind.startswith(("map", "variant"))]


def _type_of(frame: DataFrame) -> str:
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in frame.dtypes)


def _with_type(frame: DataFrame, name: str, kind: str) -> str:
    return f"{_type_of(frame)}, {quoted(name)} {kind}"


def _offsets(counted: pa.Table) -> pa.Table:
    """For every part how many rows of its stratum are in parts before it."""
    import pyarrow as pa

    count, stratum = counted["count"].to_numpy(), counted[_STRATUM].to_numpy()
    before = np.cumsum(count) - count
    first = np.searchsorted(stratum, stratum)
    return counted.select([_STRATUM, _PART]).append_column(_BEFORE, pa.array(before - before[first]))
