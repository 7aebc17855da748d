"""Counting where the data lies: a group-by in DuckDB, Spark or whatever frame it is, only the tally comes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.table import Table
from incrowd.table.readers import engine_errors

if TYPE_CHECKING:
    import pyarrow as pa

_SIZE, _COUNT = "size", "classes"


def count_in_engine(table: Table, names: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct class sizes and how many classes have each; null is a value and NaN is null."""
    import narwhals.stable.v2 as nw

    counted = table.count_classes(names)
    if counted is not None:
        return _arrays(counted)
    with engine_errors(table.name):
        frame = table.lazy(names)
        schema = frame.collect_schema()
        floats = [name for name, kind in schema.items() if kind.is_float()]
        if floats:
            frame = frame.with_columns(
                *(nw.when(~nw.col(name).is_nan()).then(nw.col(name) + 0.0).alias(name) for name in floats)
            )
        sizes = frame.group_by(*schema.names(), drop_null_keys=False).agg(nw.len().alias(_SIZE))
        tally = sizes.group_by(_SIZE).agg(nw.len().alias(_COUNT)).sort(_SIZE).collect("pyarrow").to_native()
    table.confirm()
    return _arrays(tally)


def _arrays(tally: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return (
        tally.column(_SIZE).to_numpy().astype(np.int64),
        tally.column(_COUNT).to_numpy().astype(np.int64),
    )
