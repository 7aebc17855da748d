"""Auxiliary knowledge: what an attacker can do who knows other columns as well as the quasi-identifiers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.classes import ClassSizes
from incrowd.results import Result
from incrowd.tables import Table, TableLike

_ENOUGH = 30.0  # expected pairs of records, equal in one column and different in the other, if columns were independent
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


def count_classes(
    table: Table, columns: Sequence[Coded], expected: NDArray[np.bool_], person: str | None
) -> tuple[int, int]:
    """The size of the smallest class that holds an expected record, and the number of such classes with one person."""
    classes, sizes = class_numbers(pack(columns))
    is_expected = np.zeros(sizes.size, dtype=bool)
    is_expected[classes[expected]] = True
    if person is not None:
        (whose,) = encode(table, [person])
        sizes = np.bincount(distinct_values(classes.astype(np.int64) * whose.size + whose.codes) // whose.size)
    sizes = sizes[is_expected]
    return int(sizes.min(initial=table.rows)), int(np.count_nonzero(sizes == 1))


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
