"""Records with the size of their class: the engine counts, joins and writes; no record is sent to this process."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd._support import frames as nw
from incrowd._support.addresses import masked
from incrowd._support.files import written_whole
from incrowd.backends.engine_errors import engine_errors
from incrowd.backends.relational import comparable
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.backends.base import Backend

CLASS_SIZE = "class_size"
_ROWS_TOGETHER = 100_000


def write_with_class_sizes(
    backend: Backend,
    names: Sequence[str],
    out: str | os.PathLike[str],
    *,
    facts_by_size: pa.Table | None = None,
    class_counts: Mapping[int, int] | None = None,
    force: bool = False,
) -> Path | str:
    """Write the rows as Parquet with the size of every record's class, and further columns that depend on this size.

    `facts_by_size` holds the further columns, with one row for each value of its column `class_size`. `class_counts` is
    the number of classes of each size from which `facts_by_size` was computed. If the written records do not agree with
    it, the table changed in the meantime, and the file is deleted.
    """
    target = os.fspath(out)
    added = [CLASS_SIZE] if facts_by_size is None else facts_by_size.column_names
    taken = [name for name in added if name in backend.columns]
    if taken:
        raise InputError(f"the table has columns named {', '.join(taken)} already; rename them")
    check_name(target)
    rows = backend.rows
    with engine_errors(backend.name):
        frame = _with_class_sizes(backend, names)
        if facts_by_size is not None:
            frame = frame.join(backend.relation_of(facts_by_size), on=CLASS_SIZE, how="inner")
        keys = [f"c{place}" for place in range(len(backend.columns))]
        frame = frame.select(*keys, *added).rename(dict(zip(keys, backend.columns, strict=True)))
    with backend.write_relation(frame, target, force) as written:
        backend.check_unchanged()
        _check_tally(backend.name, written, rows, class_counts)
    return target if "://" in target else Path(target)  # an address is no path: two slashes would become one


def check_name(target: str) -> None:
    """Raise InputError if the name of the output does not end in .parquet or .pq: engines write Parquet only."""
    if not target.lower().endswith((".parquet", ".pq")):
        raise InputError(f"an engine writes Parquet; name it {Path(masked(target)).stem}.parquet")


def _with_class_sizes(backend: Backend, names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Every record with the size of its class, by a window function over the comparable columns."""
    frame = backend.lazy(backend.columns)
    places = [backend.columns.index(name) for name in names]
    keys = [f"key{place}" for place in places]
    keyed = frame.with_columns(*(nw.col(f"c{place}").alias(key) for place, key in zip(places, keys, strict=True)))
    return comparable(keyed, keys).with_columns(nw.len().over(*keys).alias(CLASS_SIZE))


@contextmanager
def written_by_duckdb(frame: nw.LazyFrame[Any], out: str, *, force: bool, table: str) -> Iterator[dict[int, int]]:
    """Write a relation of DuckDB, which opens no file itself, to a file that gets its name if the block succeeds.

    Yields:
        The number of written records of each class size.
    """
    with written_whole(out, force=force) as temporary:
        with engine_errors(table):
            batches = frame.to_native().to_arrow_reader(_ROWS_TOGETHER)
            with pq.ParquetWriter(temporary, batches.schema, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(batch)
        yield _tally(temporary)


def _tally(file: Path) -> dict[int, int]:
    """Number of records of each class size, read a batch at a time."""
    records: Counter[int] = Counter()
    with pq.ParquetFile(file) as written:
        for batch in written.iter_batches(columns=[CLASS_SIZE]):
            for entry in batch.column(0).value_counts().to_pylist():
                records[entry["values"]] += entry["counts"]
    return dict(records)


def _check_tally(table: str, written: dict[int, int], rows: int, class_counts: Mapping[int, int] | None) -> None:
    """Raise InputError if the written records are fewer than the rows, or their class sizes are not `class_counts`."""
    expected = None if class_counts is None else {size: size * classes for size, classes in class_counts.items()}
    if sum(written.values()) != rows or (expected is not None and written != expected):
        raise InputError(
            f"{table} changed while it was read: {rows:,} records were counted and {sum(written.values()):,} were "
            "written, or their classes differ; nothing was kept, try again when nobody writes to it"
        )
