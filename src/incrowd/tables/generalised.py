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
_MEMBER = re.compile(_ONE_MEMBER + ",", re.DOTALL)
_QUOTED_MEMBERS = re.compile(f"{_ONE_MEMBER}(?:,{_ONE_MEMBER})*", re.DOTALL)
_SET = re.compile(r"\{(.*)\}", re.DOTALL)
_PREFIX = re.compile(r"([^*]+)(\*+)")


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
    return bare.strip() or None


class PlainSets(NamedTuple):
    """Sets that are written without quotation marks."""

    places: NDArray[np.int64]  # their positions among the labels
    sizes: NDArray[np.int64]  # the number of members of each set
    members: NDArray[np.int64]  # the members of all sets in sequence, as positions in `texts`
    texts: list[str | None]  # all distinct members, as written; None is a null


def split_plain_sets(labels: pa.Array) -> PlainSets:
    """Split the labels that are sets without quotation marks, all at once.

    >>> split_plain_sets(pa.array(["{b,a}", "[1;2]", '{"a,b",c}', None, "{b,}"])).texts
    ['b', 'a', None]
    """
    padded = pc.match_substring_regex(labels, r"[{,][\s\pZ\pC]|[\s\pZ\pC][,}]")
    is_set = pc.and_not(pc.match_substring_regex(labels, r'^\{[^"]*\}$'), padded)
    places = np.flatnonzero(pc.fill_null(is_set, False).to_numpy(zero_copy_only=False))
    listed = pc.split_pattern(pc.utf8_slice_codeunits(labels.take(pa.array(places)), 1, -1), ",")
    owner = pc.list_parent_indices(listed).to_numpy(zero_copy_only=False).astype(np.int64)
    encoded = listed.flatten().dictionary_encode()
    width = max(len(encoded.dictionary), 1)
    cells = distinct_values(owner * width + encoded.indices.to_numpy(zero_copy_only=False))  # a member counts once
    texts = [text or None for text in encoded.dictionary.to_pylist()]
    return PlainSets(places, np.bincount(cells // width, minlength=places.size), cells % width, texts)


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
