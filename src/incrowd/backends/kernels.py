"""Compiled loops over rows."""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit


@njit(cache=True, nogil=True)
def mark(values, missing, low, seen):  # type: ignore[no-untyped-def]
    """Mark in `seen` the values of a narrow range that occur."""
    masked = missing.size > 0
    for i in range(values.size):
        if not masked or not missing[i]:
            seen[values[i] - low] = True


@njit(cache=True, nogil=True)
def look_up(values, missing, low, position, null_code, codes):  # type: ignore[no-untyped-def]
    """Values as codes; a null gets the code after all others."""
    masked = missing.size > 0
    for i in range(values.size):
        if masked and missing[i]:
            codes[i] = null_code
        else:
            codes[i] = position[values[i] - low]


@njit(cache=True, nogil=True)
def append_digit(keys, codes, size):  # type: ignore[no-untyped-def]
    """Add a column to packed keys: the next digit of a number in mixed radix."""
    base = np.uint64(size)
    for i in range(keys.size):
        keys[i] = keys[i] * base + np.uint64(codes[i])


@njit(cache=True, nogil=True)
def run_lengths(ordered, small, large):  # type: ignore[no-untyped-def]
    """Count the runs of sorted keys by their length, as a frequency of frequencies.

    Runs shorter than `small.size` are tallied there; the others are listed in `large`. Returns how many are listed.
    """
    listed = 0
    start = 0
    for i in range(1, ordered.size + 1):
        if i == ordered.size or ordered[i] != ordered[start]:
            length = i - start
            if length < small.size:
                small[length] += 1
            else:
                large[listed] = length
                listed += 1
            start = i
    return listed


@njit(cache=True, nogil=True)
def count_first_bits(keys, shift, places):  # type: ignore[no-untyped-def]
    """Number of keys with each value of the bits that remain when `shift` bits are dropped."""
    counts = np.zeros(places, dtype=np.int64)
    for i in range(keys.size):
        counts[keys[i] >> np.uint64(shift)] += 1
    return counts


@njit(cache=True, nogil=True)
def scatter(keys, codes, shift, part, following, dealt, dealt_codes):  # type: ignore[no-untyped-def]
    """Scatter keys and codes into the parts that their first bits name; `following` has the next place of each part."""
    for i in range(keys.size):
        here = part[keys[i] >> np.uint64(shift)]
        place = following[here]
        dealt[place] = keys[i]
        dealt_codes[place] = codes[i]
        following[here] = place + 1


@njit(cache=True, nogil=True)
def number_runs(ordered, order, numbers, sizes, first):  # type: ignore[no-untyped-def]
    """Number the classes of sorted keys from `first`; store the number of every row and the size of every class.

    Returns the next free number.
    """
    current = first
    start = 0
    for i in range(1, ordered.size + 1):
        if i == ordered.size or ordered[i] != ordered[start]:
            for j in range(start, i):
                numbers[order[j]] = current
            sizes[current] = i - start
            current += 1
            start = i
    return current
