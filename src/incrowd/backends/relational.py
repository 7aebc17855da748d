"""Grouping by the engine that holds the rows: DuckDB, Spark or any lazy frame; only counts are sent to this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support import frames as nw
from incrowd.backends.counts import ClassCounts, ColumnCounts
from incrowd.backends.engine_errors import engine_errors
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.backends.base import Backend

_SIZE, _CLASSES = "size", "classes"


def count_in_engine(backend: Backend, names: Sequence[str]) -> ClassCounts:
    """Class sizes and how many classes have each, counted by the engine of a backend."""
    with engine_errors(backend.name):
        tally = tally_groups(comparable(backend.lazy(backend.require(names))))
    backend.check_unchanged()
    return class_counts(tally, backend.name)


def tally_groups(frame: nw.LazyFrame[Any]) -> pa.Table:
    """The sizes of groups of equal rows and how many groups have each."""
    counted = _group_equal_rows(frame).group_by(_SIZE).agg(nw.len().alias(_CLASSES)).sort(_SIZE)
    tally: pa.Table = counted.collect("pyarrow").to_native()
    return tally


def _group_equal_rows(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """The distinct rows, and the number of rows that are equal to each."""
    return frame.group_by(*frame.collect_schema().names(), drop_null_keys=False).agg(nw.len().alias(_SIZE))


def class_counts(tally: pa.Table, table: str) -> ClassCounts:
    """The columns `size` and `classes` of a tally as arrays."""
    if not tally.num_rows:
        raise InputError(f"{table} has no rows")
    sizes, classes = (tally.column(name).to_numpy().astype(np.int64) for name in (_SIZE, _CLASSES))
    return sizes, classes


def distinct_in_engine(backend: Backend, names: Sequence[str], most: int) -> tuple[pa.Table, NDArray[np.int64]] | None:
    """The distinct rows of these columns, and how often each occurs; None if there are more than `most`."""
    with engine_errors(backend.name):
        frame = comparable(backend.lazy(backend.require(names)))
        distinct = _group_equal_rows(frame).head(most + 1).collect("pyarrow").to_native()
    backend.check_unchanged()
    if distinct.num_rows > most:
        return None
    return distinct.drop_columns(_SIZE).rename_columns(list(names)), distinct.column(_SIZE).to_numpy().astype(np.int64)


def comparable(frame: nw.LazyFrame[Any], names: Sequence[str] | None = None) -> nw.LazyFrame[Any]:
    """Normalise columns (all, or the named ones) so that all engines agree on equality: NaN is null, -0.0 is 0.0."""
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


def quote_name(name: str) -> str:
    """A column's name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def count_columns(backend: Backend, names: Sequence[str], sample: int) -> list[ColumnCounts]:
    """Count some columns in one query, and read the first cells of texts (not null) and numbers."""
    with engine_errors(backend.name):
        frame = backend.lazy(backend.require(names))
        kinds = frame.collect_schema()
        plain = frame.with_columns(
            nw.when(~nw.col(key).is_nan()).then(nw.col(key)).alias(key)
            for key, kind in kinds.items()
            if kind.is_float()
        )
        single = [key for key, kind in kinds.items() if not kind.is_nested()]
        numbers = [key for key, kind in kinds.items() if kind.is_numeric()]
        counts = [nw.col(key).null_count().alias(f"null {key}") for key in kinds]
        counts += [nw.col(key).n_unique().alias(f"distinct {key}") for key in single]
        for key in numbers:
            one = nw.col(key)
            counts += [one.min().alias(f"low {key}"), one.mean().alias(f"mean {key}"), one.max().alias(f"high {key}")]
        facts = plain.select(nw.len().alias("rows"), *counts).collect("pyarrow").rows(named=True)[0]
        first_numbers = plain.select(numbers).head(sample).collect("pyarrow").to_native() if numbers else None
        heads = {
            key: plain.select(key).filter(~nw.col(key).is_null()).head(sample).collect("pyarrow").to_native()[key]
            for key, kind in kinds.items()
            if kind == nw.String
        }
        if first_numbers is not None:
            heads |= {key: first_numbers[key] for key in numbers}
        empty = frame.head(0).collect("pyarrow").to_native()
    columns = []
    for name, key in zip(names, kinds, strict=True):
        nulls = facts[f"null {key}"]
        distinct = facts[f"distinct {key}"] - (nulls > 0) if key in single else -1  # a null is not among the values
        ends = None
        if key in numbers and distinct:
            ends = float(facts[f"low {key}"]), float(facts[f"mean {key}"]), float(facts[f"high {key}"])
        cells = heads.get(key, pa.chunked_array(empty[key]))
        columns.append(ColumnCounts(name, cells, facts["rows"], nulls, distinct, ends))
    return columns
