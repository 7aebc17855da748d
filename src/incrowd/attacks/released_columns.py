"""A column of the original beside its labels in the release, and the rows whose labels cover a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import UnsupportedError
from incrowd.tables.label_cover import LabelCover
from incrowd.tables.labels import read_labels
from incrowd.wording import counted, listed

Rows = NDArray[np.int64]

_MOST_CELLS = 4_000_000  # people by classes that are compared at once


def read_cover(before: Coded, after: Coded) -> LabelCover:
    """The values of an original column that the labels of a released one cover.

    Raises:
        UnsupportedError: some labels cannot be read.
    """
    cover = read_labels(after.values, before.values, name=before.name)
    if cover.unread.size:
        raise UnsupportedError(
            f"{counted(cover.unread.size, 'label', 'labels')} of {len(after.values):,} in {listed([before.name])} "
            "cannot be read, so that nobody can tell which values they cover; give the hierarchy that they come from"
        )
    return cover


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """A column of the original in the order of the released rows, and its labels; None if it was left out."""

    before: Coded
    after: Coded | None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.before.name

    @cached_property
    def cover(self) -> LabelCover | None:
        """The values that its labels cover; None without labels.

        A label that says nothing by itself, such as a name in a hierarchy, covers the values of its own rows.
        """
        if self.after is None:
            return None
        cover = read_labels(self.after.values, self.before.values, name=self.name)
        if not cover.unread.size:
            return cover
        texts = self.after.values.cast(pa.string()).to_pylist()
        own = {texts[label]: np.unique(self.before.codes[self.after.codes == label]) for label in cover.unread.tolist()}
        return read_labels(self.after.values, self.before.values, name=self.name, named=own)

    @property
    def is_coarse(self) -> bool:
        """True unless the release shows every exact value."""
        if self.after is None or self.cover is None:
            return True
        shows_single_values = (self.cover.counts[np.unique(self.after.codes)] == 1).all()
        return not (shows_single_values and self.cover.pairs(self.after.codes, self.before.codes).all())

    def take(self, rows: Rows) -> ReleasedColumn:
        """The column with some of its rows only."""
        column = ReleasedColumn(self.before.take(rows), None if self.after is None else self.after.take(rows))
        if "cover" in self.__dict__:
            column.__dict__["cover"] = self.cover
        return column


def classes_of(columns: Sequence[ReleasedColumn], rows: int) -> Rows:
    """The class of every row by the labels of columns, numbered from 0."""
    labels = [column.after for column in columns if column.after is not None]
    if not labels:
        return np.zeros(rows, dtype=np.int64)
    numbers, _ = class_numbers(pack(labels))
    return numbers.astype(np.int64)


def covering_classes(columns: Sequence[ReleasedColumn], classes: Rows, people: Rows) -> tuple[Rows, Rows]:
    """Pairs of a person (their place among `people`) and a class whose labels cover what is known of them."""
    _, first = np.unique(classes, return_index=True)
    persons: list[Rows] = []
    covering: list[Rows] = []
    step = max(1, _MOST_CELLS // first.size)
    for start in range(0, people.size, step):
        some = people[start : start + step]
        fits = np.ones((some.size, first.size), dtype=np.bool_)
        for column in columns:
            if column.after is not None and column.cover is not None:
                fits &= column.cover.pairs(column.after.codes[first][None, :], column.before.codes[some][:, None])
        person, place = np.nonzero(fits)
        persons.append(person + start)
        covering.append(place)
    return np.concatenate(persons), np.concatenate(covering)
