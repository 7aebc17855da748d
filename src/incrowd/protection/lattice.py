"""The generalisation lattice: the levels of every column, and their combinations in ascending order of loss.

A column of categories without a hierarchy may get one by similarity: values that occur with the same values of other
columns are joined first. Joining two values loses mutual information with the other columns, as in the agglomerative
information bottleneck (Slonim & Tishby 1999): their count times the Jensen-Shannon divergence. Joining rare or similar
values costs least, so common and distinctive values stay apart longest.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd.backends import Coded, pack
from incrowd.backends.arrow_columns import as_floats
from incrowd.protection.hierarchies import Hierarchy, Level, is_category
from incrowd.protection.interval_labels import Labels, label_groups
from incrowd.protection.problem import Problem
from incrowd.special import Floats
from incrowd.tables.released_values import as_days, offset_of

_MOST_VALUES = 256  # values that are compared with each other; all rarer values start as one set
_BINS = 32  # bins of another column's values
_SMALL_TABLE = 2**16  # size up to which a table of counts is always used
_STEP = 1.5  # ratio of the numbers of sets of two consecutive levels
_ASSOCIATION = 0.5  # weight of mutual information in the loss by association; the rest is granularity (docs/protect.md)


Node = tuple[int, ...]
"""A node of the lattice: the level of every column."""

MOST_LISTED = 2**22  # nodes that are held in memory at once
_NEAR, _BLOCK = 2**16, 2**12  # nodes of least loss that are sorted first, and nodes that are yielded at a time


def similar_hierarchy(problem: Problem, index: int) -> Hierarchy:
    """Hierarchy of sets of values that occur with similar values of the other quasi-identifiers."""
    column = problem.columns[index]
    others = [other for place, other in enumerate(problem.columns) if place != index]

    def rule(_: Coded) -> list[Labels]:
        return [label_groups(column, groups) for groups in _levels(column, others)]

    return Hierarchy("similar", rule)


def _levels(column: Coded, others: list[Coded]) -> Iterator[list[list[int]]]:
    """The groups of codes at every level, the finest level first, down to two groups."""
    groups, counts = _start(column, others)
    wanted = _fewer(len(groups)) if len(groups) == column.size else len(groups)
    costs = np.full((len(groups), len(groups)), np.inf)
    for place in range(len(groups)):
        costs[place, :place] = _cost(counts[:place], counts[place])
    while wanted >= 2:
        while len(groups) > wanted:
            second, first = divmod(int(np.argmin(costs)), len(groups))
            groups[first] = sorted(groups[first] + groups.pop(second))
            counts[first] += counts[second]
            counts = np.delete(counts, second, axis=0)
            costs = np.delete(np.delete(costs, second, axis=0), second, axis=1)
            renewed = _cost(counts, counts[first])
            costs[first, :first], costs[first + 1 :, first] = renewed[:first], renewed[first + 1 :]
        yield groups
        wanted = _fewer(wanted)


def _fewer(groups: int) -> int:
    """Number of sets at the next level; 0 if there is no further level."""
    return int(min(groups - 1, groups / _STEP)) if groups > 2 else 0


def _start(column: Coded, others: list[Coded]) -> tuple[list[list[int]], Floats]:
    """The initial groups, and their counts with every bin of every other column."""
    tally = column.tally
    by_frequency = np.argsort(-tally, kind="stable")
    group_of = np.empty(column.size, dtype=np.int64)
    group_of[by_frequency] = np.minimum(np.arange(column.size), _MOST_VALUES - 1)
    groups = [np.flatnonzero(group_of == group).tolist() for group in range(int(group_of.max()) + 1)]
    counts = np.zeros((len(groups), max(len(others), 1), _BINS))
    for place, other in enumerate(others):
        bins = _bins(other)[other.codes]
        joint_counts = np.bincount(group_of[column.codes] * _BINS + bins, minlength=len(groups) * _BINS)
        counts[:, place] = joint_counts.reshape(len(groups), _BINS)
    if not others:
        counts[:, 0, 0] = [tally[codes].sum() for codes in groups]
    return groups, counts


def _bins(column: Coded) -> NDArray[np.int64]:
    """The bin of every value: ranges of about equally many records; for categories the commonest and the rest."""
    tally = column.tally
    if column.has_order:
        ranges: NDArray[np.int64] = (np.cumsum(tally) - tally) * _BINS // max(int(tally.sum()), 1)
        return ranges
    bins = np.empty(column.size, dtype=np.int64)
    bins[np.argsort(-tally, kind="stable")] = np.minimum(np.arange(column.size), _BINS - 1)
    return bins


def _cost(some: Floats, one: Floats) -> Floats:
    """Mutual information lost by joining each of some groups with one group, in nats times records."""
    separate = _entropy(some) + _entropy(one)
    lost: Floats = (_entropy(some + one) - separate).sum(axis=-1)
    return lost


def _entropy(counts: Floats) -> Floats:
    """Total count times entropy, along the last axis."""
    total = counts.sum(axis=-1)
    entropy: Floats = _weighted_log(total) - _weighted_log(counts).sum(axis=-1)
    return entropy


def _weighted_log(counts: Floats) -> Floats:
    return counts * np.log(np.maximum(counts, 1.0))


def ladders_of(problem: Problem, *, by_similarity: bool = False) -> list[list[Level]]:
    """The levels of every column that the wishes allow, the finest first.

    A column without a hierarchy gets an automatic one. With `by_similarity`, a column of categories gets a hierarchy in
    which values with similar values of the other columns are joined first, instead of the rarest.
    """
    ladders = []
    for index, column in enumerate(problem.columns):
        hierarchy = problem.hierarchies.get(column.name)
        if hierarchy is None and by_similarity and len(problem.columns) > 1 and is_category(column):
            hierarchy = similar_hierarchy(problem, index)
        ladders.append(_ladder(problem, column, hierarchy))
    return ladders


def _ladder(problem: Problem, column: Coded, hierarchy: Hierarchy | None) -> list[Level]:
    widest = problem.widest.get(column.name)
    if hierarchy is None and widest and column.has_distances:
        whole = pa.types.is_integer(column.values.type) or pa.types.is_temporal(column.values.type)
        cell = widest + whole  # a range of whole numbers has one more value than its width
        hierarchy = Hierarchy.intervals([cell / 4, cell / 2, cell])
    levels = (hierarchy or Hierarchy.automatic()).levels(column)
    if column.name in problem.keep:
        return levels[:1]
    if widest is None:
        return levels
    return [levels[0], *(level for level in levels[1:] if widest_group(column, level) <= widest)]


def widest_group(column: Coded, level: Level) -> float:
    """Width of the widest group of a level: a range's length (days for dates), or the number of values in a set."""
    if not column.has_distances:
        return float(level.covered.max())
    filled = column.filled_size
    values = column.values.slice(0, filled)
    place = as_floats(as_days(values) if pa.types.is_temporal(values.type) else values, offset_of(column))
    groups = level.groups[:filled]
    low, high = np.full(len(level.labels), np.inf), np.full(len(level.labels), -np.inf)
    np.minimum.at(low, groups, place)
    np.maximum.at(high, groups, place)
    if column.has_null:
        high[level.groups[-1]] = np.inf if np.isfinite(high[level.groups[-1]]) else -np.inf
    return float(np.max(high - low, where=high > -np.inf, initial=0.0))


def loss_by_level(
    problem: Problem, ladders: Sequence[Sequence[Level]], measure: str = "granularity"
) -> list[list[float]]:
    """The loss of every level of every column, as a share of the loss of hiding all columns, times its importance.

    By measure:

    - "granularity": 1 - granularity.
    - "entropy": the share of the column's information that is lost; a value with count c in a group of n records loses
      log n / c (Gionis & Tassa 2009).
    - "association": half of 1 - granularity, and half of the lost share of the columns' mutual information.
    """
    if measure == "association":
        return _association_lost(problem, ladders)
    costs = []
    for index, (column, weight) in enumerate(zip(problem.columns, problem.weights.tolist(), strict=True)):
        tally = problem.tally(index)
        if measure == "entropy":
            losses = [_lost_information(tally, level.groups) for level in ladders[index]]
            most = _lost_information(tally, np.zeros(tally.size, dtype=np.uint32))
        else:
            losses = [float(tally @ (level.covered - 1)) for level in ladders[index]]
            most = max(column.size - 1, 1) * float(tally.sum())
        scale = weight / ((most or 1.0) * len(problem.columns))
        costs.append([loss * scale for loss in losses])
    return costs


def _association_lost(problem: Problem, ladders: Sequence[Sequence[Level]]) -> list[list[float]]:
    """Loss by association: half lost mutual information as a share of all between columns, half lost granularity.

    Statistical models use the association between columns, which granularity ignores: it would hide everybody's age
    rather than a country that nearly all share. Granularity still counts for columns without associations.
    """
    granularity_loss, lost, total = loss_by_level(problem, ladders), [], 0.0
    bins = [_bins(column).astype(np.uint8) for column in problem.columns]
    for index, (column, weight) in enumerate(zip(problem.columns, problem.weights.tolist(), strict=True)):
        groups = [level.groups for level in ladders[index]] + [np.zeros(column.size, dtype=np.uint32)]
        entropy = np.zeros(len(groups))
        for position, other in enumerate(problem.columns):
            if position != index:
                entropy += _spread(column, bins[position][other.codes], groups)
        *by_level, if_hidden = (weight * (entropy - entropy[0])).tolist()
        lost.append(by_level)
        total += if_hidden
    if not total > 0:
        return granularity_loss
    return [
        [_ASSOCIATION * loss / total + (1 - _ASSOCIATION) * cost for loss, cost in zip(losses, costs, strict=True)]
        for losses, costs in zip(lost, granularity_loss, strict=True)
    ]


def _spread(column: Coded, bins: NDArray[np.uint8], levels: Sequence[NDArray[np.uint32]]) -> Floats:
    """Conditional entropy of another column's bins given the groups of every level, the finest first, times records.

    Groups are counted in a table if it is small compared with the records; coarser levels are sums of its rows.
    Otherwise pairs of group and bin are sorted, because the table of a column of distinct values would have 32 times as
    many entries as there are records.
    """
    spread: list[float] = []
    counts, member = None, np.empty(0, dtype=np.int64)
    for groups in levels:
        size = int(groups.max()) + 1
        if counts is None:
            pairs = groups[column.codes].astype(np.int64)
            pairs *= _BINS
            pairs += bins
            if size * _BINS > max(pairs.size // 4, _SMALL_TABLE):
                spread.append(_spread_of_pairs(pairs))
                continue
            counts = np.bincount(pairs, minlength=size * _BINS).reshape(size, _BINS)
            member = np.empty(size, dtype=np.int64)
            member[groups] = np.arange(groups.size)  # one value of each group, to find its group at coarser levels
            del pairs
        spread.append(float(_entropy(_sums(counts, groups[member])).sum()))
    return np.array(spread)


def _spread_of_pairs(pairs: NDArray[np.int64]) -> float:
    """Conditional entropy of bins given groups, times records; `pairs` (group * _BINS + bin) is sorted in place."""
    pairs.sort()
    total = 0.0
    for sign in (-1.0, 1.0):  # runs of equal pairs, then of equal groups
        ends = np.flatnonzero(np.append(pairs[1:] != pairs[:-1], True))
        ends[1:] -= ends[:-1].copy()
        ends[0] += 1
        total += sign * float(_weighted_log(ends.astype(np.float64)).sum())
        pairs //= _BINS
    return total


def _sums(counts: NDArray[np.int64], groups: NDArray[np.uint32]) -> Floats:
    """The sums of the rows of counts by group."""
    order = np.argsort(groups, kind="stable")
    starts = run_starts(groups[order])
    return np.add.reduceat(counts[order], starts, axis=0).astype(np.float64)


def _lost_information(tally: NDArray[np.int64], groups: NDArray[np.uint32]) -> float:
    """Information in nats that all records lose if only the group of a value is known."""
    together = np.bincount(groups, weights=tally)[groups]
    counted = tally > 0
    return float(np.sum(tally[counted] * np.log(together[counted] / tally[counted])))


def ascending_nodes(
    costs: Sequence[Sequence[float]], ruled_out: NDArray[np.bool_] | None = None
) -> Iterator[tuple[float, Node]]:
    """All nodes with their loss, the smallest loss first.

    The caller may mark nodes in `ruled_out` during the iteration. Marked nodes are skipped from the next block of nodes
    on, and only if the lattice is small enough to be listed.
    """
    shape = tuple(map(len, costs))
    if math.prod(shape) <= MOST_LISTED:
        yield from _listed_nodes(reduce(np.add.outer, map(np.asarray, costs)), ruled_out)
        return
    start = (0,) * len(costs)
    queue, seen = [(reduce(add, (levels[0] for levels in costs)), start)], {start}
    while queue:
        loss, node = heapq.heappop(queue)
        yield loss, node
        for column, level in enumerate(node):
            coarser = (*node[:column], level + 1, *node[column + 1 :])
            if level + 1 < len(costs[column]) and coarser not in seen:
                seen.add(coarser)
                total = reduce(add, (levels[at] for levels, at in zip(costs, coarser, strict=True)))  # as listed ones
                heapq.heappush(queue, (total, coarser))


def _listed_nodes(losses: NDArray[np.float64], ruled_out: NDArray[np.bool_] | None) -> Iterator[tuple[float, Node]]:
    """Every index of a table of losses in ascending order of loss; the larger part is sorted only if it is needed."""
    flat = losses.ravel()
    near = np.argpartition(flat, _NEAR)[:_NEAR] if flat.size > _NEAR else np.arange(flat.size)
    is_far = np.ones(flat.size, dtype=np.bool_)
    is_far[near] = False
    for part in (np.sort(near), is_far):
        indices = np.flatnonzero(part) if part is is_far else part
        indices = indices[np.argsort(flat[indices], kind="stable")]
        for start in range(0, indices.size, _BLOCK):
            block = indices[start : start + _BLOCK]
            if ruled_out is not None:
                block = block[~ruled_out.ravel()[block]]
            levels = (axis.tolist() for axis in np.unravel_index(block, losses.shape))
            yield from zip(flat[block].tolist(), zip(*levels, strict=True), strict=True)


def number_classes(
    levels: Sequence[Level],
    codes: Sequence[NDArray[np.unsignedinteger]],
    weight: NDArray[np.int64],
    others: Sequence[Coded] = (),
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The class number of every record at some levels, and the total weight of each class.

    `others` are further columns that classes are made by, without levels.
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
