"""Record by record, where the records lie: the engine counts, joins and writes, and no record comes here."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.engines.relational import plain_keys
from incrowd.errors import InputError
from incrowd.files import written_whole
from incrowd.table import Table
from incrowd.table.readers import engine_errors

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
    force: bool = False,
) -> Path:
    """Write the table as Parquet with the size of every record's class, and what `of_size` says of classes that size.

    DuckDB writes a file and Spark a folder; the rows are in no particular order.
    """
    target = os.fspath(out)
    added = [CLASS_SIZE] if of_size is None else of_size.column_names
    taken = [name for name in added if name in table.columns]
    if taken:
        raise InputError(f"the table has columns named {', '.join(taken)} already; rename them")
    if not target.lower().endswith((".parquet", ".pq")):
        raise InputError(f"an engine writes Parquet; name it {Path(target).stem}.parquet")
    with engine_errors(table.name):
        frame = _with_class_sizes(table, names)
        if of_size is not None:
            frame = frame.join(table.beside(of_size), on=CLASS_SIZE, how="inner")
        keys = [f"c{place}" for place in range(len(table.columns))]
        frame = frame.select(*keys, *added).rename(dict(zip(keys, table.columns, strict=True)))
    _write(table, frame, target, force)
    return Path(target)


def _with_class_sizes(table: Table, names: Sequence[str]) -> nw.LazyFrame[Any]:
    """Every record with the size of its class: a window over the columns as they are compared."""
    import narwhals.stable.v2 as nw

    frame = table.lazy(table.columns)
    places = [table.columns.index(name) for name in names]
    keys = [f"key{place}" for place in places]
    keyed = frame.with_columns(*(nw.col(f"c{place}").alias(key) for place, key in zip(places, keys, strict=True)))
    return plain_keys(keyed, keys).with_columns(nw.len().over(*keys).alias(CLASS_SIZE))


def _write(table: Table, frame: nw.LazyFrame[Any], target: str, force: bool) -> None:
    from incrowd.table.cluster import written_by_spark

    native = frame.to_native()
    if table.engine == "cluster":
        with written_by_spark(native, target, force=force):
            return
    with written_whole(target, force=force) as temporary, engine_errors(table.name):
        native.write_parquet(str(temporary), compression="zstd")
