"""Protection of people with several records: a class holds people with the same number of records."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
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
from incrowd.protection.partition import split_into_classes, split_off_safe
from incrowd.protection.problem import Problem
from incrowd.protection.recoding import Grouping, Recoding, generalise_classes


def partition_histories(problem: Problem, person: Coded) -> Recoding:
    """Put people with similar histories into classes, and make their histories equal, record by record.

    Each person's records are sorted. People with the same number of records are partitioned as single records are, and
    the first records of a class get equal quasi-identifiers, its second records, and so on. If fewer than k people have
    some number of records, their records beyond the next smaller number are dropped, as in Table 3 of the leak-attack
    paper.

    An attacker who knows a history knows its order, so l, t, beta and delta must hold among the first records of a
    class, among its second records, and so on: each position is treated as a sensitive column of people.

    Where wishes restrict classes, people may share a class only if their records are of the same region at every
    position. People without a class are suppressed, as far as the demand allows it.
    """
    points = problem.points()
    region_of = regions_of(problem, ladders_of(problem)) if problem.restricts_classes else None
    order = _order_by_person(points, person, region_of)
    lengths = person.tally
    blocks = _blocks_of_people(problem, order, lengths, region_of)
    record_of = class_numbers(pack(problem.columns))[0]
    while True:
        kept = np.concatenate([order[:0], *(rows.ravel() for rows in blocks)])
        if not kept.size:
            require_few_left_out(problem, problem.rows)
        secrets = [secret_codes(column, kept) for column in problem.sensitive]
        groupings = [_classes_of_people(problem, points, rows, record_of[rows], secrets) for rows in blocks]
        blocks_and_classes = list(zip(blocks, groupings, strict=True))
        satisfied = [
            rows
            for rows, classes in blocks_and_classes
            if region_of is None or _is_enough(problem, rows, classes, secrets)
        ]
        if len(satisfied) == len(blocks):
            break
        blocks = satisfied
    left_out = problem.rows - int(lengths[np.unique(person.codes[kept])].sum())
    require_few_left_out(problem, left_out)
    recoding = generalise_classes(problem, Grouping.chain(_classes_of_records(*pair) for pair in blocks_and_classes))
    if kept.size == problem.rows:
        return recoding
    dropped = problem.rows - kept.size - left_out
    notes = [f"{left_out:,} records are of people for whom there is no class within the wishes"] if left_out else []
    notes += [f"{dropped:,} records were dropped so that histories in a class have the same length"] if dropped else []
    return replace(recoding, kept_rows=np.sort(kept), notes=tuple(notes))


def _classes_of_records(rows: NDArray[np.int64], people: Grouping) -> Grouping:
    """Classes of records from classes of people: the first records of a class, its second records, and so on."""
    length = rows.shape[1]
    records = np.concatenate([rows[members].T.ravel() for members in people.members])
    return Grouping(records, np.cumsum(np.repeat(people.sizes, length)))


def _order_by_person(
    points: NDArray[np.float32], person: Coded, region_of: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Order of records: by person, then region, then columns, those that vary most within people first."""
    counts = person.tally
    variation = np.empty(points.shape[1])
    for c in range(points.shape[1]):
        means = np.bincount(person.codes, weights=points[:, c], minlength=person.size) / counts
        variation[c] = np.square(points[:, c] - means[person.codes]).sum()
    keys: list[NDArray[Any]] = [points[:, c] for c in np.argsort(variation, kind="stable")]
    keys += [] if region_of is None else [region_of]
    return np.lexsort([*keys, person.codes])


def _blocks_of_people(
    problem: Problem, order: NDArray[np.int64], lengths: NDArray[np.int64], region_of: NDArray[np.int64] | None
) -> list[NDArray[np.int64]]:
    """Blocks of people who may share classes. A block is a matrix of row numbers, one line for each person.

    People of a block keep the same number of records. With regions, their records also have equal regions position by
    position, and blocks of fewer than k people are left out.
    """
    starts = np.cumsum(lengths) - lengths

    def rows_of(people: NDArray[np.int64], length: int) -> NDArray[np.int64]:
        rows: NDArray[np.int64] = order[starts[people][:, None] + np.arange(length)]
        return rows

    def is_diverse_part(people_of_region: NDArray[np.int64], chosen: NDArray[np.int64], length: int) -> bool:
        return is_diverse(problem.demand, _codes_by_position(problem, rows_of(people_of_region[chosen], length)))

    k, needs_l = problem.demand.k, problem.demand.l is not None
    all_people = np.arange(lengths.size)
    blocks: list[NDArray[np.int64]] = []
    for people_of_region in [all_people] if region_of is None else Grouping.by_class(region_of[order[starts]]).members:
        if people_of_region.size < k:
            continue
        planned = planned_lengths(
            lengths[people_of_region], k, partial(is_diverse_part, people_of_region) if needs_l else None
        )
        for length in np.unique(planned).tolist():
            rows = rows_of(people_of_region[planned == length], length)
            if region_of is None:
                blocks.append(rows)
            else:
                _, profile = np.unique(region_of[rows], axis=0, return_inverse=True)
                blocks += [
                    rows[chosen] for chosen in Grouping.by_class(profile.reshape(-1)).members if chosen.size >= k
                ]
    return blocks


def planned_lengths(
    lengths: NDArray[np.int64], k: int, is_enough: Callable[[NDArray[np.int64], int], bool] | None = None
) -> NDArray[np.int64]:
    """Number of records that every person keeps, so that at least k people share each number of records.

    `is_enough(people, length)` tests further demands on people who keep `length` records. It must be monotone: more
    people or fewer records never break it. If even all people at the smallest length fail it, so does the result.

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
    if not suffices(few, shortest):  # shorten the histories of others to this length, the next longer ones first
        longer = np.flatnonzero(planned > shortest)
        longer = longer[np.argsort(planned[longer], kind="stable")]
        enough = bisect_left(range(longer.size), True, key=lambda n: suffices(np.append(few, longer[:n]), shortest))
        planned[longer[:enough]] = shortest
        if longer.size > enough:
            return planned_lengths(planned, k, is_enough)
    return planned


def _codes_by_position(problem: Problem, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Sensitive codes of everybody's first record, second record, …, each position as a column of people."""
    return [codes for position in range(rows.shape[1]) for codes in sensitive_codes(problem, rows[:, position])]


def _classes_of_people(
    problem: Problem,
    points: NDArray[np.float32],
    rows: NDArray[np.int64],
    records: NDArray[np.uint32],
    secrets: Sequence[SecretCodes],
) -> Grouping:
    """Classes of people with the same number of records; `records` tells which of these are equal.

    Equal histories that satisfy k and l already stay as they are. If even all people together miss l or t, the
    guarantee counted on the released table reports it.
    """
    demand, nominal = problem.demand, np.tile(problem.nominal(), rows.shape[1])
    histories = points[rows].reshape(len(rows), -1)
    _, history_of, sizes = np.unique(records, axis=0, return_inverse=True, return_counts=True)
    classes, pool = split_off_safe(
        demand, history_of.reshape(-1), sizes, lambda people: _codes_by_position(problem, rows[people])
    )
    if pool.size:
        made = split_into_classes(problem, histories[pool], pool, nominal)
        if demand.l is not None:
            ends = merge_until_diverse(demand, _codes_by_position(problem, rows[made.order]), made.ends)
            made = Grouping(made.order, ends if ends.size else np.array([made.order.size]))
        classes = Grouping.chain([classes, made])
    if demand.t is not None:
        classes = merge_until_close(histories, nominal, problem.power, classes, _by_position(secrets, rows), demand.t)
    if demand.limits_shares:
        classes = merge_until_within(demand, histories, classes, _by_position(secrets, rows))
    return classes


def _by_position(secrets: Sequence[SecretCodes], rows: NDArray[np.int64]) -> list[SecretCodes]:
    """Sensitive columns of everybody's first record, second record, …, with the distribution over all records."""
    return [
        secret._replace(codes=secret.codes[rows[:, position]])
        for position in range(rows.shape[1])
        for secret in secrets
    ]


def _is_enough(problem: Problem, rows: NDArray[np.int64], classes: Grouping, secrets: Sequence[SecretCodes]) -> bool:
    """True if all classes of people satisfy l, t, beta and delta."""
    good = find_within(problem.demand, _by_position(secrets, rows), classes.order, classes.ends)
    if problem.demand.l is not None:
        good &= find_diverse(problem.demand, _codes_by_position(problem, rows[classes.order]), classes.ends)
    return bool(good.all())
