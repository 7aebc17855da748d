"""Well-known hierarchical codes: recognition, and the coarser codes of each code."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_SECTIONS = dict(  # of NACE Rev. 2, each with its first division
    zip("ABCDEFGHIJKLMNOPQRSTU", (1, 5, 10, 35, 36, 41, 45, 49, 55, 58, 64, 68, 69, 77, 84, 85, 86, 90, 94, 97, 99),
        strict=True)
)  # fmt: skip
_CHAPTERS = (  # of ICD-10
    "A00-B99", "C00-D49", "D50-D89", "E00-E90", "F00-F99", "G00-G99", "H00-H59", "H60-H95", "I00-I99", "J00-J99",
    "K00-K95", "L00-L99", "M00-M99", "N00-N99", "O00-O99", "P00-P96", "Q00-Q99", "R00-R99", "S00-T98", "U00-U99",
    "V00-Y99", "Z00-Z99",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CodeSystem:
    """A system of hierarchical codes."""

    name: str  # its common name
    pattern: re.Pattern[str]  # a pattern that all its codes match
    # a pattern for the column name, needed if the codes look like other numbers; otherwise empty
    named: re.Pattern[str] | None
    # the coarser codes of one code, finest first; the same number for every code
    coarser: Callable[[str], tuple[str, ...]]


def recognise_codes(column: str, values: Iterable[str]) -> CodeSystem | None:
    """Return the system to which all values of a column belong, or None.

    >>> recognise_codes("diagnosis", ["J45.9", "C50"]).name, recognise_codes("town", ["Ulm", "Bonn"])
    ('ICD-10', None)
    """
    fitting = [system for system in SYSTEMS if system.named is None or system.named.search(column.lower())]
    has_texts = False
    for text in values:
        has_texts, fitting = True, [system for system in fitting if system.pattern.fullmatch(text)]
        if not fitting:
            return None
    return fitting[0] if has_texts else None


def _icd(code: str) -> tuple[str, ...]:
    """Category and chapter: J45.9 is in J45 and in J00-J99."""
    category = code[:3]
    return category, _CHAPTERS[bisect_right(_CHAPTERS, f"{category}~") - 1]


def _nace(code: str) -> tuple[str, ...]:
    """Group, division and section: 62.01 is in 62.0, in 62 and in section J."""
    digits = re.sub("[^0-9]", "", code)
    place = bisect_right(list(_SECTIONS.values()), int(digits[:2])) - 1
    group = f"{digits[:2]}.{digits[2]}" if len(digits) > 2 else digits[:2]
    return group, digits[:2], f"section {list(_SECTIONS)[place]}"


def _postcode(code: str) -> tuple[str, ...]:
    """Sector, district and area: SW1A 1AA is in SW1A 1, in SW1A and in SW."""
    district = re.sub(" ", "", code)[:-3]
    return f"{district} {code[-3]}", district, re.sub("[^A-Z].*", "", district)


def _first(*lengths: int) -> Callable[[str], tuple[str, ...]]:
    """Return the first characters of a code, with a star for each of the others."""
    return lambda code: tuple(code[:length] + "*" * (len(code) - length) for length in lengths)


SYSTEMS: tuple[CodeSystem, ...] = (
    CodeSystem("ICD-10", re.compile(r"[A-Z][0-9][0-9A-Z](\.?[0-9A-Z]{1,4})?"),
               re.compile("icd|diag|cause|morbid|disease|illness"), _icd),
    CodeSystem("NUTS", re.compile(r"[A-Z]{2}[0-9A-Z]{3}"), re.compile("nuts|region"), _first(4, 3, 2)),
    CodeSystem("NUTS", re.compile(r"[A-Z]{2}[0-9A-Z]{2}"), re.compile("nuts|region"), _first(3, 2)),
    CodeSystem("postcodes of the United Kingdom", re.compile(r"[A-Z]{1,2}[0-9][0-9A-Z]? ?[0-9][A-Z]{2}"), None,
               _postcode),
    CodeSystem("NACE", re.compile(r"[A-U]?[0-9]{2}(\.?[0-9]{1,2})?"), re.compile("nace"), _nace),
    CodeSystem("ISCO", re.compile(r"[0-9]{4}"), re.compile("isco"), _first(3, 2, 1)),
    CodeSystem("FIPS", re.compile(r"[0-9]{5}"), re.compile("fips|geoid|county"), _first(2)),
    CodeSystem("FIPS", re.compile(r"[0-9]{11}"), re.compile("fips|geoid|tract"), _first(5, 2)),
    CodeSystem("ZIP codes", re.compile(r"[0-9]{5}"), re.compile("zip"), _first(3, 1)),
)  # fmt: skip
"""The systems that are recognised, in the order they are tried."""
