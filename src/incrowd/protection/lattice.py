"""The levels that columns may take, and their combinations from the least loss to the largest."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, pack
from incrowd.protection.hierarchies import Hierarchy, Level, is_category
from incrowd.protection.problem import Problem, as_days, as_floats, is_number, offset_of
from incrowd.protection.similar_values import similar_hierarchy

Node = tuple[int, ...]
"""A level for every column."""
MOST_LISTED = 2**22  # combinations of levels that are held at once
_NEAR, _BLOCK = 2**16, 2**12  # combinations that are sorted first, and that are listed at a time


def ladders_of(problem: Problem, *, by_similarity: bool = False) -> list[list[Level]]:
    """The levels of every column, the finest first: those of its hierarchy that the wishes allow.

    A column without a hierarchy gets an automatic one; with `by_similarity`, categories that go with the same values of
    the other columns are joined first, instead of the rarest.
    """
    ladders = []
    for index, column in enumerate(problem.columns):
        hierarchy = problem.hierarchies.get(column.name)
        if hierarchy is None and by_similarity and len(problem.columns) > 1 and is_category(column):
            hierarchy = similar_hierarchy(problem, index)
        ladders.append(_ladder(problem, column, hierarchy))
    return ladders


def _ladder(problem: Problem, column: Coded, hierarchy: Hierarchy | None) -> list[Level]:
    widest = problem.wishes.widest.get(column.name)
    if hierarchy is None and widest and is_number(column):
        whole = pa.types.is_integer(column.values.type) or pa.types.is_temporal(column.values.type)
        cell = widest + whole  # a range of whole numbers has one value more than it is wide
        hierarchy = Hierarchy.intervals([cell / 4, cell / 2, cell])
    levels = (hierarchy or Hierarchy.automatic()).levels(column)
    if column.name in problem.wishes.keep:
        return levels[:1]
    if widest is None:
        return levels
    return [levels[0], *(level for level in levels[1:] if widest_group(column, level) <= widest)]


def widest_group(column: Coded, level: Level) -> float:
    """How wide the widest group of a level is: a range's length (days for dates), or the number of values in a set."""
    if not is_number(column):
        return float(level.covered.max())
    filled = column.size - column.has_null
    values = column.values.slice(0, filled)
    place = as_floats(as_days(values) if pa.types.is_temporal(values.type) else values, offset_of(column))
    groups = level.groups[:filled]
    low, high = np.full(len(level.labels), np.inf), np.full(len(level.labels), -np.inf)
    np.minimum.at(low, groups, place)
    np.maximum.at(high, groups, place)
    if column.has_null:
        high[level.groups[-1]] = np.inf if np.isfinite(high[level.groups[-1]]) else -np.inf
    return float(np.max(high - low, where=high > -np.inf, initial=0.0))


def loss_by_level(problem: Problem, ladders: Sequence[Sequence[Level]]) -> list[list[float]]:
    """What every level of every column costs: 1 - granularity, times the column's importance, over all columns."""
    costs = []
    for index, (column, weight) in enumerate(zip(problem.columns, problem.weights.tolist(), strict=True)):
        tally = problem.tally(index)
        scale = weight / (max(column.size - 1, 1) * float(tally.sum()) * len(problem.columns))
        costs.append([float(tally @ (level.covered - 1)) * scale for level in ladders[index]])
    return costs


def ascending_nodes(costs: Sequence[Sequence[float]]) -> Iterator[tuple[float, Node]]:
    """All combinations of levels with their loss, the smallest loss first."""
    shape = tuple(map(len, costs))
    if math.prod(shape) <= MOST_LISTED:
        yield from _listed_nodes(reduce(np.add.outer, map(np.asarray, costs)))
        return
    start = (0,) * len(costs)
    queue, seen = [(sum(levels[0] for levels in costs), start)], {start}
    while queue:
        loss, node = heapq.heappop(queue)
        yield loss, node
        for column, level in enumerate(node):
            coarser = (*node[:column], level + 1, *node[column + 1 :])
            if level + 1 < len(costs[column]) and coarser not in seen:
                seen.add(coarser)
                total = sum(levels[at] for levels, at in zip(costs, coarser, strict=True))
                heapq.heappush(queue, (total, coarser))


def _listed_nodes(losses: NDArray[np.float64]) -> Iterator[tuple[float, Node]]:
    """Every place of a table of losses, sorted: the smallest ones first, the rest only where they are asked for."""
    flat = losses.ravel()
    near = np.argpartition(flat, _NEAR)[:_NEAR] if flat.size > _NEAR else np.arange(flat.size)
    is_far = np.ones(flat.size, dtype=np.bool_)
    is_far[near] = False
    for places in (np.sort(near), is_far):
        found = np.flatnonzero(places) if places is is_far else places
        found = found[np.argsort(flat[found], kind="stable")]
        for start in range(0, found.size, _BLOCK):
            block = found[start : start + _BLOCK]
            levels = (axis.tolist() for axis in np.unravel_index(block, losses.shape))
            yield from zip(flat[block].tolist(), zip(*levels, strict=True), strict=True)


def number_classes(
    levels: Sequence[Level],
    codes: Sequence[NDArray[np.unsignedinteger]],
    weight: NDArray[np.int64],
    others: Sequence[Coded] = (),
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The class of every record at some levels, and the weight of all records of each.

    `others` are columns that do not change.
    """
    from incrowd.protection import kernels_levels

    sizes = [len(level.labels) for level in levels]
    if others or math.prod(sizes) > 2**63:
        recoded = [
            Coded("", level.groups[column], pa.nulls(size))
            for level, column, size in zip(levels, codes, sizes, strict=True)
        ]
        keys = pack([*recoded, *others])
    else:
        keys, unit = np.zeros(weight.size, dtype=np.uint64), 1
        for level, column, size in zip(levels, codes, sizes, strict=True):
            if size > 1:
                kernels_levels.add_digit(keys, column, level.groups.astype(np.uint64) * np.uint64(unit))
            unit *= size
    return kernels_levels.number_keys(keys, weight)  # type: ignore[no-any-return]
