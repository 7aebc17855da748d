"""Counting matches where a blank may stand for any value.

Two records match where they have the same value in every column in which neither is blank.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, class_numbers, pack


def count_matches(columns: Sequence[Coded], subset_size: int | None = None) -> NDArray[np.int64]:
    """How many records every record matches, itself among them.

    Counted by patterns of nulls: records of two patterns match where they agree in the columns that are filled in both.

    Args:
        columns: the quasi-identifiers, in which a null is a blank.
        subset_size: how many columns are compared at once; the fewest matches by any so many count. None: all.

    >>> from incrowd.tables import read_table
    >>> from incrowd.backends import encode
    >>> count_matches(encode(read_table({"a": [1, 1, 2, None], "b": [5, None, 6, 6]}), ["a", "b"])).tolist()
    [2, 3, 2, 3]
    """
    width, rows = len(columns), columns[0].codes.size
    fewest = np.full(rows, rows)
    for subset in combinations(columns, min(subset_size or width, width)):
        filled = np.stack([column.codes < column.size - column.has_null for column in subset], axis=1)
        patterns, pattern = np.unique(filled, axis=0, return_inverse=True)
        pattern = pattern.reshape(-1)
        members = [np.flatnonzero(pattern == number) for number in range(len(patterns))]
        matches = np.zeros(rows, dtype=np.int64)
        for one, mine in enumerate(members):
            for other, theirs in enumerate(members):
                both = [column for column, seen in zip(subset, patterns[one] & patterns[other], strict=True) if seen]
                matches[mine] += _count_equal(both, mine, theirs)
        fewest = np.minimum(fewest, matches)
    return fewest


def _count_equal(columns: Sequence[Coded], mine: NDArray[np.int64], theirs: NDArray[np.int64]) -> NDArray[np.int64]:
    """For some rows, how many of other rows have the same values."""
    if not columns:
        return np.full(mine.size, theirs.size)
    both = np.concatenate([mine, theirs])
    numbers, _ = class_numbers(pack(Coded(one.name, one.codes[both], one.values) for one in columns))
    tally: NDArray[np.int64] = np.bincount(numbers[mine.size :], minlength=int(numbers.max()) + 1)[numbers[: mine.size]]
    return tally
