"""The levels that columns may take, and their combinations from the least loss to the largest.

Categories without a hierarchy may get one in which values that occur with the same values of other columns become one
set first. Joining two values loses what their difference tells about the other columns: the mutual information of the
agglomerative information bottleneck (Slonim & Tishby 1999), counts times the Jensen-Shannon divergence. Rare values and
alike ones cost least, so common and telling ones stay apart longest.
"""

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
from incrowd.protection.interval_labels import LARGEST_SET, Labels, label_groups
from incrowd.protection.problem import Problem, as_days, as_floats, offset_of
from incrowd.special import Floats

_MOST_VALUES = 256  # values that are compared with each other; rarer ones are one set from the start
_BINS = 32  # groups of another column's values
_SMALL_TABLE = 2**16  # counts that are held for any number of records
_STEP = 1.5  # times as many sets at a level as at the next
_ASSOCIATION = 0.8  # of the loss by association is mutual information, the rest detail


Node = tuple[int, ...]
"""A level for every column."""

MOST_LISTED = 2**22  # combinations of levels that are held at once
_NEAR, _BLOCK = 2**16, 2**12  # combinations that are sorted first, and that are listed at a time


def similar_hierarchy(problem: Problem, index: int) -> Hierarchy:
    """Sets of values of one column, fewer at every level, by what they tell about the other quasi-identifiers."""
    column = problem.columns[index]
    others = [other for place, other in enumerate(problem.columns) if place != index]

    def rule(_: Coded) -> list[Labels]:
        return [label_groups(column, groups, LARGEST_SET) for groups in _levels(column, others)]

    return Hierarchy("similar", rule)


def _levels(column: Coded, others: list[Coded]) -> Iterator[list[list[int]]]:
    """The groups of codes of every level, finest first, down to two."""
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
    """Number of sets of the next level; there is no next level below two."""
    return int(min(groups - 1, groups / _STEP)) if groups > 2 else 0


def _start(column: Coded, others: list[Coded]) -> tuple[list[list[int]], Floats]:
    """Groups to begin with, and how often each occurs with every bin of every other column."""
    tally = np.bincount(column.codes, minlength=column.size)
    common = np.argsort(-tally, kind="stable")
    group_of = np.empty(column.size, dtype=np.int64)
    group_of[common] = np.minimum(np.arange(column.size), _MOST_VALUES - 1)
    groups = [np.flatnonzero(group_of == group).tolist() for group in range(int(group_of.max()) + 1)]
    counts = np.zeros((len(groups), max(len(others), 1), _BINS))
    for place, other in enumerate(others):
        bins = _bins(other)[other.codes]
        both = np.bincount(group_of[column.codes] * _BINS + bins, minlength=len(groups) * _BINS)
        counts[:, place] = both.reshape(len(groups), _BINS)
    if not others:
        counts[:, 0, 0] = [tally[codes].sum() for codes in groups]
    return groups, counts


def _bins(column: Coded) -> NDArray[np.int64]:
    """The bin of every value: ranges of about equally many records, or for categories the commonest and the rest."""
    tally = np.bincount(column.codes, minlength=column.size)
    if column.has_order:
        ranges: NDArray[np.int64] = (np.cumsum(tally) - tally) * _BINS // max(int(tally.sum()), 1)
        return ranges
    bins = np.empty(column.size, dtype=np.int64)
    bins[np.argsort(-tally, kind="stable")] = np.minimum(np.arange(column.size), _BINS - 1)
    return bins


def _cost(some: Floats, one: Floats) -> Floats:
    """Information lost by joining each of some groups with one, in nats times records, over all other columns."""
    apart = _entropy(some) + _entropy(one)
    lost: Floats = (_entropy(some + one) - apart).sum(axis=-1)
    return lost


def _entropy(counts: Floats) -> Floats:
    """Counts times their entropy, along the last axis."""
    total = counts.sum(axis=-1)
    entropy: Floats = _weighted_log(total) - _weighted_log(counts).sum(axis=-1)
    return entropy


def _weighted_log(counts: Floats) -> Floats:
    return counts * np.log(np.maximum(counts, 1.0))


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
    if hierarchy is None and widest and column.has_distances:
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
    """What every level of every column loses of all that hiding everything takes away, times its importance.

    That is 1 - granularity; with "entropy" the share of the column's information that is gone: of a value with count c
    in a group of n records log n / c (Gionis & Tassa 2009); or with "association" mostly what is gone of the columns'
    mutual information with each other.
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
    """The mutual information that levels lose as a share of all that columns have with each other, and some detail.

    What models explain is in how columns go together, and granularity does not see it: it hides the age of everybody
    rather than a country that nearly all share. Detail counts too, for columns that tell nothing about the others.
    """
    detail, lost, everything = loss_by_level(problem, ladders), [], 0.0
    bins = [_bins(column).astype(np.uint8) for column in problem.columns]
    for index, (column, weight) in enumerate(zip(problem.columns, problem.weights.tolist(), strict=True)):
        groups = [level.groups for level in ladders[index]] + [np.zeros(column.size, dtype=np.uint32)]
        told = np.zeros(len(groups))
        for place, other in enumerate(problem.columns):
            if place != index:
                told += _spread(column, bins[place][other.codes], groups)
        *by_level, hidden = (weight * (told - told[0])).tolist()
        lost.append(by_level)
        everything += hidden
    if not everything > 0:
        return detail
    return [
        [_ASSOCIATION * gone / everything + (1 - _ASSOCIATION) * cost for gone, cost in zip(losses, costs, strict=True)]
        for losses, costs in zip(lost, detail, strict=True)
    ]


def _spread(column: Coded, bins: NDArray[np.uint8], levels: Sequence[NDArray[np.uint32]]) -> Floats:
    """Entropy of the bins of another column within the groups of every level, the finest first, times records.

    Groups are counted in a table if it is small beside the records, and of that the coarser levels are sums. Else pairs
    of group and bin are sorted: a table for every value of a column of distinct values would be 32 times the records.
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
            member[groups] = np.arange(groups.size)  # a value of each group, which is in one group of a coarser level
            del pairs
        spread.append(float(_entropy(_sums(counts, groups[member])).sum()))
    return np.array(spread)


def _spread_of_pairs(pairs: NDArray[np.int64]) -> float:
    """Entropy of bins within groups, times records, from numbers of group and bin, which are sorted in place."""
    pairs.sort()
    total = 0.0
    for sign in (-1.0, 1.0):  # of pairs, then of groups
        ends = np.flatnonzero(np.append(pairs[1:] != pairs[:-1], True))
        ends[1:] -= ends[:-1].copy()
        ends[0] += 1
        total += sign * float(_weighted_log(ends.astype(np.float64)).sum())
        pairs //= _BINS
    return total


def _sums(counts: NDArray[np.int64], groups: NDArray[np.uint32]) -> Floats:
    """The rows of counts, summed by group."""
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order].astype(np.int64), prepend=-1))
    return np.add.reduceat(counts[order], starts, axis=0).astype(np.float64)


def _lost_information(tally: NDArray[np.int64], groups: NDArray[np.uint32]) -> float:
    """The nats that all records lose where values are known by their groups alone."""
    together = np.bincount(groups, weights=tally)[groups]
    counted = tally > 0
    return float(np.sum(tally[counted] * np.log(together[counted] / tally[counted])))


def ascending_nodes(
    costs: Sequence[Sequence[float]], ruled_out: NDArray[np.bool_] | None = None
) -> Iterator[tuple[float, Node]]:
    """All combinations of levels with their loss, the smallest loss first.

    Some of those that the caller has marked in `ruled_out` meanwhile are left out, a block of combinations at a time.
    """
    shape = tuple(map(len, costs))
    if math.prod(shape) <= MOST_LISTED:
        yield from _listed_nodes(reduce(np.add.outer, map(np.asarray, costs)), ruled_out)
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


def _listed_nodes(losses: NDArray[np.float64], ruled_out: NDArray[np.bool_] | None) -> Iterator[tuple[float, Node]]:
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
