"""Protection of people with several records: a class is made of people with the same number of records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.protection.partition import split_into_classes
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes


def partition_histories(problem: Problem, person: Coded) -> Recoding:
    """Put people into classes whose histories look alike, record by record.

    Each person's records are put in order, people with the same number of records are split as single records are, and
    the first records of a class become alike, its second records, and so on. Where fewer than k people have a number
    of records, those beyond the next smaller number are dropped (Table 3 of the leak-attack paper does the same).
    """
    points = problem.points()
    order = _order_by_person(points, person)
    lengths = np.bincount(person.codes, minlength=person.size)
    starts = np.cumsum(lengths) - lengths
    planned = planned_lengths(lengths, problem.demand.k)
    groups: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    for length in np.unique(planned):
        people = np.flatnonzero(planned == length)
        rows = order[starts[people][:, None] + np.arange(length)]
        listed, ends = _classes_of_people(problem, points, rows, length)
        for_each = np.diff(ends, prepend=0)
        # class after class, and in it first records, second records, …
        place = np.repeat(np.arange(ends.size), for_each)
        key = place[:, None] * length + np.arange(length)
        groups.append(rows[listed].ravel()[np.argsort(key.ravel(), kind="stable")])
        sizes.append(np.repeat(for_each, length))
    grouping = Grouping(np.concatenate(groups), np.cumsum(np.concatenate(sizes)))
    dropped = problem.rows - grouping.order.size
    note = f"{dropped:,} records were dropped so that histories in a class have the same length"
    recoding = generalise_classes(problem, grouping)
    return replace(recoding, kept_rows=np.sort(grouping.order), notes=(note,)) if dropped else recoding


def _order_by_person(points: NDArray[np.float32], person: Coded) -> NDArray[np.int64]:
    """Order of records: by person, then by the column that varies most within people, then by the next."""
    counts = np.bincount(person.codes, minlength=person.size)
    within = np.empty(points.shape[1])
    for c in range(points.shape[1]):
        means = np.bincount(person.codes, weights=points[:, c], minlength=person.size) / counts
        within[c] = np.square(points[:, c] - means[person.codes]).sum()
    keys = [points[:, c] for c in np.argsort(within, kind="stable")]
    return np.lexsort([*keys, person.codes])


def planned_lengths(lengths: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Number of records every person keeps, so that no number of records is shared by fewer than k people.

    >>> planned_lengths(np.array([2, 2, 3, 1, 1, 1, 1]), 3).tolist()
    [2, 2, 2, 1, 1, 1, 1]
    """
    planned = lengths.copy()
    for length in np.unique(lengths)[::-1]:
        people = np.flatnonzero(planned == length)
        shorter = lengths[lengths < length]
        if 0 < people.size < k and shorter.size:
            planned[people] = shorter.max()
    shortest = planned.min()
    missing = k - int((planned == shortest).sum())
    if missing > 0:  # the few with the fewest records: others come down to them, the nearest first
        longer = np.flatnonzero(planned > shortest)
        longer = longer[np.argsort(planned[longer], kind="stable")]
        planned[longer[:missing]] = shortest
        if longer.size > missing:
            return planned_lengths(planned, k)
    return planned


def _classes_of_people(
    problem: Problem, points: NDArray[np.float32], rows: NDArray[np.int64], length: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """People with the same number of records in classes: their order, and where classes end."""
    wide = points[rows].reshape(len(rows), -1)
    return split_into_classes(problem, wide, np.arange(len(rows)), np.tile(problem.nominal(), length))
