"""Counting and protecting on a Spark cluster of two workers on this machine: `python -m benchmarks.spark`.

Counting 4 million demo rows against bare Spark SQL that does the same group-by, in turns in the same session; then
`protect` of 16 million rows (`--rows`), to completion and counted again. `--quick` takes a tenth of both. The workers
have one core and 1.5 GB each, the driver 1 GB.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.harness import save, show
from benchmarks.standalone import Cluster
from incrowd import ClassSizes, demo_table, measure, protect, read_table
from incrowd.backends.spark.session import start_session
from incrowd.demo import QUASI_IDENTIFIERS

COUNTED, PROTECTED = 4_000_000, 16_000_000
TURNS = 3
WORKERS = 2  # of one core each
MEMORY = 4 * 10**9
PART = 1_000_000
SETTINGS = {"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "32", "spark.network.timeout": "600s"}


def main() -> None:
    """Print the tables and write the numbers."""
    share = 10 if "--quick" in sys.argv else 1
    rows = int(sys.argv[sys.argv.index("--rows") + 1]) if "--rows" in sys.argv else PROTECTED // share
    folder = Path(tempfile.mkdtemp(prefix="incrowd-spark-"))
    cluster = Cluster(folder, memory="1536m", settings=SETTINGS)
    cluster.start(WORKERS)
    session = None
    try:
        session = start_session(cluster.master, MEMORY)
        found = {"counting": counting(folder, COUNTED // share), "protecting": protecting(folder, rows)}
        save("spark", found)
    finally:
        if session is not None:
            session.stop()
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


def counting(folder: Path, rows: int) -> dict[str, Any]:
    """Seconds of ours and of bare Spark SQL, in turns, the best of each."""
    table = read_table(_demo(folder / "count.parquet", rows), engine="spark", memory=MEMORY)
    table.native.createOrReplaceTempView("people")
    columns = ", ".join(QUASI_IDENTIFIERS)
    bare = f"SELECT n, count(*) FROM (SELECT count(*) n FROM people GROUP BY {columns}) GROUP BY n"
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(TURNS):
        started = time.perf_counter()
        tally = dict(tuple(row) for row in table.native.sparkSession.sql(bare).collect())
        theirs.append(time.perf_counter() - started)
        started = time.perf_counter()
        sizes = ClassSizes.from_table(table, quasi_identifiers=QUASI_IDENTIFIERS)
        ours.append(time.perf_counter() - started)
        if sizes.histogram() != tally:
            raise RuntimeError("the two counts differ")
    rate = rows * len(QUASI_IDENTIFIERS) / min(ours) / WORKERS
    found = {
        "rows": rows,
        "incrowd": min(ours),
        "spark_sql": min(theirs),
        "ratio": min(ours) / min(theirs),
        "cells_a_second_and_core": rate,
    }
    show(
        f"Counting {rows:,} rows by {len(QUASI_IDENTIFIERS)} columns on two workers",
        ("", "seconds"),
        [
            ("incrowd", found["incrowd"]),
            ("bare Spark SQL", found["spark_sql"]),
            ("ratio", found["ratio"]),
            ("cells a second and core", f"{rate:,.0f}"),
        ],
    )
    return found


def protecting(folder: Path, rows: int) -> dict[str, Any]:
    """Seconds of a protection in the cluster, and its guarantee, counted on the files by DuckDB or numba."""
    table = read_table(_demo(folder / "protect.parquet", rows), engine="spark", memory=MEMORY)
    started = time.perf_counter()
    safe = protect(
        table, quasi_identifiers=QUASI_IDENTIFIERS, k=5, identifiers=[], out=folder / "safe.parquet", progress=_told
    )
    seconds = time.perf_counter() - started
    counted = measure(folder / "safe.parquet", quasi_identifiers=QUASI_IDENTIFIERS)
    if counted.k < 5 or counted.records != rows or counted.sizes != safe.classes:
        raise RuntimeError("the protected table does not keep its promise")
    found = {"rows": rows, "seconds": seconds, "k": counted.k, "classes": counted.classes, "settings": safe.settings}
    show(
        f"Protecting {rows:,} rows on two workers, k = 5",
        ("seconds", "rows a second and core", "smallest class, counted again", "classes"),
        [(seconds, f"{rows / seconds / WORKERS:,.0f}", counted.k, f"{counted.classes:,}")],
    )
    return found


def _told(doing: str, share: float) -> None:
    print(f"{time.strftime('%H:%M:%S')} {doing} ({share:.0%})", file=sys.stderr)


def _demo(folder: Path, rows: int) -> Path:
    """Demo rows as a folder of Parquet parts, made one after the other."""
    folder.mkdir()
    for number, start in enumerate(range(0, rows, PART)):
        pq.write_table(demo_table(min(PART, rows - start), seed=number), folder / f"{number:03}.parquet")
    return folder


if __name__ == "__main__":
    main()
