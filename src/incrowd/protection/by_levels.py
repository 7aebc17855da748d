"""Local recoding along hierarchies: every class gets the finest labels that its members share.

Combinations of levels are tried from the least loss to the largest; records that k or more share at one of them become
classes there and take no further part. What is left, and classes that could be smaller, are gathered record by record.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import UnsupportedError
from incrowd.protection.hierarchies import Level
from incrowd.protection.lattice import ascending_nodes, loss_by_level, number_classes
from incrowd.protection.merge_classes import find_diverse, merge_until_diverse, require_diverse, sensitive_codes
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, split_by_group

_FEWEST_VISITS, _VISITS = 2**24, 64  # records looked at, over all levels: in any table, and for each of its rows
_PART = 1024  # records among which a class picks its members


def classes_by_levels(problem: Problem, ladders: list[list[Level]]) -> Grouping:
    """Classes of k records or more along the levels of every column.

    Records that cannot be in a class are in none; there are none of these where `*` is the last level of every column.
    """
    shared, left = _classes_at_levels(problem, ladders)
    work = _Work(problem, ladders)
    gathered, loose = work.gather(left)
    made = Grouping.chain([work.split(shared), gathered])
    made = work.join(made, loose) if made.ends.size else made
    return _make_diverse(problem, ladders, made) if problem.demand.l is not None else made


def settle_kept_rows(problem: Problem, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The kept rows in order, None where they are all; raises where more are left out than may be suppressed."""
    left_out = problem.rows - rows.size
    if not left_out:
        return None
    require_few_left_out(problem, left_out)
    return np.sort(rows)


def require_few_left_out(problem: Problem, left_out: int) -> None:
    """Refuse to leave more records out than may be suppressed."""
    if left_out > problem.options.suppress * problem.rows:
        raise UnsupportedError(
            f"{left_out:,} of {problem.rows:,} records have no class within the wishes; wish for less, or allow rows "
            "to be suppressed",
            hint="suppress",
        )


def _classes_at_levels(problem: Problem, ladders: list[list[Level]]) -> tuple[Grouping, NDArray[np.int64]]:
    """Classes at the levels of least loss, and the records that are left."""
    costs = loss_by_level(problem, ladders)
    left, ones = np.arange(problem.rows), np.ones(problem.rows, dtype=np.int64)
    codes = [column.codes for column in problem.columns]
    listed, sizes = [left[:0]], [left[:0]]
    visits = max(_FEWEST_VISITS, _VISITS * problem.rows)
    for _, node in ascending_nodes(costs):
        if left.size < problem.demand.smallest or visits < 0:
            break
        visits -= left.size
        levels = [ladder[level] for ladder, level in zip(ladders, node, strict=True)]
        numbers, people = number_classes(levels, codes, ones[: left.size])
        good = people >= problem.demand.k
        if problem.demand.l is not None and good.any():
            by_class = np.argsort(numbers, kind="stable")
            good &= find_diverse(problem.demand, sensitive_codes(problem, left[by_class]), np.cumsum(people))
        if good.any():
            inside = good[numbers]
            chosen = np.flatnonzero(inside)
            listed.append(left[chosen[np.argsort(numbers[chosen], kind="stable")]])
            sizes.append(people[good])
            left = left[~inside]
            codes = [column.codes[left] for column in problem.columns]
            problem.progress("making classes along hierarchies", 1 - left.size / problem.rows)
    return Grouping(np.concatenate(listed), np.cumsum(np.concatenate(sizes))), left


class _Work:
    """Codes and levels as the compiled loops take them; values are renumbered so that those of a group are together."""

    def __init__(self, problem: Problem, ladders: list[list[Level]]) -> None:
        self.problem = problem
        self.codes = np.empty((problem.rows, len(problem.columns)), dtype=np.int32)
        self.rarity = np.zeros(problem.rows, dtype=np.float32)
        groups, costs = [], []
        for index, (column, ladder) in enumerate(zip(problem.columns, ladders, strict=True)):
            order = np.lexsort([level.groups for level in ladder])
            rank = np.empty(column.size, dtype=np.int32)
            rank[order] = np.arange(column.size)
            self.codes[:, index] = rank[column.codes]
            share = np.maximum(problem.tally(index), 1) / problem.rows
            self.rarity -= np.log(share).astype(np.float32)[column.codes]
            groups += [level.groups[order].astype(np.int32) for level in ladder]
            scale = problem.weights[index] / max(column.size - 1, 1)
            costs += [((level.covered[order] - 1) * scale).astype(np.float32) for level in ladder]
        sizes, depths = np.array([c.size for c in problem.columns]), np.array([len(ladder) for ladder in ladders])
        offsets = np.cumsum(sizes * depths) - sizes * depths
        self.tree = (np.concatenate(groups), np.concatenate(costs), offsets, sizes, depths)

    def split(self, grouping: Grouping) -> Grouping:
        """Classes of 2k or more cut into smaller ones; where l is asked for, only into such as are diverse."""
        from incrowd.protection import kernels_levels

        order, ends, smallest = grouping.order, grouping.ends, self.problem.demand.smallest
        if not ends.size:
            return grouping
        smaller = kernels_levels.split_classes(self.codes[order], order, ends, smallest, self.rarity, self.tree)
        if self.problem.demand.l is None:
            return Grouping(order, smaller)
        diverse = find_diverse(self.problem.demand, sensitive_codes(self.problem, order), smaller)
        owner = np.searchsorted(ends, smaller - 1, side="right")
        all_diverse = np.bincount(owner, weights=~diverse) == 0
        return Grouping(order, np.sort(np.concatenate([ends[~all_diverse], smaller[all_diverse[owner]]])))

    def gather(self, left: NDArray[np.int64]) -> tuple[Grouping, NDArray[np.int64]]:
        """Classes of k among the records that no level joined, and the records that are in none."""
        from incrowd.protection import kernels, kernels_levels

        smallest = self.problem.demand.smallest
        domain = np.maximum([column.size - 1 for column in self.problem.columns], 1)
        points = (self.codes[left] / domain * self.problem.weights).astype(np.float32)
        left = left.copy()
        limit = max(_PART, 8 * smallest)
        parts = kernels.split(points, left, 0, left.size, smallest, limit, np.empty(left.size, dtype=np.float32))
        codes, ends = self.codes[left], np.empty(left.size // smallest + 1, dtype=np.int64)
        classes, loose, sizes = [left[:0]], [left[:0]], [left[:0]]
        for start, end in pairwise(parts):
            filled, stop = kernels_levels.gather(
                codes, left, start, end, smallest, smallest, self.rarity, self.tree, ends, 0
            )
            classes.append(left[start:stop])
            loose.append(left[stop:end])
            sizes.append(np.diff(ends[:filled], prepend=start))
        return Grouping(np.concatenate(classes), np.cumsum(np.concatenate(sizes))), np.concatenate(loose)

    def join(self, grouping: Grouping, loose: NDArray[np.int64]) -> Grouping:
        """Put loose records into the classes that they cost least to join."""
        from incrowd.protection import kernels_levels

        codes = self.codes[np.concatenate([grouping.order, loose])]
        joined = kernels_levels.join_classes(codes, grouping.ends, loose.size, self.tree)
        class_of = np.concatenate([np.repeat(np.arange(grouping.ends.size), grouping.sizes), joined[joined >= 0]])
        order = np.concatenate([grouping.order, loose[joined >= 0]])
        return Grouping(
            order[np.argsort(class_of, kind="stable")], np.cumsum(np.bincount(class_of, minlength=grouping.ends.size))
        )


def _make_diverse(problem: Problem, ladders: list[list[Level]], grouping: Grouping) -> Grouping:
    """Merge classes until each is diverse; where wishes restrict classes, leave out regions that are not diverse."""
    if not grouping.ends.size:
        return grouping
    if not problem.wishes.restrict:
        return Grouping(grouping.order, require_diverse(problem, grouping.order, grouping.ends))

    def merge(part: Grouping) -> Grouping:
        ends = merge_until_diverse(problem.demand, sensitive_codes(problem, part.order), part.ends)
        return Grouping(part.order if ends.size else part.order[:0], ends)

    return merge_by_region(grouping, regions_of(problem, ladders), merge)


def regions_of(problem: Problem, ladders: list[list[Level]]) -> NDArray[np.int64]:
    """The region of every record: records that share the last level of every column, and so may share a class."""
    top, codes = [ladder[-1] for ladder in ladders], [column.codes for column in problem.columns]
    return number_classes(top, codes, np.ones(problem.rows, dtype=np.int64))[0].astype(np.int64)


def merge_by_region(
    grouping: Grouping, region_of: NDArray[np.int64], merge: Callable[[Grouping], Grouping]
) -> Grouping:
    """Merge the classes of every region by themselves; each class lies in one. `merge` may leave records out."""
    regions = split_by_group(region_of[grouping.order[grouping.ends - 1]])
    return Grouping.chain(merge(grouping.take(classes)) for classes in regions)
