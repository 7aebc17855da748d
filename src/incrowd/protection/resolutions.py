"""Resolutions of trajectory points: longer time steps, coarser grids or levels of places, and rounded amounts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.outputs import from_positions
from incrowd.protection.problem import TICKS
from incrowd.tables.released_values import offset_of
from incrowd.wording import number

_HOUR = 3_600
_STEPS = {"1 hour": _HOUR, "6 hours": 6 * _HOUR, "1 day": 24 * _HOUR, "1 week": 168 * _HOUR, "4 weeks": 672 * _HOUR}
_GRIDS = (1024, 256, 128, 64, 32, 16, 8, 4, 2)  # cells along the longer side


class Resolution(NamedTuple):
    """One way to make columns coarser: its words, the group of every row (from 0), and the released columns."""

    words: str
    groups: NDArray[np.int64]
    shown: Mapping[str, pa.Array]

    @property
    def detail(self) -> float:
        """Logarithm of the number of groups."""
        return math.log(int(self.groups.max()) + 1)


def drop_ineffective(resolutions: Sequence[Resolution]) -> list[Resolution]:
    """The resolutions, the finest first, without those that change values and have as many groups as a finer one."""
    kept = [resolutions[0]]
    for one in resolutions[1:]:
        if one.detail < kept[-1].detail:
            kept.append(one)
    return kept


def time_steps(column: Coded) -> list[Resolution]:
    """Resolutions of a time column, the finest first: unchanged, then the starts of longer and longer intervals."""
    if not column.has_distances:
        raise InputError(f"{column.name!r} holds neither dates, times nor numbers; make it one of them")
    kind = column.values.type
    steps: dict[str, float]
    if pa.types.is_timestamp(kind):
        steps = {words: seconds * TICKS[kind.unit] for words, seconds in _STEPS.items()}
    elif pa.types.is_temporal(kind):
        steps = {words: seconds // (24 * _HOUR) for words, seconds in _STEPS.items() if seconds >= 24 * _HOUR}
    else:
        widths = _widths(float(np.ptp(as_floats(column.values))))
        if pa.types.is_integer(kind):  # a step begins at a value that is in it
            widths = [float(round(width)) for width in widths]
        steps = {f"steps of {number(step)}": step for step in widths if step > 0}
    place = as_floats(column.values, offset_of(column))
    return [_as_it_is([column])] + [
        _by_value(words, column, np.floor(place / step), from_positions(column, np.floor(place / step) * step))
        for words, step in steps.items()
    ]


def _widths(extent: float) -> list[float]:
    """Cell widths of grids over an extent, rounded to two digits."""
    return [float(f"{extent / cells:.1e}") for cells in _GRIDS] if extent else []


def combine_groups(several: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Number the combinations of the groups of several columns, from 0."""
    combined = several[0]
    for groups in several[1:]:
        numbers, _ = class_numbers((combined * (int(groups.max()) + 1) + groups).astype(np.uint64))
        combined = numbers.astype(np.int64)
    return combined


def _as_it_is(columns: Sequence[Coded]) -> Resolution:
    return _together("as it is", [_by_value("", one, np.arange(one.size), one.values) for one in columns])


def _together(words: str, axes: Sequence[Resolution]) -> Resolution:
    """One resolution of several columns."""
    shown = {name: cells for axis in axes for name, cells in axis.shown.items()}
    return Resolution(words, combine_groups([axis.groups for axis in axes]), shown)


def _by_value(words: str, column: Coded, groups: NDArray[Any], shown: pa.Array) -> Resolution:
    """A resolution from the group and the released form of each value of a column."""
    numbers = np.unique(groups, return_inverse=True)[1]
    return Resolution(words, numbers[column.codes], {column.name: shown.take(pa.array(column.codes))})


def place_levels(columns: Sequence[Coded], hierarchy: Hierarchy | str | None) -> list[Resolution]:
    """Resolutions of places, the finest first: unchanged, then centres of grid cells, or levels of a hierarchy."""
    if len(columns) == 1 and not (columns[0].has_distances and hierarchy is None):
        (region,) = columns
        parsed = Hierarchy.parse(hierarchy) if isinstance(hierarchy, str) else hierarchy
        levels = [] if parsed is None else parsed.levels(region)[1:]
        return [_as_it_is([region])] + [
            _by_value(f"level {height}", region, level.groups, pa.array([level.labels[g] for g in level.groups]))
            for height, level in enumerate(levels, start=1)
        ]
    if len(columns) > 2 or not all(one.has_distances for one in columns) or hierarchy is not None:
        raise InputError("a place is two columns of coordinates, or one of regions, which may have a hierarchy")
    extent = max(float(np.ptp(as_floats(one.values))) for one in columns)
    return [_as_it_is(columns)] + [
        _together(f"a grid of {number(width)}", [_by_value("", one, *_cells(one, width)) for one in columns])
        for width in _widths(extent)
    ]


def _cells(column: Coded, width: float) -> tuple[NDArray[np.float64], pa.Array]:
    """The cell of every value along one axis, and the centre of the cell."""
    cell = np.floor(as_floats(column.values) / width)
    return cell, pa.array((cell + 0.5) * width)


def amount_levels(column: Coded) -> list[Resolution]:
    """Resolutions of amounts: unchanged, rounded down to two digits, one digit or a power of ten, or left out."""
    if not column.has_distances or pa.types.is_temporal(column.values.type):
        raise InputError(f"{column.name!r} holds no amounts; name a column of numbers")
    values = as_floats(column.values)
    if not np.all((values > 0) & np.isfinite(values)):
        raise InputError(f"some amounts in {column.name!r} are not above 0; leave these rows out")
    power = 10.0 ** np.floor(np.log10(values))
    resolutions = [_as_it_is([column])]
    for words, unit in (("2 digits", power / 10), ("1 digit", power)):
        rounded = np.floor(values / unit * (1 + 1e-12)) * unit
        resolutions.append(_by_value(words, column, rounded, pa.array(rounded)))
    resolutions.append(_by_value("powers of ten", column, power, pa.array(power)))
    one_group = np.zeros(column.codes.size, dtype=np.int64)
    return [*resolutions, Resolution("leaving it out", one_group, {})]
