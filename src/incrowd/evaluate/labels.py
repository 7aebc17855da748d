"""What the labels of a protected column mean in terms of the original: limits, and which values they cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.engines import Coded
from incrowd.errors import InputError
from incrowd.protect.problem import as_floats, is_number, positions
from incrowd.protect.recoding import as_text
from incrowd.table import Anything, Choice, Interval, Prefix, parse_generalised

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.protect.hierarchies import Hierarchy

_RANGE = r"^\[(?P<low>[^;]+);(?P<high>[^;]+)(?P<end>[\])])$"


@dataclass(frozen=True, slots=True, eq=False)
class Meaning:
    """One protected column against its original. Per label: `low` and `high` as positions on the original's line,
    `open_ended` where `high` itself is not covered, `covered` how many of the original's values it covers, `wildcard`.
    `members` lists the covered codes of the original (label i's are `members[offsets[i]:offsets[i + 1]]`) for labels
    that are not intervals of a number; those have none."""

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


def understand(original: Coded, protected: Coded, hierarchy: Hierarchy | None = None) -> Meaning:
    """Read every distinct label of a protected column once."""
    reader = _Reader(original, protected, hierarchy)
    reader.read_plain()
    if is_number(original):
        reader.read_ranges()
    reader.read_others()
    return reader.meaning()


class _Reader:
    """Fills in the meaning of labels, the common kinds all at once and the others one by one."""

    def __init__(self, original: Coded, protected: Coded, hierarchy: Hierarchy | None) -> None:
        self.original, self.protected, self.hierarchy = original, protected, hierarchy
        self.number = is_number(original)
        self.place = positions(original)
        self.filled = original.size - original.has_null
        self.text = as_text(original.values)
        self.labels = as_text(protected.values)
        size = protected.size
        self.low, self.high = np.full(size, np.nan), np.full(size, np.nan)
        self.open_ended = np.zeros(size, dtype=np.bool_)
        self.wildcard = np.zeros(size, dtype=np.bool_)
        self.members: list[NDArray[np.int64] | None] = [None] * size
        self.prefixes: list[Prefix | None] = [None] * size
        self.known = np.zeros(size, dtype=np.bool_)

    def read_plain(self) -> None:
        """Labels that are values of the original; a null where the original has none hides the cell."""
        import pyarrow.compute as pc

        values = self.text.slice(0, self.filled)
        # a text that a spreadsheet would run as a formula has an apostrophe before it in CSV
        bare = pc.replace_substring_regex(self.labels, r"^'([=+@\t\r-])", r"\1")
        found = pc.coalesce(pc.index_in(self.labels, value_set=values), pc.index_in(bare, value_set=values))
        codes = found.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        if self.protected.has_null:
            codes[-1] = self.filled if self.original.has_null else -1
            if not self.original.has_null:
                self._all(self.protected.size - 1)
        for label in np.flatnonzero(codes >= 0).tolist():
            self.members[label] = codes[label : label + 1]
        plain = codes >= 0
        self.low[plain] = self.high[plain] = self.place[codes[plain]]
        self.known |= plain

    def read_ranges(self) -> None:
        """Labels such as [24;28], and numbers that the original does not have, all at once."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rest = np.flatnonzero(~self.known)
        if not rest.size:
            return
        labels = self.labels.take(pa.array(rest))
        parts = pc.extract_regex(labels, _RANGE)
        is_range = parts.is_valid().to_numpy(zero_copy_only=False)
        ranges = parts.filter(pa.array(is_range))
        low, high = self._numbers(ranges.field("low")), self._numbers(ranges.field("high"))
        usable = ~np.isnan(low) & ~np.isnan(high) & (low <= high)
        where = rest[is_range][usable]
        self.low[where], self.high[where] = low[usable], high[usable]
        closing = ranges.field("end").to_numpy(zero_copy_only=False)
        self.open_ended[where] = (closing == ")")[usable]
        self.known[where] = True
        rest = np.flatnonzero(~self.known)
        values = self._numbers(self.labels.take(pa.array(rest)))
        where = rest[~np.isnan(values)]
        self.low[where] = self.high[where] = values[~np.isnan(values)]
        self.known[where] = True

    def _numbers(self, text: pa.Array) -> NDArray[np.float64]:
        """Text as positions on the original's line, NaN where it is none of its type."""
        import pyarrow as pa

        kind = self.original.values.type
        if not pa.types.is_temporal(kind):
            kind = pa.float64()
        try:
            return as_floats(text.cast(kind))
        except pa.ArrowInvalid:
            return np.array([self._number(entry.as_py(), kind) for entry in text], dtype=np.float64)

    @staticmethod
    def _number(text: str | None, kind: pa.DataType) -> float:
        import pyarrow as pa

        try:
            return float(as_floats(pa.array([text], pa.string()).cast(kind))[0])
        except (pa.ArrowInvalid, TypeError):
            return float("nan")

    def read_others(self) -> None:
        """Sets, prefixes, wildcards and labels of a hierarchy, one by one."""
        by_label = self._by_hierarchy()
        codes = {text: code for code, text in enumerate(self.text.to_pylist()) if text is not None}
        unknown = 0
        for label in np.flatnonzero(~self.known).tolist():
            text = self.labels[label].as_py()
            found = by_label.get(text)
            if found is None:
                found = self._parsed(label, text, codes)
            if found is None:
                unknown += 1
            elif found.size:
                self._set(label, found)
        if unknown:
            raise InputError(
                f"{unknown:,} labels of the protected column {self.original.name!r} are neither values of the original "
                f"nor ranges, sets, prefixes or *; give its hierarchy"
            )

    def _by_hierarchy(self) -> Mapping[str | None, NDArray[np.int64]]:
        if self.hierarchy is None:
            return {}
        found: dict[str | None, NDArray[np.int64]] = {}
        for level in self.hierarchy.levels(self.original)[1:]:
            for group, label in enumerate(level.labels):
                found.setdefault(label, np.flatnonzero(level.groups == group))
        return found

    def _parsed(self, label: int, text: str, codes: Mapping[str, int]) -> NDArray[np.int64] | None:
        """The codes a label covers; empty where its limits are set already, None where it says nothing we know."""
        nothing = np.zeros(0, dtype=np.int64)
        meaning = parse_generalised(text)
        if isinstance(meaning, Anything):
            self._all(label)
            return nothing
        if isinstance(meaning, Interval) and self.number and isinstance(meaning.low, float):
            self.low[label], self.high[label] = meaning.low, float(meaning.high)  # type: ignore[arg-type]
            return nothing
        if isinstance(meaning, Choice):
            wanted = [
                codes.get(value, self.filled if value == "" and self.original.has_null else -1)
                for value in meaning.values
            ]
            return None if -1 in wanted else np.sort(np.array(wanted, dtype=np.int64))
        if isinstance(meaning, Prefix):
            if self.number and meaning.start.isdigit():
                scale = 10**meaning.hidden
                self.low[label] = int(meaning.start) * scale
                self.high[label] = int(meaning.start) * scale + scale - 1
                return nothing
            self.prefixes[label] = meaning
            matching = [code for value, code in codes.items() if meaning.covers(value)]
            return np.array(matching, dtype=np.int64) if matching else None
        return None

    def _all(self, label: int) -> None:
        self.wildcard[label] = self.known[label] = True
        self.low[label], self.high[label] = self.place[0], self.place[-1]

    def _set(self, label: int, codes: NDArray[np.int64]) -> None:
        self.members[label] = codes
        self.low[label], self.high[label] = self.place[codes[0]], self.place[codes[-1]]

    def meaning(self) -> Meaning:
        """All labels, with how many of the original's values each covers."""
        values = self.place[: self.filled]
        upper = np.where(
            self.open_ended, np.searchsorted(values, self.high), np.searchsorted(values, self.high, "right")
        )
        covered = upper - np.searchsorted(values, self.low)
        listed = np.array([-1 if member is None else member.size for member in self.members], dtype=np.int64)
        covered = np.where(listed >= 0, listed, np.maximum(covered, 1))
        covered[self.wildcard] = self.original.size
        return Meaning(
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
