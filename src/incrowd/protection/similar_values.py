"""Automatic hierarchies of categories: values that occur with the same values of other columns become one set first.

Joining two values loses what their difference tells about the other columns: the mutual information of the
agglomerative information bottleneck (Slonim & Tishby 1999), counts times the Jensen-Shannon divergence. Rare values and
alike ones cost least, so common and telling ones stay apart longest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.protection.hierarchies import Hierarchy, label_groups
from incrowd.protection.problem import Problem
from incrowd.special import Floats

_MOST_VALUES = 256  # values that are compared with each other; rarer ones are one set from the start
_BINS = 32  # groups of another column's values
_STEP = 1.5  # times as many sets at a level as at the next


def similar_hierarchy(problem: Problem, index: int) -> Hierarchy:
    """Sets of values of one column, fewer at every level, by what they tell about the other quasi-identifiers."""
    column = problem.columns[index]
    others = [other for place, other in enumerate(problem.columns) if place != index]
    return Hierarchy("similar", lambda _: [label_groups(column, groups) for groups in _levels(column, others)])


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
    """How many sets the next level has; below two, there is none."""
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
    """What joining each of some groups with one loses, in nats times records, over all other columns."""
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
