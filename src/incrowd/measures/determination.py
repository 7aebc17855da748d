"""Determination of one column by another: exactly, or for nearly all records.

A column that is kept beside a coarsened one undoes the coarsening if its values tell the finer ones: a year of birth
beside an age in ranges, an item's name beside its coarsened number. A few altered cells must not hide that, so a
relation counts that holds for nearly all records, as long as chance would not have shown it. So does one that holds
for single values: an indicator that is 1 for one level only, an interaction that repeats a column in half of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import count_numbers
from incrowd.results import Result

_FEWEST = 30  # records with a value in common, below which nothing can be told from chance
_NEARLY_ALL = 0.95  # share of records told, from which one column is said to give the other away
OF_CHANCE = 0.2  # share of the errors of chance that may remain
_ALTERED = 0.01  # share of the records of one value that may deny what the others tell
_BEYOND_CHANCE = 3.0  # between the square roots of both numbers of errors, whose standard deviation is about 1/2
_LARGE, _PARTS = 20_000, 8  # records from which groups are counted in so many parts, as far as they are needed


@dataclass(frozen=True, slots=True)
class Determination(Result):
    """Degree to which one column determines another.

    Attributes:
        records: records that share their value of the first column with at least one other record.
        told: share of these whose second value is told by the others that share the first.
        by_chance: share that would be told without the first column.
        told_by_value: records of single values of the first column that tell the second for practically all who share
            them, which chance does not explain.
    """

    records: int
    told: float
    by_chance: float
    told_by_value: int = 0
    _derived: ClassVar[tuple[str, ...]] = ("gives_away",)

    @property
    def gives_away(self) -> bool:
        """True if the first column gives the second away, for nearly all records or by single values, beyond chance."""
        return self.tells_nearly_all or self.told_by_value > 0

    @property
    def tells_nearly_all(self) -> bool:
        """True if the first column tells the second for nearly all records, and chance does not explain it."""
        errors, of_chance = (self.records * (1.0 - share) for share in (self.told, self.by_chance))
        return (
            self.records >= _FEWEST
            and self.told >= _NEARLY_ALL
            and errors <= OF_CHANCE * of_chance
            and sqrt(of_chance) - sqrt(errors) >= _BEYOND_CHANCE
        )

    @property
    def given_away(self) -> float:
        """The share of records that are given away: those told, or only those of the values that tell by themselves."""
        return self.told if self.tells_nearly_all else self.told_by_value / max(self.records, 1)


def determination(one: NDArray[Any], other: NDArray[Any], times: NDArray[np.int64] | None = None) -> Determination:
    """Degree to which the codes of one column determine those of another.

    A record is told if its value of `other` is the only most frequent one among the *other* records that share its
    value of `one`: a record never tells itself, so a column of all different values tells nothing.

    Args:
        one: codes from 0 of the column that may give the other away.
        other: codes from 0 of the column that may be given away.
        times: how many records each entry stands for; one each, if left out.

    Returns:
        The share of records told, beside the share that chance tells.

    >>> school = np.repeat(np.arange(10), 20)
    >>> determination(school, school // 2).gives_away, determination(school // 2, school).gives_away
    (True, False)
    >>> determination(np.arange(200), school).records
    0
    """
    width = np.int64(other.max(initial=0)) + 1
    cells, counts = count_numbers(one.astype(np.int64) * width + other, times)
    starts = np.flatnonzero(np.diff(cells // width, prepend=-1))
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
    return Determination(records, int(told.sum()) / records, by_chance, _by_value(told, sizes, by_chance * sizes))


def _by_value(told: NDArray[np.int64], sizes: NDArray[np.int64], by_chance: NDArray[Any]) -> int:
    """The records of the values that tell practically all who share them, and more than chance does."""
    errors, of_chance = sizes - told, np.maximum(sizes - by_chance, 0.0)
    beyond = (errors <= OF_CHANCE * of_chance) & (np.sqrt(of_chance) - np.sqrt(errors) >= _BEYOND_CHANCE)
    return int(sizes[(sizes >= _FEWEST) & (errors <= _ALTERED * sizes) & beyond].sum())


def _against_shuffled(one: NDArray[Any], count: Callable[[NDArray[Any], NDArray[np.bool_]], int]) -> Determination:
    """Determination by groups of equal codes, and by groups of the same sizes with random members.

    `count` has the records told of some groups, given the codes and which rows are in these groups. A large table is
    counted part by part, until the errors are too many for nearly all records; then `told` is the most that it can be,
    and chance is not counted. Wide ranges have a point in common in any group that leans to one side, so single values
    are not looked at here.
    """
    sizes = np.bincount(one)
    records = int(sizes[sizes > 1].sum())
    if not records:
        return Determination(0, 0.0, 0.0)
    parts = 1 if one.size < _LARGE else _PARTS
    left, told = (sizes > 1)[one], records
    for number in range(parts):
        rows = left & (one % parts == number) if parts > 1 else left
        told -= int(np.count_nonzero(rows)) - count(one, rows) if rows.any() else 0
        if number < parts - 1 and told < _NEARLY_ALL * records:
            return Determination(records, told / records, 1.0)
    dealt = np.random.default_rng(0).permutation(one)
    return Determination(records, told / records, count(dealt, (sizes > 1)[dealt]) / records)


def range_determination(one: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> Determination:
    """Degree to which the codes of one column determine the values behind ranges, if only the ranges are known.

    If the column tells the value, all ranges of the records that share a code hold one point in common. So the share of
    records told is the largest number of ranges with a common point, group by group; chance is what codes dealt out at
    random give.

    Args:
        one: codes from 0 of the column that may give the values away.
        low: lower limit of each record's range, or its rank among all limits (a whole number from 0).
        high: upper limit of each record's range, included.

    Returns:
        The share of records told, beside the share that chance tells.

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
    return _against_shuffled(one, lambda codes, rows: _in_common(codes[rows], low[rows], high[rows]))


def set_determination(one: NDArray[Any], labels: NDArray[Any], members: Sequence[NDArray[np.int64]]) -> Determination:
    """Degree to which the codes of one column determine the values behind sets, if only the sets are known.

    If the column tells the value, all sets of the records that share a code have one member in common. So the share of
    records told is the largest number of sets with a common member, group by group; chance is what codes dealt out at
    random give.

    Args:
        one: codes from 0 of the column that may give the values away.
        labels: codes from 0 of each record's set.
        members: the members of every set, as codes from 0.

    Returns:
        The share of records told, beside the share that chance tells.

    >>> item = np.repeat(np.arange(20), 8)
    >>> sets = [np.array([i, (i + step) % 20]) for i in range(20) for step in range(1, 9)]  # each holds the item
    >>> set_determination(item, np.arange(160), sets).gives_away
    True
    >>> set_determination(np.arange(160) % 20, np.arange(160), sets).gives_away
    False
    """
    sizes = np.array([members_of.size for members_of in members])
    flat, ends = np.concatenate(members), np.cumsum(sizes)
    return _against_shuffled(one, lambda codes, rows: _members_in_common(codes[rows], labels[rows], flat, ends, sizes))


def _members_in_common(
    one: NDArray[Any], labels: NDArray[Any], flat: NDArray[np.int64], ends: NDArray[np.int64], sizes: NDArray[np.int64]
) -> int:
    """The most sets of each group that share a member, in all groups together."""
    pairs, counts = count_numbers(one.astype(np.int64) * sizes.size + labels)
    group, label = np.divmod(pairs, sizes.size)
    times = sizes[label]
    place = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    member = flat[np.repeat(ends[label] - times, times) + place]
    width = int(flat.max()) + 1
    cells, counts = count_numbers(np.repeat(group, times) * width + member, np.repeat(counts, times))
    starts = np.flatnonzero(np.diff(cells // width, prepend=-1))
    return int(np.maximum.reduceat(counts, starts).sum())


def _in_common(one: NDArray[Any], low: NDArray[np.int64], high: NDArray[np.int64]) -> int:
    """The most ranges of each group that share a point, in all groups together."""
    width = 2 * (int(high.max()) + 1)
    first = one.astype(np.int64) * width
    # group, place and end in one number: a range that ends where another begins shares that point with it
    keys = np.sort(np.concatenate([first + 2 * low, first + 2 * high + 1]))
    depth = np.cumsum(1 - 2 * (keys & 1))  # back to 0 at the end of every group
    starts = np.flatnonzero(np.diff(keys // width, prepend=-1))
    return int(np.maximum.reduceat(depth, starts).sum())
