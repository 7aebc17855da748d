"""Distributions of the values of a column before and after protection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.evaluation.labels import LabelMeanings, read_meanings
from incrowd.protection.problem import positions
from incrowd.results import Result
from incrowd.tables import TableLike, read_table
from incrowd.tables.released_values import as_days, as_text, offset_of

_GROUPS = 12


@dataclass(frozen=True, slots=True)
class ColumnDistribution(Result):
    """The share of rows in each group of a column's values, before and after.

    A protected cell that covers several values counts for each of them in equal parts.
    """

    _derived: ClassVar[tuple[str, ...]] = ("distance",)
    column: str
    groups: tuple[str, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def distance(self) -> float:
        """Total variation distance, the share of rows that would have to change group: 0 is equal, 1 is disjoint."""
        return 0.5 * sum(abs(was - now) for was, now in zip(self.before, self.after, strict=True))


def distributions(
    original: TableLike, protected: TableLike, *, columns: Sequence[str], hierarchies: Mapping[str, Any] | None = None
) -> tuple[ColumnDistribution, ...]:
    """Compare the distributions of columns in at most a dozen groups each; for text, the commonest values and others.

    Args:
        original: the table before protection.
        protected: the table after protection.
        columns: the columns to compare.
        hierarchies: by column, the meaning of labels that are neither ranges nor sets.

    Returns:
        One distribution for each column.

    Raises:
        InputError: a column is missing, or a label cannot be read.

    >>> (found,) = distributions({"age": [1, 2, 3, 4]}, {"age": ["[1;2]", "[1;2]", "3", "4"]}, columns=["age"])
    >>> found.groups, found.after
    (('1', '2', '3', '4'), (0.25, 0.25, 0.25, 0.25))
    """
    given = hierarchies or {}
    pairs = zip(encode(read_table(original), columns), encode(read_table(protected), columns), strict=True)
    return tuple(_distribution(read_meanings(was, now, given.get(was.name))) for was, now in pairs)


def _distribution(meaning: LabelMeanings) -> ColumnDistribution:
    column = meaning.original
    names, group = _groups(column)
    by_value = np.eye(len(names))[group]
    counts = (column.tally @ by_value, meaning.tally @ meaning.shares(by_value))
    was, now = (tuple((count / count.sum()).tolist()) for count in counts)
    return ColumnDistribution(column.name, names, was, now)


def _groups(column: Coded) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Names of groups of values, and the group of each value."""
    filled = column.filled_size
    if column.has_distances and filled > _GROUPS:
        names, group = _ranges(column, filled)
    elif filled > _GROUPS:
        tally = column.tally[:filled]
        common = np.argsort(-tally, kind="stable")[: _GROUPS - 1]
        texts = as_text(column.values)
        names = [*(str(texts[int(code)].as_py()) for code in common), "others"]
        group = np.full(filled, _GROUPS - 1, dtype=np.int64)
        group[common] = np.arange(common.size)
    else:
        names, group = [str(text) for text in as_text(column.values.slice(0, filled)).to_pylist()], np.arange(filled)
    if column.has_null:
        names, group = [*names, "missing"], np.append(group, len(names))
    return tuple(names), group


def _ranges(column: Coded, filled: int) -> tuple[list[str], NDArray[np.int64]]:
    """Ranges of equal length from the smallest value to the largest."""
    place = positions(column)[:filled]
    low, high = float(place[0]), float(place[-1])
    kind = column.values.type
    whole = pa.types.is_integer(kind)
    width = float(np.ceil((high - low + 1) / _GROUPS)) if whole else (high - low) / _GROUPS
    group = np.minimum((place - low) // width, _GROUPS - 1).astype(np.int64)
    starts = [low + number * width + offset_of(column) for number in range(int(group.max()) + 1)]
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind) and not pa.types.is_duration(kind):
        unit = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        days = as_days(pa.array([int(start) for start in starts], unit).cast(kind)).to_pylist()
        return [f"from {day}" for day in days], group
    if whole:
        return [f"{start:.0f}" if width == 1 else f"{start:.0f}–{start + width - 1:.0f}" for start in starts], group
    return [f"{_end(start)} to {_end(start + width)}" for start in starts], group


def _end(number: float) -> str:
    """An end of a range as text: three digits, or all digits before the point."""
    return f"{number:.0f}" if abs(number) >= 1e3 else f"{number:.3g}"
