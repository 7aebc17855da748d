"""Local recoding by recursive splits: the default. Classes of k to 2k-1, made where records are alike."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import class_numbers, pack
from incrowd.errors import UnsupportedError
from incrowd.protection.problem import DIVERSITIES, Demand, Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes
from incrowd.protection.repair import merge_until_close, secret_codes

_PART = 256  # records among which a class picks its members: more is better and slower
_SUBTREES = 32  # parts that are worked on at the same time


def partition(problem: Problem) -> Recoding:
    """Make classes of records that are alike, each written as the range or set of its members."""
    return generalise_classes(problem, partition_classes(problem))


def partition_classes(problem: Problem) -> Grouping:
    """Split records at the median of the column that varies most until few are left; make classes among those.

    Records that k or more share already are left as they are. With l-diversity, neighbouring classes are joined until
    each is diverse; with t-closeness, classes that are too far from the table are merged with others.
    """
    frozen, pool = _split_off_safe(problem)
    order, ends = _classes_of(problem, pool) if pool.size else (pool, np.zeros(0, dtype=np.int64))
    made = Grouping(np.concatenate([frozen.order, order]), np.concatenate([frozen.ends, ends + frozen.order.size]))
    if problem.demand.t is None:
        return made
    problem.progress("merging classes far from the table", 0.8)
    secrets = [secret_codes(column) for column in problem.sensitive]
    return merge_until_close(problem.points(), problem.nominal(), problem.power, made, secrets, problem.demand.t)


def _split_off_safe(problem: Problem) -> tuple[Grouping, NDArray[np.int64]]:
    """Separate the classes that satisfy the demand as they are from the records of all others."""
    k = problem.demand.k
    numbers, sizes = class_numbers(pack(problem.columns))
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(sizes)
    safe = sizes >= k
    if problem.demand.l is not None:
        safe &= _find_diverse(problem, order, ends)
    in_pool = ~safe[numbers]
    if in_pool.any() and (problem.demand.l is not None or in_pool.sum() < k):
        # too few are left to make a class among themselves: the smallest safe classes join them
        for number in np.argsort(np.where(safe, sizes, sizes.max() + 1), kind="stable"):
            if _can_make_class(problem, in_pool) or not safe[number]:
                break
            safe[number] = False
            in_pool[order[ends[number] - sizes[number] : ends[number]]] = True
    frozen = order[np.repeat(safe, sizes)]
    return Grouping(frozen, np.cumsum(sizes[safe])), np.flatnonzero(in_pool)


def _can_make_class(problem: Problem, in_pool: NDArray[np.bool_]) -> bool:
    """Whether the records that must change can make a class that satisfies what is asked."""
    if in_pool.sum() < problem.demand.k:
        return False
    rows = np.flatnonzero(in_pool)
    return problem.demand.l is None or is_diverse(problem.demand, sensitive_codes(problem, rows))


def _find_diverse(problem: Problem, order: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which classes are l-diverse without being joined to others."""
    diverse = np.zeros(ends.size, dtype=np.bool_)
    starts = np.concatenate([[0], ends[:-1]])
    for number in np.flatnonzero(ends - starts >= problem.demand.k):
        rows = order[starts[number] : ends[number]]
        diverse[number] = is_diverse(problem.demand, sensitive_codes(problem, rows))
    return diverse


def _classes_of(problem: Problem, pool: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Classes among some records: their order, and where classes end in it."""
    points = problem.points()
    if pool.size < problem.rows:
        points = points[pool]
    rows, ends = split_into_classes(problem, points, pool, problem.nominal())
    if problem.demand.l is not None:
        ends = merge_until_diverse(problem.demand, sensitive_codes(problem, rows), ends)
        if not ends.size:
            raise UnsupportedError(
                f"the records are not {problem.demand.l:g}-diverse ({problem.demand.diversity}) even all together; "
                f"ask for a smaller l"
            )
    return rows, ends


def split_into_classes(
    problem: Problem, points: NDArray[np.float32], rows: NDArray[np.int64], nominal: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    return rows, np.concatenate(ends)


def sensitive_codes(problem: Problem, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The codes of some rows in every sensitive column."""
    return [column.codes[rows].astype(np.int64) for column in problem.sensitive]


def merge_until_diverse(
    demand: Demand, sensitive: Sequence[NDArray[np.int64]], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Merge neighbouring classes until each is l-diverse in every sensitive column.

    A union of diverse classes is diverse, so one column after the other keeps what was reached.

    Args:
        demand: the l that is asked for, and its kind.
        sensitive: the codes of every sensitive column, class by class.
        ends: where classes end.

    Returns:
        Where classes end now; nothing where not even all together are diverse.
    """
    from incrowd.protection import kernels_classes

    kind, l = DIVERSITIES.index(demand.diversity), float(demand.l or 1)  # noqa: E741
    for codes in sensitive:
        values = int(codes.max(initial=0)) + 1
        ends = kernels_classes.merge_until_diverse(codes, ends, values, kind, l, float(demand.c))
    return ends


def is_diverse(demand: Demand, sensitive: Sequence[NDArray[np.int64]]) -> bool:
    """Whether one class with these codes is l-diverse in every sensitive column."""
    return merge_until_diverse(demand, sensitive, np.array([sensitive[0].size])).size > 0
