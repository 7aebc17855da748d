"""Encoding of columns of several tables on one scale, so that their records can be compared.

- Numbers, dates and times are positions divided by their range. Text is the rank of its value among the values of all
  tables.
- A protected cell is an interval: its range, or the ranks of its set or prefix. A set whose ranks are not consecutive
  is compared by its members. If some numbers are released as sets, all numbers of the column have ranks like text.
- A wildcard (*) fits every value.
- A null is a value of its own, apart from all others: the position `_NULL` among numbers, the rank `null_rank` among
  text. In a released column whose nulls are mostly suppressed cells, it fits every value instead (`_nulls_fit_all`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import InputError
from incrowd.protection import parse_range
from incrowd.protection.problem import offset_of
from incrowd.protection.recoding import as_text
from incrowd.special import Floats
from incrowd.tables import Anything, Choice, Interval, Prefix, Table, parse_generalised

_NULL = 2.0  # position of a null among numbers; these are from 0 to 1, so its distance to each is at least 1


@dataclass(frozen=True, slots=True, eq=False)
class ScaledLabels:
    """A column of one table on the common scale."""

    codes: NDArray[np.int64]  # the label of every row
    low: Floats  # the start of the interval of each label, and `high` its end
    high: Floats
    members: dict[int, NDArray[np.int64]]  # by label, the ranks of a set whose ranks are not consecutive

    @property
    def is_exact(self) -> bool:
        """True if no label is a range, a set or *."""
        return not self.members and bool(np.array_equal(self.low, self.high))


@dataclass(frozen=True, eq=False)
class ScaledColumn:
    """A column of all tables on one scale: `labels` has one entry for each table, the original's first.

    A number x has the position (x − `least`) ÷ `size`, a text its rank among `values`; `temporal` are dates and times.
    """

    name: str
    number: bool
    least: float
    size: float
    values: tuple[str, ...]
    labels: tuple[ScaledLabels, ...]
    temporal: bool = False

    @cached_property
    def has_sets(self) -> bool:
        """True if some label is a set that is no interval."""
        return any(one.members for one in self.labels)

    @property
    def is_constant(self) -> bool:
        """True if the column has one value in all tables, so that there is nothing to compare."""
        return self.size == 0

    def overlap(self) -> bool:
        """True if some value of the original is possible in the release; for numbers, if their ranges intersect."""
        original, released = self.labels[:2]
        if self.number:
            low, high = (one[original.low < _NULL] for one in (original.low, original.high))
            filled = released.low < _NULL
            overlapping = (
                np.any(filled) and released.low[filled].min() <= high.max() and low.min() <= released.high[filled].max()
            )
            return bool(overlapping)
        return bool(np.any(_possible(original, released)))


@dataclass(frozen=True, eq=False)
class EncodedTables:
    """Some columns of the original, the released table and, if there is one, the holdout."""

    columns: tuple[ScaledColumn, ...]
    rows: tuple[int, ...]

    def only(self, names: Sequence[str]) -> EncodedTables:
        """The named columns."""
        by_name = {column.name: column for column in self.columns}
        return replace(self, columns=tuple(by_name[name] for name in names))

    def column(self, name: str) -> ScaledColumn:
        """One column."""
        return next(column for column in self.columns if column.name == name)


def encode_tables(tables: Sequence[Table], names: Sequence[str]) -> EncodedTables:
    """Encode columns of the original, the released table and optionally a holdout on one scale.

    Raises:
        InputError: a column of numbers has labels that are no numbers, or a column holds infinite numbers.
    """
    sides = zip(*(encode(table, names) for table in tables), strict=True)
    return EncodedTables(tuple(_column(side) for side in sides), tuple(table.rows for table in tables))


def _column(sides: tuple[Coded, ...]) -> ScaledColumn:
    if not sides[0].has_distances:
        return _text_column(sides)
    sets = [_sets_of_numbers(side, sides[0].values.type) for side in sides]
    return _code_column(sides, sets) if any(sets) else _number_column(sides)


def null_rank(values: Sized) -> int:
    """The rank of a null among text; values have ranks from 0, and one rank is left free between them and the null."""
    return len(values) + 1


def _nulls_fit_all(sides: tuple[Coded, ...]) -> list[bool]:
    """For each table, True if a null fits every value: in a release that has more than twice the original's nulls.

    Most of them are then suppressed cells.
    """
    original, released = (_share_of_nulls(side) for side in sides[:2])
    return [False, released > 2 * original, *(False for _ in sides[2:])]


def _share_of_nulls(side: Coded) -> float:
    return float(np.mean(side.codes == side.size - 1)) if side.has_null else 0.0


def _number_column(sides: tuple[Coded, ...]) -> ScaledColumn:
    kind, name = sides[0].values.type, sides[0].name
    first = offset_of(sides[0])
    ends = [_number_ends(side, kind, first) for side in sides]
    finite = np.concatenate([part[np.isfinite(part)] for pair in ends for part in pair])
    if any(np.any(np.isinf(low) & np.isinf(high) & (low == high)) for low, high in ends):
        raise InputError(f"column {name!r} holds infinite numbers; make them null or a number")
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    size = most - least
    nullable = sides[0].has_null
    labels = []
    for side, (low, high), nulls_fit_all in zip(sides, ends, _nulls_fit_all(sides), strict=True):
        null = np.isnan(low)
        is_open = np.isinf(low) ^ np.isinf(high)  # a range with one end: the other is the least or largest value
        low, high = (np.where(is_open, np.clip(end, least, most), end) for end in (low, high))
        ends_of_null = (-np.inf, np.inf) if nulls_fit_all else (_NULL, _NULL)
        scaled = [
            np.where(null, instead, (end - least) / (size or 1.0))
            for end, instead in zip((low, high), ends_of_null, strict=True)
        ]
        labels.append(ScaledLabels(side.codes.astype(np.int64), scaled[0], scaled[1], {}))
    has_both = nullable and finite.size > 0
    temporal = pa.types.is_temporal(kind)
    return ScaledColumn(name, True, least + first, size or float(has_both), (), tuple(labels), temporal)


def _number_ends(side: Coded, kind: pa.DataType, first: int, skipped: Collection[int] = ()) -> tuple[Floats, Floats]:
    """Both ends of every label as numbers; a null and skipped labels are NaN, a wildcard is -inf to inf."""
    if side.has_distances and pa.types.is_temporal(kind) == pa.types.is_temporal(side.values.type):
        values = side.values.cast(kind) if pa.types.is_temporal(kind) else side.values
        place = as_floats(values, first)
        return place, place.copy()
    texts = [None if label in skipped else text for label, text in enumerate(as_text(side.values).to_pylist())]
    ends = np.array([_text_ends(text, kind) for text in texts], dtype=np.float64).reshape(-1, 2)
    unread = [text is not None and bool(np.isnan(low)) for text, low in zip(texts, ends[:, 0], strict=True)]
    if any(unread):
        raise InputError(
            f"column {side.name!r} holds numbers or dates in the original; in another table {sum(unread):,} of its "
            f"{len(texts):,} labels are neither these nor ranges of them, so the two cannot be compared"
        )
    return ends[:, 0] - first, ends[:, 1] - first


def _text_ends(text: str | None, kind: pa.DataType) -> tuple[float, float]:
    """Both ends of a label of a numeric column; NaN if it is not numeric."""
    if text is None:
        return np.nan, np.nan
    try:
        low, high = parse_range(text)
    except InputError:  # a time, or no number at all
        low = high = text
    first = -np.inf if low is None else _as_number(low, kind)
    return first, np.inf if high is None else _as_number(high, kind)


def _as_number(value: float | date | str, kind: pa.DataType) -> float:
    if isinstance(value, int | float) and not pa.types.is_temporal(kind):
        return float(value)
    target = kind if pa.types.is_temporal(kind) else pa.float64()
    try:
        return float(as_floats(pa.array([str(value)]).cast(target))[0])
    except pa.ArrowInvalid:
        return float("nan")


def _sets_of_numbers(side: Coded, kind: pa.DataType) -> dict[int, list[float | None]]:
    """The members of the labels that are sets of numbers; None is a null."""
    if side.has_distances:
        return {}
    meanings = [None if text is None else parse_generalised(text) for text in as_text(side.values).to_pylist()]
    sets = {
        label: [None if member is None else _as_number(member, kind) for member in meaning.values]
        for label, meaning in enumerate(meanings)
        if isinstance(meaning, Choice)
    }
    return {label: some for label, some in sets.items() if not any(one is not None and np.isnan(one) for one in some)}


def _code_column(sides: tuple[Coded, ...], sets: Sequence[dict[int, list[float | None]]]) -> ScaledColumn:
    """A column of numbers that is released as sets in some table: every label is a set of ranks of numbers."""
    kind, name = sides[0].values.type, sides[0].name
    ends = [_number_ends(side, kind, 0, skipped=some) for side, some in zip(sides, sets, strict=True)]
    members = [one for some in sets for label in some.values() for one in label if one is not None]
    numbers = np.unique(np.concatenate([np.array(members), *(low[low == high] for low, high in ends)]))
    null = null_rank(numbers)
    labels = []
    for side, (low, high), some, nulls_fit_all in zip(sides, ends, sets, _nulls_fit_all(sides), strict=True):
        first, last = np.searchsorted(numbers, low, "left"), np.searchsorted(numbers, high, "right") - 1
        ranks: list[list[int] | None] = [
            None if np.isinf(least) and np.isinf(most) else list(range(begin, end + 1))
            for least, most, begin, end in zip(low, high, first.tolist(), last.tolist(), strict=True)
        ]
        for label in np.flatnonzero(np.isnan(low)).tolist():
            ranks[label] = None if nulls_fit_all else [null]
        for label, wanted in some.items():
            ranks[label] = sorted(null if one is None else int(np.searchsorted(numbers, one)) for one in wanted)
        labels.append(_ranked(side, ranks))
    values = tuple(str(number) for number in numbers)
    return ScaledColumn(name, False, 0.0, float(numbers.size + sides[0].has_null > 1), values, tuple(labels))


def _text_column(sides: tuple[Coded, ...]) -> ScaledColumn:
    texts = [as_text(side.values).to_pylist() for side in sides]
    original_values = {text for text in texts[0] if text is not None}
    # a label that is a value of the original is that value, even if it looks like a set or a prefix
    meanings = [{text: _meaning(text, original_values) for text in one} for one in texts]
    plain = set(original_values)
    for one in meanings:
        for text, meaning in one.items():
            if isinstance(meaning, Choice):
                plain.update(member for member in meaning.values if member is not None)
            elif meaning is None and text is not None:
                plain.add(text)
    values = tuple(sorted(plain))
    rank = {value: place for place, value in enumerate(values)}
    labels = tuple(
        _text_labels(side, text, meaning, values, rank, nulls_fit_all)
        for side, text, meaning, nulls_fit_all in zip(sides, texts, meanings, _nulls_fit_all(sides), strict=True)
    )
    return ScaledColumn(sides[0].name, False, 0.0, float(len(values) + sides[0].has_null > 1), values, labels)


def _meaning(text: str | None, known: set[str]) -> Choice | Prefix | Anything | None:
    """The values that a text label covers; None if it is a plain value."""
    meaning = None if text is None or text in known else parse_generalised(text)
    return None if isinstance(meaning, Interval) else meaning


def _text_labels(
    side: Coded,
    texts: list[str | None],
    meanings: dict[str | None, Any],
    values: tuple[str, ...],
    rank: dict[str, int],
    nulls_fit_all: bool,
) -> ScaledLabels:
    ranks: list[list[int] | None] = []
    null = null_rank(values)
    for text in texts:
        meaning = meanings[text]
        if text is None:
            ranks.append(None if nulls_fit_all else [null])
        elif isinstance(meaning, Choice):
            ranks.append(sorted(null if value is None else rank[value] for value in meaning.values))
        elif isinstance(meaning, Prefix):
            ranks.append([place for place, value in enumerate(values) if meaning.covers(value)])
        else:
            ranks.append(None if isinstance(meaning, Anything) else [rank[text]])
    return _ranked(side, ranks)


def _ranked(side: Coded, ranks: Sequence[list[int] | None]) -> ScaledLabels:
    """Labels by the ascending ranks of the values that each covers; None covers everything."""
    low, high = np.full(len(ranks), -np.inf), np.full(len(ranks), np.inf)
    members = {}
    for label, one in enumerate(ranks):
        if one is not None:
            some = one or [-1]  # a prefix or range without values matches nothing
            low[label], high[label] = some[0], some[-1]
            if some[-1] - some[0] + 1 > len(some):
                members[label] = np.array(some, dtype=np.int64)
    return ScaledLabels(side.codes.astype(np.int64), low, high, members)


def _possible(first: ScaledLabels, second: ScaledLabels) -> NDArray[np.bool_]:
    """Mark the labels of the first that overlap some label of the second, by their intervals."""
    order = np.argsort(second.low, kind="stable")
    reach = np.maximum.accumulate(second.high[order])
    place = np.searchsorted(second.low[order], first.high, "right") - 1
    return np.asarray((place >= 0) & (reach[np.maximum(place, 0)] >= first.low))


def missed_pairs(probes: ScaledLabels, gallery: ScaledLabels) -> NDArray[np.bool_]:
    """For every label of one table and of another, True if no value fits both."""
    missed = (probes.low[:, None] > gallery.high) | (probes.high[:, None] < gallery.low)
    plain, their_plain = (np.setdiff1d(np.arange(one.low.size), [*one.members]) for one in (probes, gallery))
    for one, members in probes.members.items():
        missed[one, their_plain] |= ~_any_between(members, gallery.low[their_plain], gallery.high[their_plain])
    for other, members in gallery.members.items():
        missed[plain, other] |= ~_any_between(members, probes.low[plain], probes.high[plain])
    if probes.members and gallery.members:
        # value by value: comparing every pair of sets takes minutes where both have thousands
        missed[np.ix_([*probes.members], [*gallery.members])] = True
        sets, their_sets = _sets_by_value(probes.members), _sets_by_value(gallery.members)
        for value in sets.keys() & their_sets.keys():
            missed[np.ix_(sets[value], their_sets[value])] = False
    return missed


def _sets_by_value(members: Mapping[int, NDArray[np.int64]]) -> dict[int, NDArray[np.int64]]:
    """The labels of the sets that hold each value."""
    labels = np.repeat([*members], [one.size for one in members.values()])
    values = np.concatenate([*members.values()])
    order = np.argsort(values, kind="stable")
    distinct, starts = np.unique(values[order], return_index=True)
    return dict(zip(distinct.tolist(), np.split(labels[order], starts[1:]), strict=True))


def _any_between(members: NDArray[np.int64], low: Floats, high: Floats) -> NDArray[np.bool_]:
    """For each interval, True if one of the ascending members lies in it."""
    return np.asarray(np.searchsorted(members, low, "left") < np.searchsorted(members, high, "right"))
