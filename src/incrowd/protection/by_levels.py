"""Local recoding along hierarchies: every class gets the finest labels that its members share.

Combinations of levels are tried in ascending order of loss. Groups of k or more records that are equal at a combination
become classes and are not considered again. The remaining records, and classes of 2k or more, are then grouped record
by record.
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
from incrowd.protection.recoding import Grouping

_FEWEST_VISITS, _VISITS = 2**24, 64  # limit on records visited over all levels: at least, and per row
_PART = 1024  # records among which a class picks its members


def classes_by_levels(problem: Problem, ladders: list[list[Level]]) -> Grouping:
    """Classes of k records or more along the levels of every column.

    A record that fits no class is left out. Where `*` is the last level of every column, every record fits one.
    """
    at_levels, remaining = _classes_at_levels(problem, ladders)
    kernels = _LevelKernels(problem, ladders)
    gathered, loose = kernels.gather(remaining)
    classes = Grouping.chain([kernels.split(at_levels), gathered])
    classes = kernels.join(classes, loose) if classes.ends.size else classes
    return _make_diverse(problem, ladders, classes) if problem.demand.l is not None else classes


def settle_kept_rows(problem: Problem, rows: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """The kept rows in ascending order, None if all are kept; raises if more are left out than may be suppressed."""
    left_out = problem.rows - rows.size
    if not left_out:
        return None
    require_few_left_out(problem, left_out)
    return np.sort(rows)


def require_few_left_out(problem: Problem, left_out: int) -> None:
    """Refuse to leave more records out than may be suppressed."""
    if left_out > problem.options.suppress * problem.rows:
        kept = [f"{name} stays as it is" for name in problem.keep]
        widest = [f"{name} has a largest width of {limit:g}" for name, limit in problem.widest.items()]
        wishes = ", ".join(kept + widest)
        raise UnsupportedError(
            f"{left_out:,} of {problem.rows:,} records have no class within the wishes ({wishes}); "
            "ask for less, or allow rows to be suppressed",
            hint="suppress",
        )


def _classes_at_levels(problem: Problem, ladders: list[list[Level]]) -> tuple[Grouping, NDArray[np.int64]]:
    """Classes at the levels of least loss, and the records in no class."""
    costs = loss_by_level(problem, ladders)
    remaining, weights = np.arange(problem.rows), np.ones(problem.rows, dtype=np.int64)
    codes = [column.codes for column in problem.columns]
    members, sizes = [remaining[:0]], [remaining[:0]]
    visits = max(_FEWEST_VISITS, _VISITS * problem.rows)
    for _, node in ascending_nodes(costs):
        if remaining.size < problem.demand.smallest or visits < 0:
            break
        visits -= remaining.size
        levels = [ladder[level] for ladder, level in zip(ladders, node, strict=True)]
        numbers, people = number_classes(levels, codes, weights[: remaining.size])
        is_class = people >= problem.demand.k
        if problem.demand.l is not None and is_class.any():
            by_class = np.argsort(numbers, kind="stable")
            is_class &= find_diverse(problem.demand, sensitive_codes(problem, remaining[by_class]), np.cumsum(people))
        if is_class.any():
            is_taken = is_class[numbers]
            chosen = np.flatnonzero(is_taken)
            members.append(remaining[chosen[np.argsort(numbers[chosen], kind="stable")]])
            sizes.append(people[is_class])
            remaining = remaining[~is_taken]
            codes = [column.codes[remaining] for column in problem.columns]
            problem.progress("making classes along hierarchies", 1 - remaining.size / problem.rows)
    return Grouping(np.concatenate(members), np.cumsum(np.concatenate(sizes))), remaining


class _LevelKernels:
    """Calls of the compiled loops over levels. Values are renumbered so that the values of a group are consecutive."""

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
        """Cut classes of 2k or more into smaller ones; with l, only where every smaller class is diverse."""
        from incrowd.protection import kernels_levels

        order, ends, smallest = grouping.order, grouping.ends, self.problem.demand.smallest
        if not ends.size:
            return grouping
        smaller = kernels_levels.split_classes(self.codes[order], order, ends, smallest, self.rarity, self.tree)
        if self.problem.demand.l is None:
            return Grouping(order, smaller)
        diverse = find_diverse(self.problem.demand, sensitive_codes(self.problem, order), smaller)
        parent = np.searchsorted(ends, smaller - 1, side="right")
        all_diverse = np.bincount(parent, weights=~diverse) == 0
        return Grouping(order, np.sort(np.concatenate([ends[~all_diverse], smaller[all_diverse[parent]]])))

    def gather(self, rows: NDArray[np.int64]) -> tuple[Grouping, NDArray[np.int64]]:
        """Classes of k among the records without a class, and the records that still have none."""
        from incrowd.protection import kernels, kernels_levels

        smallest = self.problem.demand.smallest
        domain = np.maximum([column.size - 1 for column in self.problem.columns], 1)
        points = (self.codes[rows] / domain * self.problem.weights).astype(np.float32)
        rows = rows.copy()
        limit = max(_PART, 8 * smallest)
        parts = kernels.split(points, rows, 0, rows.size, smallest, limit, np.empty(rows.size, dtype=np.float32))
        codes, ends = self.codes[rows], np.empty(rows.size // smallest + 1, dtype=np.int64)
        classes, loose, sizes = [rows[:0]], [rows[:0]], [rows[:0]]
        for start, end in pairwise(parts):
            filled, stop = kernels_levels.gather(
                codes, rows, start, end, smallest, smallest, self.rarity, self.tree, ends, 0
            )
            classes.append(rows[start:stop])
            loose.append(rows[stop:end])
            sizes.append(np.diff(ends[:filled], prepend=start))
        return Grouping(np.concatenate(classes), np.cumsum(np.concatenate(sizes))), np.concatenate(loose)

    def join(self, grouping: Grouping, loose: NDArray[np.int64]) -> Grouping:
        """Put each record without a class into the class where it adds the least loss, if it fits one."""
        from incrowd.protection import kernels_levels

        codes = self.codes[np.concatenate([grouping.order, loose])]
        joined = kernels_levels.join_classes(codes, grouping.ends, loose.size, self.tree)
        class_of = np.concatenate([np.repeat(np.arange(grouping.ends.size), grouping.sizes), joined[joined >= 0]])
        classes = Grouping.by_class(class_of)
        return Grouping(np.concatenate([grouping.order, loose[joined >= 0]])[classes.order], classes.ends)


def _make_diverse(problem: Problem, ladders: list[list[Level]], grouping: Grouping) -> Grouping:
    """Merge classes until each is diverse; where wishes restrict classes, leave out regions that are not diverse."""
    if not grouping.ends.size:
        return grouping
    if not problem.restricts_classes:
        return Grouping(grouping.order, require_diverse(problem, grouping.order, grouping.ends))

    def merge(part: Grouping) -> Grouping:
        ends = merge_until_diverse(problem.demand, sensitive_codes(problem, part.order), part.ends)
        return Grouping(part.order if ends.size else part.order[:0], ends)

    return merge_by_region(grouping, regions_of(problem, ladders), merge)


def regions_of(problem: Problem, ladders: list[list[Level]]) -> NDArray[np.int64]:
    """The region of every record: only records with equal labels at the last level of all columns may share a class."""
    top, codes = [ladder[-1] for ladder in ladders], [column.codes for column in problem.columns]
    return number_classes(top, codes, np.ones(problem.rows, dtype=np.int64))[0].astype(np.int64)


def merge_by_region(
    grouping: Grouping, region_of: NDArray[np.int64], merge: Callable[[Grouping], Grouping]
) -> Grouping:
    """Merge classes region by region; every class lies in one region. `merge` may leave records out."""
    regions = Grouping.by_class(region_of[grouping.order[grouping.ends - 1]]).members
    return Grouping.chain(merge(grouping.take(classes)) for classes in regions)
