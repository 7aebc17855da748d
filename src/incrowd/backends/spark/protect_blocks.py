"""Protection of a table in its cluster: rows are divided into blocks, and workers protect one block at a time.

The driver reads only the values of every column with their counts, a sample of distinct rows, and the number of rows of
each block. Rows are shuffled between workers once, by their block, and the workers write them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.block_protection import (
    BlockJob,
    BlockLimits,
    BlockProtection,
    Checked,
    ProtectedBlocks,
    TreeBlocks,
)
from incrowd.backends.spark import workers
from incrowd.backends.spark.assign_blocks import BlockAssigner
from incrowd.backends.spark.column_types import quote_name
from incrowd.backends.spark.column_values import count_column_values, sample_distinct_rows
from incrowd.backends.spark.session import spark_errors
from incrowd.backends.spark.store import check_writable, written_by_spark
from incrowd.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from incrowd.backends.spark.backend import SparkBackend

_PARTITIONS, _FEWEST_PARTITIONS, _ROWS_A_PARTITION = "spark.sql.shuffle.partitions", 8, 20_000
_SEVERAL_VALUES = r"[\]})*]$"  # last character of a generalised value: a range, a set or a star


def protect_on_spark(backend: SparkBackend, job: BlockJob[Checked], limits: BlockLimits) -> ProtectedBlocks[Checked]:
    """Protect a table in its cluster and let the workers write it; it gets its name when the check has passed."""
    target = _check_target(backend.columns, job.out)
    session = backend.native.sparkSession
    failed = "it could not be protected in its cluster; look for cells not valid in their type"
    with spark_errors(backend.name, failed), _few_partitions(session, backend.rows):
        job.progress("looking at the columns", 0.0)
        names = [*job.names, *([job.sensitive] if job.sensitive else [])]
        columns = count_column_values(backend, names, limits.values)
        protection, layout = job.plan(columns)
        job.progress("looking at a sample", 0.1)
        sample, weights = sample_distinct_rows(backend, protection.names, protection.values, limits.sample)
        job.progress("cutting it into blocks", 0.2)
        rows = backend.native.drop(*job.removed)
        assigner = BlockAssigner(backend, rows, protection, sample, weights, limits)
        blocks = None
        if isinstance(layout, TreeBlocks):
            placed, blocks = assigner.by_tree(layout)
        else:
            placed = assigner.by_rank(layout, columns[-1].counts if layout.by_sensitive else None)
        kept_columns = tuple(name for name in backend.columns if name not in job.removed)
        protected = _protect_blocks(placed, workers.ProtectBlock(protection, kept_columns))
        job.progress("making classes and writing them", 0.3)
        with written_by_spark(protected, target, force=job.force) as folder:
            job.progress("checking", 0.9)
            written = backend.like(session.read.parquet(folder))
            checked = job.check(written)
            changed = _count_changed(written.native, protection)
            backend.check_unchanged()
    return ProtectedBlocks(session.read.parquet(target), blocks, changed, checked)


@contextmanager
def _few_partitions(session: SparkSession, rows: int) -> Iterator[None]:
    """Let Spark use few partitions for a small table: each costs as much time as thousands of rows."""
    usual = session.conf.get(_PARTITIONS)
    session.conf.set(_PARTITIONS, str(min(int(usual or 200), max(_FEWEST_PARTITIONS, rows // _ROWS_A_PARTITION))))
    try:
        yield
    finally:
        session.conf.set(_PARTITIONS, usual or "200")


def _check_target(columns: Sequence[str], out: str | os.PathLike[str] | None) -> str:
    """Return the absolute path or address to write to; refuse invalid targets and names of columns."""
    if out is None:
        raise InputError("say where the cluster writes the protected table: a folder of Parquet files", hint="out")
    if not os.fspath(out).lower().endswith((".parquet", ".pq")):
        raise InputError("a cluster writes Parquet; let the name end in .parquet", hint="out")
    taken = [name for name in columns if name.startswith("incrowd ")]
    if taken:
        raise InputError(f"columns named {', '.join(taken)} are in the way; rename them")
    odd = [name for name in columns if "." in name or "`" in name]
    if odd:
        raise InputError(f"Spark cannot send columns named {', '.join(odd)} to its workers; rename them without dots")
    if "://" in os.fspath(out):
        return os.fspath(out)
    place = os.path.abspath(out)
    check_writable(os.path.dirname(place))
    return place


def _protect_blocks(rows: DataFrame, protect: workers.ProtectBlock) -> DataFrame:
    """The protected rows: each block is sent to a worker, and quasi-identifiers become text."""
    kinds = dict(rows.dtypes)
    text = protect.protection.names
    schema = ", ".join(f"{quote_name(name)} {'string' if name in text else kinds[name]}" for name in protect.kept)
    blocks = rows.groupBy(quote_name(workers.BLOCK))
    return blocks.applyInArrow(lambda part: protect(part), schema)  # Spark counts the arguments of a function


def _count_changed(written: DataFrame, protection: BlockProtection) -> dict[str, int]:
    """Number of values of every quasi-identifier that became a range, a set or a star.

    Original values that look like one, such as "(a)", are not counted.
    """
    from pyspark.sql import functions as sql

    names = protection.names
    several = [sql.count_if(sql.col(quote_name(name)).rlike(_SEVERAL_VALUES)) for name in names]
    changed = dict(zip(names, written.agg(*several).first() or (), strict=True))
    for name, values in zip(names, protection.written_values(), strict=True):
        texts = values.cast(pa.string())
        ambiguous = texts.filter(pc.fill_null(pc.match_substring_regex(texts, _SEVERAL_VALUES), False))
        if len(ambiguous):
            originals = written.sparkSession.createDataFrame(pa.table({"cell": ambiguous}))
            cells = written.select(quote_name(name)).toDF("cell")
            changed[name] -= int(cells.join(originals, "cell", "left_semi").count())
    return changed
