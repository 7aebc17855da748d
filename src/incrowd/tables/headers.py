"""The first line of a table: whether it names the columns, or is a row of values like the others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from incrowd.backends.base import refuse_repeated
from incrowd.errors import InputError
from incrowd.tables.infer_types import DAY, NUMBER

_VALUE = re.compile(
    rf"{NUMBER}|{DAY}|\S+@\S+\.\S+|[0-9]{{1,2}}[./-][0-9]{{1,2}}[./-][0-9]{{2,4}}|[+0-9][0-9 /()-]{{5,}}"
)


def check_header(header: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> None:
    """Refuse a header in which a column has no name of its own, or which is a row of values.

    A header is a row of values where half of its cells are numbers, dates or addresses, or occur again in their own
    column. Its cells are never shown: they may be personal data.

    Args:
        header: the names of the columns.
        rows: some rows below it.
        name: the file's name, for messages.

    Raises:
        InputError: if it is not fit to name the columns.
    """
    blank = [str(position) for position, column in enumerate(header, 1) if not column]
    if blank:
        raise InputError(f"{name}: column {', '.join(blank[:5])} has no name in the header")
    values = {place for place, cell in enumerate(header) if _VALUE.fullmatch(cell)}
    a_day = any(re.fullmatch(DAY, header[place]) for place in values)
    below = [row for row in rows if len(row) == len(header) and list(row) != list(header)]
    recurring = {place for place, cell in enumerate(header) if any(row[place] == cell for row in below)}
    if a_day or len(values) > len(header) / 2 or (recurring and len(values | recurring) >= max(2, len(header) / 2)):
        raise InputError(f"{name}: the first line holds values, not column names; put a line of names before it")
    refuse_repeated(list(header), name)
