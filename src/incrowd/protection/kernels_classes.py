"""Compiled loops over classes: the limits and value sets of their members, and merging until they satisfy a demand."""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit


@njit(cache=True, nogil=True)
def class_sets(codes, order, ends, flat, offsets):  # type: ignore[no-untyped-def]
    """The distinct codes of every class in ascending order, one class after the other in `flat`."""
    start, filled = 0, 0
    for g in range(ends.size):
        offsets[g] = filled
        for i in range(start, ends[g]):
            code = codes[order[i]]
            at = filled
            while at > offsets[g] and flat[at - 1] > code:
                at -= 1
            if at > offsets[g] and flat[at - 1] == code:
                continue
            for j in range(filled, at, -1):
                flat[j] = flat[j - 1]
            flat[at] = code
            filled += 1
        start = ends[g]
    offsets[ends.size] = filled


@njit(cache=True, nogil=True)
def count_covered(codes, people, mask, rows, enough, found):  # type: ignore[no-untyped-def]
    """Number of people whom every class covers in all columns, written to `found`; counting stops at `enough`.

    `mask[rows[g, c] + code]` is True if class g covers the value with this code in column c.
    """
    for g in range(rows.shape[0]):
        total = 0
        for i in range(codes.shape[0]):
            covers = True
            for c in range(codes.shape[1]):
                if not mask[rows[g, c] + codes[i, c]]:
                    covers = False
                    break
            if covers:
                total += people[i]
                if total >= enough:
                    break
        found[g] = total


@njit(cache=True, nogil=True)
def add_codes(codes, start, end, counts, present, filled):  # type: ignore[no-untyped-def]
    """Add the codes of a run to `counts`; `present` lists the codes that occur. Returns how many do."""
    for i in range(start, end):
        if counts[codes[i]] == 0:
            present[filled] = codes[i]
            filled += 1
        counts[codes[i]] += 1
    return filled


@njit(cache=True, nogil=True)
def is_diverse(counts, present, filled, kind, l, c):  # type: ignore[no-untyped-def]  # noqa: E741
    """True if a class with these counts of values is l-diverse: kind 0 distinct, 1 entropy, 2 recursive (c, l)."""
    if filled < l or kind == 0:
        return filled >= l
    total = 0.0
    for i in range(filled):
        total += counts[present[i]]
    if kind == 1:
        entropy = 0.0
        for i in range(filled):
            share = counts[present[i]] / total
            entropy -= share * np.log(share)
        return entropy >= np.log(l) - 1e-12
    for rank in range(max(int(l) - 1, 1)):  # move the commonest values to the front
        for i in range(rank + 1, filled):
            if counts[present[i]] > counts[present[rank]]:
                present[i], present[rank] = present[rank], present[i]
        if rank < int(l) - 1:
            total -= counts[present[rank]]
    return counts[present[0]] < c * total


@njit(cache=True, nogil=True)
def find_diverse(codes, ends, values, kind, l, c, diverse):  # type: ignore[no-untyped-def]  # noqa: E741
    """Clear the flags of classes that are not l-diverse. `codes` are the sensitive values, class by class."""
    counts, present = np.zeros(values, np.int64), np.empty(values, np.int64)
    start = 0
    for g in range(ends.size):
        filled = add_codes(codes, start, ends[g], counts, present, 0)
        diverse[g] = diverse[g] and is_diverse(counts, present, filled, kind, l, c)
        for i in range(filled):
            counts[present[i]] = 0
        start = ends[g]


@njit(cache=True, nogil=True)
def merge_until_diverse(codes, ends, values, kind, l, c):  # type: ignore[no-untyped-def]  # noqa: E741
    """Merge neighbouring classes until every class is l-diverse; returns the new ends, none if all together are not.

    `codes` are the sensitive values, class by class. The union of two diverse classes is diverse, for every kind of
    diversity.
    """
    kept = np.empty(ends.size, np.int64)
    counts, present = np.zeros(values, np.int64), np.empty(values, np.int64)
    joined, start, filled = 0, 0, 0
    for g in range(ends.size):
        filled = add_codes(codes, start, ends[g], counts, present, filled)
        start = ends[g]
        if is_diverse(counts, present, filled, kind, l, c):
            kept[joined] = ends[g]
            joined += 1
            for i in range(filled):
                counts[present[i]] = 0
            filled = 0
    # records after the last diverse class are merged with previous classes until they are diverse
    rest = kept[joined - 1] if joined else 0
    while rest < codes.size and joined:
        joined -= 1
        before = kept[joined - 1] if joined else 0
        filled = add_codes(codes, before, rest, counts, present, filled)
        rest = before
        if is_diverse(counts, present, filled, kind, l, c):
            kept[joined] = rest = codes.size
            joined += 1
    return kept[:joined]


@njit(cache=True, nogil=True)
def is_within(counts, people, low, high):  # type: ignore[no-untyped-def]
    """True if the share of every value in a class is within its limits."""
    within = True
    for value in range(counts.size):
        within = within and low[value] <= counts[value] / people <= high[value]
    return within


@njit(cache=True, nogil=True)
def find_within(codes, ends, low, high, good):  # type: ignore[no-untyped-def]
    """Clear the flags of classes in which the share of a value exceeds its limits. `codes` are class by class."""
    counts = np.zeros(low.size, np.int64)
    start = 0
    for g in range(ends.size):
        for i in range(start, ends[g]):
            counts[codes[i]] += 1
        good[g] = good[g] and is_within(counts, ends[g] - start, low, high)
        for i in range(start, ends[g]):
            counts[codes[i]] = 0
        start = ends[g]


@njit(cache=True, nogil=True)
def merge_until_within(codes, ends, low, high):  # type: ignore[no-untyped-def]
    """Merge neighbouring classes until the share of every value is within its limits; returns the new ends.

    `codes` are the values, class by class. A share in a union lies between the shares in its parts, and one class of
    all records has the shares of the table, so a solution always exists.
    """
    kept = np.empty(ends.size, np.int64)
    counts = np.zeros(low.size, np.int64)
    joined, start, first = 0, 0, 0
    for g in range(ends.size):
        for i in range(start, ends[g]):
            counts[codes[i]] += 1
        start = ends[g]
        if is_within(counts, start - first, low, high):
            kept[joined] = first = start
            joined += 1
            counts[:] = 0
    while first < codes.size and joined:  # merge the remaining records with previous classes
        joined -= 1
        before = kept[joined - 1] if joined else 0
        for i in range(before, first):
            counts[codes[i]] += 1
        first = before
        if is_within(counts, codes.size - first, low, high):
            break
    if first < codes.size:
        kept[joined] = codes.size
        joined += 1
    return kept[:joined]
