"""The order of the released rows: which columns it follows, and a random one that follows none."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.measures import followed_columns
from incrowd.protection.release import build_release, draw_order
from incrowd.tables import Table, read_table

_DRAWS = 3  # orders that are drawn at most; one in ten thousand is drawn again


def columns_of_order(original: Table, released: pa.Table, person: str | None) -> tuple[str, ...]:
    """The columns that the order of the rows follows: of the original, removed ones too, else of the release."""
    followed = followed_columns(original, person=person) or followed_columns(read_table(released), person=person)
    return tuple(one.column for one in followed)


def draw_telling_nothing(released: pa.Table, person: str | None) -> NDArray[np.int64]:
    """A random order of the rows; one in which they follow a column by chance is drawn again."""
    for _ in range(_DRAWS):
        order = draw_order(released.num_rows)
        if not followed_columns(read_table(in_order(released, order)), person=person):
            break
    return order


def in_order(released: pa.Table, order: NDArray[np.int64]) -> pa.Table:
    """The rows in another order, as a table that holds nothing else of the one before."""
    return build_release(dict(zip(released.column_names, released.columns, strict=True)), order)
