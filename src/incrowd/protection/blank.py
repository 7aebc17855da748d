"""Cell suppression: few cells blanked, the important ones last, so that k records share what is left of each.

A blank counts as a value: records are alike where they show the same values and are blank in the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.protection.by_levels import PartitionOptions, classes_by_levels, rows_in_classes
from incrowd.protection.hierarchies import Hierarchy, Level
from incrowd.protection.problem import Problem, is_number
from incrowd.protection.recoding import Recoding, as_written


@dataclass(frozen=True, slots=True)
class BlankOptions(PartitionOptions):
    """The share of rows that may be suppressed where columns that stay leave no class for them."""


def blank(problem: Problem) -> Recoding:
    """Make classes of records that differ in few columns, and blank these columns in each class."""
    from incrowd.protection import kernels_classes

    grouping = classes_by_levels(problem, _ladders(problem))
    kept_rows = rows_in_classes(problem, grouping)
    numbers, sizes = grouping.numbers(problem.rows), grouping.sizes
    columns, changed = {}, {}
    for column in problem.columns:
        low = np.empty(sizes.size, dtype=column.codes.dtype)
        high = np.empty_like(low)
        kernels_classes.class_limits(column.codes, grouping.order, grouping.ends, low, high)
        blanked = (low != high)[numbers]
        shown = column.codes < column.size - column.has_null  # a null is blank already
        changed[column.name] = int(np.count_nonzero((blanked & shown)[grouping.order]))
        if changed[column.name]:
            values = column.values if is_number(column) else as_written(column.values)
            cells = values.take(pa.array(column.codes))
            columns[column.name] = pc.if_else(pa.array(blanked), pa.scalar(None, cells.type), cells)
    return Recoding(columns, changed, kept_rows=kept_rows)


def _ladders(problem: Problem) -> list[list[Level]]:
    """A value as it is, or blank; only as it is in columns that stay."""
    nothing_between = Hierarchy("blank", lambda _: [])
    ladders = [nothing_between.levels(column) for column in problem.columns]
    for ladder, column in zip(ladders, problem.columns, strict=True):
        if column.name in problem.wishes.keep:
            ladder.pop()
    return ladders
