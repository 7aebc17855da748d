"""Generalised values: ranges, sets, prefixes and wildcards, as protected tables write them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_NUMERIC_RANGE = re.compile(rf"[\[(]\s*({_NUMBER})\s*(?:;|-|–|,|\.\.)\s*({_NUMBER})\+?\s*[\])]")
_OPEN_RANGE = re.compile(rf"\[\s*(?:({_NUMBER})\s*;\s*\*|\*\s*;\s*({_NUMBER}))\s*\]")
_DATE = r"\d{4}-\d{2}-\d{2}"
_DATE_RANGE = re.compile(rf"\[\s*({_DATE})\s*;\s*({_DATE})\s*\]")
_ONE_MEMBER = r'(?:\s*("(?:[^"]|"")*")\s*|([^",]*))'  # blanks fit one part only: else many of them take for ever
_MEMBER = re.compile(_ONE_MEMBER + ",", re.DOTALL)
_QUOTED_MEMBERS = re.compile(f"{_ONE_MEMBER}(?:,{_ONE_MEMBER})*", re.DOTALL)
_SET = re.compile(r"\{(.*)\}", re.DOTALL)
_PREFIX = re.compile(r"([^*]+)(\*+)")


@dataclass(frozen=True, slots=True)
class Interval:
    """All values from `low` to `high`, both included; without a limit one of them is infinite."""

    low: float | date
    high: float | date

    def covers(self, value: float | date) -> bool:
        """Whether the value lies in the interval."""
        return bool(self.low <= value <= self.high)  # type: ignore[operator]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these values; None is a null."""

    values: frozenset[str | None]

    def covers(self, value: object) -> bool:
        """Whether the value is one of the set."""
        return (None if value is None else str(value)) in self.values


@dataclass(frozen=True, slots=True)
class Prefix:
    """Values that begin with `start` and have `hidden` characters more: 937** is 93700 to 93799."""

    start: str
    hidden: int

    def covers(self, value: object) -> bool:
        """Whether the value begins with the prefix and is as long."""
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
    """The members of a set; one with a comma, brace or quotation mark inside stands in quotation marks, as in CSV.

    Nothing between two commas is a null, an empty text has its quotation marks.
    """
    if '"' in inside and _QUOTED_MEMBERS.fullmatch(inside):
        members = _MEMBER.findall(inside + ",")
        return [_member(bare) if bare or not marked else marked[1:-1].replace('""', '"') for marked, bare in members]
    return [_member(member) for member in inside.split(",")]  # marks of another program's notation are part of values


def _member(bare: str) -> str | None:
    return bare.strip() or None


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
