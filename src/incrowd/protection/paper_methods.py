"""Algorithms S2 and S4 of Sánchez, Martínez & Domingo-Ferrer, and a partition that keeps S4's bound at a smaller loss.

S2 sorts records by distance and cuts them into runs of k. S4 makes classes of one record of every stratum of the
sensitive column; they are k-anonymous and t-close.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from incrowd._support.threads import map_in_threads
from incrowd.backends import Coded
from incrowd.protection.problem import Problem, moments, positions
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes

_PART = 128  # records of a part, within which classes are made
_ROUNDS = 2  # rounds of swapping members between classes
_MOST_STRATA_TO_SWAP = 64  # with more strata, swapping takes too long for its gain
_SUBTREES = 32  # parts that are processed in parallel


def distance_to_zero(problem: Problem) -> NDArray[np.float64]:
    """Squared standardised distance (eq. 2) of every record to the record whose quasi-identifiers are all zero.

    The position of text is its rank; a constant column is left out.
    """
    distance = np.zeros(problem.rows)
    for index, column in enumerate(problem.columns):
        place = positions(column)
        _, deviation = moments(column, place, problem.tally(index))
        if deviation > 0.0:
            distance += ((place / deviation) ** 2)[column.codes]
    return distance


def sort(problem: Problem) -> Recoding:
    """Apply algorithm S2: classes of k in ascending order of distance, the last of k to 2k-1."""
    order = np.argsort(distance_to_zero(problem), kind="stable")
    k = problem.demand.k
    ends = np.arange(1, problem.rows // k + 1, dtype=np.int64) * k
    ends[-1] = problem.rows
    return generalise_classes(problem, Grouping(order, ends))


def strata_for(n: int, k: int, t: float | None) -> int:
    """Number of strata such that classes of one record of each stratum satisfy k and t (eq. 7, 8, and step 2 of S4).

    >>> strata_for(3_985_166, 2, 0.1)
    5
    """
    strata = k if t is None else max(k, math.ceil(n / (2 * (n - 1) * t + 1) - 1e-9))
    strata = min(strata, n)
    return strata + (n % strata) // (n // strata)


def bound_on_t(n: int, k: int) -> float:
    """The t that S4 guarantees for classes of k if all sensitive values are different (eq. 6).

    >>> round(bound_on_t(3_985_166, 5), 4)
    0.1
    """
    return (n - k) / (2 * (n - 1) * k)


def t_closeness(problem: Problem, strata: int) -> Recoding:
    """Apply algorithm S4: strata by the sensitive value, each sorted by distance; a class has one record of each."""
    order = by_sensitive(problem.sensitive[0])
    distance = distance_to_zero(problem)
    length = problem.rows // strata
    sorted_strata = np.empty(problem.rows, dtype=np.int64)
    for start in range(0, problem.rows, length):
        stratum = order[start : start + length]
        sorted_strata[start : start + length] = stratum[np.argsort(distance[stratum], kind="stable")]
    return generalise_classes(
        problem, _one_of_each(sorted_strata, strata, length, np.arange(problem.rows - strata * length))
    )


def t_close_partition(problem: Problem, strata: int) -> Recoding:
    """Partition with strata as in S4: all strata are split in parallel at their medians, so that classes have similar
    records.

    If the rows are not a multiple of the strata, the spare records are taken from the middle of the sensitive order,
    where one more record changes the distribution of a class least; each joins the class it widens least.
    """
    from incrowd.protection import kernels_strata

    length = problem.rows // strata
    spare = problem.rows - strata * length
    order = by_sensitive(problem.sensitive[0])
    middle = slice((problem.rows - spare) // 2, (problem.rows + spare) // 2)
    rows = np.concatenate([np.delete(order, middle), order[middle]])
    points, nominal = problem.points()[rows], problem.nominal()
    limit, rounds = max(4, _PART // strata), _ROUNDS if strata <= _MOST_STRATA_TO_SWAP else 0

    problem.progress("splitting records", 0.0)
    parts = kernels_strata.split_strata(points, rows, strata, length, 0, length, max(length // _SUBTREES, limit))

    def classes(part: int) -> None:
        kernels_strata.partition_strata(
            points, rows, strata, length, parts[part], parts[part + 1], limit, nominal, problem.power, rounds
        )

    many = parts.size - 1
    for done, _ in enumerate(map_in_threads(classes, range(many), small=many == 1, threads=2)):
        problem.progress("making classes", (done + 1) / many)
    return generalise_classes(problem, _one_of_each(rows, strata, length, _assign_spare(points, strata, length)))


def by_sensitive(sensitive: Coded) -> NDArray[np.int64]:
    """Indices of the records in ascending order of the sensitive value."""
    return np.argsort(sensitive.codes, kind="stable")


def _assign_spare(points: NDArray[np.float32], strata: int, length: int) -> NDArray[np.int64]:
    """The class of every spare record: the one it widens least; a class takes at most one."""
    members = points[: strata * length].reshape(strata, length, -1)
    low, high = members.min(axis=0), members.max(axis=0)
    class_of_spare = np.empty(len(points) - strata * length, dtype=np.int64)
    width = ((high - low) ** 2).sum(axis=1)
    for index, point in enumerate(points[strata * length :]):
        added_width = ((np.maximum(high, point) - np.minimum(low, point)) ** 2).sum(axis=1) - width
        added_width[class_of_spare[:index]] = np.inf
        class_of_spare[index] = np.argmin(added_width)
    return class_of_spare


def _one_of_each(rows: NDArray[np.int64], strata: int, length: int, class_of_spare: NDArray[np.int64]) -> Grouping:
    """Classes of one record of every stratum; `rows` holds the strata one after the other, then the spare records.

    Spare record i joins class `class_of_spare[i]`.
    """
    sizes = np.full(length, strata, dtype=np.int64)
    sizes[class_of_spare] += 1
    ends = np.cumsum(sizes)
    order = np.empty(rows.size, dtype=np.int64)
    starts = ends - sizes
    order[(starts[:, None] + np.arange(strata)).reshape(-1)] = rows[: strata * length].reshape(strata, length).T.ravel()
    order[ends[class_of_spare] - 1] = rows[strata * length :]
    return Grouping(order, ends)
