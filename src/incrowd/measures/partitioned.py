"""Tables larger than memory, measured one partition after the other; every class is whole in its partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import add

import numpy as np

from incrowd._support.progress import Progress
from incrowd.backends import (
    Coded,
    Counted,
    CountedParts,
    Split,
    codes_among,
    distinct_in_engine,
    encode,
    most_distinct,
    split_by_class,
)
from incrowd.classes import ClassSizes, classes_of_counted
from incrowd.errors import UnsupportedError
from incrowd.measures.class_values import (
    ClassValueCounts,
    Groups,
    count_class_values,
    exceeds_memory,
    group_records,
)
from incrowd.measures.diversity import Diversity, diversity_of_counts
from incrowd.tables import Table, read_table


def measure_partitions(
    table: Table, names: Sequence[str], sensitive: Sequence[str], person: str | None, progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and the diversity of each sensitive column, with no more than a part of the table in memory."""
    found, sizes = [], None
    for known, parts in class_value_partitions(table, names, sensitive, person, progress):
        found.append(diversity_of_counts(known.name, known.values, known.codes, parts))
        sizes = sizes or reduce(add, parts.sizes)
    assert sizes is not None, "there is a sensitive column"
    return sizes, found


def class_value_partitions(
    table: Table, names: Sequence[str], sensitive: Sequence[str], person: str | None, progress: Progress
) -> Iterator[tuple[Coded, DiskPartitions]]:
    """The values of each sensitive column, in `codes` how often each occurs, and their counts by class."""
    values = [_count_values(table, column) for column in sensitive]
    progress("splitting the table by its classes", 0.2)
    split = split_by_class(table, names, sensitive, person)
    keys = [f"c{place}" for place in range(len(names))]
    person_key = None if person is None else f"c{len(names) + len(sensitive)}"
    for done, known in enumerate(values):
        progress(f"comparing {known.name} within classes", 0.5 + 0.5 * done / len(values))
        yield known, DiskPartitions(split, keys, person_key, f"c{len(names) + done}", known)


def measure_there_in_parts(
    table: Table, names: Sequence[str], sensitive: Sequence[str], progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """The same for a table that stays in its cluster: its workers count, and a part of the counts is here at a time."""
    found, sizes = [], None
    for done, column in enumerate(sensitive):
        progress(f"comparing {column} within classes, part by part", 0.4 + 0.6 * done / len(sensitive))
        known = _count_values(table, column)
        counted = CountedParts(table, names, column)
        try:
            parts = _PartsThere(counted, names, known)
            found.append(diversity_of_counts(column, known.values, known.codes, parts))
        finally:
            counted.close()
        sizes = sizes or reduce(add, parts.sizes)
    assert sizes is not None, "there is a sensitive column"
    return sizes, found


class _PartsThere:
    """ClassValueCounts of a class and a value, and the sizes of classes, of every part of a cluster's counts."""

    def __init__(self, counted: CountedParts, names: Sequence[str], known: Coded) -> None:
        self._counted, self._names, self._known = counted, names, known
        self.sizes: list[ClassSizes] = []

    def __iter__(self) -> Iterator[ClassValueCounts]:
        self.sizes = []
        for part in self._counted:
            classes = classes_of_counted(part, self._names)
            self.sizes.append(classes.sizes)
            (coded,) = encode(part.table, [self._known.name])
            codes = codes_among(coded, self._known.values)
            yield from count_class_values(classes.numbers, codes, self._known.size, classes.times)


def _count_values(table: Table, column: str) -> Coded:
    """The values of a column in order; `codes` holds how many records have each."""
    most = most_distinct(table, 1)
    found = distinct_in_engine(table, [column], most)
    if found is None:
        raise UnsupportedError(
            f"{column} has more than {most:,} values, too many for a quarter of the memory limit of "
            f"{table.memory / 1e6:,.0f} MB; give more memory, or group its values first"
        )
    (coded,) = encode(read_table(found[0]), [column])
    tally = np.zeros(coded.size, dtype=np.int64)
    tally[coded.codes] = found[1]
    return Coded(column, tally, coded.values)


class DiskPartitions:
    """Class × value counts of every partition, to be iterated as often as needed; `sizes` are its class sizes."""

    def __init__(self, split: Split, keys: Sequence[str], person: str | None, column: str, known: Coded) -> None:
        self._split, self._keys, self._person, self._column, self._known = split, keys, person, column, known
        self.sizes: list[ClassSizes] = []

    def __iter__(self) -> Iterator[ClassValueCounts]:
        self.sizes = []
        for part in self._split:
            rows, groups = self._groups(part)
            self.sizes.append(groups.sizes())
            (coded,) = encode(rows, [self._column])
            codes = codes_among(coded, self._known.values)
            yield from count_class_values(groups.numbers, codes, self._known.size, groups.times)

    def _groups(self, part: Table) -> tuple[Table, Groups]:
        """The groups of a partition; where a class in it exceeds the memory, those of its counted distinct rows."""
        if self._person is not None or not exceeds_memory(part, self._keys):
            return part, group_records(part, self._keys, self._person)
        wanted = [*self._keys, self._column]
        found = distinct_in_engine(part, wanted, most_distinct(part, len(wanted)))
        if found is None:
            raise UnsupportedError(
                f"too many rows of a part differ for a memory limit of {part.memory / 1e6:,.0f} MB; give more memory"
            )
        counted = Counted(read_table(found[0], memory=part.memory), found[1])
        classes = classes_of_counted(counted, self._keys)
        return counted.table, Groups(classes.numbers, classes.times, classes)
