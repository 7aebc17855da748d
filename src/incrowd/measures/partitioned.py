"""Measures of tables larger than memory, one part after the other; each class is in one part only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import add
from typing import TypeVar

import numpy as np

from incrowd._support.progress import Progress
from incrowd.backends import Backend, Coded, CountedRows, codes_among, encode
from incrowd.backends.class_parts import split_by_class
from incrowd.classes import ClassSizes, classes_of_counted
from incrowd.errors import UnsupportedError
from incrowd.measures.class_values import ClassValueCounts, Groups, count_class_values, group_records
from incrowd.measures.diversity import Diversity, diversity_of_counts
from incrowd.tables import Table
from incrowd.wording import data_size

Part = TypeVar("Part", Backend, CountedRows)


class ClassValueParts:
    """Class × value counts of a sensitive column in every part of a table, iterable any number of times.

    `sizes` are the class sizes of the parts, once these were iterated.

    Args:
        parts: the parts; each class is in one of them.
        group: callback that gives the rows of a part and their groups.
        known: the sensitive column, with its values in the whole table.
    """

    def __init__(self, parts: Iterable[Part], group: Callable[[Part], tuple[Backend, Groups]], known: Coded) -> None:
        self._groups: Callable[[], Iterator[tuple[Backend, Groups]]] = lambda: map(group, parts)
        self._known = known
        self.sizes: list[ClassSizes] = []

    def __iter__(self) -> Iterator[ClassValueCounts]:
        self.sizes = []
        for rows, groups in self._groups():
            self.sizes.append(groups.sizes())
            (coded,) = encode(rows, [self._known.name])
            codes = codes_among(coded, self._known.values)
            yield from count_class_values(groups.numbers, codes, self._known.size, groups.times)


def measure_parts(columns: Iterable[tuple[Coded, ClassValueParts]]) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and the diversity of each sensitive column, with one part in memory at a time."""
    diversities, sizes = [], None
    for column, parts in columns:
        diversities.append(diversity_of_counts(column, column.codes, parts))
        sizes = sizes or reduce(add, parts.sizes)
    assert sizes is not None, "there is a sensitive column"
    return sizes, diversities


def parts_on_disk(
    table: Table, names: Sequence[str], sensitive: Sequence[str], person: str | None, progress: Progress
) -> Iterator[tuple[Coded, ClassValueParts]]:
    """Each sensitive column (its values; `codes` holds the count of each value), and its class × value counts."""
    values = [_count_values(table.backend, column) for column in sensitive]
    progress("splitting the table by its classes", 0.2)
    split = split_by_class(table.backend, names, sensitive, person)
    for done, known in enumerate(values):
        progress(f"comparing {known.name} within classes", 0.5 + 0.5 * done / len(values))
        yield known, ClassValueParts(split, partial(_group_part, names=names, person=person, column=known.name), known)


def parts_of_distinct_rows(
    backend: Backend, names: Sequence[str], sensitive: Sequence[str], progress: Progress
) -> Iterator[tuple[Coded, ClassValueParts]]:
    """Each sensitive column and its class × value counts, from counted distinct rows that arrive in parts."""
    for done, column in enumerate(sensitive):
        progress(f"comparing {column} within classes, part by part", 0.4 + 0.6 * done / len(sensitive))
        known = _count_values(backend, column)
        with backend.counted_parts(names, column) as counted:
            yield known, ClassValueParts(counted, partial(_group_counted, names=names), known)


def _group_part(part: Backend, names: Sequence[str], person: str | None, column: str) -> tuple[Backend, Groups]:
    """The rows of a part and their groups; if they exceed the memory, those of its counted distinct rows."""
    if person is not None or part.way_to_compare(names) == "rows":
        return part, group_records(Table(part), names, person)
    wanted = [*names, column]
    counted = part.distinct_rows(wanted, part.most_distinct(len(wanted)))
    if counted is None:
        raise UnsupportedError(
            f"too many rows of a part differ for a memory limit of {data_size(part.memory)}; give more memory",
            hint="memory",
        )
    return _group_counted(counted, names)


def _group_counted(counted: CountedRows, names: Sequence[str]) -> tuple[Backend, Groups]:
    """Counted distinct rows and their groups."""
    classes = classes_of_counted(counted, names)
    return counted.backend, Groups(classes.numbers, classes.times, classes)


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
