"""Meaning of the labels of a protected column in terms of the original: limits, and the values they cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.hierarchies import Hierarchy, covered_by_labels
from incrowd.protection.problem import TICKS, as_floats, offset_of, positions
from incrowd.protection.recoding import as_text, may_be_generalised
from incrowd.tables import Anything, Choice, Interval, Prefix, parse_generalised
from incrowd.tables.generalised import split_sets

_RANGE = r"^\[(?P<low>[^;]+);(?P<high>[^;]+)(?P<end>[\])])$"


@dataclass(frozen=True, slots=True, eq=False)
class LabelMeanings:
    """The labels of a protected column in terms of its original.

    Per label: `low` and `high` are positions on the original's scale; `open_ended` if `high` itself is not covered;
    `covered` counts the original's values that it covers. `members` lists their codes, None for intervals of numbers.
    """

    original: Coded
    codes: NDArray[Any]
    place: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    open_ended: NDArray[np.bool_]
    covered: NDArray[np.int64]
    wildcard: NDArray[np.bool_]
    members: Sequence[NDArray[np.int64] | None]
    prefixes: Sequence[Prefix | None]

    @property
    def tally(self) -> NDArray[np.int64]:
        """Number of cells with each label."""
        return np.bincount(self.codes, minlength=self.covered.size)

    def shares(self, by_value: NDArray[np.float64]) -> NDArray[np.float64]:
        """The share of every group among the possible values of each label, with equal parts for all values.

        `by_value` has a row for each value of the original, and a column for each group. A range between two values
        counts for the next one.
        """
        filled = self.original.filled_size
        sums = np.vstack([np.zeros(by_value.shape[1]), np.cumsum(by_value, axis=0)])
        place = self.place[:filled]
        low = np.minimum(np.searchsorted(place, self.low), filled - 1)
        below, through = np.searchsorted(place, self.high), np.searchsorted(place, self.high, side="right")
        high = np.maximum(np.where(self.open_ended, below, through), low + 1)
        shares: NDArray[np.float64] = (sums[high] - sums[low]) / (high - low)[:, None]
        for label, members in enumerate(self.members):
            if members is not None:
                shares[label] = by_value[members].mean(axis=0)
        shares[self.wildcard] = by_value.mean(axis=0)
        return shares


def read_labels(original: Coded, protected: Coded, hierarchy: Hierarchy | None = None) -> LabelMeanings:
    """Read every distinct label of a protected column once."""
    return _Reader(original, protected, hierarchy).read()


class _Reader:
    """Fills in the meaning of labels: common kinds in vectorised steps, the others one by one."""

    def __init__(self, original: Coded, protected: Coded, hierarchy: Hierarchy | None) -> None:
        self.original, self.protected, self.hierarchy = original, protected, hierarchy
        self.number = original.has_distances
        self.place = positions(original)
        self.filled = original.filled_size
        self.text = as_text(original.values)
        self.labels = as_text(protected.values)
        self.texts: list[Any] = self.labels.to_pylist()
        size = protected.size
        self.low, self.high = np.full(size, np.nan), np.full(size, np.nan)
        self.open_ended = np.zeros(size, dtype=np.bool_)
        self.wildcard = np.zeros(size, dtype=np.bool_)
        self.members: list[NDArray[np.int64] | None] = [None] * size
        self.prefixes: list[Prefix | None] = [None] * size
        self.known = np.zeros(size, dtype=np.bool_)
        self.first = offset_of(original)
        self.codes = {text: code for code, text in enumerate(self.text.to_pylist()) if text is not None}

    def read(self) -> LabelMeanings:
        """Read all labels. The order matters: each step reads only labels that no step before has read (`known`)."""
        if not self._is_unchanged():
            self._read_generalised()
        self._read_plain()
        if self.number:
            self._read_ranges()
        self._read_others()
        return self._meaning()

    def _is_unchanged(self) -> bool:
        """True if the column was not protected, so that its labels are plain values."""
        before, after = self.original, self.protected
        return bool(before.values.equals(after.values)) and np.array_equal(before.codes, after.codes)

    def _read_generalised(self) -> None:
        """Read labels of the hierarchy and generalised text; plain values that look like these are escaped."""
        by_label = self._codes_of_hierarchy_labels()
        for label, text in enumerate(self.texts if by_label else ()):
            if text in by_label:
                self._set(label, by_label[text])
        if not self.number:
            self._read_plain_sets()
            for label in np.flatnonzero(may_be_generalised(self.labels) & ~self.known).tolist():
                self._parsed(label)

    def _read_plain_sets(self) -> None:
        """Read sets without quotation marks in one step; skip sets with a member that the original does not have."""
        sets = split_sets(self.labels)
        codes = np.array([self._code(text) for text in sets.texts], dtype=np.int64)[sets.members]
        width = self.original.size + 1
        codes = np.sort(np.repeat(np.arange(sets.places.size), sets.sizes) * width + codes + 1) % width - 1
        ends = np.cumsum(sets.sizes)
        for place, start, end in zip(sets.places.tolist(), (ends - sets.sizes).tolist(), ends.tolist(), strict=True):
            if codes[start] >= 0 and not self.known[place]:
                self._set(place, codes[start:end])

    def _read_plain(self) -> None:
        """Read labels that are values of the original; a null is a wildcard if the original has none."""
        values = self.text.slice(0, self.filled)
        # in CSV, an apostrophe is written before a text that a spreadsheet would run as a formula
        bare = pc.replace_substring_regex(self.labels, r"^'([=+@\t\r-])", r"\1")
        code_of_label = pc.coalesce(pc.index_in(self.labels, value_set=values), pc.index_in(bare, value_set=values))
        codes = code_of_label.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        codes[self.known] = -1
        if self.protected.has_null:
            codes[-1] = self.filled if self.original.has_null else -1
            if not self.original.has_null:
                self._all(self.protected.size - 1)
        for label in np.flatnonzero(codes >= 0).tolist():
            self.members[label] = codes[label : label + 1]
        plain = codes >= 0
        self.low[plain] = self.high[plain] = self.place[codes[plain]]
        self.known |= plain

    def _read_ranges(self) -> None:
        """Read labels such as [24;28], and numbers that the original does not have, in one step."""
        rest = np.flatnonzero(~self.known)
        if not rest.size:
            return
        labels = self.labels.take(pa.array(rest))
        parts = pc.extract_regex(labels, _RANGE)
        is_range = parts.is_valid().to_numpy(zero_copy_only=False)
        ranges = parts.filter(pa.array(is_range))
        low, high = self._numbers(ranges.field("low")), self._numbers(ranges.field("high"), ends=True)
        usable = ~np.isnan(low) & ~np.isnan(high) & (low <= high)
        where = rest[is_range][usable]
        self.low[where], self.high[where] = low[usable], high[usable]
        closing = ranges.field("end").to_numpy(zero_copy_only=False)
        self.open_ended[where] = (closing == ")")[usable]
        self.known[where] = True
        rest = np.flatnonzero(~self.known)
        single = self.labels.take(pa.array(rest))
        low, high = self._numbers(single), self._numbers(single, ends=True)
        usable = ~np.isnan(low)
        where = rest[usable]
        self.low[where], self.high[where] = low[usable], high[usable]
        self.known[where] = True

    def _numbers(self, text: pa.Array, *, ends: bool = False) -> NDArray[np.float64]:
        """Text as positions on the original's scale, NaN if it is not of its type.

        If the original has times of day, a date is the whole day: its first moment, or its last if it `ends`.
        """
        kind = self.original.values.type
        if pa.types.is_timestamp(kind):
            kind = pa.timestamp(kind.unit)
            text = pc.replace_substring(text, "Z", "")
        elif not pa.types.is_temporal(kind) and not self.first:
            kind = pa.float64()
        try:
            place = as_floats(text.cast(kind), self.first)
        except pa.ArrowInvalid:
            place = np.array([self._number(entry.as_py(), kind) for entry in text], dtype=np.float64)
        if ends and pa.types.is_timestamp(kind) and self._has_hours():
            days = pc.fill_null(pc.match_substring_regex(text, r"^\d{4}-\d{2}-\d{2}$"), False)
            place = place + days.to_numpy(zero_copy_only=False) * float(86_400 * TICKS[kind.unit] - 1)
        return place

    def _number(self, text: str | None, kind: pa.DataType) -> float:
        try:
            return float(as_floats(pa.array([text], pa.string()).cast(kind), self.first)[0])
        except (pa.ArrowInvalid, TypeError):
            return float("nan")

    def _has_hours(self) -> bool:
        return len(self.text[0].as_py() or "") > len("2020-01-01")

    def _read_others(self) -> None:
        """Read sets, prefixes and wildcards, one by one."""
        for label in np.flatnonzero(~self.known).tolist():
            self._parsed(label)
        unknown = int(np.count_nonzero(~self.known))
        if unknown:
            raise InputError(
                f"{unknown:,} labels of the protected column {self.original.name!r} are neither values of the original "
                f"nor ranges, sets, prefixes or *; give its hierarchy",
                hint="hierarchies",
            )

    def _codes_of_hierarchy_labels(self) -> Mapping[str, NDArray[np.int64]]:
        """The values that each label of the hierarchy covers: all below it at any level, and the value of that name."""
        if self.hierarchy is None:
            return {}
        levels = self.hierarchy.levels(self.original)
        coarser = {label for level in levels[1:] for label in level.labels if label is not None}
        covered = covered_by_labels(levels)
        return {label: covered[label] for label in coarser if not self._needs_no_hierarchy(label)}

    def _needs_no_hierarchy(self, label: str) -> bool:
        """True if a label needs no hierarchy: * always, and ranges and similar labels of numbers."""
        return set(label) == {"*"} or (self.number and label[-1:] in {"*", "]", ")", "}"})

    def _parsed(self, label: int) -> None:
        """Resolve a label that reads as a range, set, prefix or wildcard of this column; skip any other."""
        text = self.texts[label]
        meaning = None if text is None else parse_generalised(text)
        if isinstance(meaning, Anything):
            self._all(label)
        elif isinstance(meaning, Interval) and self.number and isinstance(meaning.low, float):
            self._between(label, meaning.low, float(meaning.high))  # type: ignore[arg-type]
        elif isinstance(meaning, Choice):
            codes = [self._code(value) for value in meaning.values]
            if -1 not in codes:
                self._set(label, np.sort(np.array(codes, dtype=np.int64)))
        elif isinstance(meaning, Prefix):
            self._prefix(label, meaning)

    def _code(self, value: str | None) -> int:
        """The original's code of a set's member, -1 if it has none; an empty member is a null, if there are any."""
        if value is None:
            return self.filled if self.original.has_null else self.codes.get("", -1)
        return self.codes.get(value, -1)

    def _prefix(self, label: int, meaning: Prefix) -> None:
        if self.number and meaning.start.isdigit():
            scale = 10**meaning.hidden
            self._between(label, int(meaning.start) * scale, int(meaning.start) * scale + scale - 1)
            return
        matching = [code for value, code in self.codes.items() if meaning.covers(value)]
        if matching:
            self.prefixes[label] = meaning
            self._set(label, np.array(matching, dtype=np.int64))

    def _between(self, label: int, low: float, high: float) -> None:
        """Resolve a range of numbers; an open end reaches to the original's extreme value."""
        values = self.place[: self.filled]
        least, most = float(values.min(initial=np.inf)), float(values.max(initial=-np.inf))
        low, high = low - self.first, high - self.first
        self.low[label] = min(least, high) if low == -np.inf else low
        self.high[label] = max(most, low) if high == np.inf else high
        self.known[label] = True

    def _all(self, label: int) -> None:
        self.wildcard[label] = self.known[label] = True
        self.low[label], self.high[label] = self.place[0], self.place[-1]

    def _set(self, label: int, codes: NDArray[np.int64]) -> None:
        self.members[label], self.known[label] = codes, True
        self.low[label], self.high[label] = self.place[codes[0]], self.place[codes[-1]]

    def _meaning(self) -> LabelMeanings:
        """All labels, with the number of the original's values that each covers."""
        values = self.place[: self.filled]
        upper = np.where(
            self.open_ended, np.searchsorted(values, self.high), np.searchsorted(values, self.high, "right")
        )
        covered = upper - np.searchsorted(values, self.low)
        listed = np.array([-1 if member is None else member.size for member in self.members], dtype=np.int64)
        covered = np.where(listed >= 0, listed, np.maximum(covered, 1))
        covered[self.wildcard] = self.original.size
        return LabelMeanings(
            self.original,
            self.protected.codes,
            self.place,
            self.low,
            self.high,
            self.open_ended,
            covered.astype(np.int64),
            self.wildcard,
            self.members,
            self.prefixes,
        )
