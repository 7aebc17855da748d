"""Counting where the data lies: a group-by in DuckDB, Spark or whatever frame it is, only the tally comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables import Table, read_table
from incrowd.tables.readers import engine_errors

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa
    from pyspark.sql import DataFrame

_SIZE, _COUNT = "size", "classes"


def count_in_engine(
    table: Table, names: Sequence[str], person: str | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct class sizes and how many classes have each; null is a value and NaN is null.

    With a `person` column, which Spark alone can do, people are alike whose records are the same as often.
    """
    import narwhals.stable.v2 as nw

    counted = table.count_classes(names)
    if counted is not None:
        return _arrays(table, counted)
    with engine_errors(table.name):
        frame = plain_keys(table.lazy(names)) if person is None else _histories(table, names, person)
        keys = frame.collect_schema().names()
        sizes = frame.group_by(*keys, drop_null_keys=False).agg(nw.len().alias(_SIZE))
        tally = sizes.group_by(_SIZE).agg(nw.len().alias(_COUNT)).sort(_SIZE).collect("pyarrow").to_native()
    table.confirm()
    return _arrays(table, tally)


def _arrays(table: Table, tally: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not tally.num_rows:
        raise InputError(f"{table.name} has no rows")
    return (
        tally.column(_SIZE).to_numpy().astype(np.int64),
        tally.column(_COUNT).to_numpy().astype(np.int64),
    )


def distinct_in_engine(table: Table, names: Sequence[str], most: int) -> tuple[pa.Table, NDArray[np.int64]] | None:
    """The rows that differ in these columns, and how often each occurs; None where there are more than `most`."""
    import narwhals.stable.v2 as nw

    with engine_errors(table.name):
        frame = plain_keys(table.lazy(names))
        keys = frame.collect_schema().names()
        counted = frame.group_by(*keys, drop_null_keys=False).agg(nw.len().alias(_SIZE))
        found = counted.head(most + 1).collect("pyarrow").to_native()
    table.confirm()
    if found.num_rows > most:
        return None
    return found.select(keys).rename_columns(list(names)), found.column(_SIZE).to_numpy().astype(np.int64)


def plain_keys(frame: nw.LazyFrame[Any], names: Sequence[str] | None = None) -> nw.LazyFrame[Any]:
    """Columns (all of them, or the named) as every engine compares them alike: NaN is null, and -0.0 is 0.0."""
    import narwhals.stable.v2 as nw

    kinds = frame.collect_schema()
    wanted = names or kinds.names()
    if any(kinds[name].is_nested() for name in wanted):
        raise InputError("a column holds lists or records; give columns of single values")
    floats = [name for name in wanted if kinds[name].is_float()]
    if not floats:
        return frame
    return frame.with_columns(
        *(nw.when(~nw.col(name).is_nan()).then(nw.col(name) + 0.0).alias(name) for name in floats)
    )


def _histories(table: Table, names: Sequence[str], person: str) -> nw.LazyFrame[Any]:
    """One row a person."""
    import narwhals.stable.v2 as nw

    rows = _with_person(table, [*names, person])
    found: nw.LazyFrame[Any] = nw.from_native(_people(rows, rows.columns[:-1]).select("history"))
    return found


def with_histories(table: Table, names: Sequence[str], others: Sequence[str], person: str) -> Table:
    """A table in a cluster where whoever comes first of all people with the same history stands for each of them.

    Records with the same `names` and the same person are then those that an attacker cannot tell apart.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as sql

    wanted = [*names, *others, person]
    with engine_errors(table.name):
        rows = _with_person(table, wanted)
        whose = rows.columns[-1]
        first = sql.min(whose).over(Window.partitionBy("history")).alias("first")
        people = _people(rows, rows.columns[: len(names)]).select(whose, first)
        found = read_table(rows.join(people, whose).drop(whose).toDF(*wanted), memory=table.memory)
    found.name = table.name
    return found


def _with_person(table: Table, names: Sequence[str]) -> DataFrame:
    """Some columns, of which the last says whose record it is, of a table in which everybody is known."""
    from pyspark.sql import functions as sql

    rows: DataFrame = plain_keys(table.lazy(names)).to_native()
    if rows.where(sql.col(rows.columns[-1]).isNull()).limit(1).count():
        raise InputError(f"some records have no value in the person column {names[-1]!r}; fill it or leave them out")
    return rows


def _people(rows: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Everybody with their history: their records in order, so that equal histories are equal values."""
    from pyspark.sql import functions as sql

    return rows.groupBy(rows.columns[-1]).agg(sql.sort_array(sql.collect_list(sql.struct(*keys))).alias("history"))
