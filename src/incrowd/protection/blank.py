"""Local cell suppression: few cells are blanked, so that at least k records are equal; important columns come last.

A blank counts as a value: records are equal if they show the same values and are blank in the same columns. With
wildcards a blank may stand for any value, which needs fewer blanks; see `incrowd.protection.wildcards`.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.protection.by_levels import classes_by_levels, settle_kept_rows
from incrowd.protection.hierarchies import Hierarchy, Level
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, class_limits
from incrowd.protection.wildcards import blank_cells
from incrowd.tables.released_values import as_written


def blank(problem: Problem) -> Recoding:
    """Make classes of records that differ in few columns, and blank these columns in each class."""
    if problem.options.wildcards:
        blanked, hopeless = blank_cells(problem, problem.options.subsets)
        return _write_blanks(problem, blanked, settle_kept_rows(problem, np.flatnonzero(~hopeless)))
    grouping = classes_by_levels(problem, _ladders(problem))
    kept_rows = settle_kept_rows(problem, grouping.order)
    numbers = grouping.numbers(problem.rows)
    blanked = np.empty((problem.rows, len(problem.columns)), dtype=np.bool_)
    for place, column in enumerate(problem.columns):
        low, high = class_limits(column.codes, grouping)
        blanked[:, place] = (low != high)[numbers]
    return _write_blanks(problem, blanked, kept_rows)


def _write_blanks(problem: Problem, blanked: NDArray[np.bool_], kept_rows: NDArray[np.int64] | None) -> Recoding:
    """The columns with blanks; every other cell keeps its value."""
    columns, changed = {}, {}
    kept = slice(None) if kept_rows is None else kept_rows
    for place, column in enumerate(problem.columns):
        is_filled = column.is_filled  # a null is blank already
        changed[column.name] = int(np.count_nonzero((blanked[:, place] & is_filled)[kept]))
        if changed[column.name]:
            values = column.values if column.has_distances else as_written(column.values)
            cells = values.take(pa.array(column.codes))
            columns[column.name] = pc.if_else(pa.array(blanked[:, place]), pa.scalar(None, cells.type), cells)
    return Recoding(columns, changed, kept_rows=kept_rows)


def _ladders(problem: Problem) -> list[list[Level]]:
    """Two levels for every column, the value itself or blank; one level for columns to keep."""
    two_levels = Hierarchy("blank", lambda _: [])
    ladders = [two_levels.levels(column) for column in problem.columns]
    for ladder, column in zip(ladders, problem.columns, strict=True):
        if column.name in problem.keep:
            ladder.pop()
    return ladders
