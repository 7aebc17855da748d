"""Distinct whole numbers with their counts: one counting pass for a small range of values, sorting for a large one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAX_WEIGHTED_RANGE = 4_000_000  # largest number up to which weighted numbers are counted by `bincount`, not by sorting
_RANGE_PER_NUMBER = 12  # with a larger range of values per number to count, sorting is faster than `bincount`


def count_numbers(
    numbers: NDArray[Any], times: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct non-negative numbers in ascending order and their counts; `times` weights each number.

    >>> count_numbers(np.array([3, 1, 3]))
    (array([1, 3]), array([1, 2]))
    """
    size = numbers.size
    largest = _RANGE_PER_NUMBER * size if times is None else max(min(_MAX_WEIGHTED_RANGE, 256 * size), 4 * size)
    if int(numbers.max(initial=0)) <= largest:
        tally = np.bincount(numbers, weights=times)
        present = np.flatnonzero(tally)
        return present, tally[present].astype(np.int64)
    if times is None:
        distinct, counts = count_in_order(np.sort(numbers))
        return distinct.astype(np.int64), counts
    distinct, inverse = np.unique(numbers, return_inverse=True)
    return distinct, np.bincount(inverse, weights=times).astype(np.int64)


def count_in_order(ordered: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The distinct values of a sorted array without NaN, and how often each occurs.

    >>> count_in_order(np.array([0.1, 0.5, 0.5]))
    (array([0.1, 0.5]), array([1, 2]))
    """
    starts = run_starts(ordered)
    return ordered[starts], np.diff(starts, append=ordered.size)


def distinct_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values in ascending order; they must not contain NaN. Faster than `np.unique`, which hashes.

    >>> distinct_values(np.array([0.5, 0.1, 0.5]))
    array([0.1, 0.5])
    """
    ordered = np.sort(values)
    distinct: NDArray[Any] = ordered[_is_first(ordered)]
    return distinct


def first_places(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Index of the first occurrence of each number from 0."""
    first = np.empty(int(numbers.max()) + 1, dtype=np.int64)
    first[numbers[::-1]] = np.arange(numbers.size)[::-1]
    return first


def run_starts(values: NDArray[Any]) -> NDArray[np.int64]:
    """The places where runs of equal values begin.

    >>> run_starts(np.array([3, 3, 7]))
    array([0, 2])
    """
    return np.flatnonzero(_is_first(values))


def _is_first(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the values that differ from their predecessor."""
    is_first = np.ones(ordered.size, dtype=np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return is_first
