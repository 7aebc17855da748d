"""The default method: local recoding by recursive splits, in classes of k to 2k-1 similar records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import silent
from incrowd._support.threads import map_in_threads
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
from incrowd.protection.problem import Demand, Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes

_PART = 256  # records of a part, within which classes are made: more is better and slower
_SUBTREES = 32  # parts that are processed in parallel
_FEW_ROWS = 4_000  # below this number of rows no thread is started

_CodesOf = Callable[[NDArray[np.int64]], list[NDArray[np.int64]]]  # the sensitive codes of some members


def partition(problem: Problem) -> Recoding:
    """Make classes of similar records; the cells of a class become the range, set or label of its members."""
    grouping = partition_classes(problem)
    kept_rows = settle_kept_rows(problem, grouping.order)
    return replace(generalise_classes(problem, grouping), kept_rows=kept_rows)


def partition_classes(problem: Problem) -> Grouping:
    """Split records at the median of the column that varies most until parts are small; make classes within parts.

    - Equivalence classes of the original that satisfy the demand do not change.
    - With l, neighbouring classes are merged until each is diverse; with t, beta, delta or k-map, classes that miss the
      demand are merged with others.
    - With hierarchies, or wishes that restrict classes, classes are made along hierarchy levels instead.
    - Classes are merged only within the wishes.
    """
    ladders = ladders_of(problem) if problem.hierarchies or problem.restricts_classes else None
    classes = _classes(problem, ladders)
    demand = problem.demand
    if demand.t is None and not demand.limits_shares and demand.k_map is None:
        return classes
    problem.progress("merging classes", 0.8)
    if not problem.restricts_classes:
        return _merge(problem, classes, [secret_codes(column) for column in problem.sensitive])
    assert ladders is not None
    return _merge_in_regions(problem.counted(), classes, regions_of(problem, ladders))


def _merge(problem: Problem, classes: Grouping, secrets: Sequence[SecretCodes]) -> Grouping:
    """Merge classes for t, beta, delta and k-map."""
    demand = problem.demand
    if demand.t is not None:
        classes = merge_until_close(problem.points(), problem.nominal(), problem.power, classes, secrets, demand.t)
    if demand.limits_shares:
        classes = merge_until_within(demand, problem.points(), classes, secrets)
    return classes if demand.k_map is None else merge_until_mapped(problem, classes)


def _merge_in_regions(problem: Problem, classes: Grouping, region_of: NDArray[np.int64]) -> Grouping:
    """Merge only classes of the same region; classes of a region that still miss the demand are left out.

    Classes are compared with the distribution of the kept records, so leaving records out may require further merging.
    """
    while classes.ends.size:
        secrets = [secret_codes(column, classes.order) for column in problem.sensitive]

        def merge(part: Grouping, secrets: Sequence[SecretCodes] = secrets) -> Grouping:
            rows = part.order
            local_secrets = [secret._replace(codes=secret.codes[rows]) for secret in secrets]
            merged = _merge(problem.part(rows, silent), Grouping(np.arange(rows.size), part.ends), local_secrets)
            return Grouping(rows[merged.order], merged.ends)

        classes = merge_by_region(classes, region_of, merge)
        is_satisfied = find_within(problem.demand, secrets, classes.order, classes.ends)
        if problem.demand.k_map is not None:
            is_satisfied &= ~covers_few(problem, classes)
        if is_satisfied.all():
            break
        classes = classes.take(np.flatnonzero(is_satisfied))
    return classes


def _classes(problem: Problem, ladders: list[list[Level]] | None) -> Grouping:
    """Classes along hierarchy levels, or without levels by similarity of records."""
    if ladders is not None:
        return classes_by_levels(problem, ladders)
    found = class_numbers(pack(problem.columns))
    frozen, pool = split_off_safe(problem.demand, *found, partial(sensitive_codes, problem))
    return Grouping.chain([frozen, _classes_of(problem, pool)]) if pool.size else frozen


def split_off_safe(
    demand: Demand,
    numbers: NDArray[np.integer[Any]],
    sizes: NDArray[np.int64],
    codes_of: _CodesOf,
) -> tuple[Grouping, NDArray[np.int64]]:
    """Separate the equivalence classes that satisfy k and l already from the members of all others.

    Args:
        demand: the guarantee that is asked for.
        numbers: the class of every member.
        sizes: the size of every class.
        codes_of: the sensitive codes of some members; called only where l is asked for.

    Returns:
        The classes that stay as they are, and the members for whom classes are to be made.
    """
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(sizes)
    safe = sizes >= demand.k
    if demand.l is not None:
        safe &= find_diverse(demand, codes_of(order), ends)
    in_pool = ~safe[numbers]
    if in_pool.any() and (demand.l is not None or in_pool.sum() < demand.k):
        # if the others cannot form a class among themselves, the smallest safe classes join them
        for number in np.argsort(np.where(safe, sizes, sizes.max() + 1), kind="stable"):
            if _can_make_class(demand, np.flatnonzero(in_pool), codes_of) or not safe[number]:
                break
            safe[number] = False
            in_pool[order[ends[number] - sizes[number] : ends[number]]] = True
    frozen = order[np.repeat(safe, sizes)]
    return Grouping(frozen, np.cumsum(sizes[safe])), np.flatnonzero(in_pool)


def _can_make_class(demand: Demand, members: NDArray[np.int64], codes_of: _CodesOf) -> bool:
    """True if some members together satisfy k and l."""
    return members.size >= demand.k and (demand.l is None or is_diverse(demand, codes_of(members)))


def _classes_of(problem: Problem, pool: NDArray[np.int64]) -> Grouping:
    """Classes of the records in the pool."""
    points = problem.points()
    if pool.size < problem.rows:
        points = points[pool]
    classes = split_into_classes(problem, points, pool, problem.nominal())
    if problem.demand.l is not None:
        return Grouping(classes.order, require_diverse(problem, classes.order, classes.ends))
    return classes


def split_into_classes(
    problem: Problem, points: NDArray[np.float32], rows: NDArray[np.int64], nominal: NDArray[np.float64]
) -> Grouping:
    """Run the compiled partition on parts of the table in parallel. `points` and `rows` are reordered."""
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
    for done, found in enumerate(map_in_threads(classes, range(parts.size - 1), small=n < _FEW_ROWS, threads=2)):
        problem.progress("making classes", (done + 1) / (parts.size - 1))
        ends.append(found)
    return Grouping(rows, np.concatenate(ends))
