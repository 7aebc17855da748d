"""Auxiliary knowledge: what an attacker can do who knows other columns as well as the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.memory import BUFFERS, require_memory
from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes
from incrowd.measures.quantities import read_quantity
from incrowd.results import Result
from incrowd.tables import Table, TableLike

_ENOUGH = 30.0  # expected pairs of records, equal in one column and different in the other, if columns were independent
_AGREEMENT = 0.95**2  # of neighbours, where each of the two fits in 95 of 100 cases
_SEVERAL = 3  # values of a finer column for each value of a coarser one
_BYTES_A_CODE = 8
_FIRST = 20_000  # records that are compared first, because they refute most relations


@dataclass(frozen=True, slots=True)
class AuxiliaryKnowledge(Result):
    """The smallest class and the unique people for an attacker who knows `columns` and the quasi-identifiers."""

    columns: tuple[str, ...]
    k: int
    uniques: int


def count_with_auxiliary(
    data: TableLike, quasi_identifiers: Sequence[str], auxiliary: Sequence[str], *, person: str | None = None
) -> AuxiliaryKnowledge:
    """Count the classes by the quasi-identifiers and further columns.

    Args:
        data: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that the attacker knows.
        auxiliary: further columns that the attacker may know.
        person: the column that identifies the person of each record.

    Returns:
        The smallest class and the unique people.

    >>> count_with_auxiliary({"age": ["[30;39]", "[30;39]"], "born": [1990, 1994]}, ["age"], ["born"])
    AuxiliaryKnowledge(columns=['born'], k=1, uniques=2)
    """
    sizes = ClassSizes.from_table(data, quasi_identifiers=[*quasi_identifiers, *auxiliary], person=person)
    return AuxiliaryKnowledge(tuple(auxiliary), sizes.smallest, sizes.uniques)


@dataclass(frozen=True, slots=True)
class Refinement(Result):
    """A kept column that is a finer form of a quasi-identifier, such as the town beside the county.

    Attributes:
        column: the kept column.
        quasi_identifier: the column that functionally depends on it.
        agreement: how often records next to each other by the kept column agree in the quasi-identifier, from 0 for as
            often as any two records to 1.
        k: the smallest class for an attacker who knows the kept column too.
        uniques: the people who are then unique.
    """

    column: str
    quasi_identifier: str
    agreement: float
    k: int
    uniques: int


def find_refinements(
    table: Table, quasi_identifiers: Sequence[str], kept: Sequence[str], *, person: str | None = None
) -> tuple[Refinement, ...]:
    """Kept columns on which a quasi-identifier functionally depends, but for a few records.

    Somebody who knows the county of a person can know the town, and somebody who knows the decade of birth the year: so
    the town and the year count as known. Records are put in the order of the kept column. If nearly all that have the
    same text, or the same or the next number, agree in the quasi-identifier, this depends on the column. One record of
    each person is compared.

    Raises:
        UnsupportedError: the columns do not fit into memory, or the rows are elsewhere.

    >>> from incrowd import read_table
    >>> town = np.arange(600) % 30
    >>> table = read_table({"county": [f"c{one // 10}" for one in town], "town": [f"t{one}" for one in town]})
    >>> [(fact.column, fact.quasi_identifier, fact.k) for fact in find_refinements(table, ["county"], ["town"])]
    [('town', 'county', 20)]
    """
    names = [name for name in quasi_identifiers if name != person]
    if not kept or not names:
        return ()
    table.backend.require_local("comparing kept columns with quasi-identifiers", "judge a sample of it here")
    persons = [] if person is None or person in kept else [person]
    columns = [*names, *kept, *persons]
    needed = table.rows * _BYTES_A_CODE * len(columns)
    require_memory(f"comparing {len(columns)} columns of {table.rows:,} records", needed - BUFFERS, table.memory)
    coded = {column.name: column for column in encode(table, columns)}
    rows = np.arange(table.rows)
    if person is not None:
        rows = np.unique(coded[person].codes, return_index=True)[1]
    rows = np.random.default_rng(0).permutation(rows)  # equal values in random order
    found = []
    for column in (coded[name].take(rows) for name in kept):
        order, is_next = _neighbours(column)
        agreements = [
            _agreement(coded[name].codes[rows][order], is_next) if _is_finer(column, coded[name].take(rows)) else 0.0
            for name in names
        ]
        best = int(np.argmax(agreements))
        if agreements[best] >= _AGREEMENT:
            known = count_with_auxiliary(table, quasi_identifiers, [column.name], person=person)
            found.append(Refinement(column.name, names[best], agreements[best], known.k, known.uniques))
    return tuple(found)


def _is_finer(column: Coded, quasi_identifier: Coded) -> bool:
    """True if most values of a quasi-identifier, by their records, are several values of a column.

    Amounts that only one of two groups has are no finer form of the group.
    """
    cells = np.unique(quasi_identifier.codes.astype(np.int64) * column.size + column.codes)
    values = np.bincount(cells // column.size, minlength=quasi_identifier.size)
    return bool((values >= _SEVERAL)[quasi_identifier.codes].mean() >= _AGREEMENT)


def _neighbours(column: Coded) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The rows in the order of a column, and which of them can be compared with the one before.

    Numbers are next to each other; texts only if they are equal.
    """
    quantity = read_quantity(column)
    if quantity is not None:
        places = quantity.at(slice(None))
        order = np.argsort(places, kind="stable")  # missing values are last
        return order, np.isfinite(places[order])[1:]
    order = np.argsort(column.codes, kind="stable")
    return order, np.diff(column.codes[order]) == 0


def _agreement(codes: NDArray[Any], is_next: NDArray[np.bool_]) -> float:
    """How often neighbours agree beyond chance, among all records: one without a neighbour shows nothing."""
    shares = np.bincount(codes) / max(codes.size, 1)
    by_chance = float(shares @ shares)
    if by_chance >= 1 or not is_next.any():
        return 0.0
    agree = float((np.diff(codes) == 0)[is_next].mean())
    with_neighbour = np.append(is_next, False) | np.append(False, is_next)
    return max((agree - by_chance) / (1 - by_chance), 0.0) * float(with_neighbour.mean())


def determines(one: NDArray[Any], other: NDArray[Any], times: NDArray[Any] | None = None) -> bool:
    """True if each value of one column goes with a single value of another, where chance alone makes that unlikely.

    Both are columns of codes from 0; entry i occurs `times[i]` times.

    >>> school = np.repeat(np.arange(10), 20)
    >>> determines(school, school // 2), determines(school // 2, school), determines(np.arange(200), school)
    (True, False, False)
    """
    first = slice(_FIRST)
    if one.size > _FIRST and not _is_told(one[first], other[first]):
        return False
    sizes, counts = (np.bincount(codes, weights=times).astype(np.float64) for codes in (one, other))
    share = counts / counts.sum()
    if float(sizes @ (sizes - 1.0)) / 2.0 * (1.0 - float(share @ share)) < _ENOUGH:
        return False
    return _is_told(one, other)


def _is_told(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """True if each value of one column goes with a single value of another."""
    example = np.zeros(int(one.max()) + 1, dtype=other.dtype)
    example[one] = other
    return bool(np.array_equal(example[one], other))
