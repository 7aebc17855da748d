"""Unique records of a masked table without its original: the box rule over the domain that its labels show."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode
from incrowd.evaluation.boxes import Uniques, unique_records
from incrowd.evaluation.labels import understand
from incrowd.protection.recoding import as_text
from incrowd.tables import Anything, Choice, Interval, Prefix, parse_generalised, read_table


def count_fitting_uniques(data: Any, *, quasi_identifiers: Sequence[str], progress: Progress = silent) -> Uniques:
    """Count the records of a masked table that are unique by the fit rule (proper-anonymization paper, eq. 1).

    Ranges, sets, prefixes and wildcards stand for all the values that they cover. A record is unique if one of the
    values that it may have fits no other record. A wildcard covers what is seen in its column: every value, and every
    end of a range.

    Args:
        data: the masked table: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that an attacker may know.
        progress: called with what is done and how far it is.

    Returns:
        The number of unique records, and how many of them are undecided.

    Raises:
        InputError: a column is missing.

    >>> count_fitting_uniques({"age": ["26", "[24;28]", "24", "[25;27]", "28"]}, quasi_identifiers=["age"]).unique
    0
    """
    table = read_table(data)
    names = table.require(quasi_identifiers, "quasi-identifiers")
    columns = encode(table, names)
    return unique_records([understand(_domain(column), column) for column in columns], progress)


def generalised_columns(data: Any, names: Sequence[str]) -> list[str]:
    """The columns that hold a range, a set, a prefix or a wildcard.

    >>> generalised_columns({"age": ["26", "[24;28]"], "sex": ["f", "m"]}, ["age", "sex"])
    ['age']
    """
    return [column.name for column in encode(read_table(data), names) if any(map(parse_generalised, _labels(column)))]


def _labels(column: Coded) -> list[str]:
    return [text for text in as_text(column.values).to_pylist() if text is not None]


def _domain(column: Coded) -> Coded:
    """The values that a column's labels name: plain ones, ends of ranges and of prefixes, members of sets."""
    seen: list[Any] = [value for label in _labels(column) for value in _values(label)]
    numbers = _numbers(seen)
    values = numbers if numbers is not None else [str(value) for value in seen]
    if column.has_null:
        values.append(None)
    (domain,) = encode(read_table({column.name: values or ["*"]}), [column.name])
    return domain


def _values(label: str) -> list[Any]:
    meaning = parse_generalised(label)
    if isinstance(meaning, Anything):
        return []
    if isinstance(meaning, Interval):
        return [end for end in (meaning.low, meaning.high) if end not in (-math.inf, math.inf)]
    if isinstance(meaning, Choice):
        return [value for value in meaning.values if value is not None]
    if isinstance(meaning, Prefix):
        return [meaning.start + digit * meaning.hidden for digit in "09"]
    return [label]


def _numbers(seen: list[Any]) -> list[Any] | None:
    """All values as whole numbers, as fractions or as dates; None where one of them is none."""
    for kind in (_whole, float, _date):
        try:
            return [kind(value) for value in seen]
        except (TypeError, ValueError):
            continue
    return None


def _whole(value: Any) -> int:
    if float(value) != int(float(value)):
        raise ValueError
    return int(float(value))


def _date(value: Any) -> date:
    return value if isinstance(value, date) else date.fromisoformat(value)
