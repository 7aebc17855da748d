"""Single records: the records at highest risk, and one record as an attacker sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes, assign_classes
from incrowd.tables import Table


class RareRecord(NamedTuple):
    """A record, the number of people in its class, and the number expected if the columns were independent."""

    record: int
    alike: int
    expected: float


class SeenRecord(NamedTuple):
    """One record among all people, as an attacker sees it.

    Attributes:
        people: the number of all people.
        alike: the number of people with the same quasi-identifiers.
        alone: for each column, the number of people with the same value in this column.
        without: for each column, the number of people with the same values in all other columns.
        steps: columns in the order in which they narrow the search, each with the number of people that remain.
    """

    people: int
    alike: int
    alone: list[int]
    without: list[int]
    steps: list[tuple[str, int]]


def rarest_records(
    table: Table, columns: Sequence[Coded], person: str | None, sizes: ClassSizes, most: int
) -> list[RareRecord]:
    """The records in the smallest classes; for a person with several records, the one with the rarest values.

    Args:
        table: the table.
        columns: the quasi-identifiers.
        person: the column that identifies the person of each record.
        sizes: the sizes of the classes.
        most: the largest number of records.
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
    """The records in classes that are at most as large as the class of the last record shown.

    `sizes` are the class sizes in people, if people have several records.
    """
    if sizes is None:
        last = min(rows, size.size) - 1
        return np.flatnonzero(size <= np.partition(size, last)[last])
    last = int(np.searchsorted(np.cumsum(sizes.sizes * sizes.counts), rows))
    return np.flatnonzero(size <= sizes.sizes[min(last, sizes.sizes.size - 1)])


def _one_a_person(
    table: Table, person: str | None, records: NDArray[np.int64], rarity: NDArray[Any], size: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """One record of each person, sorted: the smallest class first, then the rarest values."""
    order = np.lexsort([records, rarity, size[records]])
    records, rarity = records[order], rarity[order]
    if person is None:
        return records, rarity
    (column,) = encode(table, [person])
    _, first = np.unique(column.codes[records], return_index=True)
    first.sort()
    return records[first], rarity[first]


def see_record(table: Table, columns: Sequence[Coded], person: str | None, record: int, *, people: int) -> SeenRecord:
    """One record as seen by an attacker who learns its values column by column.

    Args:
        table: the table.
        columns: the quasi-identifiers.
        person: the column that identifies the person of each record; the result is then about the whole person.
        record: the number of the record, from 0.
        people: the number of people in the table.
    """
    if person is None:
        return _seen_among_rows(columns, record)
    return _seen_among_histories(table, [column.name for column in columns], person, record, people)


def _seen_among_rows(columns: Sequence[Coded], record: int) -> SeenRecord:
    """One record among the rows of a table with one record for each person.

    A row that differs from the record in one column only counts in `without` for that column. Each step takes the
    column that leaves the fewest rows.
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
    remaining = np.arange(rows) if rows > alike else np.empty(0, dtype=np.int64)
    unused = list(columns)
    while remaining.size > alike:
        agreeing = [remaining[one.codes[remaining] == one.codes[record]] for one in unused]
        best = min(range(len(unused)), key=lambda place: agreeing[place].size)
        remaining = agreeing[best]
        steps.append((unused.pop(best).name, remaining.size))
    return SeenRecord(rows, alike, alone, without.tolist(), steps)


def _seen_among_histories(table: Table, names: Sequence[str], person: str, record: int, people: int) -> SeenRecord:
    """One person among people with histories: classes are equal histories; steps take the rarest values first."""

    def alike(known: Sequence[str]) -> int:
        if not known:
            return people
        classes = assign_classes(table, known, person)
        return int(classes.people[classes.numbers[record]])

    whole = alike(names)
    alone = [alike([name]) for name in names]
    without = [alike([other for other in names if other != name]) for name in names]
    steps: list[tuple[str, int]] = []
    remaining = people
    for name in sorted(names, key=lambda name: alone[names.index(name)]):
        if remaining == whole:
            break
        with_column = alike([*(step for step, _ in steps), name])
        if with_column < remaining:
            steps.append((name, with_column))
            remaining = with_column
    return SeenRecord(people, whole, alone, without, steps)
