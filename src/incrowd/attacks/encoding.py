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

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.errors import InputError
from incrowd.special import Floats
from incrowd.tables import Table
from incrowd.tables.generalised import split_sets
from incrowd.tables.label_cover import LabelCover, expand
from incrowd.tables.labels import read_labels
from incrowd.tables.released_values import as_days_if_whole, as_text, as_written, offset_of

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
    if pa.types.is_boolean(sides[0].values.type):
        people = {side.values.type for side in (sides[0], *sides[2:])}
        unread = read_labels(sides[1].values, sides[0].values).unread
        return _set_column(sides) if len(people) == 1 and not unread.size else _text_column(sides)
    if not sides[0].has_distances:
        return _text_column(sides)
    sides = _days_if_whole(sides)
    covers = [_read_numbers(side, sides[0].values) for side in sides]
    has_sets = any(np.any(cover.is_list & _is_filled(side)) for cover, side in zip(covers, sides, strict=True))
    return _set_column(sides) if has_sets else _number_column(sides, covers)


def _days_if_whole(sides: tuple[Coded, ...]) -> tuple[Coded, ...]:
    """Days in place of times where no person has a time of day: the label of a day is then one value."""
    people = (sides[0], *sides[2:])
    if not all(pa.types.is_timestamp(side.values.type) for side in people):
        return sides
    days = [as_days_if_whole(side.values) for side in people]
    if not all(pa.types.is_date(values.type) for values in days):
        return sides
    original, *holdout = (replace(side, values=values) for side, values in zip(people, days, strict=True))
    return (original, sides[1], *holdout)


def _read_numbers(side: Coded, values: pa.Array) -> LabelCover:
    cover = read_labels(side.values, values, missing_hides=False)
    if cover.unread.size:
        raise InputError(
            f"column {side.name!r} holds numbers or dates in the original; in another table {cover.unread.size:,} of "
            f"its {side.size:,} labels are neither these nor ranges of them, so the two cannot be compared"
        )
    return cover


def _is_filled(side: Coded) -> NDArray[np.bool_]:
    """Mask of the labels that are not null."""
    return np.arange(side.size) < side.filled_size


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


def _number_column(sides: tuple[Coded, ...], covers: Sequence[LabelCover]) -> ScaledColumn:
    name = sides[0].name
    if any(np.any(np.isinf(cover.low) & (cover.low == cover.high)) for cover in covers):
        raise InputError(f"column {name!r} holds infinite numbers; make them null or a number")
    ends = np.concatenate([part for cover in covers for part in (cover.low, cover.high)])
    finite = ends[np.isfinite(ends)]
    least, most = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    size = most - least
    labels = []
    for side, cover, nulls_fit_all in zip(sides, covers, _nulls_fit_all(sides), strict=True):
        # an open end is the least or the largest value
        low, high = ((np.clip(end, least, most) - least) / (size or 1.0) for end in (cover.low, cover.high))
        is_null = ~_is_filled(side)
        low[is_null] = high[is_null] = _NULL
        fits_all = cover.hides_all | (is_null & nulls_fit_all)
        low[fits_all], high[fits_all] = -np.inf, np.inf
        labels.append(ScaledLabels(side.codes.astype(np.int64), low, high, {}))
    has_both = sides[0].has_null and finite.size > 0
    temporal = pa.types.is_temporal(sides[0].values.type)
    least += offset_of(sides[0])
    return ScaledColumn(name, True, least, size or float(has_both), (), tuple(labels), temporal)


def _set_column(sides: tuple[Coded, ...]) -> ScaledColumn:
    """A column of numbers that is released as sets, or of truth values: every label is a set of ranks of values."""
    people = [side.values.drop_null() for side in (sides[0], *sides[2:])]
    kind = people[0].type if len({values.type for values in people}) == 1 else pa.float64()
    numbers = pa.concat_arrays([values.cast(kind) for values in people]).unique()
    values = _with_null(numbers.take(pc.sort_indices(numbers)))
    covers = [
        read_labels(side.values, values, missing_hides=fits_all)
        for side, fits_all in zip(sides, _nulls_fit_all(sides), strict=True)
    ]
    return _ranked_column(sides, values, covers)


def _text_column(sides: tuple[Coded, ...]) -> ScaledColumn:
    original, released, *holdout = (as_text(side.values) for side in sides)
    known = pa.concat_arrays([original, *holdout]).unique().drop_null()
    labels = released.drop_null()
    unread = labels.take(pa.array(read_labels(labels, known, name=sides[0].name).unread))
    sets = split_sets(unread)
    words = unread.filter(pa.array(np.isin(np.arange(len(unread)), sets.places, invert=True)))
    further = pa.concat_arrays([pa.array(sets.texts, pa.string()).drop_null(), words])
    texts = pa.concat_arrays([known, further]).unique()
    values = _with_null(texts.take(pc.sort_indices(texts)))
    covers = []
    for texts, fits_all in zip((original, released, *holdout), _nulls_fit_all(sides), strict=True):
        # people's values stand for themselves, whatever they look like; so does a release that has no other values
        is_plain = texts is not released or pc.all(pc.is_in(labels, value_set=known)).as_py()
        written = as_written(texts) if is_plain else texts
        covers.append(read_labels(written, values, name=sides[0].name, missing_hides=fits_all))
    return _ranked_column(sides, values, covers)


def _with_null(values: pa.Array) -> pa.Array:
    return pa.concat_arrays([values, pa.nulls(1, values.type)])


def _ranked_column(sides: tuple[Coded, ...], values: pa.Array, covers: Sequence[LabelCover]) -> ScaledColumn:
    """A column whose labels are sets of ranks of its values; the last value is the null."""
    texts = tuple(as_text(values.slice(0, len(values) - 1)).to_pylist())
    labels = tuple(_ranked(side, cover) for side, cover in zip(sides, covers, strict=True))
    return ScaledColumn(sides[0].name, False, 0.0, float(len(texts) + sides[0].has_null > 1), texts, labels)


def _ranked(side: Coded, cover: LabelCover) -> ScaledLabels:
    """Labels by the ascending ranks of the values that each covers."""
    _, ranks = expand(cover.run_start, cover.run_end)
    places = cover.places[ranks]
    places[places == cover.places.size - 1] = null_rank(range(cover.places.size - 1))
    owner = np.repeat(np.arange(cover.counts.size), cover.counts)
    places = places[np.lexsort([places, owner])]
    starts = np.cumsum(cover.counts) - cover.counts
    low, high = np.full((2, side.size), -1.0)  # a label without values matches nothing
    is_filled = cover.counts > 0
    low[is_filled], high[is_filled] = places[starts[is_filled]], places[(starts + cover.counts - 1)[is_filled]]
    low[cover.hides_all], high[cover.hides_all] = -np.inf, np.inf
    apart = np.flatnonzero(~cover.hides_all & (high - low + 1 > cover.counts) & is_filled)
    members = {label: places[starts[label] : starts[label] + cover.counts[label]] for label in apart.tolist()}
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
