"""Distinct whole numbers with their counts: one counting pass for a small range of values, sorting for a large one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_FEW = 4_000_000  # possible numbers that are counted without sorting where each counts several times
_AS_FAST = 12  # possible numbers for each to be counted, up to which counting them all takes less than sorting


def count_numbers(
    numbers: NDArray[Any], times: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct non-negative numbers in ascending order and their counts; `times` weights each number.

    >>> count_numbers(np.array([3, 1, 3]))
    (array([1, 3]), array([1, 2]))
    """
    few = _AS_FAST * numbers.size if times is None else max(min(_FEW, 256 * numbers.size), 4 * numbers.size)
    if int(numbers.max(initial=0)) <= few:
        tally = np.bincount(numbers, weights=times)
        found = np.flatnonzero(tally)
        return found, tally[found].astype(np.int64)
    if times is None:
        found, counts = count_in_order(np.sort(numbers))
        return found.astype(np.int64), counts
    distinct, where = np.unique(numbers, return_inverse=True)
    return distinct, np.bincount(where, weights=times).astype(np.int64)


def count_in_order(ordered: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values of an array in ascending order, none of them NaN, and how often each occurs.

    >>> count_in_order(np.array([0.1, 0.5, 0.5]))
    (array([0.1, 0.5]), array([1, 2]))
    """
    starts = np.flatnonzero(_is_first(ordered))
    return ordered[starts], np.diff(starts, append=ordered.size)


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values in ascending order; they must not contain NaN. Faster than `np.unique`, which hashes.

    >>> distinct_values(np.array([0.5, 0.1, 0.5]))
    array([0.1, 0.5])
    """
    ordered = np.sort(values)
    found: NDArray[Any] = ordered[_is_first(ordered)]
    return found


def _is_first(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the values in a sorted array that differ from their predecessor."""
    found = np.ones(ordered.size, dtype=np.bool_)
    found[1:] = ordered[1:] != ordered[:-1]
    return found
