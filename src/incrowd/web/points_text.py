"""Parser of pasted points: two numbers per line, with the marks of thousands and decimals of any country."""

from __future__ import annotations

import re
from collections.abc import Iterator

from incrowd.errors import InputError
from incrowd.web.models import Point

_MAX_LINES = 500
_SPACE = r"[\s\u00a0\u2007\u2009\u202f]"
_GROUPED = re.compile(rf"\d{{1,3}}(?:(?P<mark>[.,'’_]|{_SPACE})\d{{3}})(?:(?P=mark)\d{{3}})*")
_SHARE = re.compile(r"(?P<whole>\d{1,3})(?:(?P<mark>[.,])(?P<part>\d+))?(?P<percent>\s*%)?")


def read_points(text: str) -> list[Point]:
    """Read a number of people and the share of them who were named from every line; a first line may be a header.

    Raises:
        InputError: a line does not hold two such numbers, or can be read in two ways; the message has its number.

    >>> [(point.n, point.correctness) for point in read_points("people, found\\n10,000 0.86\\n100.000; 61,5 %")]
    [(10000, 0.86), (100000, 0.615)]
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if lines and not any(letter.isdigit() for letter in lines[0][1]):
        del lines[0]
    if not 2 <= len(lines) <= _MAX_LINES:
        raise InputError(f"{len(lines):,} points; give 2 to {_MAX_LINES}, one a line: 10,000 0.86")
    return [_point(number, line) for number, line in lines]


def _point(number: int, line: str) -> Point:
    found = dict.fromkeys(_readings(line))
    if len(found) != 1:
        why = "can be read in two ways" if found else "holds no number of people and a share"
        raise InputError(f"line {number} {why}; write it as: 10000 0.86")
    ((people, share),) = found
    return Point(n=people, correctness=share)


def _readings(line: str) -> Iterator[tuple[int, float]]:
    """Every way to read a line as a count, a separator and a share."""
    for place in re.finditer(rf"[;|\t]|,(?={_SPACE})|{_SPACE}+|,", line):
        count, share = line[: place.start()].strip(" ;|\t,"), line[place.end() :].strip(" ;|\t,")
        people, mark = _count(count), _SHARE.fullmatch(share)
        if people is None or mark is None:
            continue
        value = float(f"{mark['whole']}.{mark['part'] or 0}") / (100 if mark["percent"] else 1)
        if not 0 <= value <= 1 or not people:
            continue
        yield people, value
        grouped = _GROUPED.fullmatch(count)
        if grouped is not None and grouped["mark"] == mark["mark"]:
            yield int(count.partition(grouped["mark"])[0]), value  # the mark may be of decimals: 10,000 is then ten


def _count(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) <= 12:
        return int(text)
    return int(re.sub(r"\D", "", text)) if _GROUPED.fullmatch(text) and len(text) <= 17 else None
