"""Detection of a table's header: names of columns, or a row of values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from incrowd.backends.counts import refuse_repeated
from incrowd.errors import InputError
from incrowd.tables.infer_types import DAY, NUMBER

_VALUE = re.compile(
    rf"{NUMBER}|{DAY}|\S+@\S+\.\S+|[0-9]{{1,2}}[./-][0-9]{{1,2}}[./-][0-9]{{2,4}}|[+0-9][0-9 /()-]{{5,}}"
)

_HOME = re.compile(r"[^\W\d]\D*\s\d{1,4}\s?\w?|\d{1,4}\w?\s[^\W\d]\D*")  # a street and a house number


def join_header(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join a header of several rows to column names; a group name applies to all columns it spans.

    A blank in any row but the last belongs to the group on its left.

    >>> join_header([["home", "", "work"], ["town", "zip", "town"]])
    ['home town', 'home zip', 'work town']
    """
    parts: list[list[str]] = [[] for _ in rows[-1]]
    for row in rows[:-1]:
        group = ""
        for place in range(len(parts)):
            group = (row[place].strip() if place < len(row) else "") or group
            parts[place] += [group] if group else []
    return [" ".join([*above, name.strip()]).strip() for above, name in zip(parts, rows[-1], strict=True)]


def suggest_header_rows(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bool:
    """True if the row below an unsuitable header names the columns: it holds no values, and the rows below do."""
    unfit = "" in header or len({*header}) < len(header)
    if not unfit or len(rows) < 2 or len(rows[0]) != len(header) or not all(rows[0]):
        return False
    has_values = any(_VALUE.fullmatch(str(cell)) for cell in rows[1])
    return has_values and not any(_VALUE.fullmatch(str(cell)) for cell in rows[0])


def check_header(header: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> None:
    """Refuse a header in which a column has no name of its own, or which is a row of values.

    A header counts as a row of values if half of its cells are numbers, dates or addresses, or occur again in their own
    column. A street with a house number counts as an address if most cells below it have that form too. The only number
    of a header counts as a value if it fits among the numbers below it. Cells of the header are never shown: they may
    be personal data.
    """
    below = [list(row) for row in rows]
    if suggest_header_rows(header, below):
        raise InputError(f"{name}: the header seems to have two rows; say how many", hint="header_rows")
    blank = [str(position) for position, column in enumerate(header, 1) if not column]
    if blank:
        raise InputError(f"{name}: column {', '.join(blank[:5])} has no name in the header")
    values = {place for place, cell in enumerate(header) if _VALUE.fullmatch(cell)}
    a_day = any(re.fullmatch(DAY, header[place]) for place in values)
    below = [row for row in below if len(row) == len(header) and row != list(header)]
    recurring = {place for place, cell in enumerate(header) if any(row[place] == cell for row in below)}
    homes = {place for place, cell in enumerate(header) if _HOME.fullmatch(cell) and _are_homes(below, place)}
    value_like = values | recurring | homes
    lone = [place for place in values if re.fullmatch(NUMBER, header[place])]
    a_value = a_day or (len(lone) == 1 and _fits_among(header[lone[0]], [str(row[lone[0]]) for row in below]))
    if a_value or len(values) > len(header) / 2 or (recurring and len(value_like) >= max(2, len(header) / 2)):
        raise InputError(f"{name}: the first line holds values, not column names; put a line of names before it")
    refuse_repeated(list(header), name)


def _fits_among(number: str, cells: Sequence[str]) -> bool:
    """True if most cells are numbers as long as this one, and it is between the smallest and the largest of them."""
    alike = [float(cell) for cell in cells if len(cell) == len(number) and re.fullmatch(NUMBER, cell)]
    return len(alike) > len(cells) / 2 and min(alike) <= float(number) <= max(alike)


def _are_homes(rows: Sequence[Sequence[Any]], place: int) -> bool:
    """True if most cells of a column are a street and a house number."""
    return sum(_HOME.fullmatch(str(row[place])) is not None for row in rows) > len(rows) / 2
