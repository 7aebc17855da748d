"""Protecting a table in its cluster: the space is cut into cells, and workers protect one cell at a time.

The driver sees the values of every column with their counts, a sample of distinct rows, and how many rows each cell
has. Rows go from worker to worker once, by their cell, and are written by the workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.cell_protection import CellJob, CellLimits, CellProtection, Checked, ProtectedCells, TreeCells
from incrowd.backends.spark import workers
from incrowd.backends.spark.assign_cells import CellAssigner
from incrowd.backends.spark.column_types import quote_name
from incrowd.backends.spark.column_values import count_column_values, sample_distinct_rows
from incrowd.backends.spark.session import spark_errors
from incrowd.backends.spark.store import check_writable, written_by_spark
from incrowd.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from incrowd.backends.spark.backend import SparkBackend

_PARTITIONS, _FEWEST_PARTITIONS, _ROWS_A_PARTITION = "spark.sql.shuffle.partitions", 8, 20_000
_SEVERAL_VALUES = r"[\]})*]$"  # how a cell ends that stands for several values


def protect_on_spark(backend: SparkBackend, job: CellJob[Checked], limits: CellLimits) -> ProtectedCells[Checked]:
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
        job.progress("cutting it into cells", 0.2)
        rows = backend.native.drop(*job.removed)
        assigner = CellAssigner(backend, rows, protection, sample, weights, limits)
        cells = None
        if isinstance(layout, TreeCells):
            placed, cells = assigner.by_tree(layout)
        else:
            placed = assigner.by_rank(layout, columns[-1].counts if layout.by_sensitive else None)
        kept = tuple(name for name in backend.columns if name not in job.removed)
        protected = _protect_cells(placed, workers.ProtectCell(protection, kept))
        job.progress("making classes and writing them", 0.3)
        with written_by_spark(protected, target, force=job.force) as folder:
            job.progress("checking", 0.9)
            written = backend.like(session.read.parquet(folder))
            checked = job.check(written)
            changed = _count_changed(written.native, protection)
            backend.check_unchanged()
    return ProtectedCells(session.read.parquet(target), cells, changed, checked)


@contextmanager
def _few_partitions(session: SparkSession, rows: int) -> Iterator[None]:
    """Let Spark cut a small table into few parts: each of the usual 200 costs as much as thousands of rows."""
    usual = session.conf.get(_PARTITIONS)
    session.conf.set(_PARTITIONS, str(min(int(usual or 200), max(_FEWEST_PARTITIONS, rows // _ROWS_A_PARTITION))))
    try:
        yield
    finally:
        session.conf.set(_PARTITIONS, usual or "200")


def _check_target(columns: Sequence[str], out: str | os.PathLike[str] | None) -> str:
    """The place to write to; raises where the columns cannot be sent to the workers."""
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


def _protect_cells(rows: DataFrame, protect: workers.ProtectCell) -> DataFrame:
    """The protected rows: cells are sent to workers, quasi-identifiers become text."""
    kinds = dict(rows.dtypes)
    text = protect.protection.names
    schema = ", ".join(f"{quote_name(name)} {'string' if name in text else kinds[name]}" for name in protect.kept)
    cells = rows.groupBy(quote_name(workers.CELL))
    return cells.applyInArrow(lambda part: protect(part), schema)  # Spark counts the arguments of a function


def _count_changed(written: DataFrame, protection: CellProtection) -> dict[str, int]:
    """Number of cells of every quasi-identifier that are a range, a set or a star, and are not an original value."""
    from pyspark.sql import functions as sql

    names = protection.names
    several = [sql.count_if(sql.col(quote_name(name)).rlike(_SEVERAL_VALUES)) for name in names]
    found = dict(zip(names, written.agg(*several).first() or (), strict=True))
    for name, values in zip(names, protection.written_values(), strict=True):
        texts = values.cast(pa.string())
        alike = texts.filter(pc.fill_null(pc.match_substring_regex(texts, _SEVERAL_VALUES), False))
        if len(alike):
            known = written.sparkSession.createDataFrame(pa.table({"cell": alike}))
            cells = written.select(quote_name(name)).toDF("cell")
            found[name] -= int(cells.join(known, "cell", "left_semi").count())
    return found
