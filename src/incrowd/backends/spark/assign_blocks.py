"""Assignment of rows to workers of a cluster: by blocks of a k-d tree, or by runs of rows in ranked order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.block_protection import BlockLimits, BlockProtection, RankedBlocks, TreeBlocks
from incrowd.backends.encode import Coded
from incrowd.backends.spark import workers
from incrowd.backends.spark.column_types import quote_name, schema_text
from incrowd.backends.spark.kd_tree import Tree, fit_tree, quantiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from incrowd.backends.spark.backend import SparkBackend

_STRATUM, _ROW, _BEFORE = "incrowd stratum", "incrowd row", "incrowd before"


class BlockAssigner:
    """Assigns every row to a block.

    `rows` is the table without the removed columns. Blocks are fitted on a `sample` of distinct rows; `weights` is how
    often each of them occurs.
    """

    def __init__(
        self,
        backend: SparkBackend,
        rows: DataFrame,
        protection: BlockProtection,
        sample: pa.Table,
        weights: NDArray[np.int64],
        limits: BlockLimits,
    ) -> None:
        self._backend, self._rows, self._protection = backend, rows, protection
        self._sample, self._weights, self._limits = sample, weights, limits

    def by_tree(self, layout: TreeBlocks) -> tuple[DataFrame, int]:
        """Every row with its block of a k-d tree, and how many blocks there are."""
        from pyspark.sql import functions as sql

        protection = self._protection
        wanted = max(1, round(self._backend.rows / self._limits.rows))
        tree = fit_tree(protection.points(self._sampled()), self._weights, wanted)
        block, times = quote_name(workers.BLOCK), quote_name(workers.TIMES)
        keys = self._backend.comparable(protection.names)
        count_blocks = workers.OnRows(workers.count_blocks, protection, tree)
        partial_counts = keys.mapInArrow(count_blocks, f"{block} bigint, {times} bigint")
        counted = partial_counts.groupBy(block).agg(sql.sum(times).alias(workers.TIMES)).toArrow()
        ends = np.zeros(tree.size + 1, dtype=np.int64)
        ends[1 + counted[workers.BLOCK].to_numpy()] = counted[workers.TIMES].to_numpy()
        ends = np.cumsum(ends)
        is_enough = self._enough_values(tree, layout)
        tree = tree.joined(lambda start, end: ends[end] - ends[start] >= layout.fewest_rows and is_enough(start, end))
        return self._with_blocks(tree), tree.size

    def _sampled(self) -> list[Coded]:
        return workers.code_quasi_identifiers(self._protection, self._sample)

    def _with_blocks(self, tree: Tree) -> DataFrame:
        add_block = workers.OnRows(workers.add_block, self._protection, tree)
        return self._rows.mapInArrow(add_block, schema_text(self._rows, **{workers.BLOCK: "bigint"}))

    def _enough_values(self, tree: Tree, layout: TreeBlocks) -> Callable[[int, int], bool]:
        """A predicate: blocks `start` to `end` - 1 together have sensitive values that satisfy `layout.is_enough`."""
        secret, values, is_enough = self._protection.sensitive, self._protection.sensitive_values, layout.is_enough
        if is_enough is None or secret is None or tree.size == 1:
            return lambda start, end: True
        most = self._limits.values
        blocks = self._with_blocks(tree).groupBy(quote_name(workers.BLOCK), quote_name(secret))
        counted = blocks.count().limit(most + 1).toArrow()
        if counted.num_rows > most:
            return lambda start, end: True  # too many to count: blocks then have many values; workers check each block
        counted = counted.sort_by(workers.BLOCK)
        (coded,) = workers.encode_by_values(counted, (secret,), (values,))
        starts = np.searchsorted(counted[workers.BLOCK].to_numpy(), np.arange(tree.size + 1))
        times = counted["count"].to_numpy()

        def enough(start: int, end: int) -> bool:
            rows = slice(starts[start], starts[end])
            return is_enough(np.bincount(coded.codes[rows], weights=times[rows]))

        return enough

    def by_rank(self, layout: RankedBlocks, sensitive_counts: NDArray[np.int64] | None) -> DataFrame:
        """Every row with its class, which its rank determines, and its block, which consists of whole classes."""
        from pyspark.sql import functions as sql

        total, size = self._backend.rows, layout.class_size
        kinds = schema_text(self._rows, **{workers.DISTANCE: "double", workers.HASH: "bigint"})
        rows = self._rows.mapInArrow(workers.OnRows(workers.add_distance, self._protection), kinds)
        row = sql.col(quote_name(_ROW))
        if sensitive_counts is not None:
            rows = self._ranked(self._in_strata(rows, total // size, sensitive_counts))
            number = row
        else:
            rows = self._ranked(rows.withColumn(_STRATUM, sql.lit(0)))
            number = sql.least(sql.floor(row / size), sql.lit(total // size - 1))
        rows = rows.withColumn(workers.CLASS, number.cast("bigint"))
        classes_per_block = max(1, self._limits.rows // size)
        return rows.withColumn(workers.BLOCK, sql.floor(sql.col(quote_name(workers.CLASS)) / classes_per_block))

    def _in_strata(self, rows: DataFrame, length: int, counts: NDArray[np.int64]) -> DataFrame:
        """Every row with its stratum: `length` consecutive rows in ascending order of the sensitive value.

        Workers number the rows of one part at a time. All rows with one sensitive value are in one part, and are
        ordered by a hash.
        """
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        secret, values = self._protection.sensitive, self._protection.sensitive_values
        assert secret is not None
        ends = np.cumsum(counts)
        first = np.searchsorted(ends, np.arange(0, ends[-1], self._limits.rows), "right")
        starts = np.unique(first)  # first value of each part
        before = np.concatenate([[0], ends])[starts]
        coded = rows.mapInArrow(
            workers.OnRows(workers.add_sensitive_code, secret, values, starts),
            schema_text(rows, **{workers.CODE: "bigint", workers.PART: "bigint"}),
        )
        part = quote_name(workers.PART)
        order = [quote_name(workers.CODE), quote_name(workers.HASH), *self._ties()]
        within = sql.row_number().over(Window.partitionBy(part).orderBy(*order)) - 1
        offsets = sql.array(*(sql.lit(int(count)) for count in before))
        rank = within + sql.get(offsets, sql.col(part).cast("int"))
        return coded.withColumn(_STRATUM, sql.floor(rank / length)).drop(workers.CODE, workers.PART)

    def _ranked(self, rows: DataFrame) -> DataFrame:
        """Every row with its rank by distance within its stratum; workers number an interval of distances at a time."""
        from pyspark.sql import Window
        from pyspark.sql import functions as sql

        parts_wanted = max(1, round(self._backend.rows / self._limits.rows))
        cuts = quantiles(self._protection.distances(self._sampled()), self._weights, parts_wanted)
        add_part = workers.OnRows(workers.add_part, workers.DISTANCE, cuts)
        parts = rows.mapInArrow(add_part, schema_text(rows, **{workers.PART: "bigint"}))
        keys = (quote_name(_STRATUM), quote_name(workers.PART))
        counted = parts.groupBy(*keys).count().toArrow()
        counted = counted.sort_by([(_STRATUM, "ascending"), (workers.PART, "ascending")])
        offsets = rows.sparkSession.createDataFrame(_offsets(counted))
        order = [quote_name(workers.DISTANCE), quote_name(workers.HASH), *self._ties()]
        within = sql.row_number().over(Window.partitionBy(*keys).orderBy(*order)) - 1
        numbered = parts.withColumn(_ROW, within).join(sql.broadcast(offsets), [_STRATUM, workers.PART])
        row = sql.col(quote_name(_ROW)) + sql.col(quote_name(_BEFORE))
        return numbered.withColumn(_ROW, row).drop(_BEFORE, workers.PART, _STRATUM)

    def _ties(self) -> list[str]:
        """Columns that break ties in an order of rows: every column that can be compared."""
        return [quote_name(name) for name, kind in self._rows.dtypes if not kind.startswith(("map", "variant"))]


def _offsets(counted: pa.Table) -> pa.Table:
    """For every part, the number of rows of its stratum in earlier parts."""
    count, stratum = counted["count"].to_numpy(), counted[_STRATUM].to_numpy()
    before = np.cumsum(count) - count
    first = np.searchsorted(stratum, stratum)
    return counted.select([_STRATUM, workers.PART]).append_column(_BEFORE, pa.array(before - before[first]))
