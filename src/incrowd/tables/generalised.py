"""Generalised values in protected tables: ranges, sets, prefixes and wildcards."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_NUMERIC_RANGE = re.compile(rf"[\[(]\s*({_NUMBER})\s*(?:;|-|–|,|\.\.)\s*({_NUMBER})\+?\s*[\])]")
_OPEN_RANGE = re.compile(rf"\[\s*(?:({_NUMBER})\s*;\s*\*|\*\s*;\s*({_NUMBER}))\s*\]")
_PLAIN_RANGE = r"^\[(?P<low>-?\d{1,15}(?:\.\d{1,15})?);(?P<high>-?\d{1,15}(?:\.\d{1,15})?)\]$"
_DATE = r"\d{4}-\d{2}-\d{2}"
_DATE_RANGE = re.compile(rf"\[\s*({_DATE})\s*;\s*({_DATE})\s*\]")
_ONE_MEMBER = r'(?:\s*("(?:[^"]|"")*")\s*|([^",]*))'  # one part matches blanks: else exponential time
_PADDING = " \t\r\n\f\v"  # blanks around a member; one that begins or ends with a blank is quoted
_MEMBER = re.compile(_ONE_MEMBER + ",", re.DOTALL)
_QUOTED_MEMBERS = re.compile(f"{_ONE_MEMBER}(?:,{_ONE_MEMBER})*", re.DOTALL)
_SET = re.compile(r"\{(.*)\}", re.DOTALL)
_PREFIX = re.compile(r"(.*[^*])(\*+)", re.DOTALL)
_OPEN_END = pa.array(["", "*", "-inf", "-Inf", "-INF", "-∞", "inf", "Inf", "INF", "+inf", "+Inf", "+INF", "∞", "+∞"])
_END = rf"{_NUMBER}|\d{{4}}-\d\d-\d\d"
_PARTS = ("before", "low", "high", "after")
_RANGES = (
    r"^(?P<before>[\[\](])\s*(?P<low>[^;]*?)\s*;\s*(?P<high>[^;]*?)\s*(?P<after>[\[\])])$",
    r"^(?P<before>[\[\](])\s*(?P<low>[^,;]*?)\s*,\s*(?P<high>[^,;]*?)\s*(?P<after>[\[\])])$",
    rf"^(?P<before>[\[\](])?\s*(?P<low>{_END})\s*(?:-|–|\.\.|~|to)\s*(?P<high>{_END})\+?\s*(?P<after>[\[\])])?$",
    r"^(?:(?P<before>>)|≥|>=|=>)\s*(?P<low>[^<>=≤≥]+)$",
    r"^(?:(?P<after><)|≤|<=|=<)\s*(?P<high>[^<>=≤≥]+)$",
    rf"^(?P<low>{_NUMBER})\s*\+$",
)


@dataclass(frozen=True, slots=True)
class Interval:
    """All values from `low` to `high`, both included; an open end is infinite."""

    low: float | date
    high: float | date

    def covers(self, value: float | date) -> bool:
        """True if the value lies in the interval."""
        return bool(self.low <= value <= self.high)  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Choice:
    """One value of a set; None is a null."""

    values: frozenset[str | None]

    def covers(self, value: object) -> bool:
        """True if the value is in the set."""
        return (None if value is None else str(value)) in self.values


@dataclass(frozen=True, slots=True)
class Prefix:
    """Values that begin with `start`, followed by `hidden` more characters: 937** is 93700 to 93799."""

    start: str
    hidden: int

    def covers(self, value: object) -> bool:
        """True if the value begins with the prefix and has the same length."""
        text = str(value)
        return text.startswith(self.start) and len(text) == len(self.start) + self.hidden


@dataclass(frozen=True, slots=True)
class Anything:
    """The whole domain."""

    def covers(self, value: object) -> bool:
        """Always true: every value is in the domain."""
        return True


Generalised: TypeAlias = Interval | Choice | Prefix | Anything


def _members(inside: str) -> list[str | None]:
    """The members of a set; a member with a comma, brace or quotation mark is quoted, as in CSV.

    An empty place between two commas is a null; an empty text has quotation marks.
    """
    if '"' in inside and _QUOTED_MEMBERS.fullmatch(inside):
        members = _MEMBER.findall(inside + ",")
        return [_member(bare) if bare or not marked else marked[1:-1].replace('""', '"') for marked, bare in members]
    return [_member(member) for member in inside.split(",")]  # marks of another program's notation are part of values


def _member(bare: str) -> str | None:
    return bare.strip(_PADDING) or None


class Sets(NamedTuple):
    """Labels that are sets."""

    places: NDArray[np.int64]  # their positions among the labels
    sizes: NDArray[np.int64]  # the number of members of each set
    members: NDArray[np.int64]  # the members of all sets in sequence, as positions in `texts`
    texts: list[str | None]  # all distinct members; None is a null


def split_sets(labels: pa.Array) -> Sets:
    """Split the labels that are sets, those without quotation marks all at once.

    >>> split_sets(pa.array(["{b,a}", "[1;2]", '{"a,b",c}', None, "{b, }"]))[1:]
    (array([2, 2, 2]), array([0, 1, 3, 4, 0, 2]), ['b', 'a', None, 'a,b', 'c'])
    """
    labels = pc.utf8_trim_whitespace(labels)
    is_set, is_quoted = (
        pc.fill_null(pc.match_substring_regex(labels, pattern), False).to_numpy(zero_copy_only=False)
        for pattern in (r"^\{(?s:.*)\}$", '"')
    )
    plain, quoted = np.flatnonzero(is_set & ~is_quoted), np.flatnonzero(is_set & is_quoted)
    listed = pc.split_pattern(pc.utf8_slice_codeunits(labels.take(pa.array(plain)), 1, -1), ",")
    members = pc.utf8_trim(listed.flatten(), characters=_PADDING)
    owners = [pc.list_parent_indices(listed).to_numpy(zero_copy_only=False).astype(np.int64)]
    members = pc.if_else(pc.equal(members, ""), None, members)
    marked = [_members(label[1:-1]) for label in labels.take(pa.array(quoted)).to_pylist()]
    owners.append(np.repeat(plain.size + np.arange(quoted.size), [len(one) for one in marked]).astype(np.int64))
    members = pa.concat_arrays([members, pa.array([text for one in marked for text in one], pa.string())])
    encoded = members.dictionary_encode(null_encoding="encode")
    width, order = max(len(encoded.dictionary), 1), np.argsort(np.concatenate([plain, quoted]), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    cells = rank[np.concatenate(owners)] * width + encoded.indices.to_numpy(zero_copy_only=False)
    cells = distinct_values(cells)  # a member counts once
    sizes = np.bincount(cells // width, minlength=order.size)
    return Sets(np.concatenate([plain, quoted])[order], sizes, cells % width, encoded.dictionary.to_pylist())


def parse_ranges(labels: pa.Array, texts: Sequence[str | None]) -> list[Generalised | None]:
    """Apply `parse_generalised` to all labels; ranges of plain numbers are parsed in one vectorised step.

    >>> parse_ranges(pa.array(["[24;28]", "White", None]), ["[24;28]", "White", None])
    [Interval(low=24.0, high=28.0), None, None]
    """
    low, high = (side.cast(pa.float64()).to_pylist() for side in pc.extract_regex(labels, _PLAIN_RANGE).flatten())
    return [
        Interval(first, last)
        if first is not None and first <= last
        else None
        if text is None
        else parse_generalised(text)
        for first, last, text in zip(low, high, texts, strict=True)
    ]


class RangeTexts(NamedTuple):
    """Labels that are ranges: their ends as texts, None for an open end."""

    places: NDArray[np.int64]  # their positions among the labels
    low: pa.Array
    high: pa.Array
    excludes_low: NDArray[np.bool_]
    excludes_high: NDArray[np.bool_]


def split_ranges(labels: pa.Array) -> RangeTexts:
    """Split the labels that are ranges in some notation: [1;5], (1, 5], [1, 5[, 1-5, >=5, 5+; they are trimmed.

    >>> ranges = split_ranges(pa.array(["[24;28]", "White", "[20, 30[", "<18", "85+"]))
    >>> list(zip(ranges.places.tolist(), ranges.low.to_pylist(), ranges.high.to_pylist()))
    [(0, '24', '28'), (2, '20', '30'), (3, None, '18'), (4, '85', None)]
    """
    places, parts = np.arange(len(labels)), []
    for pattern in _RANGES:
        found = pc.extract_regex(labels.take(pa.array(places)), pattern)
        is_range = found.is_valid().to_numpy(zero_copy_only=False)
        fields = {field.name: found.field(field.name) for field in found.type}
        texts = [
            fields.get(name, pa.array([""] * len(found), pa.string())).filter(pa.array(is_range)) for name in _PARTS
        ]
        parts.append((places[is_range], *texts))
        places = places[~is_range]
    found_places, *columns = (list(column) for column in zip(*parts, strict=True))
    before, low, high, after = (pa.concat_arrays(column) for column in columns)
    low, high = (pc.if_else(pc.is_in(end, value_set=_OPEN_END), None, end) for end in (low, high))
    excludes_low = pc.is_in(before, value_set=pa.array(["(", "]", ">"])).to_numpy(zero_copy_only=False)
    excludes_high = pc.is_in(after, value_set=pa.array([")", "[", "<"])).to_numpy(zero_copy_only=False)
    return RangeTexts(np.concatenate(found_places), low, high, excludes_low, excludes_high)


class Prefixes(NamedTuple):
    """Labels that are the first characters of codes, and how many more characters each code has."""

    places: NDArray[np.int64]  # their positions among the labels
    starts: list[str]
    hidden: list[int]


def split_prefixes(labels: pa.Array) -> Prefixes:
    """Split the labels that are first characters of codes; they are trimmed.

    >>> prefixes = split_prefixes(pa.array(["937**", "*", None, "93722"]))
    >>> prefixes.places.tolist(), prefixes.starts, prefixes.hidden
    ([0], ['937'], [2])
    """
    parts = pc.extract_regex(labels, r"^(?s:(?P<start>.*[^*]))(?P<stars>\*+)$")
    places = np.flatnonzero(parts.is_valid().to_numpy(zero_copy_only=False))
    starts, stars = (parts.field(name).take(pa.array(places)).to_pylist() for name in ("start", "stars"))
    return Prefixes(places, starts, [len(text) for text in stars])


def parse_generalised(text: str) -> Generalised | None:
    """Parse a generalised value: a range, a set, a prefix or a wildcard.

    Args:
        text: a cell's text.

    Returns:
        What the cell covers, or None where the text is a plain value.

    >>> parse_generalised("[24;28]")
    Interval(low=24.0, high=28.0)
    >>> parse_generalised("[85;*]")
    Interval(low=85.0, high=inf)
    >>> parse_generalised("937**")
    Prefix(start='937', hidden=2)
    >>> parse_generalised("White") is None
    True
    """
    text = text.strip()
    if text and not text.strip("*"):
        return Anything()
    if text.startswith("{") and (match := _SET.fullmatch(text)):
        return Choice(frozenset(_members(match[1])))
    if match := _NUMERIC_RANGE.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        return Interval(low, high) if low <= high else None
    if match := _OPEN_RANGE.fullmatch(text):
        return Interval(float(match[1] or -math.inf), float(match[2] or math.inf))
    if match := _DATE_RANGE.fullmatch(text):
        try:
            first, last = date.fromisoformat(match[1]), date.fromisoformat(match[2])
        except ValueError:
            return None
        return Interval(first, last) if first <= last else None
    if text.endswith("*") and (match := _PREFIX.fullmatch(text)):
        return Prefix(match[1], len(match[2]))
    return None
