"""Protecting a table that stays in its cluster: the space is cut into cells, and workers finish one cell at a time.

The driver sees the values of every column with their counts, a sample of distinct rows, and how many rows each cell
has. Rows go from worker to worker once, by their cell, and are written by the workers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from incrowd._support.progress import Progress
from incrowd.backends.spark.assign_cells import Spreading
from incrowd.backends.spark.frame import quoted
from incrowd.backends.spark.session import spark_errors
from incrowd.backends.spark.store import check_writable, written_by_spark
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import measure
from incrowd.protection import cells
from incrowd.protection.problem import Demand
from incrowd.protection.recoding import as_written
from incrowd.protection.release_warnings import warn_of_known_columns, warn_of_nearly_unique
from incrowd.protection.result import Guarantee, Protected
from incrowd.protection.tcloseness import bound_on_t
from incrowd.tables import Table, read_table, suggest_roles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

METHODS = ("partition", "sorted", "tcloseness")
_PARTITIONS, _FEWEST_PARTITIONS, _ROWS_A_PARTITION = "spark.sql.shuffle.partitions", 8, 20_000
_WIDE = r"[\]})*]$"  # how a cell ends that stands for several values


def protect_there(
    table: Table,
    names: Sequence[str],
    demand: Demand,
    *,
    method: str,
    sensitive: str | None,
    aim: str | None,
    removed: Sequence[str],
    left: Sequence[str],
    out: str | os.PathLike[str] | None,
    force: bool,
    progress: Progress,
) -> Protected:
    """Protect a table in its cluster and let the workers write it; it gets its name when the guarantee was counted.

    `left` are columns that are kept as they are and that somebody may know.
    """
    target = _check(table, demand, method, out)
    failed = "it could not be protected in its cluster; look for cells not valid in their type"
    with spark_errors(table.name, failed), _few_partitions(table):
        work = Spreading(table, list(names), demand, sensitive, aim, removed, progress)
        progress("cutting it into cells", 0.2)
        rows, settings = work.by_cells() if method == "partition" else work.by_ranks(method)
        kept = tuple(name for name in table.columns if name not in removed)
        protected = _finished(rows, cells.FinishCell(work.scale, kept), work.names)
        progress("making classes and writing them", 0.3)
        with written_by_spark(protected, target, force=force) as folder:
            progress("checking", 0.9)
            written = read_table(table.native.sparkSession.read.parquet(folder), memory=table.memory)
            bound = bound_on_t(table.rows, settings["strata"]) if method == "tcloseness" else None
            guarantee, classes = _count_guarantee(written, names, demand, sensitive, bound)
            _check_promise(guarantee, classes, table.rows, method)
            changed = _changed(written, work.scale)
            looks = suggest_roles(written, left) if left else ()
            warnings = tuple(warn_of_known_columns(written, names, looks, guarantee.k))
            table.confirm()
    return Protected(
        table=table.native.sparkSession.read.parquet(target),
        method=method,
        quasi_identifiers=tuple(names),
        demand=demand,
        guarantee=guarantee,
        classes=classes,
        changed_cells=changed,
        rows=table.rows,
        suppressed_rows=0,
        removed=tuple(removed),
        notes=(
            *warnings,
            *warn_of_nearly_unique(((one.column, one.distinct) for one in looks), table.rows),
            "quasi-identifiers are written as text, and rows in no particular order",
            "detail kept and information loss are measured row by row, which a cluster does not do; protect and "
            "evaluate a sample on this machine to see them",
        ),
        settings=dict(settings),
        sensitive=(sensitive,) if sensitive else (),
        kept_column_warnings=warnings,
    )


@contextmanager
def _few_partitions(table: Table) -> Iterator[None]:
    """Let Spark cut a small table into few parts: each of the usual 200 costs as much as thousands of rows."""
    settings = table.native.sparkSession.conf
    usual = settings.get(_PARTITIONS)
    settings.set(_PARTITIONS, str(min(int(usual), max(_FEWEST_PARTITIONS, table.rows // _ROWS_A_PARTITION))))
    try:
        yield
    finally:
        settings.set(_PARTITIONS, usual)


def _check(table: Table, demand: Demand, method: str, out: str | os.PathLike[str] | None) -> str:
    """Where to write, if what is asked is done in a cluster."""
    if method not in METHODS:
        raise UnsupportedError(f"{method!r} is not done in a cluster; use {', '.join(METHODS)}")
    if method == "partition" and demand.by_strata:
        raise UnsupportedError("t-closeness in a cluster is that of S4; use method='tcloseness' (--method tcloseness)")
    if method == "tcloseness" and demand.l is not None:
        raise UnsupportedError("l-diversity in a cluster is that of the partition; ask for t or for l")
    if demand.diversity == "recursive" and demand.l is not None:
        raise UnsupportedError("recursive l-diversity is not counted in a cluster; use distinct or entropy")
    if out is None:
        raise InputError("say where the cluster writes the protected table: out= (--out), a folder of Parquet files")
    if not os.fspath(out).lower().endswith((".parquet", ".pq")):
        raise InputError("a cluster writes Parquet; let the name end in .parquet")
    taken = [name for name in table.columns if name.startswith("incrowd ")]
    if taken:
        raise InputError(f"columns named {', '.join(taken)} are in the way; rename them")
    odd = [name for name in table.columns if "." in name or "`" in name]
    if odd:
        raise InputError(f"Spark cannot send columns named {', '.join(odd)} to its workers; rename them without dots")
    if "://" in os.fspath(out):
        return os.fspath(out)
    place = os.path.abspath(out)
    check_writable(os.path.dirname(place))
    return place


def _finished(rows: DataFrame, finish: cells.FinishCell, names: Sequence[str]) -> DataFrame:
    """The protected rows: cells are sent to workers, quasi-identifiers become text."""
    kinds = dict(rows.dtypes)
    schema = ", ".join(f"{quoted(name)} {'string' if name in names else kinds[name]}" for name in finish.kept)
    return rows.groupBy(quoted(cells.CELL)).applyInArrow(lambda part: finish(part), schema)  # Spark counts arguments


def _count_guarantee(
    written: Table, names: Sequence[str], demand: Demand, sensitive: str | None, bound: float | None
) -> tuple[Guarantee, ClassSizes]:
    """Count the protected table as it is, forgetting how it was made."""
    found = measure(written, quasi_identifiers=names, sensitive=[sensitive] if sensitive else [])
    facts = found.sensitive[0] if found.sensitive else None
    reached = None
    if facts is not None and demand.l is not None:
        reached = facts.entropy_l if demand.diversity == "entropy" else float(facts.distinct)
    kind = demand.diversity if demand.l is not None else None
    distance = facts.t if facts is not None else None
    return Guarantee(demand.k, found.k, demand.l, reached, kind, demand.t, distance, bound), found.sizes


def _check_promise(guarantee: Guarantee, classes: ClassSizes, rows: int, method: str) -> None:
    """Stop if what was written is not what was asked, or not all of it."""
    if not guarantee.holds or classes.records != rows:
        wrong = "; ".join(guarantee.broken) or f"{classes.records:,} of {rows:,} rows were written"
        raise UnsupportedError(f"{method} cannot give what was asked: {wrong}; nothing was written")


def _changed(written: Table, scale: cells.Scale) -> dict[str, int]:
    """How many cells of every quasi-identifier are a range, a set or a star that no value is written as."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql import functions as sql

    wide = [sql.count_if(sql.col(quoted(name)).rlike(_WIDE)) for name in scale.names]
    found = dict(zip(scale.names, written.native.agg(*wide).first(), strict=True))
    for name, values in zip(scale.names, scale.values, strict=True):
        texts = as_written(values).cast(pa.string())
        alike = texts.filter(pc.fill_null(pc.match_substring_regex(texts, _WIDE), False))
        if len(alike):
            known = written.native.sparkSession.createDataFrame(pa.table({"cell": alike}))
            cells_of = written.native.select(quoted(name)).toDF("cell")
            found[name] -= int(cells_of.join(known, "cell", "left_semi").count())
    return found
