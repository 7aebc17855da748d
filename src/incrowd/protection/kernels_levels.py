"""Compiled loops of the partition along hierarchies.

The cost of a class is the sum over columns of the cost of the finest label that all its members share. `tree` is a
tuple of arrays for the levels of all columns, one after the other: the group of every value, the cost of its label, the
offset of each column, its number of values and its number of levels.
"""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit
from incrowd.protection.kernels import exchange


@njit(cache=True, nogil=True)
def shared_level(tree, column, level, one, other):  # type: ignore[no-untyped-def]
    """The first level, from `level` on, at which two values share a label; the number of levels if there is none."""
    groups, _, offsets, sizes, depths = tree
    while level < depths[column]:
        at = offsets[column] + level * sizes[column]
        if groups[at + one] == groups[at + other]:
            break
        level += 1
    return level


@njit(cache=True, nogil=True)
def cost_of_level(tree, column, level, value):  # type: ignore[no-untyped-def]
    """Cost of a value's label at a level; infinite beyond the last level."""
    _, costs, offsets, sizes, depths = tree
    return costs[offsets[column] + level * sizes[column] + value] if level < depths[column] else np.inf


@njit(cache=True, nogil=True)
def cost_with(codes, record, first, levels, tree, most):  # type: ignore[no-untyped-def]
    """Cost of a class with one more record; if it reaches `most`, any number of at least `most`."""
    total = 0.0
    for c in range(codes.shape[1]):
        level = shared_level(tree, c, levels[c], codes[record, c], codes[first, c])
        total += cost_of_level(tree, c, level, codes[first, c])
        if total >= most:
            break
    return total


@njit(cache=True, nogil=True)
def raise_levels(codes, record, first, levels, tree):  # type: ignore[no-untyped-def]
    """Raise the levels of a class so that they cover one more record."""
    for c in range(codes.shape[1]):
        levels[c] = shared_level(tree, c, levels[c], codes[record, c], codes[first, c])


@njit(cache=True, nogil=True)
def gather(codes, rows, start, end, k, least, rarity, tree, ends, filled):  # type: ignore[no-untyped-def]
    """Make classes of k while at least `least` records remain: the rarest record and the k-1 that add least cost.

    Records without a possible class are moved to the end of the run. Returns the number of class ends in `ends`, and
    the start of these records. If `least` is above k, all remaining records become one more class instead.
    """
    levels = np.empty(codes.shape[1], np.int64)
    while end - start >= least:
        rarest = start
        for i in range(start + 1, end):
            if rarity[rows[i]] > rarity[rows[rarest]]:
                rarest = i
        exchange(codes, rows, start, rarest)
        levels[:] = 0
        members = 1
        while members < k:
            best, chosen = np.inf, -1
            for i in range(start + members, end):
                cost = cost_with(codes, i, start, levels, tree, best)
                if cost < best:
                    best, chosen = cost, i
            if chosen < 0:
                break
            exchange(codes, rows, start + members, chosen)
            raise_levels(codes, start + members, start, levels, tree)
            members += 1
        if members < k:
            end -= 1
            exchange(codes, rows, start, end)
            continue
        start += k
        ends[filled] = start
        filled += 1
    if least > k:
        ends[filled] = start = end
        filled += 1
    return filled, start


@njit(cache=True, nogil=True)
def split_classes(codes, rows, ends, k, rarity, tree):  # type: ignore[no-untyped-def]
    """Cut classes of 2k or more into smaller ones; returns the ends of classes."""
    found = np.empty(rows.size // k + 1, np.int64)
    filled, start = 0, 0
    for end in ends:
        differ = False
        for i in range(start + 1, end):
            for c in range(codes.shape[1]):
                differ = differ or codes[i, c] != codes[start, c]
        if differ and end - start >= 2 * k:
            filled, _ = gather(codes, rows, start, end, k, 2 * k, rarity, tree, found, filled)
        else:
            found[filled] = end
            filled += 1
        start = end
    return found[:filled]


@njit(cache=True, nogil=True)
def join_classes(codes, ends, loose, tree):  # type: ignore[no-untyped-def]
    """The class to which each of the last `loose` records adds least cost; -1 if it fits no class.

    `codes` holds the members class by class, then the loose records.
    """
    columns = codes.shape[1]
    levels = np.zeros((ends.size, columns), np.int64)
    size, cost = np.empty(ends.size), np.zeros(ends.size)
    start = 0
    for g in range(ends.size):
        for i in range(start + 1, ends[g]):
            raise_levels(codes, i, start, levels[g], tree)
        for c in range(columns):
            cost[g] += cost_of_level(tree, c, levels[g, c], codes[start, c])
        size[g] = ends[g] - start
        start = ends[g]
    joined = np.full(loose, -1)
    for record in range(loose):
        best = np.inf
        for g in range(ends.size):
            first = ends[g - 1] if g else 0
            most = (best + cost[g] * size[g]) / (size[g] + 1)
            total = cost_with(codes, start + record, first, levels[g], tree, most)
            if total < most:
                best, joined[record] = total * (size[g] + 1) - cost[g] * size[g], g
        if joined[record] >= 0:
            g = joined[record]
            first = ends[g - 1] if g else 0
            raise_levels(codes, start + record, first, levels[g], tree)
            cost[g] = cost_with(codes, first, first, levels[g], tree, np.inf)
            size[g] += 1
    return joined


@njit(cache=True, nogil=True)
def add_digit(keys, codes, digits):  # type: ignore[no-untyped-def]
    """Add to every key the digit of its code."""
    for i in range(keys.size):
        keys[i] += digits[codes[i]]


@njit(cache=True, nogil=True)
def number_keys(keys, weight):  # type: ignore[no-untyped-def]
    """Number the distinct keys in order of occurrence (hash table, open addressing).

    Returns the number of every key, and the total weight of each number.
    """
    bits = 4
    while (1 << bits) < 2 * keys.size:
        bits += 1
    slots = np.full(1 << bits, -1, np.int32)
    numbers, sizes, first = np.empty(keys.size, np.uint32), np.zeros(keys.size, np.int64), np.empty(keys.size, np.int64)
    found = 0
    for i in range(keys.size):
        at = np.int64((keys[i] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - bits))
        while slots[at] >= 0 and keys[first[slots[at]]] != keys[i]:
            at = (at + 1) & ((1 << bits) - 1)
        if slots[at] < 0:
            slots[at], first[found] = found, i
            found += 1
        numbers[i] = slots[at]
        sizes[slots[at]] += weight[i]
    return numbers, sizes[:found].copy()
