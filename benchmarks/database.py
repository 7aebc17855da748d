"""Counting in a database against the same grouping by hand: `python -m benchmarks.database`.

A million rows of the demo table go into an SQLite file, and into a table of the PostgreSQL database whose address the
environment variable INCROWD_POSTGRES has (`incrowd_benchmark`, dropped at the end); without it, SQLite is all.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks import harness

ROWS = 1_000_000
_NAME = "incrowd_benchmark"
_OURS = """
from incrowd import ClassSizes, demo_table, measure, read_table
from incrowd.demo import QUASI_IDENTIFIERS
q = list(QUASI_IDENTIFIERS)
measure(demo_table(3_000), quasi_identifiers=q, sensitive=['charge'])  # compiles
"""
_BY_HAND = """
from {driver} import dbapi
from incrowd.demo import QUASI_IDENTIFIERS
groups = ', '.join(QUASI_IDENTIFIERS)
sizes = f'SELECT count(*) AS size FROM {name} GROUP BY {{groups}}'
sql = f'SELECT size, count(*) AS classes FROM ({{sizes}}) AS s GROUP BY size'
"""
_RUN = """
with dbapi.connect({address!r}) as connection, connection.cursor() as cursor:
    cursor.execute(sql)
    answer = sum(classes for _, classes in cursor.fetchall())
"""


def main() -> None:
    """Measure, print, keep."""
    result: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        file = harness.demo_file(Path(folder), ROWS)
        result["Parquet"] = _cases(repr(file), "memory='4GB'")
        path = _into_sqlite(file, Path(folder) / "demo.db")
        result["SQLite"] = _cases(repr(path), f"table={_NAME!r}") | _by_hand("adbc_driver_sqlite", path)
        address = os.environ.get("INCROWD_POSTGRES")
        if address is None:
            print("INCROWD_POSTGRES names no database: PostgreSQL is left out")
        else:
            _into_postgres(file, address)
            try:
                result["PostgreSQL"] = _cases("os.environ['INCROWD_POSTGRES']", f"table={_NAME!r}")
                result["PostgreSQL"] |= _by_hand("adbc_driver_postgresql", address)
            finally:
                _into_postgres(None, address)
    for where, found in result.items():
        harness.show(
            f"{where}, {ROWS:,} rows, nine attributes",
            ("what", "best s", "peak MB here", "classes"),
            [(what, f["seconds"], round(f["peak_mb"]), f["answer"]) for what, f in found.items()],
        )
    assert len({f["answer"] for found in result.values() for f in found.values()}) == 1, "the engines disagree"
    harness.save("database", result)


def _cases(source: str, how: str) -> dict[str, Any]:
    setup = f"import os{_OURS}"
    table = f"read_table({source}, {how})"
    return {
        "count": harness.timed(setup, f"answer = ClassSizes.from_table({table}, quasi_identifiers=q).classes"),
        "measure with l and t": harness.timed(
            setup, f"answer = measure({table}, quasi_identifiers=q, sensitive=['charge']).classes"
        ),
    }


def _by_hand(driver: str, address: str) -> dict[str, Any]:
    return {
        "the same GROUP BY by hand": harness.timed(
            _BY_HAND.format(driver=driver, name=_NAME), _RUN.format(address=address)
        )
    }


def _into_sqlite(file: str, path: Path) -> str:
    import pyarrow.parquet as pq

    with sqlite3.connect(path) as connection:
        for number, batch in enumerate(pq.ParquetFile(file).iter_batches(100_000)):
            if not number:
                connection.execute(f"CREATE TABLE {_NAME} ({', '.join(batch.schema.names)})")
            marks = ", ".join("?" * batch.num_columns)
            columns = [column.to_pylist() for column in batch.columns]
            connection.executemany(f"INSERT INTO {_NAME} VALUES ({marks})", zip(*columns, strict=True))
    connection.close()
    return str(path)


def _into_postgres(file: str | None, address: str) -> None:
    """Load the table; without a file, drop it."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_NAME}")
        if file is not None:
            rows = pq.read_table(file)
            rows = rows.set_column(rows.num_columns - 1, "diag_p", rows["diag_p"].cast(pa.string()))
            cursor.adbc_ingest(_NAME, rows)
            cursor.execute(f"ANALYZE {_NAME}")


if __name__ == "__main__":
    main()
