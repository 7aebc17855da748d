"""Groups of records that an attacker cannot distinguish, and the count of each value in each group.

l-diversity, t-closeness and attribute disclosure are functions of these counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd.backends import class_numbers, encode_each, frequencies, map_parts, pack, partition_keys
from incrowd.classes import Classes, ClassSizes, assign_classes, indistinguishable_groups
from incrowd.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """A number for every record, equal for records that nobody can distinguish.

    `times` is the number of records that each entry stands for; None: one each. `classes` are the classes of people;
    None if they are the groups themselves.
    """

    numbers: NDArray[Any]
    times: NDArray[np.int64] | None = None
    classes: Classes | None = None

    def sizes(self) -> ClassSizes:
        """Class sizes in people."""
        if self.classes is not None:
            return self.classes.sizes
        return ClassSizes.from_counts(*frequencies(self.numbers.copy()))


def group_records(table: Table, names: Sequence[str], person: str | None = None) -> Groups:
    """Group the records of a table in memory; without a person, packed keys serve as group numbers."""
    if not names:  # nothing is known, so nobody can be distinguished
        return Groups(np.zeros(table.rows, dtype=np.uint64))
    if person is None:
        return Groups(pack(encode_each(table, names)))
    classes = assign_classes(table, names, person)
    return Groups(indistinguishable_groups(table, names, classes, person).numbers, classes=classes)


def require_columns(
    table: Table, quasi_identifiers: Sequence[str], sensitive: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The quasi-identifiers and the sensitive columns, if all exist; a column may be both."""
    names = table.require(quasi_identifiers, "quasi-identifiers")
    wanted = table.require(sensitive, "sensitive columns") if len(sensitive) else []
    return names, wanted


def group_by_knowledge(names: Sequence[str], sensitive: Sequence[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Sensitive columns with the quasi-identifiers that an attacker knows who does not know them.

    A sensitive column that others may know is a secret to somebody who knows only the other quasi-identifiers.

    >>> list(group_by_knowledge(["age", "grade"], ["grade", "illness"]))
    [(['age', 'grade'], ['illness']), (['age'], ['grade'])]
    """
    unknown = [name for name in sensitive if name not in names]
    if unknown:
        yield list(names), unknown
    for secret in sensitive:
        if secret in names:
            yield [name for name in names if name != secret], [secret]


class ClassValueCounts(NamedTuple):
    """The pairs of a class and a value that occur, and the number of records of each.

    A pair is the number class × (number of values) + value; pairs are ascending. Class numbers are arbitrary. All
    records of a class are in the same `ClassValueCounts`.
    """

    pairs: NDArray[np.uint64]
    counts: NDArray[np.int64]

    def split(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The value of each pair, of `size` values, and where each class begins."""
        classes, codes = np.divmod(self.pairs, np.uint64(size))
        return codes.astype(np.int64), run_starts(classes)


def count_class_values(
    classes: NDArray[Any], codes: NDArray[Any], size: int, times: NDArray[np.int64] | None = None
) -> list[ClassValueCounts]:
    """Count the pairs of a record's class and code, in blocks of classes.

    Args:
        classes: the class of every record; numbered from 0 if `times` is given.
        codes: the code of every record's value.
        size: the number of codes.
        times: the number of records that each entry stands for; None: one each.
    """
    if times is not None:
        distinct, place = np.unique(classes * np.uint64(size) + codes, return_inverse=True)
        counts = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(counts, place, times)
        return [ClassValueCounts(distinct, counts)]
    return list(map_parts(lambda keys, values: _count_block(keys, values, size), partition_keys(classes, codes)))


def _count_block(keys: NDArray[np.uint64], codes: NDArray[Any], size: int) -> ClassValueCounts:
    """Count the pairs of some classes; overwrites the keys."""
    from incrowd.backends.kernels import append_digit
    from incrowd.measures import kernels

    low, high = keys.min(), keys.max()
    if (int(high - low) + 1) * size > 1 << 64:
        keys[:], _ = class_numbers(keys)
    else:
        keys -= low
    append_digit(keys, codes, size)
    keys.sort()
    counts = np.empty(keys.size, dtype=np.int64)
    found = kernels.tally_runs(keys, counts)
    return ClassValueCounts(keys[:found], counts[:found].copy())
