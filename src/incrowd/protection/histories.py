"""Protection of people with several records: a class is made of people with the same number of records."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.protection.merge_classes import (
    SecretCodes,
    is_diverse,
    merge_until_close,
    merge_until_diverse,
    secret_codes,
    sensitive_codes,
)
from incrowd.protection.partition import split_into_classes
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes


def partition_histories(problem: Problem, person: Coded) -> Recoding:
    """Put people into classes whose histories look alike, record by record.

    Each person's records are put in order, people with the same number of records are split as single records are, and
    the first records of a class become alike, its second records, and so on. Where fewer than k people have a number
    of records, those beyond the next smaller number are dropped (Table 3 of the leak-attack paper does the same).

    An attacker who knows a history knows each record of it, so l and t are reached by the first records of every class,
    by its second records, and so on: each is a sensitive column of people.
    """
    points = problem.points()
    order = _order_by_person(points, person)
    lengths = np.bincount(person.codes, minlength=person.size)
    starts = np.cumsum(lengths) - lengths

    def is_diverse_group(people: NDArray[np.int64], length: int) -> bool:
        rows = order[starts[people][:, None] + np.arange(length)]
        return is_diverse(problem.demand, _codes_by_position(problem, rows))

    needs_l = problem.demand.l is not None
    planned = planned_lengths(lengths, problem.demand.k, is_diverse_group if needs_l else None)
    kept_rows = np.sort(order[np.arange(order.size) - np.repeat(starts, lengths) < np.repeat(planned, lengths)])
    secrets = [secret_codes(column, kept_rows) for column in problem.sensitive]
    groups: list[NDArray[np.int64]] = []
    sizes: list[NDArray[np.int64]] = []
    for length in np.unique(planned):
        people = np.flatnonzero(planned == length)
        rows = order[starts[people][:, None] + np.arange(length)]
        listed, ends = _classes_of_people(problem, points, rows, secrets)
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
    return replace(recoding, kept_rows=kept_rows, notes=(note,)) if dropped else recoding


def _order_by_person(points: NDArray[np.float32], person: Coded) -> NDArray[np.int64]:
    """Order of records: by person, then by the column that varies most within people, then by the next."""
    counts = np.bincount(person.codes, minlength=person.size)
    within = np.empty(points.shape[1])
    for c in range(points.shape[1]):
        means = np.bincount(person.codes, weights=points[:, c], minlength=person.size) / counts
        within[c] = np.square(points[:, c] - means[person.codes]).sum()
    keys = [points[:, c] for c in np.argsort(within, kind="stable")]
    return np.lexsort([*keys, person.codes])


def planned_lengths(
    lengths: NDArray[np.int64], k: int, is_enough: Callable[[NDArray[np.int64], int], bool] | None = None
) -> NDArray[np.int64]:
    """Number of records every person keeps, so that no number of records is shared by fewer than k people.

    `is_enough` says whether people who keep so many records satisfy what else is asked; people more, or records fewer,
    never make it worse. Where it is not satisfied by all people with the fewest records, nothing can be done.

    >>> planned_lengths(np.array([2, 2, 3, 1, 1, 1, 1]), 3).tolist()
    [2, 2, 2, 1, 1, 1, 1]
    """

    def suffices(people: NDArray[np.int64], length: int) -> bool:
        return people.size >= k and (is_enough is None or is_enough(people, length))

    planned = lengths.copy()
    for length in np.unique(lengths)[::-1].tolist():
        people = np.flatnonzero(planned == length)
        shorter = lengths[lengths < length]
        if people.size and shorter.size and not suffices(people, length):
            planned[people] = shorter.max()
    shortest = int(planned.min())
    few = np.flatnonzero(planned == shortest)
    if not suffices(few, shortest):  # the few with the fewest records: others come down to them, the nearest first
        longer = np.flatnonzero(planned > shortest)
        longer = longer[np.argsort(planned[longer], kind="stable")]
        enough = bisect_left(range(longer.size), True, key=lambda n: suffices(np.append(few, longer[:n]), shortest))
        planned[longer[:enough]] = shortest
        if longer.size > enough:
            return planned_lengths(planned, k, is_enough)
    return planned


def _codes_by_position(problem: Problem, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """The sensitive values of everybody's first record, second record, … as columns of people."""
    return [codes for position in range(rows.shape[1]) for codes in sensitive_codes(problem, rows[:, position])]


def _classes_of_people(
    problem: Problem, points: NDArray[np.float32], rows: NDArray[np.int64], secrets: Sequence[SecretCodes]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """People with the same number of records in classes: their order, and where classes end.

    Where not even all together reach l or t, the guarantee that is counted on the table says so.
    """
    demand, nominal = problem.demand, np.tile(problem.nominal(), rows.shape[1])
    wide = points[rows].reshape(len(rows), -1)
    listed, ends = split_into_classes(problem, wide if demand.t is None else wide.copy(), np.arange(len(rows)), nominal)
    if demand.l is not None:
        ends = merge_until_diverse(demand, _codes_by_position(problem, rows[listed]), ends)
        ends = ends if ends.size else np.array([len(rows)])
    if demand.t is None:
        return listed, ends
    by_position = [
        secret._replace(codes=secret.codes[rows[:, position]])
        for position in range(rows.shape[1])
        for secret in secrets
    ]
    close = merge_until_close(wide, nominal, problem.power, Grouping(listed, ends), by_position, demand.t)
    return close.order, close.ends
