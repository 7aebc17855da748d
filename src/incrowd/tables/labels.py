"""Which original values a released label covers: the one reader of labels.

A label is a value, a range, a set, the first characters of a code, a name of a hierarchy, `*`, or a missing cell.
Values and labels may be of different types, because the two tables come from different files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from incrowd.backends.arrow_columns import is_text, without_dictionary
from incrowd.tables.code_systems import recognise_codes
from incrowd.tables.generalised import Prefixes, Sets, parse_generalised, split_prefixes, split_ranges, split_sets
from incrowd.tables.label_cover import LabelCover, Places, expand, joined_runs
from incrowd.tables.value_lines import Ends, line_of_texts, value_line
from incrowd.tables.value_texts import Spellings, TextIndex

_ESCAPED = r"^'([=+\-@\t\r\n＝＋－＠])"  # in CSV, text that a spreadsheet would run has an apostrophe before it


def read_labels(
    labels: pa.Array,
    values: pa.Array,
    *,
    name: str = "",
    named: Mapping[str, ArrayLike] | None = None,
    value_labels: Mapping[Any, str] | None = None,
    missing_hides: bool | None = None,
) -> LabelCover:
    """Find out which values each label covers.

    A label that may mean two things covers what either means. Texts are compared as they are written, and if no value
    is written so, by what they write: 30 is 30.0.

    Args:
        labels: the distinct cells of a released column, of any type.
        values: the distinct cells of its original, of any type.
        name: of the column, by which well-known codes are recognised.
        named: labels of a hierarchy, and the places of the values that each covers.
        value_labels: codes and their labels, as files of statistics packages have them; either stands for the other.
        missing_hides: True if a missing cell may hide any value, False if it is a missing value. None: it hides any
            value if none of the values is missing.

    >>> cover = read_labels(pa.array(["{a,b}", "b", "?"]), pa.array(["a", "b", "c"]))
    >>> cover.values_of(0).tolist(), cover.labels_of(1).tolist(), cover.unread.tolist()
    ([0, 1], [0, 1], [2])
    """
    labels, values = _plain(labels), _plain(values)
    spellings = Spellings(value_labels or {}, any(pa.types.is_boolean(one.type) for one in (labels, values)))
    texts = pc.fill_null(_as_text(labels), "")
    sets = split_sets(texts) if is_text(labels.type) else split_sets(texts.slice(0, 0))
    column = _Column(values, texts, sets, spellings)
    is_missing = labels.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(labels.type) and column.is_typed:
        found = column.read_floats(labels)
    else:
        found = column.read_labels(texts, sets)
        _read_sets(found, sets, column)
    _read_named(found, texts, column, {**_coarser_codes(name, values), **(named or {})})
    found.forget(is_missing)
    hides = column.filled == len(values) if missing_hides is None else missing_hides
    found.add(np.flatnonzero(is_missing), 0 if hides else column.filled, len(values))
    found.hides_all |= is_missing & hides
    return found.as_cover(column)


@dataclass(eq=False)
class _Found:
    """What each of some texts covers, as far as it is read: runs of ranks, and bounds."""

    size: int
    runs: list[tuple[Places, Places, Places]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.is_read, self.hides_all = (np.zeros(self.size, dtype=np.bool_) for _ in range(2))
        self.excludes_low, self.excludes_high = (np.zeros(self.size, dtype=np.bool_) for _ in range(2))
        self.is_list = np.zeros(self.size, dtype=np.bool_)
        self.low, self.high = (np.full(self.size, np.nan) for _ in range(2))

    def add(self, owner: Places, start: Any, end: Any) -> None:
        """Texts that cover the values from one rank to before another, for each of the texts."""
        owner, start, end = np.broadcast_arrays(owner, start, end)
        self.runs.append((owner.astype(np.int64), start.astype(np.int64), end.astype(np.int64)))
        self.is_read[owner] = True

    def forget(self, texts: NDArray[np.bool_]) -> None:
        """Forget what some texts cover."""
        self.runs = [
            (owner[~texts[owner]], start[~texts[owner]], end[~texts[owner]]) for owner, start, end in self.runs
        ]
        self.is_read &= ~texts
        self.low[texts] = self.high[texts] = np.nan

    def take_over(self, other: _Found) -> None:
        """Add what the same texts cover by another meaning; bounds are those of the first meaning that has some."""
        self.runs += other.runs
        self.is_read |= other.is_read
        self.low, self.high = (np.where(np.isnan(mine), its, mine) for mine, its in
                               ((self.low, other.low), (self.high, other.high)))  # fmt: skip

    def only_filled(self) -> _Found:
        """Without the texts that cover nothing."""
        is_filled = np.zeros(self.size, dtype=np.bool_)
        for owner, start, end in self.runs:
            is_filled[owner[start < end]] = True
        self.forget(~is_filled)
        return self

    def together(self) -> tuple[Places, Places, Places]:
        """All runs, by text."""
        parts = zip(*self.runs, strict=True) if self.runs else [[np.empty(0, dtype=np.int64)]] * 3
        owner, start, end = (np.concatenate(list(part)) for part in parts)
        order = np.argsort(owner, kind="stable")
        return owner[order], start[order], end[order]

    def as_cover(self, column: _Column) -> LabelCover:
        """The runs without overlaps; a label without bounds has those of the numbers that it covers."""
        starts, start, end = joined_runs(*self.together(), labels=self.size, values=column.places.size)
        is_list = self.is_list | np.isnan(self.low)
        positions = np.full(column.places.size, np.nan)
        line = column.line
        if line is not None:
            positions[line.places] = line.positions(line.numbers)
            numbers = positions[column.places]
            has_run = np.isnan(self.low) & (np.diff(starts) > 0) & ~self.hides_all
            at = np.flatnonzero(has_run)
            last = np.minimum(end[starts[at + 1] - 1], line.places.size) - 1
            self.low[at], self.high[at] = numbers[start[starts[at]]], numbers[last]
        return LabelCover(
            column.places, starts, start, end, positions, self.low, self.high, self.excludes_low, self.excludes_high,
            is_list & ~self.hides_all, self.hides_all, ~self.is_read,
        )  # fmt: skip


class _Column:
    """The values of the original, and what texts mean among them."""

    def __init__(self, values: pa.Array, labels: pa.Array, sets: Sets, spellings: Spellings) -> None:
        self.values, self.spellings = values, spellings
        self.line = value_line(values)
        self.is_typed = self.line is not None
        is_missing = values.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        self.filled = int(np.count_nonzero(~is_missing))
        self.texts = _as_text(values)
        members = pa.array(sets.texts, pa.string())
        if not self.is_typed:
            written = pa.concat_arrays([labels, members.drop_null()])
            is_padded = pc.any(pc.not_equal(written, pc.utf8_trim_whitespace(written))).as_py()
            self._trim = (lambda texts: texts) if is_padded else pc.utf8_trim_whitespace  # the file keeps blanks
            self._index = TextIndex(self._trim(self.texts))
            plain = labels.filter(pa.array(np.isin(np.arange(len(labels)), sets.places, invert=True)))
            if pc.any(pc.invert(pc.is_in(pa.concat_arrays([plain, members]), value_set=self.texts))).as_py():
                self.line = line_of_texts(pc.utf8_trim_whitespace(self.texts))
        first = np.empty(0, dtype=np.int64) if self.line is None else self.line.places
        is_other = ~is_missing
        is_other[first] = False
        self.places: Places = np.concatenate([first, np.flatnonzero(is_other), np.flatnonzero(is_missing)])
        self.ranks = np.empty_like(self.places)
        self.ranks[self.places] = np.arange(self.places.size)
        # a text that reads as a range or set is written as a set of one, if the writer is this library
        single = sets.members[np.cumsum(sets.sizes) - sets.sizes][sets.sizes == 1].tolist()
        self.has_escapes = any(_is_generalised(sets.texts[member]) for member in single)

    def read_labels(self, labels: pa.Array, sets: Sets) -> _Found:
        """What labels mean; of sets, only that they may be texts."""
        found, exact = _Found(len(labels)), _Found(len(labels))
        bare = pc.replace_substring_regex(labels, _ESCAPED, r"\1")
        texts = pc.utf8_trim_whitespace(bare)
        self._read_values(exact, bare, texts)
        if not self.is_typed:
            self._read_values(exact, labels, texts)
        self._read_stars(found, texts, exact.is_read)
        self._read_ranges(found, texts, exact.is_read)
        is_generalised = found.is_read.copy()
        is_generalised[sets.places] = True
        if self.has_escapes:
            exact.forget(is_generalised)
        found.take_over(exact)
        self._read_spellings(found, texts, np.flatnonzero(~found.is_read & ~is_generalised))
        return found

    def read_members(self, members: pa.Array) -> _Found:
        """What members of sets mean: values, and in sets of numbers also ranges."""
        found = _Found(len(members))
        texts = pc.utf8_trim_whitespace(members)
        self._read_values(found, members, texts)
        if self.is_typed:
            self._read_ranges(found, texts, found.is_read.copy())
        self._read_spellings(found, texts, np.flatnonzero(~found.is_read))
        return found

    def read_floats(self, labels: pa.Array) -> _Found:
        """Floating-point numbers cover the values that would be rounded to them."""
        assert self.line is not None
        found = _Found(len(labels))
        kind = np.float32 if labels.type.bit_width <= 32 else np.float64
        floats = labels.cast(pa.float32() if kind is np.float32 else pa.float64()).to_numpy(zero_copy_only=False)
        found.add(np.arange(len(labels)), *self.line.ranks_of_floats(floats))
        found.low = floats.astype(np.float64) - self.line.origin / 10**self.line.digits
        found.high = found.low.copy()
        return found

    def _read_values(self, found: _Found, texts: pa.Array, trimmed: pa.Array) -> None:
        """Plain values: by number, or by text."""
        if self.is_typed:
            self._add_ends(found, self.line.read(trimmed))  # type: ignore[union-attr]
        else:
            owner, places = self._index.find(self._trim(texts))
            found.add(owner, self.ranks[places], self.ranks[places] + 1)

    def _add_ends(self, found: _Found, ends: Ends) -> None:
        assert self.line is not None
        at = np.flatnonzero(ends.is_read)
        first, last = ends.first[at], ends.last[at]
        start, end = self.line.ranks(first), self.line.ranks(last, after=True)
        found.add(at, start, np.maximum(start, end))
        low, high = self.line.positions(first), self.line.positions(last)
        found.low[at], found.high[at] = np.minimum(low, high), np.maximum(low, high)

    def _read_stars(self, found: _Found, texts: pa.Array, is_exact: NDArray[np.bool_]) -> None:
        """`*` and the first characters of codes."""
        is_any = _flags(pc.match_substring_regex(texts, r"^\*+$"))
        found.add(np.flatnonzero(is_any), 0, self.places.size)
        found.hides_all |= is_any
        prefixes = split_prefixes(texts)
        if not prefixes.places.size:
            return
        if self.is_typed:
            self._read_digits(found, prefixes)
            return
        any_length = ~is_exact[prefixes.places]
        owner, places = self._index.find_prefixes(prefixes.starts, prefixes.hidden, any_length)
        found.add(prefixes.places[owner], self.ranks[places], self.ranks[places] + 1)

    def _read_digits(self, found: _Found, prefixes: Prefixes) -> None:
        """Numbers of which the last digits are hidden: 937** is 93700 to 93799."""
        assert self.line is not None
        if self.line.temporal:
            return
        pairs = list(zip(prefixes.starts, prefixes.hidden, strict=True))
        near = [start + ("1" + "0" * (length - 1) if start == "-" else "0" * length) for start, length in pairs]
        far = [start + "9" * length for start, length in pairs]
        ends = [self.line.read(pa.array(side, pa.string())) for side in (near, far)]
        usable = ends[0].is_read & ends[1].is_read
        first, last = (end.first[usable] for end in ends)
        low, high = np.minimum(first, last), np.maximum(first, last)
        self._add_between(found, prefixes.places[usable], low, high)

    def _add_between(self, found: _Found, owner: Places, low: NDArray[Any], high: NDArray[Any]) -> None:
        line = self.line
        assert line is not None
        start = line.ranks(low)
        found.add(owner, start, np.maximum(start, line.ranks(high, after=True)))
        found.low[owner], found.high[owner] = line.positions(low), line.positions(high)

    def _read_ranges(self, found: _Found, texts: pa.Array, is_exact: NDArray[np.bool_]) -> None:
        """Ranges of numbers, dates or times."""
        line = self.line
        if line is None:
            return
        ranges = split_ranges(texts)
        low, high = (line.read(pc.fill_null(end, "")) for end in (ranges.low, ranges.high))
        has_low, has_high = (_flags(end.is_valid()) for end in (ranges.low, ranges.high))
        in_order = ~(low.is_read & high.is_read) | np.asarray(low.first <= high.last, dtype=np.bool_)
        usable = (low.is_read | ~has_low) & (high.is_read | ~has_high) & in_order & (has_low | has_high)
        has_brackets = _flags(pc.match_substring_regex(texts.take(pa.array(ranges.places)), r"^[\[\](]"))
        usable &= has_brackets | ~is_exact[ranges.places]
        low_open, high_open = ranges.excludes_low & has_low, ranges.excludes_high & has_high
        first = np.where(low_open, line.beside(low.last, 1), low.first)
        last = np.where(high_open, line.beside(high.first, -1), high.last)
        start = np.where(has_low, line.ranks(first), 0)
        end = np.where(has_high, line.ranks(last, after=True), line.places.size)
        at = ranges.places[usable]
        found.add(at, start[usable], np.maximum(start, end)[usable])
        if line.kind is not None:  # the limit itself is written, and said to be excluded
            first, last = low.first, high.last
            found.excludes_low[at], found.excludes_high[at] = low_open[usable], high_open[usable]
        found.low[at] = np.where(has_low, line.positions(first), -np.inf)[usable]
        found.high[at] = np.where(has_high, line.positions(last), np.inf)[usable]

    def _read_spellings(self, found: _Found, texts: pa.Array, unread: Places) -> None:
        """Texts that no value is written as: other spellings, and among texts numbers that are written differently."""
        written = zip(unread.tolist(), texts.take(pa.array(unread)).to_pylist(), strict=True)
        spelled = [(place, spelling) for place, text in written for spelling in (*self.spellings.of(text), text)]
        owner = np.array([place for place, _ in spelled], dtype=np.int64)
        spellings = pa.array([text for _, text in spelled], pa.string())
        meant = _Found(owner.size)
        self._read_values(meant, spellings, spellings)
        if not self.is_typed and self.line is not None:
            equal = _Found(owner.size)
            self._add_ends(equal, self.line.read(spellings))
            meant.take_over(equal.only_filled())
        at, start, end = meant.together()
        found.add(owner[at], start, end)
        for bound, meant_bound in ((found.low, meant.low), (found.high, meant.high)):
            bound[owner[meant.is_read]] = meant_bound[meant.is_read]


def _read_sets(found: _Found, sets: Sets, column: _Column) -> None:
    """Add what the members of sets cover; a set is read if all its members are, or if it is a value itself."""
    if not sets.places.size:
        return
    texts = pa.array(sets.texts, pa.string())
    meant = column.read_members(pc.fill_null(texts, ""))
    is_null = texts.is_null().to_numpy(zero_copy_only=False)
    meant.forget(is_null)
    if column.filled < column.places.size:
        meant.add(np.flatnonzero(is_null), column.filled, column.places.size)
    meant.is_read |= is_null
    owner, start, end = meant.together()
    first = np.searchsorted(owner, np.arange(len(texts) + 1))
    which, at = expand(first[sets.members], first[sets.members + 1])
    begins = np.cumsum(sets.sizes) - sets.sizes
    is_read = np.logical_and.reduceat(meant.is_read[sets.members], begins) | found.is_read[sets.places]
    found.add(np.repeat(sets.places, sets.sizes)[which], start[at], end[at])
    found.is_read[sets.places] = is_read
    found.is_list[sets.places] = True
    found.low[sets.places] = np.fmin.reduceat(meant.low[sets.members], begins)
    found.high[sets.places] = np.fmax.reduceat(meant.high[sets.members], begins)


def _read_named(found: _Found, texts: pa.Array, column: _Column, named: Mapping[str, ArrayLike]) -> None:
    """Add the values below the names of a hierarchy."""
    for place, text in enumerate(texts.to_pylist() if named else ()):
        if text in named:
            ranks = column.ranks[np.asarray(named[text], dtype=np.int64)]
            found.add(np.full(ranks.size, place), ranks, ranks + 1)
            found.is_read[place] = True


def _coarser_codes(name: str, values: pa.Array) -> dict[str, list[int]]:
    """The coarser codes of a well-known system, and the places of the values below each."""
    texts = _as_text(values).to_pylist() if name and not pa.types.is_temporal(values.type) else []
    system = recognise_codes(name, (text for text in texts if text is not None))
    coarser: dict[str, list[int]] = {}
    for place, text in enumerate(texts if system is not None else ()):
        for code in {*system.coarser(text)} if text is not None and system is not None else ():
            coarser.setdefault(code, []).append(place)
    return coarser


def _is_generalised(text: str | None) -> bool:
    return text is not None and parse_generalised(text) is not None


def _flags(array: Any) -> NDArray[np.bool_]:
    return np.array(pc.fill_null(array, False).to_numpy(zero_copy_only=False))


def _plain(cells: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Cells in one array of a common type, without a dictionary."""
    cells = without_dictionary(cells)
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    kind = cells.type
    if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return cells.cast(pa.string())
    return cells.cast(pa.timestamp(kind.unit, "UTC")) if pa.types.is_timestamp(kind) and kind.tz is not None else cells


def _as_text(cells: pa.Array) -> pa.Array:
    """Cells as text; bytes that are no text as hexadecimal digits."""
    try:
        return cells.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if cell is None else cell.hex() for cell in cells.to_pylist()], pa.string())
