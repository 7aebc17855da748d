"""Data that the driver reads from a table in a cluster: values of its columns with counts, and a sample of rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.base import ArrowRows
from incrowd.backends.block_protection import ColumnValues
from incrowd.backends.encode import encode
from incrowd.backends.spark import workers
from incrowd.backends.spark.column_types import quote_name, schema_text
from incrowd.errors import UnsupportedError

if TYPE_CHECKING:
    from incrowd.backends.spark.backend import SparkBackend


def count_column_values(backend: SparkBackend, names: Sequence[str], most: int) -> list[ColumnValues]:
    """The values of every column and how often each occurs, from one pass over the table.

    All columns together may have at most `most` values.
    """
    from pyspark.sql import functions as sql

    keys = backend.comparable(names)
    place, times = quote_name(workers.PLACE), quote_name(workers.TIMES)
    counted = keys.mapInArrow(workers.OnRows(workers.count_values), f"{place} int, {schema_text(keys)}, {times} bigint")
    counted = counted.groupBy(place, *map(quote_name, names)).agg(sql.sum(times).alias(workers.TIMES))
    most = min(most, backend.most_distinct(len(names)))
    rows = counted.limit(most + 1).toArrow()
    if rows.num_rows > most:
        by_column = counted.groupBy(place).count().toArrow()
        widest = names[by_column[workers.PLACE].to_pylist()[int(by_column["count"].to_numpy().argmax())]]
        raise UnsupportedError(
            f"the columns have more than {most:,} values, too many to tell every worker, and {widest!r} has most of "
            "them; round it first"
        )
    places = rows[workers.PLACE].to_numpy()
    columns = []
    for number, name in enumerate(names):
        values = rows.select([name, workers.TIMES]).take(np.flatnonzero(places == number))
        local = ArrowRows(values)
        local.scales = backend.scales
        (column,) = encode(local, [name])
        counts = np.zeros(column.size, dtype=np.int64)
        counts[column.codes] = values[workers.TIMES].to_numpy()
        columns.append(ColumnValues(column, counts))
    return columns


def sample_distinct_rows(
    backend: SparkBackend, names: Sequence[str], values: Sequence[pa.Array], size: int
) -> tuple[pa.Table, NDArray[np.int64]]:
    """A sample of at most `size` distinct rows, those with the smallest hashes, and how often each occurs.

    `values` are the sorted values of every column in the whole table. Hashes of codes make the sample independent of
    the engine.
    """
    keys = backend.comparable(names)
    columns = [quote_name(name) for name in names]
    distinct = min(backend.rows, prod(len(column_values) for column_values in values))
    share = 3 * size / distinct  # hashes are uniform, so about 3 · size rows are below this share of their range
    while True:
        below = int(min(1.0, share) * 2.0**63)
        add_hash = workers.OnRows(workers.add_hash, tuple(names), tuple(values), below)
        hashed = keys.mapInArrow(add_hash, schema_text(keys, **{workers.HASH: "bigint"}))
        counted = hashed.groupBy(*columns, quote_name(workers.HASH)).count()
        rows = counted.orderBy(quote_name(workers.HASH), *columns).limit(size).toArrow()
        if rows.num_rows == size or share >= 1:
            return rows.select(list(names)), rows["count"].to_numpy()
        share *= 10  # many rows are equal, so there are fewer distinct ones than assumed
