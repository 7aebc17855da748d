"""Protection of people with several records: a class is made of people with the same number of records."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.protection.by_levels import regions_of, require_few_left_out
from incrowd.protection.lattice import ladders_of
from incrowd.protection.merge_classes import (
    SecretCodes,
    find_diverse,
    find_within,
    is_diverse,
    merge_until_close,
    merge_until_diverse,
    merge_until_within,
    secret_codes,
    sensitive_codes,
)
from incrowd.protection.partition import split_into_classes
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes, split_by_group


def partition_histories(problem: Problem, person: Coded) -> Recoding:
    """Put people into classes whose histories look alike, record by record.

    Each person's records are put in order, people with the same number of records are split as single records are, and
    the first records of a class become alike, its second records, and so on. Where fewer than k people have a number
    of records, those beyond the next smaller number are dropped (Table 3 of the leak-attack paper does the same).

    An attacker who knows a history knows each record of it, so l, t, beta and delta are reached by the first records of
    every class, by its second records, and so on: each is a sensitive column of people.

    Where wishes restrict classes, only people are classed together whose first records are of one region, second
    records too, and so on. People for whom there is no class so are left out, as far as rows may be suppressed.
    """
    points = problem.points()
    region_of = regions_of(problem, ladders_of(problem)) if problem.wishes.restrict else None
    order = _order_by_person(points, person, region_of)
    lengths = np.bincount(person.codes, minlength=person.size)
    blocks = _blocks_of_people(problem, order, lengths, region_of)
    while True:
        kept = np.concatenate([order[:0], *(rows.ravel() for rows in blocks)])
        if not kept.size:
            require_few_left_out(problem, problem.rows)
        secrets = [secret_codes(column, kept) for column in problem.sensitive]
        made = [_classes_of_people(problem, points, rows, secrets) for rows in blocks]
        pairs = list(zip(blocks, made, strict=True))
        enough = [rows for rows, classes in pairs if region_of is None or _is_enough(problem, rows, classes, secrets)]
        if len(enough) == len(blocks):
            break
        blocks = enough
    left_out = problem.rows - int(lengths[np.unique(person.codes[kept])].sum())
    require_few_left_out(problem, left_out)
    recoding = generalise_classes(problem, Grouping.chain(_classes_of_records(*pair) for pair in pairs))
    if kept.size == problem.rows:
        return recoding
    dropped = problem.rows - kept.size - left_out
    notes = [f"{left_out:,} records are of people for whom there is no class within the wishes"] if left_out else []
    notes += [f"{dropped:,} records were dropped so that histories in a class have the same length"] if dropped else []
    return replace(recoding, kept_rows=np.sort(kept), notes=tuple(notes))


def _classes_of_records(rows: NDArray[np.int64], people: Grouping) -> Grouping:
    """The first records of every class of people, its second records, and so on."""
    length = rows.shape[1]
    records = np.concatenate([rows[members].T.ravel() for members in people.members])
    return Grouping(records, np.cumsum(np.repeat(people.sizes, length)))


def _order_by_person(
    points: NDArray[np.float32], person: Coded, region_of: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Order of records: by person, then by region, then by the column that varies most within people, and so on."""
    counts = np.bincount(person.codes, minlength=person.size)
    within = np.empty(points.shape[1])
    for c in range(points.shape[1]):
        means = np.bincount(person.codes, weights=points[:, c], minlength=person.size) / counts
        within[c] = np.square(points[:, c] - means[person.codes]).sum()
    keys: list[NDArray[Any]] = [points[:, c] for c in np.argsort(within, kind="stable")]
    keys += [] if region_of is None else [region_of]
    return np.lexsort([*keys, person.codes])


def _blocks_of_people(
    problem: Problem, order: NDArray[np.int64], lengths: NDArray[np.int64], region_of: NDArray[np.int64] | None
) -> list[NDArray[np.int64]]:
    """The people among whom classes are made: of each such block a matrix of rows, one line for each person.

    They keep the same number of records. Where there are regions, these are the same record by record, and blocks of
    fewer than k people are left out.
    """
    starts = np.cumsum(lengths) - lengths

    def rows_of(people: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = order[starts[people][:, None] + np.arange(length)]
        return rows

    def is_diverse_part(some: NDArray[np.int64], chosen: NDArray[np.int64], length: int) -> bool:
        return is_diverse(problem.demand, _codes_by_position(problem, rows_of(some[chosen], length)))

    k, needs_l = problem.demand.k, problem.demand.l is not None
    everybody = np.arange(lengths.size)
    blocks: list[NDArray[np.int64]] = []
    for some in [everybody] if region_of is None else split_by_group(region_of[order[starts]]):
        if some.size < k:
            continue
        planned = planned_lengths(lengths[some], k, partial(is_diverse_part, some) if needs_l else None)
        for length in np.unique(planned).tolist():
            rows = rows_of(some[planned == length], length)
            if region_of is None:
                blocks.append(rows)
            else:
                _, shape = np.unique(region_of[rows], axis=0, return_inverse=True)
                blocks += [rows[chosen] for chosen in split_by_group(shape.reshape(-1)) if chosen.size >= k]
    return blocks


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
) -> Grouping:
    """People with the same number of records in classes.

    Where not even all together reach l or t, the guarantee that is counted on the table says so.
    """
    demand, nominal = problem.demand, np.tile(problem.nominal(), rows.shape[1])
    wide = points[rows].reshape(len(rows), -1)
    made = split_into_classes(problem, wide.copy(), np.arange(len(rows)), nominal)
    if demand.l is not None:
        ends = merge_until_diverse(demand, _codes_by_position(problem, rows[made.order]), made.ends)
        made = Grouping(made.order, ends if ends.size else np.array([len(rows)]))
    if demand.t is not None:
        made = merge_until_close(wide, nominal, problem.power, made, _by_position(secrets, rows), demand.t)
    if demand.limits_shares:
        made = merge_until_within(demand, wide, made, _by_position(secrets, rows))
    return made


def _by_position(secrets: Sequence[SecretCodes], rows: NDArray[np.int64]) -> list[SecretCodes]:
    """The sensitive values of everybody's first record, second record, … beside the distribution in all records."""
    return [
        secret._replace(codes=secret.codes[rows[:, position]])
        for position in range(rows.shape[1])
        for secret in secrets
    ]


def _is_enough(problem: Problem, rows: NDArray[np.int64], classes: Grouping, secrets: Sequence[SecretCodes]) -> bool:
    """True if classes of people reach what is asked of sensitive columns."""
    good = find_within(problem.demand, _by_position(secrets, rows), classes.order, classes.ends)
    if problem.demand.l is not None:
        good &= find_diverse(problem.demand, _codes_by_position(problem, rows[classes.order]), classes.ends)
    return bool(good.all())
