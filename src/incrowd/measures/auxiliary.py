"""Columns that stay in the table beside the quasi-identifiers: what whoever knows them as well could do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.results import Result
from incrowd.tables import Table

_ENOUGH = 30.0  # pairs of records alike in one column that would differ in the other if the two were independent


@dataclass(frozen=True, slots=True)
class Beside(Result):
    """The smallest class, and how many are alone, for somebody who knows these `columns` and the quasi-identifiers."""

    columns: tuple[str, ...]
    k: int
    uniques: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"columns": list(self.columns), "k": self.k, "uniques": self.uniques}


def known_beside(
    table: Table, quasi_identifiers: Sequence[str], others: Sequence[str], *, person: str | None = None
) -> Beside:
    """Count the classes with other columns known as well.

    >>> from incrowd import read_table
    >>> table = read_table({"age": ["[30;39]", "[30;39]"], "born": [1990, 1994]})
    >>> known_beside(table, ["age"], ["born"])
    Beside(columns=['born'], k=1, uniques=2)
    """
    sizes = ClassSizes.from_table(table, quasi_identifiers=[*quasi_identifiers, *others], person=person)
    return Beside(tuple(others), sizes.smallest, sizes.uniques)


def determines(one: NDArray[Any], other: NDArray[Any], times: NDArray[Any] | None = None) -> bool:
    """Whether no value of one column goes with two values of another, where chance alone would have shown many.

    Both are columns of codes from 0; entry i occurs `times[i]` times.

    >>> school = np.repeat(np.arange(10), 20)
    >>> determines(school, school // 2), determines(school // 2, school), determines(np.arange(200), school)
    (True, False, False)
    """
    alike, counts = (np.bincount(codes, weights=times).astype(np.float64) for codes in (one, other))
    share = counts / counts.sum()
    if float(alike @ (alike - 1.0)) / 2.0 * (1.0 - float(share @ share)) < _ENOUGH:
        return False
    example = np.zeros(alike.size, dtype=other.dtype)
    example[one] = other
    return bool(np.array_equal(example[one], other))
