"""Determination of one column by another: exactly, or for nearly all records.

A kept column undoes the coarsening of another one if it determines the finer values: a year of birth beside an age in
ranges, an item's name beside its coarsened number. A few altered cells must not hide that. So a functional dependency
counts if it holds for nearly all records and chance does not explain it. It also counts if it holds for single values
only: an indicator that is 1 for one level, an interaction that repeats a column in half of the rows. In the opposite
direction, a column may leave few values of another: a village has few of the rates of all places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.chance import NEARLY_ALL, is_beyond_chance
from incrowd._support.distinct import count_numbers, run_starts
from incrowd.results import Result

_FEWEST = 30  # records that share a value, below which a dependency cannot be distinguished from chance
_ALTERED = 0.01  # share of the records of one value that may be exceptions
_COVERED = 0.9  # share of the records with a usual value, from which the values of a group may be known
_ELSEWHERE = 0.25  # largest share of the other records that have these values
_LARGE, _PARTS = 20_000, 8  # records from which groups are counted in parts, and the number of parts


@dataclass(frozen=True, slots=True)
class Determination(Result):
    """Degree to which one column determines another.

    Attributes:
        records: records that share their value of the first column with at least one other record.
        told: share of these records whose second value is predicted by the other records with the same first value.
        by_chance: share of these records whose second value is predicted without the first column.
        told_by_value: records of those values of the first column that predict the second for practically all records
            with that value, beyond chance.
        telling: those values, as codes, with the values of the second column that they predict.
    """

    records: int
    told: float
    by_chance: float
    told_by_value: int = 0
    telling: Mapping[int, int] = field(default_factory=dict, compare=False, repr=False)
    _hidden: ClassVar[frozenset[str]] = frozenset({"telling"})
    _derived: ClassVar[tuple[str, ...]] = ("gives_away",)

    @property
    def gives_away(self) -> bool:
        """True if the first column gives the second away, for nearly all records or by single values, beyond chance."""
        return self.tells_nearly_all or self.told_by_value > 0

    @property
    def tells_nearly_all(self) -> bool:
        """True if the first column tells the second for nearly all records, and chance does not explain it."""
        errors, of_chance = (self.records * (1.0 - share) for share in (self.told, self.by_chance))
        return self.records >= _FEWEST and self.told >= NEARLY_ALL and bool(is_beyond_chance(errors, of_chance))

    @property
    def given_away(self) -> float:
        """The share of records given away: `told` if that is nearly all, else the share of the telling values."""
        return self.told if self.tells_nearly_all else self.told_by_value / max(self.records, 1)


def determination(one: NDArray[Any], other: NDArray[Any], times: NDArray[np.int64] | None = None) -> Determination:
    """Degree to which the codes of one column determine those of another.

    A record is told (predicted) if its value of `other` is the unique most frequent one among the *other* records with
    the same value of `one`. A record never predicts itself, so a column of all different values predicts nothing.

    Args:
        one: codes from 0 of the column that may give the other away.
        other: codes from 0 of the column that may be given away.
        times: the number of records that each entry stands for; None: one each.

    Returns:
        The share of records told, and the share that chance tells.

    >>> school = np.repeat(np.arange(10), 20)
    >>> determination(school, school // 2).gives_away, determination(school // 2, school).gives_away
    (True, False)
    >>> determination(np.arange(200), school).records
    0
    """
    width = np.int64(other.max(initial=0)) + 1
    cells, counts = count_numbers(one.astype(np.int64) * width + other, times)
    starts = run_starts(cells // width)
    groups = np.repeat(np.arange(starts.size), np.diff(starts, append=cells.size))
    most = np.maximum.reduceat(counts, starts)[groups]
    size = np.add.reduceat(counts, starts)[groups]
    ties = np.add.reduceat(counts == most, starts)[groups]
    second = np.maximum.reduceat(np.where(counts == most, 0, counts), starts)[groups]
    rival = np.where((counts == most) & (ties == 1), second, most)
    shared = size > 1
    told = np.add.reduceat(np.where(shared & (counts - 1 > rival), counts, 0), starts)
    sizes = np.add.reduceat(np.where(shared, counts, 0), starts)
    records = int(sizes.sum())
    if not records:
        return Determination(0, 0.0, 0.0)
    overall = np.bincount(cells[shared] % width, weights=counts[shared])
    by_chance = float(overall.max()) / records
    errors, of_chance = sizes - told, np.maximum(sizes - by_chance * sizes, 0.0)
    tells = (sizes >= _FEWEST) & (errors <= _ALTERED * sizes) & is_beyond_chance(errors, of_chance)
    likeliest = cells[(counts == most) & tells[groups]]  # one a value: the second is far less frequent
    return Determination(
        *(records, int(told.sum()) / records, by_chance, int(sizes[tells].sum())),
        telling=dict(zip((likeliest // width).tolist(), (likeliest % width).tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class UsualValues:
    """The usual values of one column for each value of another: the most frequent ones, which cover nearly all records.

    Attributes:
        cells: the numbers value of the first column × (number of values of the second) + usual value, ascending.
        records: records that share their value of the first column with at least one other record.
        covered: share of these records that have a usual value of their first value.
        elsewhere: share that have it among all records with another first value, on average over these records; 1 if
            there are no others, as where only people with one first value were asked.
    """

    cells: NDArray[np.int64]
    records: int
    covered: float
    elsewhere: float

    @property
    def are_few(self) -> bool:
        """True if nearly all records have a usual value, and few records of other values of the first column do."""
        return self.records >= _FEWEST and self.covered >= _COVERED and self.elsewhere <= _ELSEWHERE


def usual_values(one: NDArray[Any], other: NDArray[Any], tally: NDArray[np.int64]) -> UsualValues:
    """The values of one column that are usual for each value of another. A value of a single record is not usual.

    Args:
        one: codes from 0 of the column whose values are looked at, perhaps only all records of some of them.
        other: codes from 0 of the column whose values may be few.
        tally: the number of records with each code of `other`, in the whole table.

    >>> village = np.repeat(np.arange(20), 30)
    >>> rate = village // 2 + 10 * (np.arange(600) % 3)  # three rates in each village, which two villages share
    >>> found = usual_values(village, rate, np.bincount(rate))
    >>> found.are_few, found.covered, round(found.elsewhere, 2)
    (True, 1.0, 0.05)
    """
    cells, counts = count_numbers(one.astype(np.int64) * tally.size + other)
    sizes = np.bincount(one)
    order = np.lexsort((-counts, cells // tally.size))
    ordered, value = counts[order], cells[order] // tally.size
    starts = run_starts(value)
    before = np.cumsum(ordered) - ordered
    before -= np.repeat(before[starts], np.diff(starts, append=ordered.size))
    is_usual = (before < NEARLY_ALL * sizes[value]) & (ordered > 1)
    order, ordered, value = order[is_usual], ordered[is_usual], value[is_usual]
    others = np.bincount(value, tally[cells[order] % tally.size] - ordered, sizes.size)
    shared = np.where(sizes > 1, sizes, 0)
    records = int(shared.sum())
    compared = tally.sum() - sizes
    shares = np.where(compared > 0, others / np.maximum(compared, 1), 1.0)
    of = max(records, 1)
    return UsualValues(np.sort(cells[order]), records, int(ordered.sum()) / of, float(shared @ shares) / of)


def _against_shuffled(
    one: NDArray[Any], count: Callable[[NDArray[Any], NDArray[np.bool_]], int], within: NDArray[Any] | None
) -> Determination:
    """Determination by groups of equal codes, compared with groups of the same sizes and random members.

    A large table is counted part by part and stops early if the errors are too many; `told` is then an upper bound, and
    `by_chance` is 1. Single values (`told_by_value`) are not counted: wide ranges share a point in many groups anyway.

    Args:
        one: codes from 0; records with the same code are a group.
        count: callback that counts the records told in some groups, given the codes and the mask of the groups' rows.
        within: codes of a known column; random members then have the same codes as the members. None: any records.
    """
    sizes = np.bincount(one)
    records = int(sizes[sizes > 1].sum())
    if not records:
        return Determination(0, 0.0, 0.0)
    parts = 1 if one.size < _LARGE else _PARTS
    shared, told = (sizes > 1)[one], records
    for number in range(parts):
        rows = shared & (one % parts == number) if parts > 1 else shared
        told -= int(np.count_nonzero(rows)) - count(one, rows) if rows.any() else 0
        if number < parts - 1 and told < NEARLY_ALL * records:
            return Determination(records, told / records, 1.0)
    random = np.random.default_rng(0)
    if within is None:
        shuffled = random.permutation(one)
    else:
        shuffled = np.empty_like(one)
        shuffled[np.argsort(within, kind="stable")] = one[np.lexsort((random.random(one.size), within))]
    return Determination(records, told / records, count(shuffled, (sizes > 1)[shuffled]) / records)


def range_determination(
    one: NDArray[Any], low: NDArray[Any], high: NDArray[Any], within: NDArray[Any] | None = None
) -> Determination:
    """Degree to which the codes of one column determine the values behind ranges, if only the ranges are known.

    If the column determines the value, the ranges of all records that share a code have a point in common. So the
    records told in a group are the largest number of ranges with a common point. Chance is the same count with codes
    in random order.

    Args:
        one: codes from 0 of the column that may give the values away.
        low: lower limit of each record's range, or its rank among all limits (a whole number from 0).
        high: upper limit of each record's range, included.
        within: codes of a known column; chance is then that of records with equal codes. None: of all records.

    Returns:
        The share of records told, and the share that chance tells.

    >>> age = np.repeat(np.arange(20.0, 60.0), 8)
    >>> start = age - np.tile(np.arange(8.0), 40)  # overlapping ranges of width 8 that hold the age
    >>> year = (2000 - age).astype(np.int64)
    >>> range_determination(year, start, start + 8).gives_away
    True
    >>> range_determination(np.arange(320) % 40, start, start + 8).gives_away
    False
    """
    ends = np.concatenate([low, high])
    if ends.dtype.kind == "f":  # only the order counts
        ends = np.unique(ends, return_inverse=True)[1]
    low, high = np.split(ends.astype(np.int64), 2)
    return _against_shuffled(one, lambda codes, rows: _in_common(codes[rows], low[rows], high[rows]), within)


def set_determination(
    one: NDArray[Any],
    labels: NDArray[Any],
    members: Sequence[NDArray[np.int64]],
    within: NDArray[Any] | None = None,
) -> Determination:
    """Degree to which the codes of one column determine the values behind sets, if only the sets are known.

    If the column determines the value, the sets of all records that share a code have a member in common. So the
    records told in a group are the largest number of sets with a common member. Chance is the same count with codes in
    random order.

    Args:
        one: codes from 0 of the column that may give the values away.
        labels: codes from 0 of each record's set.
        members: the members of every set, as codes from 0.
        within: codes of a known column; chance is then that of records with equal codes. None: of all records.

    Returns:
        The share of records told, and the share that chance tells.

    >>> item = np.repeat(np.arange(20), 8)
    >>> sets = [np.array([i, (i + step) % 20]) for i in range(20) for step in range(1, 9)]  # each holds the item
    >>> set_determination(item, np.arange(160), sets).gives_away
    True
    >>> set_determination(np.arange(160) % 20, np.arange(160), sets).gives_away
    False
    """
    sizes = np.array([members_of.size for members_of in members])
    flat, ends = np.concatenate(members), np.cumsum(sizes)

    def count(codes: NDArray[Any], rows: NDArray[np.bool_]) -> int:
        return _members_in_common(codes[rows], labels[rows], flat, ends, sizes)

    return _against_shuffled(one, count, within)


def _members_in_common(
    one: NDArray[Any], labels: NDArray[Any], flat: NDArray[np.int64], ends: NDArray[np.int64], sizes: NDArray[np.int64]
) -> int:
    """The largest number of sets in a group that share a member, summed over the groups."""
    pairs, counts = count_numbers(one.astype(np.int64) * sizes.size + labels)
    group, label = np.divmod(pairs, sizes.size)
    times = sizes[label]
    place = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    member = flat[np.repeat(ends[label] - times, times) + place]
    width = int(flat.max()) + 1
    cells, counts = count_numbers(np.repeat(group, times) * width + member, np.repeat(counts, times))
    starts = run_starts(cells // width)
    return int(np.maximum.reduceat(counts, starts).sum())


def _in_common(one: NDArray[Any], low: NDArray[np.int64], high: NDArray[np.int64]) -> int:
    """The largest number of ranges in a group that share a point, summed over the groups."""
    width = 2 * (int(high.max()) + 1)
    first = one.astype(np.int64) * width
    # each key is the group, the limit and 0 for a start or 1 for an end; starts come first, so that ranges that touch
    # share a point
    keys = np.sort(np.concatenate([first + 2 * low, first + 2 * high + 1]))
    depth = np.cumsum(1 - 2 * (keys & 1))  # back to 0 at the end of every group
    starts = run_starts(keys // width)
    return int(np.maximum.reduceat(depth, starts).sum())
