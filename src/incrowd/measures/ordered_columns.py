"""Kept columns that never lie above, or never below, a coarsened one: nobody is diagnosed after their death.

An attacker who knows the day of a person's death leaves out the records of the class with a later diagnosis. They need
not know the diagnosis. The order must hold for practically all records, where chance alone breaks it often.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd.backends import Coded, class_numbers, pack
from incrowd.backends.arrow_columns import is_text
from incrowd.measures.columns_together import read_released
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.quantities import Floats, Quantity, read_quantity
from incrowd.measures.recovering_columns import OrderedColumn

_MOST_BROKEN = 0.005  # share of the records that may break the order: wrong entries
_ENOUGH = 20  # records, or people with several each, that would break the order by chance, at least
_ENOUGH_SHARE = 0.02  # share of the records that would, at least: ages are mostly above cholesterol without any order
_OF_CHANCE = 0.1  # share of these that may break it
_COMPARED = 20_000  # records that are compared first
_CLEARLY_NONE = 10  # times the records that may break the order; more of those compared first show that there is none


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """A kept column on one side of a quasi-identifier.

    Attributes:
        column: the kept column of the original.
        limit: the quasi-identifier.
        sign: 1 if the column is never above the limit, -1 if it is never below.
        keeps: mask of the original records that keep the order; one with a missing cell keeps it.
        shares: the shares of records that keep the order, and that would keep it by chance.
    """

    column: Coded
    limit: Coded
    sign: int
    keeps: NDArray[np.bool_]
    shares: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False)
class _People:
    """The people of each class of a release, or its records, if each is a person.

    Attributes:
        classes: the class of every record.
        person: the person of every record, by class: a person with records in two classes counts twice.
        class_of_person: the class of every person.
    """

    classes: NDArray[np.int64]
    person: NDArray[np.int64]
    class_of_person: NDArray[np.int64]


def facts_of_ordered_columns(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[OrderedColumn]:
    """Find kept numbers and dates that lie on one side of a coarsened quasi-identifier.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original.

    Yields:
        For every column that leaves fewer records of a class, the fact of the order that leaves fewest. If several
        columns on one side of a quasi-identifier leave fewer together than each alone, a fact of all of them follows.
    """
    kept, limits = ([one for one in each if one.stated is None or one.has_order] for each in (kept, release.coarsened))
    orders = [
        group
        for group in _find_orders(kept, limits, release.whose)
        if not release.coverage.has_gaps(group[0].limit.name)
    ]
    if not orders:
        return
    people = _find_people(release)
    facts = defaultdict[str, list[OrderedColumn]](list)
    together = []
    for group in orders:
        in_days = _are_days([group[0].limit, *(one.column for one in group)])
        outermost = _outermost_limits(group, in_days, people, release)
        if outermost is None:
            continue
        beyond = [_beyond(one, in_days, people, release) for one in group]
        for one, values in zip(group, beyond, strict=True):
            counted = _count_left(values, outermost, people)
            facts[one.column.name].append(
                OrderedColumn(one.column.name, one.limit.name, *one.shares, *counted, release.k)
            )
        if len(group) > 1:
            left = _count_left(np.maximum.reduce(beyond), outermost, people)
            together.append(_fact_of_all(group, left, release))
    worst = [min(of_column, key=lambda fact: (fact.k, -fact.uniques)) for of_column in facts.values()]
    yield from (fact for fact in worst if fact.undoes)
    smallest = min((fact.k for fact in worst), default=release.k)
    yield from (fact for fact in together if fact.undoes and fact.k < smallest)


def _find_orders(kept: Sequence[Coded], limits: Sequence[Coded], whose: Coded | None) -> list[list[_Order]]:
    """The orders between kept columns and quasi-identifiers; a group has one quasi-identifier and one side of it."""
    columns = [(column, quantity) for column in kept if (quantity := read_quantity(column)) is not None]
    groups = []
    for limit in limits:
        other = read_quantity(limit)
        if other is None:
            continue
        for sign in (1, -1):
            found = [
                _find_order((column, one), (limit, other), sign, whose)
                for column, one in columns
                if _are_comparable(column.values.type, limit.values.type)
            ]
            groups.append([order for order in found if order is not None])
    return [group for group in groups if group]


def _find_order(
    one: tuple[Coded, Quantity], other: tuple[Coded, Quantity], sign: int, whose: Coded | None
) -> _Order | None:
    """The order between a column and a quasi-identifier; None if there is none."""
    (column, quantity), (limit, limiting) = one, other
    in_days = _are_days([column, limit])

    def read(rows: slice) -> tuple[Floats, Floats]:
        return _signed(quantity.at(rows), sign, in_days), _signed(limiting.at(rows), sign, in_days)

    step = column.codes.size // _COMPARED
    if step > 1:
        values, bounds = read(slice(None, None, step))
        if np.count_nonzero(values > bounds) > _CLEARLY_NONE * (1 + _MOST_BROKEN * values.size):
            return None
    values, bounds = read(slice(None))
    broken = values > bounds
    filled = ~np.isnan(values) & ~np.isnan(bounds)
    records, errors = np.count_nonzero(filled), np.count_nonzero(broken)
    if errors > _MOST_BROKEN * records:
        return None
    below = np.searchsorted(np.sort(bounds[filled]), values[filled])
    by_chance = float(below.mean()) / records if records else 0.0
    people = records if whose is None else distinct_values(whose.codes[filled]).size
    is_news = by_chance * people >= max(_ENOUGH, _ENOUGH_SHARE * people)
    if not is_news or errors > _OF_CHANCE * by_chance * records:
        return None
    return _Order(column, limit, sign, ~broken, (1 - errors / records, 1 - by_chance))


def _are_comparable(one: pa.DataType, other: pa.DataType) -> bool:
    """True if both columns may hold dates, or both numbers; texts may hold either."""
    return is_text(one) or is_text(other) or pa.types.is_temporal(one) == pa.types.is_temporal(other)


def _are_days(columns: Sequence[Coded]) -> bool:
    """True if one of the columns holds days without a time: a time on the day of death is not after it."""
    return any(pa.types.is_date(column.values.type) for column in columns)


def _signed(values: Floats, sign: int, in_days: bool) -> Floats:
    """Values times the sign, of which larger ones are farther out; times of day are left out if `in_days`."""
    return sign * (np.floor(values) if in_days else values)


def _find_people(release: ComparedRelease) -> _People:
    classes = class_numbers(pack(release.labels))[0].astype(np.int64)
    if release.person is None:
        return _People(classes, np.arange(classes.size), classes)
    whose = release.column(release.person)
    pairs = classes * whose.size + whose.codes
    distinct = distinct_values(pairs)
    return _People(classes, np.searchsorted(distinct, pairs), distinct // whose.size)


def _outermost_limits(
    group: Sequence[_Order], in_days: bool, people: _People, release: ComparedRelease
) -> Floats | None:
    """For every class the limit, times the sign, of the person who has the outermost one; infinite if it is unknown.

    That person leaves out most records of the class. Only original records that keep the orders count. None if the
    values that a class holds cannot be found.
    """
    limit, sign = group[0].limit, group[0].sign
    keeps = np.logical_and.reduce([one.keeps for one in group]) & limit.is_filled
    outermost = release.coverage.outermost(limit.name, among=keeps)
    quantity = read_quantity(limit)
    if outermost is None or quantity is None:
        return None
    code = outermost[0 if sign > 0 else 1]
    limits = np.full(int(people.classes.max()) + 1, np.inf)
    is_found = code >= 0
    limits[people.classes[is_found]] = _signed(quantity.places[code[is_found]], sign, in_days)
    return limits


def _beyond(order: _Order, in_days: bool, people: _People, release: ComparedRelease) -> Floats:
    """For every person the value, times the sign, that is farthest out; a missing value fits every limit."""
    before = read_quantity(order.column)
    farthest = np.full(people.class_of_person.size, -np.inf)
    for quantity in read_released(release.table, [order.column], [] if before is None else [before]):
        np.fmax.at(farthest, people.person, _signed(quantity.at(slice(None)), order.sign, in_days))
    return farthest


def _count_left(beyond: Floats, limits: Floats, people: _People) -> tuple[int, int]:
    """The fewest people of a class who fit the outermost limit, and the number of classes with one such person.

    One person of each class always fits: the outermost limit may be that of somebody whose record was left out.
    """
    nearest = np.full(limits.size, np.inf)
    np.minimum.at(nearest, people.class_of_person, beyond)
    fits = beyond <= np.maximum(limits, nearest)[people.class_of_person]
    left = np.bincount(people.class_of_person[fits], minlength=limits.size)
    return int(left.min()), int(np.count_nonzero(left == 1))


def _fact_of_all(group: Sequence[_Order], counted: tuple[int, int], release: ComparedRelease) -> OrderedColumn:
    """The fact of several columns on one side; the last one that is no secret is named."""
    names = [one.column.name for one in group]
    named = release.to_remove(names)
    weakest = min(group, key=lambda one: one.shares)
    fact = OrderedColumn(named, weakest.limit.name, *weakest.shares, *counted, release.k)
    return replace(fact, others=tuple(name for name in names if name != named))
