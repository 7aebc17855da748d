"""Resolutions of points: longer steps of time, coarser grids or levels of places, and rounder amounts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.outputs import from_positions
from incrowd.protection.problem import TICKS, as_floats, offset_of
from incrowd.wording import number

_HOUR = 3_600
_STEPS = {"1 hour": _HOUR, "6 hours": 6 * _HOUR, "1 day": 24 * _HOUR, "1 week": 168 * _HOUR, "4 weeks": 672 * _HOUR}
_GRIDS = (1024, 256, 128, 64, 32, 16, 8, 4, 2)  # cells along the longer side


class Resolution(NamedTuple):
    """One way to make columns coarser: in words, the group of every row (from 0 on), and what is released of it."""

    words: str
    groups: NDArray[np.int64]
    shown: Mapping[str, pa.Array]

    @property
    def detail(self) -> float:
        """The logarithm of how many groups there are."""
        return math.log(int(self.groups.max()) + 1)


def time_steps(column: Coded) -> list[Resolution]:
    """Times as they are, and the beginnings of longer and longer intervals."""
    if not column.has_distances:
        raise InputError(f"{column.name!r} holds neither dates, times nor numbers; make it one of them")
    kind = column.values.type
    steps: dict[str, float]
    if pa.types.is_timestamp(kind):
        steps = {words: seconds * TICKS[kind.unit] for words, seconds in _STEPS.items()}
    elif pa.types.is_temporal(kind):
        steps = {words: seconds // (24 * _HOUR) for words, seconds in _STEPS.items() if seconds >= 24 * _HOUR}
    else:
        extent = float(np.ptp(as_floats(column.values)))
        steps = {f"steps of {number(step)}": step for step in _widths(extent) if step > 0}
    place = as_floats(column.values, offset_of(column))
    return [_as_it_is([column])] + [
        _by_value(words, column, np.floor(place / step), from_positions(column, np.floor(place / step) * step))
        for words, step in steps.items()
    ]


def _widths(extent: float) -> list[float]:
    """Widths of grids over an extent, to two digits."""
    return [float(f"{extent / cells:.1e}") for cells in _GRIDS] if extent else []


def _as_it_is(columns: Sequence[Coded]) -> Resolution:
    groups = np.zeros(columns[0].codes.size, dtype=np.int64)
    for column in columns:
        groups = groups * column.size + column.codes
    groups = np.unique(groups, return_inverse=True)[1]
    return Resolution("as it is", groups, {one.name: one.values.take(pa.array(one.codes)) for one in columns})


def _by_value(words: str, column: Coded, groups: NDArray[Any], shown: pa.Array) -> Resolution:
    """A resolution from the group and the released value of each value of a column."""
    numbers = np.unique(groups, return_inverse=True)[1]
    return Resolution(words, numbers[column.codes], {column.name: shown.take(pa.array(column.codes))})


def place_levels(columns: Sequence[Coded], hierarchy: Hierarchy | str | None) -> list[Resolution]:
    """Places as they are, and coarser: cells of grids by their centres, or levels of regions."""
    if len(columns) == 1 and not (columns[0].has_distances and hierarchy is None):
        (region,) = columns
        made = Hierarchy.parse(hierarchy) if isinstance(hierarchy, str) else hierarchy
        levels = [] if made is None else made.levels(region)[1:]
        return [_as_it_is([region])] + [
            _by_value(f"level {height}", region, level.groups, pa.array([level.labels[g] for g in level.groups]))
            for height, level in enumerate(levels, start=1)
        ]
    if len(columns) > 2 or not all(one.has_distances for one in columns) or hierarchy is not None:
        raise InputError("a place is two columns of coordinates, or one of regions, which may have a hierarchy")
    extent = max(float(np.ptp(as_floats(one.values))) for one in columns)
    return [_as_it_is(columns), *(_grid(columns, width) for width in _widths(extent))]


def _grid(columns: Sequence[Coded], width: float) -> Resolution:
    """Cells of a grid, released by their centres."""
    axes = [_by_value("", one, *_cells(one, width)) for one in columns]
    groups = axes[0].groups
    for axis in axes[1:]:
        groups = groups * (int(axis.groups.max()) + 1) + axis.groups
    shown = {name: cells for axis in axes for name, cells in axis.shown.items()}
    return Resolution(f"a grid of {number(width)}", np.unique(groups, return_inverse=True)[1], shown)


def _cells(column: Coded, width: float) -> tuple[NDArray[np.float64], pa.Array]:
    """The cell of every value along one axis, and the middle of that cell as a number."""
    cell = np.floor(as_floats(column.values) / width)
    return cell, pa.array((cell + 0.5) * width)


def amount_levels(column: Coded) -> list[Resolution]:
    """Amounts as they are, to two digits, to one, and to a power of ten, rounded down; or left out."""
    if not column.has_distances or pa.types.is_temporal(column.values.type):
        raise InputError(f"{column.name!r} holds no amounts; name a column of numbers")
    values = as_floats(column.values)
    if not np.all((values > 0) & np.isfinite(values)):
        raise InputError(f"some amounts in {column.name!r} are not above 0; leave these rows out")
    size = 10.0 ** np.floor(np.log10(values))
    found = [_as_it_is([column])]
    for words, unit in (("2 digits", size / 10), ("1 digit", size)):
        rounded = np.floor(values / unit * (1 + 1e-12)) * unit
        found.append(_by_value(words, column, rounded, pa.array(rounded)))
    found.append(_by_value("powers of ten", column, size, pa.array(size)))
    nothing = np.zeros(column.codes.size, dtype=np.int64)
    return [*found, Resolution("leaving it out", nothing, {})]
