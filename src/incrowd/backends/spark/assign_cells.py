"""Which worker of a cluster gets which rows: cells of a k-d tree, or runs of the paper's sorted order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from incrowd._support.progress import Progress
from incrowd.backends.spark.column_values import MOST_VALUES, keys_of, sample_of, values_of
from incrowd.backends.spark.frame import quoted, type_of, with_type
from incrowd.backends.spark.kd_tree import Tree, fit_tree, quantiles
from incrowd.protection import cells
from incrowd.protection.problem import Demand, settle_aim
from incrowd.protection.sorted_runs import distance_to_zero
from incrowd.protection.tcloseness import strata_for
from incrowd.protection.validate import check_values
from incrowd.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_CELL = 200_000  # records a worker holds at a time, about
_LEAST = 20  # a cell has at least so many classes
_STRATUM, _PART = "incrowd stratum", "incrowd part"
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
        progress("looking at the columns", 0.0)
        columns, tallies = zip(*values_of(table, [*names, *([sensitive] if sensitive else [])]), strict=True)
        known = columns[: len(names)]
        check_values(known)
        self.secret_tally = tallies[-1] if sensitive else None
        self.scale = cells.Scale(
            tuple(names),
            tuple(column.values for column in known),
            tallies[: len(names)],
            demand,
            settle_aim(aim, known),
            sensitive,
            columns[-1].values if sensitive else None,
        )
        progress("looking at a sample", 0.1)
        self.sample, self.weights = sample_of(table, self.scale)

    def by_cells(self) -> tuple[DataFrame, dict[str, int]]:
        """Every row with its cell of a k-d tree."""
        from pyspark.sql import functions as sql

        wanted = max(1, round(self.table.rows / _CELL))
        tree = fit_tree(self.scale.problem(self.sample).points(), self.weights, wanted)
        counting = cells.CountCells(self.scale, tree, "rows")
        placed = keys_of(self.table, self.names).mapInArrow(counting, f"{quoted(cells.CELL)} bigint, rows bigint")
        counted = placed.groupBy(quoted(cells.CELL)).agg(sql.sum("rows").alias("rows")).toArrow()
        ends = np.zeros(tree.size + 1, dtype=np.int64)
        ends[1 + counted[cells.CELL].to_numpy()] = counted["rows"].to_numpy()
        ends = np.cumsum(ends)
        diverse = self._diverse(tree)
        least = _LEAST * self.demand.smallest
        tree = tree.joined(lambda start, end: ends[end] - ends[start] >= least and diverse(start, end))
        rows = self.rows.mapInArrow(cells.AddCell(self.scale, tree), with_type(self.rows, cells.CELL, "bigint"))
        return rows, {"cells": tree.size}

    def _diverse(self, tree: Tree) -> Callable[[int, int], bool]:
        """Whether neighbouring cells together are l-diverse, from how often each sensitive value is in each cell."""
        demand, scale = self.demand, self.scale
        if demand.l is None or scale.sensitive is None or tree.size == 1:
            return lambda start, end: True
        rows = self.rows.mapInArrow(cells.AddCell(scale, tree), with_type(self.rows, cells.CELL, "bigint"))
        secret = scale.sensitive
        found = rows.groupBy(quoted(cells.CELL), quoted(secret)).count().limit(MOST_VALUES + 1).toArrow()
        if found.num_rows > MOST_VALUES:
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
        kinds = f"{type_of(self.rows)}, {quoted(cells.DISTANCE)} double, {quoted(cells.HASH)} bigint"
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
            f"{type_of(rows)}, {quoted(_ROW)} bigint, {quoted(_PART)} bigint",
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
        parts = rows.mapInArrow(cells.AddPart(cells.DISTANCE, cuts, _PART), f"{type_of(rows)}, {quoted(_PART)} bigint")
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


def _offsets(counted: pa.Table) -> pa.Table:
    """For every part how many rows of its stratum are in parts before it."""
    import pyarrow as pa

    count, stratum = counted["count"].to_numpy(), counted[_STRATUM].to_numpy()
    before = np.cumsum(count) - count
    first = np.searchsorted(stratum, stratum)
    return counted.select([_STRATUM, _PART]).append_column(_BEFORE, pa.array(before - before[first]))
