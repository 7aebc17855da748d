"""Columns of numbers, dates and times as floating-point numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.arrow_columns import is_number
from incrowd.tables.measured_texts import read_measured_texts

Floats = NDArray[np.float64]

_US_PER_DAY = 86_400_000_000  # microseconds


@dataclass(frozen=True, slots=True)
class Quantity:
    """A column of numbers, dates or times; `places` are its distinct values as numbers, NaN for a null."""

    name: str
    codes: NDArray[Any]
    places: Floats

    def at(self, rows: NDArray[Any] | slice) -> Floats:
        """The numbers of some rows."""
        numbers: Floats = self.places[self.codes[rows]]
        return numbers


def read_quantity(column: Coded) -> Quantity | None:
    """A column as numbers; None if it holds neither numbers, dates or times nor texts of them.

    >>> from incrowd.backends import encode
    >>> from incrowd.tables import read_table
    >>> read_quantity(encode(read_table({"age": [40, None, 30]}), ["age"])[0]).at(slice(None)).tolist()
    [40.0, nan, 30.0]
    """
    kind, types, values = column.values.type, pa.types, column.values
    days = 1
    if types.is_date32(kind):
        values = values.cast(pa.int32())
    elif types.is_date(kind) or types.is_timestamp(kind):
        values, days = pc.cast(values, pa.timestamp("us"), safe=False).cast(pa.int64()), _US_PER_DAY
    elif types.is_time(kind):
        values, days = pc.cast(values, pa.time64("us")).cast(pa.int64()), _US_PER_DAY
    elif types.is_boolean(kind):
        values = values.cast(pa.int8())
    elif column.is_text:
        written = read_measured_texts(values)
        return None if written is None else Quantity(column.name, column.codes, written)
    elif not is_number(kind):
        return None
    numbers = pc.cast(values, pa.float64(), safe=False)
    places = np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64) / days
    return Quantity(column.name, column.codes, np.where(np.isfinite(places), places, np.nan))
