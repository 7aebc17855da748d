"""Algorithm S3: every column is coarsened independently. It guarantees no k, and serves as a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.interval_labels import equal_parts
from incrowd.protection.problem import Problem, require_known
from incrowd.protection.recoding import Recoding, recode_columns


def coarsen(problem: Problem) -> Recoding:
    """Recode every column into fixed intervals, or to a level of its hierarchy."""
    resolution, levels = problem.options.resolution, problem.options.levels or {}
    if resolution is None and not levels:
        raise InputError(
            "coarsening needs a resolution (a number of intervals, or a share such as '1/8') or levels",
            hint="resolution",
        )
    by_column = resolution if isinstance(resolution, Mapping) else {}
    require_known("a resolution or a level", [*by_column, *levels], [column.name for column in problem.columns])

    def label(column: Coded) -> pa.Array | None:
        if column.name in levels:
            return pa.array(_at_level(problem, column, levels[column.name]), pa.string())
        parts = by_column.get(column.name) if isinstance(resolution, Mapping) else resolution
        return None if parts is None else pa.array(equal_parts(column, parts_of(parts)), pa.string())

    return replace(recode_columns(problem, label), promises_k=False)


def parts_of(resolution: Any) -> int:
    """Number of intervals: 16, or the share of the domain that each covers, 1/16.

    >>> parts_of("1/16"), parts_of(0.125), parts_of(20)
    (16, 8, 20)
    """
    try:
        value = Fraction(str(resolution))
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise InputError(f"a resolution of {resolution!r}; give a whole number, or a share such as 1/8")
    return round(1 / value if value < 1 else value)


def _at_level(problem: Problem, column: Coded, level: int) -> list[str | None]:
    if column.name not in problem.hierarchies:
        raise InputError(f"a level for {column.name!r}, which has no hierarchy; give one", hint="hierarchies")
    levels = problem.hierarchies[column.name].levels(column)
    if not 0 <= level < len(levels):
        raise InputError(f"level {level} for {column.name!r}, whose hierarchy has levels 0 to {len(levels) - 1}")
    return [levels[level].labels[group] for group in levels[level].groups]
