"""Compiled loops of the t-close partition: classes with one record of every stratum.

`points` and `rows` are as in `kernels`. Stratum g is rows g * length to (g + 1) * length - 1. A class is the records at
the same position of every stratum.
"""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit
from incrowd.protection.kernels import (
    add_moments,
    add_to_centre,
    cheapest,
    exchange,
    farthest,
    is_new,
    join,
    separate,
    smallest,
    widest,
)


@njit(cache=True, nogil=True)
def split_strata(points, rows, strata, length, start, end, limit):  # type: ignore[no-untyped-def]
    """Cut runs in two as `split` does, with equally many records of every stratum in each part.

    Each stratum is cut at its own median of the column that varies most over all strata (maths.md, section 4). Returns
    `start` and the end of every part.
    """
    columns = points.shape[1]
    scratch = np.empty(end - start, points.dtype)
    stack = [(start, end)]
    ends = [start]
    while len(stack):
        first, last = stack.pop()
        size = last - first
        column = -1
        if size > limit:
            total, square = np.zeros(columns), np.zeros(columns)
            low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
            for g in range(strata):
                add_moments(points, g * length + first, g * length + last, total, square, low, high)
            column = widest(total, square, low, high, size * strata)
        if column < 0:
            ends.append(last)
            continue
        half = size // 2
        for g in range(strata):
            base = g * length + first
            for i in range(size):
                scratch[i] = points[base + i, column]
            separate(points, rows, base, base + size, column, smallest(scratch, size, half))
        stack.append((first + half, last))
        stack.append((first, first + half))
    return np.array(ends)


@njit(cache=True, nogil=True)
def gather_strata(points, rows, strata, length, start, end, nominal, power):  # type: ignore[no-untyped-def]
    """Make classes with one record of every stratum: the record farthest from the centre, then from each other stratum
    the record that adds least to the loss.

    The records of a class are moved to the same position of every stratum.
    """
    columns = points.shape[1]
    members = np.empty((strata, columns), points.dtype)
    low, high = np.empty(columns, points.dtype), np.empty(columns, points.dtype)
    for position in range(start, end - 1):
        centre = np.zeros(columns)
        for g in range(strata):
            add_to_centre(points, g * length + position, g * length + end, centre)
        centre /= strata * (end - position)
        chosen, distance = -1, -1.0
        for g in range(strata):
            found, distance = farthest(points, g * length + position, g * length + end, centre, distance)
            chosen = found if found >= 0 else chosen
        first = chosen // length
        exchange(points, rows, first * length + position, chosen)
        join(points[first * length + position], members, 0, low, high)
        filled = 1
        for g in range(strata):
            if g != first:
                base = g * length + position
                found = cheapest(points, base, g * length + end, members, filled, low, high, nominal, power)
                exchange(points, rows, base, found)
                join(points[base], members, filled, low, high)
                filled += 1


@njit(cache=True, nogil=True)
def width_with(points, strata, length, position, stratum, other, members, nominal, power):  # type: ignore[no-untyped-def]
    """Width of the class at a position if row `other` replaces its record of a stratum."""
    total = 0.0
    for c in range(points.shape[1]):
        low = high = points[other, c]
        members[0, c] = low
        filled = 1
        for g in range(strata):
            if g == stratum:
                continue
            value = points[g * length + position, c]
            if nominal[c] > 0.0:
                if is_new(members, filled, c, value):
                    members[filled, c] = value
                    filled += 1
            else:
                low, high = min(low, value), max(high, value)
        if nominal[c] > 0.0:
            total += nominal[c] * (filled - 1)
        else:
            total += (high - low) ** 2 if power == 2 else high - low
    return np.sqrt(total) if power == 2 else total


@njit(cache=True, nogil=True)
def trade(points, rows, strata, length, start, end, nominal, power, rounds):  # type: ignore[no-untyped-def]
    """Swap records of the same stratum between two classes of a part wherever that reduces their total width."""
    members = np.empty((strata, points.shape[1]), points.dtype)
    width = np.empty(end - start)
    for a in range(start, end):
        width[a - start] = width_with(points, strata, length, a, 0, a, members, nominal, power)
    for _ in range(rounds):
        traded = False
        for a in range(start, end):
            for b in range(a + 1, end):
                for g in range(strata):
                    now = width[a - start] + width[b - start]
                    of_a = width_with(points, strata, length, a, g, g * length + b, members, nominal, power)
                    if of_a >= now:
                        continue
                    of_b = width_with(points, strata, length, b, g, g * length + a, members, nominal, power)
                    if of_a + of_b < now * (1.0 - 1e-6):
                        exchange(points, rows, g * length + a, g * length + b)
                        width[a - start], width[b - start] = of_a, of_b
                        traded = True
        if not traded:
            break


@njit(cache=True, nogil=True)
def partition_strata(points, rows, strata, length, start, end, limit, nominal, power, rounds):  # type: ignore[no-untyped-def]
    """Make classes of one record of every stratum from the positions `start` to `end` of all strata."""
    parts = split_strata(points, rows, strata, length, start, end, limit)
    for p in range(parts.size - 1):
        gather_strata(points, rows, strata, length, parts[p], parts[p + 1], nominal, power)
        trade(points, rows, strata, length, parts[p], parts[p + 1], nominal, power, rounds)
