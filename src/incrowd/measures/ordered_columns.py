"""Kept columns that never lie above, or never below, a coarsened one: nobody is diagnosed after their death.

An attacker who knows the day of a person's death leaves out the records of the class with a later diagnosis. They need
not know the diagnosis. The order must hold for practically all records, where chance alone breaks it often.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.quantities import Floats, read_quantity
from incrowd.measures.recovering_columns import OrderedColumn
from incrowd.tables import parse_generalised
from incrowd.tables.generalised import Anything

_MOST_BROKEN = 0.001  # share of the records that may break the order: wrong entries
_ENOUGH = 20  # records that would break the order by chance, at least
_ENOUGH_SHARE = 0.02  # share of the records that would, at least: ages are mostly above cholesterol without any order
_OF_CHANCE = 0.1  # share of these that may break it


def facts_of_ordered_columns(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[OrderedColumn]:
    """Find kept numbers and dates that lie on one side of a coarsened quasi-identifier.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original.

    Yields:
        For every column that leaves fewer records of a class, the fact of the order that leaves fewest.
    """
    orders = {
        column.name: [one for limit in release.coarsened for one in _find_orders(column, limit)] for column in kept
    }
    if not any(orders.values()):
        return
    classes, _ = class_numbers(pack(release.labels))
    whose = encode(release.table, [release.person])[0] if release.person is not None else None
    for column in kept:
        facts = []
        for limit, sign, shares in orders[column.name]:
            fits = _may_be_the_last(column, limit, sign, release)
            if fits is not None:
                counted = _count(classes.astype(np.int64), fits, whose)
                facts.append(OrderedColumn(column.name, limit.name, *shares, *counted, release.k))
        worst = min(facts, key=lambda fact: (fact.k, -fact.uniques), default=None)
        if worst is not None and worst.undoes:
            yield worst


def _find_orders(column: Coded, limit: Coded) -> Iterator[tuple[Coded, int, tuple[float, float]]]:
    """Yield the limit, 1 if the column is never above it or -1 if it is never below, and the shares of records.

    The shares are those of the records that keep the order, and of those that would keep it by chance.
    """
    if pa.types.is_temporal(column.values.type) != pa.types.is_temporal(limit.values.type):
        return
    one, other = read_quantity(column), read_quantity(limit)
    rows = column.is_filled & limit.is_filled
    if one is None or other is None or not rows.any():
        return
    values, limits = one.at(rows), other.at(rows)
    shuffled = np.random.default_rng(0).permutation(limits)
    for sign in (1, -1):
        broken, by_chance = (int(np.count_nonzero(sign * values > sign * some)) for some in (limits, shuffled))
        is_news = by_chance >= max(_ENOUGH, _ENOUGH_SHARE * values.size)
        if is_news and broken <= min(_MOST_BROKEN * values.size, _OF_CHANCE * by_chance):
            yield limit, sign, (1 - broken / values.size, 1 - by_chance / values.size)


def _may_be_the_last(column: Coded, limit: Coded, sign: int, release: ComparedRelease) -> NDArray[np.bool_] | None:
    """Mask of the released records that fit the person of their class who has the outermost value of the limit.

    All other people of the class leave out fewer records. None if nothing is left out, or the values that a class
    holds cannot be found.
    """
    outermost = release.coverage.outermost(limit.name)
    released, labels = encode(release.table, [column.name, limit.name])
    after, before = read_quantity(released), read_quantity(limit)
    if outermost is None or after is None or before is None:
        return None
    bound = outermost[0 if sign > 0 else 1]
    bounds: Floats = np.where((bound < 0) | _is_anything(labels), np.nan, before.places[bound])
    fits = ~(sign * after.at(slice(None)) > sign * bounds)  # a missing value fits everybody
    return None if fits.all() else fits


def _is_anything(labels: Coded) -> NDArray[np.bool_]:
    """Mask of the released cells that may be any value: missing ones, and those that were suppressed."""
    texts = [text if isinstance(text, str) else None for text in labels.values.to_pylist()]
    anything = [text is not None and isinstance(parse_generalised(text), Anything) for text in texts]
    return np.asarray(np.array(anything, dtype=bool)[labels.codes] | ~labels.is_filled)


def _count(classes: NDArray[np.int64], fits: NDArray[np.bool_], whose: Coded | None) -> tuple[int, int]:
    """The fewest people of a class all of whose records fit, and the number of classes with one such person.

    A class without such people does not hold the outermost value: another class that covers it does.
    """
    if whose is None:
        sizes = np.bincount(classes[fits])
    else:
        people = classes * whose.size + whose.codes
        left = np.setdiff1d(people, people[~fits])
        sizes = np.bincount(left // whose.size)
    sizes = sizes[sizes > 0]
    return int(sizes.min(initial=classes.size)), int(np.count_nonzero(sizes == 1))
