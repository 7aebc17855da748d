"""Measures of tables larger than memory, one partition after the other; each class is in one partition only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from incrowd._support.progress import Progress
from incrowd.backends import Backend, Coded, CountedRows, codes_among, encode
from incrowd.backends.class_parts import split_by_class
from incrowd.classes import ClassSizes, classes_of_counted
from incrowd.errors import UnsupportedError
from incrowd.measures.class_values import (
    ClassValueCounts,
    Groups,
    count_class_values,
    group_records,
)
from incrowd.measures.diversity import Diversity, diversity_of_counts
from incrowd.tables import Table
from incrowd.wording import data_size


def measure_partitions(
    table: Table, names: Sequence[str], sensitive: Sequence[str], person: str | None, progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and the diversity of each sensitive column, with one partition in memory at a time."""
    diversities, sizes = [], None
    for column, parts in class_value_partitions(table, names, sensitive, person, progress):
        diversities.append(diversity_of_counts(column, column.codes, parts))
        sizes = sizes or reduce(add, parts.sizes)
    assert sizes is not None, "there is a sensitive column"
    return sizes, diversities


def class_value_partitions(
    table: Table, names: Sequence[str], sensitive: Sequence[str], person: str | None, progress: Progress
) -> Iterator[tuple[Coded, DiskPartitions]]:
    """Each sensitive column (its values; `codes` holds the count of each value), and its class × value counts."""
    values = [_count_values(table.backend, column) for column in sensitive]
    progress("splitting the table by its classes", 0.2)
    split = split_by_class(table.backend, names, sensitive, person)
    for done, known in enumerate(values):
        progress(f"comparing {known.name} within classes", 0.5 + 0.5 * done / len(values))
        yield known, DiskPartitions(split, names, person, known)


def measure_distinct_partitions(
    backend: Backend, names: Sequence[str], sensitive: Sequence[str], progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and the diversity of each sensitive column, from counted distinct rows that arrive in parts."""
    diversities, sizes = [], None
    for done, column in enumerate(sensitive):
        progress(f"comparing {column} within classes, part by part", 0.4 + 0.6 * done / len(sensitive))
        known = _count_values(backend, column)
        with backend.counted_parts(names, column) as counted:
            parts = _DistinctPartitions(counted, names, known)
            diversities.append(diversity_of_counts(known, known.codes, parts))
        sizes = sizes or reduce(add, parts.sizes)
    assert sizes is not None, "there is a sensitive column"
    return sizes, diversities


class _DistinctPartitions:
    """Class × value counts of every part of the counted distinct rows; `sizes` are its class sizes."""

    def __init__(self, counted: Iterable[CountedRows], names: Sequence[str], known: Coded) -> None:
        self._counted, self._names, self._known = counted, names, known
        self.sizes: list[ClassSizes] = []

    def __iter__(self) -> Iterator[ClassValueCounts]:
        self.sizes = []
        for part in self._counted:
            classes = classes_of_counted(part, self._names)
            self.sizes.append(classes.sizes)
            (coded,) = encode(part.backend, [self._known.name])
            codes = codes_among(coded, self._known.values)
            yield from count_class_values(classes.numbers, codes, self._known.size, classes.times)


def _count_values(backend: Backend, column: str) -> Coded:
    """The values of a column in order; `codes` holds the number of records with each value."""
    most = backend.most_distinct(1)
    rows = backend.distinct_rows([column], most)
    if rows is None:
        raise UnsupportedError(
            f"{column} has more than {most:,} values, too many for a quarter of the memory limit of "
            f"{data_size(backend.memory)}; give more memory, or group its values first",
            hint="memory",
        )
    (coded,) = encode(rows.backend, [column])
    tally = np.zeros(coded.size, dtype=np.int64)
    tally[coded.codes] = 1 if rows.times is None else rows.times
    return replace(coded, codes=tally)


class DiskPartitions:
    """Class × value counts of every partition, iterable any number of times; `sizes` are its class sizes."""

    def __init__(self, split: Iterable[Backend], names: Sequence[str], person: str | None, known: Coded) -> None:
        self._split, self._names, self._person, self._known = split, names, person, known
        self.sizes: list[ClassSizes] = []

    def __iter__(self) -> Iterator[ClassValueCounts]:
        self.sizes = []
        for part in self._split:
            rows, groups = self._groups(Table(part))
            self.sizes.append(groups.sizes())
            (coded,) = encode(rows, [self._known.name])
            codes = codes_among(coded, self._known.values)
            yield from count_class_values(groups.numbers, codes, self._known.size, groups.times)

    def _groups(self, part: Table) -> tuple[Backend, Groups]:
        """The groups of a partition; if it exceeds the memory, the groups of its counted distinct rows."""
        if self._person is not None or part.backend.way_to_compare(self._names) == "rows":
            return part.backend, group_records(part, self._names, self._person)
        wanted = [*self._names, self._known.name]
        counted = part.backend.distinct_rows(wanted, part.backend.most_distinct(len(wanted)))
        if counted is None:
            raise UnsupportedError(
                f"too many rows of a part differ for a memory limit of {data_size(part.memory)}; give more memory",
                hint="memory",
            )
        classes = classes_of_counted(counted, self._names)
        return counted.backend, Groups(classes.numbers, classes.times, classes)
