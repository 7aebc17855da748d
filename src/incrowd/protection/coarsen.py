"""Algorithm S3: every column coarsened by itself. It promises nothing, which is what it is here to show."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.intervals import equal_parts
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Recoding, by_column

if TYPE_CHECKING:
    import pyarrow as pa


def coarsen(problem: Problem) -> Recoding:
    """Fixed intervals per column (`resolution`), or a level of each column's hierarchy (`levels`)."""
    resolution = problem.options.get("resolution")
    levels = problem.options.get("levels") or {}
    if resolution is None and not levels:
        raise InputError("coarsening needs a resolution (a number of intervals, or a share such as '1/8') or levels")
    unknown = [name for name in {**_mapping(resolution), **levels} if name not in {c.name for c in problem.columns}]
    if unknown:
        raise InputError(f"coarsening is told about {', '.join(map(repr, unknown))}, not a quasi-identifier")

    def label(column: Coded) -> pa.Array | None:
        import pyarrow as pa

        if column.name in levels:
            return pa.array(_at_level(problem, column, levels[column.name]), pa.string())
        wanted = resolution.get(column.name) if isinstance(resolution, Mapping) else resolution
        return None if wanted is None else pa.array(equal_parts(column, parts_of(wanted)), pa.string())

    return by_column(problem, label)


def parts_of(resolution: Any) -> int:
    """How many intervals: 16, or the share of the domain that each covers, 1/16.

    >>> parts_of("1/16"), parts_of(0.125), parts_of(20)
    (16, 8, 20)
    """
    try:
        value = Fraction(str(resolution))
    except (ValueError, ZeroDivisionError):
        raise InputError(f"a resolution of {resolution!r}; give a whole number, or a share such as 1/8") from None
    parts = 1 / value if 0 < value < 1 else value
    if parts < 1:
        raise InputError(f"a resolution of {resolution!r}; give a whole number, or a share such as 1/8")
    return round(parts)


def _at_level(problem: Problem, column: Coded, level: int) -> list[str | None]:
    if column.name not in problem.hierarchies:
        raise InputError(f"a level for {column.name!r}, which has no hierarchy; give one")
    levels = problem.hierarchies[column.name].levels(column)
    if not 0 <= level < len(levels):
        raise InputError(f"level {level} for {column.name!r}, whose hierarchy has levels 0 to {len(levels) - 1}")
    return [levels[level].labels[group] for group in levels[level].groups]


def _mapping(resolution: Any) -> dict[str, Any]:
    return dict(resolution) if isinstance(resolution, Mapping) else {}
