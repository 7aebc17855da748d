"""Single records: the riskiest ones, and one record as others see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes, assign_classes
from incrowd.tables import Table


class RareRecord(NamedTuple):
    """A record, how many people are in its class, and how many would be if its values were independent."""

    record: int
    alike: int
    expected: float


class SeenRecord(NamedTuple):
    """One record among all people: those alike, by each column alone and without each, and the way to it.

    `steps` are the columns that find the record, with how many people are left once each is known.
    """

    people: int
    alike: int
    alone: list[int]
    without: list[int]
    steps: list[tuple[str, int]]


def rarest_records(
    table: Table, columns: Sequence[Coded], person: str | None, sizes: ClassSizes, most: int
) -> list[RareRecord]:
    """The records in the smallest classes, at most so many; of a person with several the one with the rarest values.

    Args:
        table: the table.
        columns: its quasi-identifiers.
        person: the column that says whose record it is.
        sizes: the sizes of the classes.
        most: how many records.
    """
    classes = assign_classes(table, [column.name for column in columns], person)
    size = classes.people[classes.numbers]
    records = _smallest(size, most, None if person is None else sizes)
    rarity = np.full(records.size, np.log(size.size))
    for column in columns:
        rarity += np.log(column.tally[column.codes[records]] / size.size)
    records, rarity = _one_a_person(table, person, records, rarity, size)
    return [
        RareRecord(int(record), int(size[record]), float(np.exp(rare)))
        for record, rare in zip(records[:most], rarity[:most], strict=True)
    ]


def _smallest(size: NDArray[np.int64], rows: int, sizes: ClassSizes | None) -> NDArray[np.int64]:
    """The records in classes as small as that of the last one shown; `sizes` counts people where they differ."""
    if sizes is None:
        last = min(rows, size.size) - 1
        return np.flatnonzero(size <= np.partition(size, last)[last])
    last = int(np.searchsorted(np.cumsum(sizes.sizes * sizes.counts), rows))
    return np.flatnonzero(size <= sizes.sizes[min(last, sizes.sizes.size - 1)])


def _one_a_person(
    table: Table, person: str | None, records: NDArray[np.int64], rarity: NDArray[Any], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The records in order, the smallest class and the rarest values first, one of each person."""
    order = np.lexsort([records, rarity, size[records]])
    records, rarity = records[order], rarity[order]
    if person is None:
        return records, rarity
    (column,) = encode(table, [person])
    _, first = np.unique(column.codes[records], return_index=True)
    first.sort()
    return records[first], rarity[first]


def see_record(table: Table, columns: Sequence[Coded], person: str | None, record: int, *, people: int) -> SeenRecord:
    """One record as others see it who learn its values column by column.

    Args:
        table: the table.
        columns: its quasi-identifiers.
        person: the column that says whose record it is; then it is about the person with all their records.
        record: the number of the record, from 0.
        people: how many people the table has.
    """
    if person is None:
        return _seen_among_rows(columns, record)
    return _seen_among_histories(table, [column.name for column in columns], person, record, people)


def _seen_among_rows(columns: Sequence[Coded], record: int) -> SeenRecord:
    """All rows; those alike, by each column alone and without each; and the columns that find the record.

    A row that differs in one column only is alike once that column is not known. The next column to become known is
    the one that leaves the fewest rows.
    """
    rows = columns[0].codes.size
    differing = np.zeros(rows, dtype=np.uint16)
    last = np.zeros(rows, dtype=np.int32)
    alone = []
    for place, column in enumerate(columns):
        differs = column.codes != column.codes[record]
        alone.append(rows - int(np.count_nonzero(differs)))
        differing += differs
        last[differs] = place
    alike = int(np.count_nonzero(differing == 0))
    without = alike + np.bincount(last[differing == 1], minlength=len(columns))
    steps: list[tuple[str, int]] = []
    left = np.arange(rows) if rows > alike else np.empty(0, dtype=np.int64)
    unused = list(columns)
    while left.size > alike:
        agreeing = [left[one.codes[left] == one.codes[record]] for one in unused]
        best = min(range(len(unused)), key=lambda place: agreeing[place].size)
        left = agreeing[best]
        steps.append((unused.pop(best).name, left.size))
    return SeenRecord(rows, alike, alone, without.tolist(), steps)


def _seen_among_histories(table: Table, names: Sequence[str], person: str, record: int, people: int) -> SeenRecord:
    """One person among histories: people alike in all of a person's records; columns with rare values come first."""

    def alike(known: Sequence[str]) -> int:
        if not known:
            return people
        classes = assign_classes(table, known, person)
        return int(classes.people[classes.numbers[record]])

    whole = alike(names)
    alone = [alike([name]) for name in names]
    without = [alike([other for other in names if other != name]) for name in names]
    steps: list[tuple[str, int]] = []
    left = people
    for name in sorted(names, key=lambda name: alone[names.index(name)]):
        if left == whole:
            break
        now = alike([*(step for step, _ in steps), name])
        if now < left:
            steps.append((name, now))
            left = now
    return SeenRecord(people, whole, alone, without, steps)
