"""Record by record, where the records lie: the engine counts, joins and writes, and no record comes here."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.addresses import masked
from incrowd._support.files import written_whole
from incrowd.backends.relational import plain_keys
from incrowd.errors import InputError
from incrowd.tables import Table
from incrowd.tables.readers import engine_errors

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa

CLASS_SIZE = "class_size"


def write_with_class_sizes(
    table: Table,
    names: Sequence[str],
    out: str | os.PathLike[str],
    *,
    of_size: pa.Table | None = None,
    counted: Mapping[int, int] | None = None,
    force: bool = False,
) -> Path | str:
    """Write the table as Parquet with the size of every record's class, and what `of_size` says of classes that size.

    DuckDB writes a file and Spark a folder; the rows are in no particular order. `counted` says how many classes of
    each size there were when `of_size` was worked out. What is written is counted before it gets its name: a table that
    changed meanwhile would have lost records, or joined them to what is true of another state.
    """
    target = os.fspath(out)
    added = [CLASS_SIZE] if of_size is None else of_size.column_names
    taken = [name for name in added if name in table.columns]
    if taken:
        raise InputError(f"the table has columns named {', '.join(taken)} already; rename them")
    if not target.lower().endswith((".parquet", ".pq")):
        raise InputError(f"an engine writes Parquet; name it {Path(masked(target)).stem}.parquet")
    if table.is_at(target):
        raise InputError(f"{target} is the table that is read; it is never overwritten, name another file")
    rows = table.rows
    with engine_errors(table.name):
        frame = _with_class_sizes(table, names)
        if of_size is not None:
            frame = frame.join(table.beside(of_size), on=CLASS_SIZE, how="inner")
        keys = [f"c{place}" for place in range(len(table.columns))]
        frame = frame.select(*keys, *added).rename(dict(zip(keys, table.columns, strict=True)))
    with _written(table, frame, target, force) as written:
        table.confirm()
        _check_tally(table, written, rows, counted)
    return target if "://" in target else Path(target)  # an address is no path: two slashes would become one


def _with_class_sizes(table: Table, names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Every record with the size of its class: a window over the columns as they are compared."""
    import narwhals.stable.v2 as nw

    frame = table.lazy(table.columns)
    places = [table.columns.index(name) for name in names]
    keys = [f"key{place}" for place in places]
    keyed = frame.with_columns(*(nw.col(f"c{place}").alias(key) for place, key in zip(places, keys, strict=True)))
    return plain_keys(keyed, keys).with_columns(nw.len().over(*keys).alias(CLASS_SIZE))


@contextmanager
def _written(table: Table, frame: nw.LazyFrame[Any], target: str, force: bool) -> Iterator[dict[int, int]]:
    """Write, hand out how many records of each class size were written, and give the file its name if all is well."""
    from incrowd.backends.spark.session import spark_errors
    from incrowd.backends.spark.store import written_by_spark

    native = frame.to_native()
    if table.engine == "cluster":
        with written_by_spark(native, target, force=force) as folder, spark_errors(table.name, "it cannot be counted"):
            sizes = native.sparkSession.read.parquet(folder).groupBy(CLASS_SIZE).count().toArrow()
            yield dict(zip(*(column.to_pylist() for column in sizes.columns), strict=True))
        return
    with written_whole(target, force=force) as temporary:
        with engine_errors(table.name):
            native.write_parquet(str(temporary), compression="zstd")
        yield _tally(temporary)


def _tally(file: Path) -> dict[int, int]:
    """How many records have each class size, read a batch at a time."""
    import pyarrow.parquet as pq

    found: Counter[int] = Counter()
    with pq.ParquetFile(file) as written:
        for batch in written.iter_batches(columns=[CLASS_SIZE]):
            for entry in batch.column(0).value_counts().to_pylist():
                found[entry["values"]] += entry["counts"]
    return dict(found)


def _check_tally(table: Table, written: dict[int, int], rows: int, counted: Mapping[int, int] | None) -> None:
    """Stop if records are missing, or are in classes of other sizes than those that were counted."""
    expected = None if counted is None else {size: size * classes for size, classes in counted.items()}
    if sum(written.values()) != rows or (expected is not None and written != expected):
        raise InputError(
            f"{table.name} changed while it was read: {rows:,} records were counted and {sum(written.values()):,} were "
            "written, or their classes differ; nothing was kept, try again when nobody writes to it"
        )
