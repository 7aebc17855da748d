"""Kept columns that give back what was made coarser, seen in the released table alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes
from incrowd.measures.determination import Determination, determination, range_determination
from incrowd.results import Result
from incrowd.tables import Interval, Table, parse_generalised


@dataclass(frozen=True, slots=True)
class GivenBack(Result):
    """A kept column that gives back a coarsened quasi-identifier.

    Attributes:
        column: the kept column.
        gives: the quasi-identifier it gives back.
        told: share of records whose value it tells.
        k: the smallest class for somebody who reads it together with the quasi-identifiers.
        uniques: how many people are then alone.
    """

    column: str
    gives: str
    told: float
    k: int
    uniques: int


def columns_given_back(
    table: Table, quasi_identifiers: Sequence[str], kept: Sequence[str], *, person: str | None = None
) -> tuple[GivenBack, ...]:
    """The kept columns that give back a generalised quasi-identifier, and make classes smaller by it.

    Args:
        table: the released table.
        quasi_identifiers: the columns an attacker may know; those that hold ranges or sets are looked at.
        kept: columns that stay as they were.
        person: the column that says whose record it is.

    Returns:
        One entry for each such column, with what whoever reads it could do.
    """
    if not table.backend.rows_are_local:
        return ()
    smallest = ClassSizes.from_table(table, quasi_identifiers=list(quasi_identifiers), person=person).smallest
    coarse = [column for column in encode(table.backend, list(quasi_identifiers)) if _is_generalised(column)]
    found = []
    for column in encode(table.backend, list(kept)) if coarse else ():
        gives = max(((_told(column, one), one.name) for one in coarse), key=lambda pair: pair[0].told)
        if not gives[0].gives_away:
            continue
        sizes = ClassSizes.from_table(table, quasi_identifiers=[*quasi_identifiers, column.name], person=person)
        if sizes.smallest < smallest:
            found.append(GivenBack(column.name, gives[1], gives[0].told, sizes.smallest, sizes.uniques))
    return tuple(found)


def _is_generalised(column: Coded) -> bool:
    return any(parse_generalised(value) is not None for value in column.values.to_pylist() if isinstance(value, str))


def _told(column: Coded, coarse: Coded) -> Determination:
    """How well a kept column tells the values behind a coarsened one: by its ranges, or else by its labels."""
    limits = _limits(coarse)
    if limits is None:
        return determination(column.codes, coarse.codes)
    low, high = (side[coarse.codes] for side in limits)
    known = ~np.isnan(low)
    codes = np.unique(column.codes[known], return_inverse=True)[1]
    return range_determination(codes, low[known], high[known])


def _limits(coarse: Coded) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Lower and upper limit of each label; not a number where it has none. None where no label is a range."""
    ends: list[tuple[float, float]] = []
    for value in coarse.values.to_pylist():
        parsed = parse_generalised(value) if isinstance(value, str) else None
        if isinstance(parsed, Interval):
            ends.append((_place(parsed.low), _place(parsed.high)))
        else:
            ends.append(_plain(value))
    if all(np.isnan(low) for low, _ in ends):
        return None
    low, high = np.array(ends).T
    return low, high


def _place(value: float | date) -> float:
    return float(value.toordinal()) if isinstance(value, date) else float(value)


def _plain(value: Any) -> tuple[float, float]:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return float("nan"), float("nan")
    return number, number
