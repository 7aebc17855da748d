"""Marks that represent the people of a table: one per person for few people, otherwise one per class or per share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import encode
from incrowd.classes import ClassSizes, assign_classes
from incrowd.tables import Table

MOST_MARKS = 2_000
_SMALL = 20  # classes up to this size have at least one mark, even if they are few


class CrowdMarks(NamedTuple):
    """Marks to draw: mark i represents `people[i]` people in classes of `size[i]`.

    `class_of` exists if every person has a mark; mark i is then the same person for any set of columns.
    """

    each: Literal["person", "class", "share"]
    size: list[int]
    people: list[int]
    class_of: list[int] | None = None


def crowd_marks(table: Table, names: Sequence[str], person: str | None, sizes: ClassSizes) -> CrowdMarks:
    """Make one mark per person for few people, one per class for few classes, otherwise one per share of the people."""
    if sizes.people <= MOST_MARKS:
        numbers, people = _class_of_each_person(table, names, person, sizes.people)
        return CrowdMarks("person", people[numbers].tolist(), [1] * numbers.size, numbers.tolist())
    if sizes.classes <= MOST_MARKS:
        each = np.repeat(sizes.sizes, sizes.counts).tolist()
        return CrowdMarks("class", each, each)
    return share_marks(sizes)


def share_marks(sizes: ClassSizes, most: int = MOST_MARKS) -> CrowdMarks:
    """About `most` marks that represent equally many people; the smallest classes get a mark even if they are few."""
    people = sizes.sizes * sizes.counts
    small = sizes.sizes <= _SMALL
    wanted = np.ceil(people[small] * (most / sizes.people)).astype(np.int64)
    groups = list(zip(sizes.sizes[small].tolist(), people[small].tolist(), wanted.tolist(), strict=True))
    size = [each for each, _, marks in groups for _ in range(marks)]
    people_of_mark = [part for _, in_group, marks in groups for part in _in_parts(in_group, marks)]
    in_large = int(people[~small].sum())
    if in_large:
        marks = int(np.ceil(in_large * (most / sizes.people)))
        parts = _in_parts(in_large, marks)
        middle = np.cumsum(parts) - np.array(parts) // 2 - 1
        place = np.searchsorted(np.cumsum(people[~small]), middle, side="right")
        size += sizes.sizes[~small][place].tolist()
        people_of_mark += parts
    return CrowdMarks("share", size, people_of_mark)


def _in_parts(whole: int, parts: int) -> list[int]:
    """Split a number into parts that differ by at most 1."""
    return np.diff(np.arange(parts + 1, dtype=np.int64) * whole // parts).tolist()  # type: ignore[no-any-return]


def _class_of_each_person(
    table: Table, names: Sequence[str], person: str | None, people: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The class of every person, and the size of every class; without columns there is one class."""
    if not names:
        return np.zeros(people, dtype=np.int64), np.array([people])
    classes = assign_classes(table, names, person)
    if person is None:
        return classes.numbers, classes.people
    (column,) = encode(table, [person])
    _, first = np.unique(column.codes, return_index=True)
    return classes.numbers[first], classes.people
