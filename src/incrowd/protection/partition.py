"""Local recoding by recursive splits: the default. Classes of k to 2k-1, made where records are alike."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import part, silent
from incrowd.backends import class_numbers, pack
from incrowd.protection.by_levels import classes_by_levels, merge_by_region, regions_of, settle_kept_rows
from incrowd.protection.hierarchies import Level
from incrowd.protection.k_map import covers_few, merge_until_mapped
from incrowd.protection.lattice import ladders_of
from incrowd.protection.merge_classes import (
    SecretCodes,
    find_diverse,
    find_within,
    is_diverse,
    merge_until_close,
    merge_until_within,
    require_diverse,
    secret_codes,
    sensitive_codes,
)
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes, split_by_group

_PART = 256  # records among which a class picks its members: more is better and slower
_SUBTREES = 32  # parts that are worked on at the same time


def partition(problem: Problem) -> Recoding:
    """Make classes of records that are alike, each written as the range, set or label of its members."""
    grouping = partition_classes(problem)
    kept_rows = settle_kept_rows(problem, grouping.order)
    return replace(generalise_classes(problem, grouping), kept_rows=kept_rows)


def partition_classes(problem: Problem) -> Grouping:
    """Split records at the median of the column that varies most until few are left; make classes among those.

    Records that k or more share already are left as they are. With l-diversity, neighbouring classes are joined until
    each is diverse; with t-closeness, classes that are too far from the table are merged with others. Where there are
    hierarchies, or wishes that restrict classes, classes are made along levels instead. Groups of records that are not
    to be mixed are split one by one. Classes are merged only where the wishes allow it.
    """
    ladders = ladders_of(problem) if problem.hierarchies or problem.wishes.restrict else None
    group_of = _group(problem) if problem.asked else None
    made = _classes(problem, ladders) if group_of is None else _classes_in_groups(problem.counted(), ladders, group_of)
    demand = problem.demand
    if demand.t is None and not demand.limits_shares and demand.k_map is None:
        return made
    problem.progress("merging classes", 0.8)
    region_of = group_of
    if problem.wishes.restrict:
        assert ladders is not None
        region_of = regions_of(problem, ladders)
        if group_of is not None:
            region_of = np.unique(group_of * problem.rows + region_of, return_inverse=True)[1]
    if region_of is not None:
        return _merge_in_regions(problem.counted(), made, region_of)
    return _merge(problem, made, [secret_codes(column) for column in problem.sensitive])


def _merge(problem: Problem, made: Grouping, secrets: Sequence[SecretCodes]) -> Grouping:
    """Merge classes for t, beta, delta and k-map."""
    demand = problem.demand
    if demand.t is not None:
        made = merge_until_close(problem.points(), problem.nominal(), problem.power, made, secrets, demand.t)
    if demand.limits_shares:
        made = merge_until_within(demand, problem.points(), made, secrets)
    return made if demand.k_map is None else merge_until_mapped(problem, made)


def _merge_in_regions(problem: Problem, made: Grouping, region_of: NDArray[np.int64]) -> Grouping:
    """Merge only classes of one region; where not even all of a region together are enough, they are left out.

    Classes are compared with the records that stay, so that leaving some out may take further merging.
    """
    while made.ends.size:
        secrets = [secret_codes(column, made.order) for column in problem.sensitive]

        def merge(part: Grouping, secrets: Sequence[SecretCodes] = secrets) -> Grouping:
            rows = part.order
            there = [secret._replace(codes=secret.codes[rows]) for secret in secrets]
            found = _merge(problem.part(rows, silent), Grouping(np.arange(rows.size), part.ends), there)
            return Grouping(rows[found.order], found.ends)

        made = merge_by_region(made, region_of, merge)
        good = find_within(problem.demand, secrets, made.order, made.ends)
        if problem.demand.k_map is not None:
            good &= ~covers_few(problem, made)
        if good.all():
            break
        made = made.take(np.flatnonzero(good))
    return made


def _classes(problem: Problem, ladders: list[list[Level]] | None) -> Grouping:
    """Classes along levels, or wherever records are alike."""
    if ladders is not None:
        return classes_by_levels(problem, ladders)
    frozen, pool = _split_off_safe(problem)
    return Grouping.chain([frozen, _classes_of(problem, pool)]) if pool.size else frozen


def _classes_in_groups(problem: Problem, ladders: list[list[Level]] | None, group_of: NDArray[np.int64]) -> Grouping:
    """The classes of every group of records."""
    groups, made = split_by_group(group_of), []
    for done, members in enumerate(groups):
        tell = part(problem.progress, done / len(groups), (done + 1) / len(groups))
        found = _classes(problem.part(members, tell), ladders)
        made.append(Grouping(members[found.order], found.ends))
    return Grouping.chain(made)


def _group(problem: Problem) -> NDArray[np.int64]:
    """The group of every record: groups are split by who was asked, one question after the other.

    A part that can make no class is joined with the one that is most like it.
    """
    group_of = np.zeros(problem.rows, dtype=np.int64)
    for sides, runs in problem.asked:
        both = np.unique(group_of * (int(runs.max()) + 1) + runs, return_inverse=True)[1]
        parts = split_by_group(both)
        first = np.array([rows[0] for rows in parts])
        ends = np.flatnonzero(np.diff(group_of[first], append=-1)) + 1
        for start, end in pairwise([0, *ends.tolist()]):
            group = {part: parts[part] for part in range(start, end)}
            while len(group) > 1 and (small := _smallest_part(problem, group)) is not None:
                rows = group.pop(small)
                at, others = first[small], first[list(group)]
                nearest = np.lexsort([np.abs(runs[others] - runs[at]), np.abs(sides[others] - sides[at])])[0]
                group[list(group)[nearest]] = np.concatenate([group[list(group)[nearest]], rows])
            for number, rows in group.items():
                both[rows] = number
        group_of = np.unique(both, return_inverse=True)[1]
    return group_of


def _smallest_part(problem: Problem, group: dict[int, NDArray[np.int64]]) -> int | None:
    """The smallest part of a group that can make no class, None where all can."""
    by_size = sorted(group, key=lambda part: group[part].size)
    return next((part for part in by_size if not _can_make_class(problem, group[part])), None)


def _split_off_safe(problem: Problem) -> tuple[Grouping, NDArray[np.int64]]:
    """Separate the classes that satisfy the demand as they are from the records of all others."""
    k = problem.demand.k
    numbers, sizes = class_numbers(pack(problem.columns))
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(sizes)
    safe = sizes >= k
    if problem.demand.l is not None:
        safe &= find_diverse(problem.demand, sensitive_codes(problem, order), ends)
    in_pool = ~safe[numbers]
    if in_pool.any() and (problem.demand.l is not None or in_pool.sum() < k):
        # too few are left to make a class among themselves: the smallest safe classes join them
        for number in np.argsort(np.where(safe, sizes, sizes.max() + 1), kind="stable"):
            if _can_make_class(problem, np.flatnonzero(in_pool)) or not safe[number]:
                break
            safe[number] = False
            in_pool[order[ends[number] - sizes[number] : ends[number]]] = True
    frozen = order[np.repeat(safe, sizes)]
    return Grouping(frozen, np.cumsum(sizes[safe])), np.flatnonzero(in_pool)


def _can_make_class(problem: Problem, rows: NDArray[np.int64]) -> bool:
    """True if the records that must change can make a class that satisfies what is asked."""
    demand = problem.demand
    return rows.size >= demand.k and (demand.l is None or is_diverse(demand, sensitive_codes(problem, rows)))


def _classes_of(problem: Problem, pool: NDArray[np.int64]) -> Grouping:
    """Classes among some records."""
    points = problem.points()
    if pool.size < problem.rows:
        points = points[pool]
    made = split_into_classes(problem, points, pool, problem.nominal())
    if problem.demand.l is not None:
        return Grouping(made.order, require_diverse(problem, made.order, made.ends))
    return made


def split_into_classes(
    problem: Problem, points: NDArray[np.float32], rows: NDArray[np.int64], nominal: NDArray[np.float64]
) -> Grouping:
    """Run the compiled partition, parts of the table at the same time. `points` and `rows` are rearranged."""
    from incrowd.protection import kernels

    k, n = problem.demand.smallest, rows.size
    problem.progress("splitting records", 0.0)
    parts = kernels.split(points, rows, 0, n, k, max(n // _SUBTREES, _PART), np.empty(n, dtype=np.float32))
    limit = max(_PART, 8 * k)

    def classes(part: int) -> NDArray[np.int64]:
        found: NDArray[np.int64] = kernels.partition(
            points, rows, parts[part], parts[part + 1], k, limit, nominal, problem.power
        )
        return found

    ends = []
    with ThreadPoolExecutor(2) as pool:
        for done, found in enumerate(pool.map(classes, range(parts.size - 1))):
            problem.progress("making classes", (done + 1) / (parts.size - 1))
            ends.append(found)
    return Grouping(rows, np.concatenate(ends))
