"""What is known of a table that stays in its cluster: the values of its columns with their counts, and a sample."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode, most_distinct
from incrowd.backends.relational import plain_keys
from incrowd.backends.spark.frame import quoted, type_of, with_type
from incrowd.errors import UnsupportedError
from incrowd.protection import cells
from incrowd.tables import Table, read_table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

SAMPLE = 100_000  # distinct rows that the tree is fitted on
MOST_VALUES = 5_000_000  # of all columns together, which every worker is told
_TIMES = "incrowd times"


def keys_of(table: Table, names: Sequence[str]) -> DataFrame:
    """Some columns as every engine compares them."""
    found: DataFrame = plain_keys(table.lazy(names)).to_native().toDF(*names)
    return found


def values_of(table: Table, names: Sequence[str]) -> list[tuple[Coded, NDArray[np.int64]]]:
    """The values of every column in order, and how often each occurs; workers go through the table once for all."""
    from pyspark.sql import functions as sql

    keys = keys_of(table, names)
    kinds = f"{quoted(cells.PLACE)} int, {type_of(keys)}, {quoted(_TIMES)} bigint"
    counted = keys.mapInArrow(cells.CountValues(_TIMES), kinds)
    counted = counted.groupBy(quoted(cells.PLACE), *map(quoted, names)).agg(sql.sum(quoted(_TIMES)).alias(_TIMES))
    most = min(MOST_VALUES, most_distinct(table, len(names)))
    rows = counted.limit(most + 1).toArrow()
    if rows.num_rows > most:
        by_column = counted.groupBy(quoted(cells.PLACE)).count().toArrow()
        widest = names[by_column[cells.PLACE].to_pylist()[int(by_column["count"].to_numpy().argmax())]]
        raise UnsupportedError(
            f"the columns have more than {most:,} values, too many to tell every worker, and {widest!r} has most of "
            "them; round it first"
        )
    places = rows[cells.PLACE].to_numpy()
    found = []
    for place, name in enumerate(names):
        here = rows.select([name, _TIMES]).take(np.flatnonzero(places == place))
        (column,) = encode(read_table(here), [name])
        tally = np.zeros(column.size, dtype=np.int64)
        tally[column.codes] = here[_TIMES].to_numpy()
        found.append((column, tally))
    return found


def sample_of(table: Table, scale: cells.Scale) -> tuple[pa.Table, NDArray[np.int64]]:
    """The distinct rows with the smallest hashes, and how often each occurs: the same rows on every engine."""
    keys = keys_of(table, scale.names)
    columns = [quoted(name) for name in scale.names]
    distinct = min(table.rows, prod(len(values) for values in scale.values))
    share = 3 * SAMPLE / distinct  # hashes are even, so enough are below this limit
    while True:
        chosen = cells.AddHash(scale, int(min(1.0, share) * 2.0**63))
        hashed = keys.mapInArrow(chosen, with_type(keys, cells.HASH, "bigint"))
        counted = hashed.groupBy(*columns, quoted(cells.HASH)).count()
        rows = counted.orderBy(quoted(cells.HASH), *columns).limit(SAMPLE).toArrow()
        if rows.num_rows == SAMPLE or share >= 1:
            return rows.select(scale.names), rows["count"].to_numpy()
        share *= 10  # many rows are alike
