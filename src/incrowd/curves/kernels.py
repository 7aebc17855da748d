"""Compiled loops of the curves."""

import numpy as np

from incrowd._support.compiled import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def others_with_points(start, items, heads, holders, first, rolls, bitmap_of, bitmaps, others):  # type: ignore[no-untyped-def]
    """For each person from `first` on, draw some of their points and count the others who hold all of them.

    `items[start[p]:start[p+1]]` are the points of person p, ascending; `holders[heads[i]:heads[i+1]]` are the holders
    of point i. Points with many holders also have a bitmap. `rolls[person, draw, point]` are uniform numbers; results
    go to `others`.
    """
    people, draws, known = rolls.shape
    chosen = np.empty(known, dtype=np.int64)
    left = np.empty(start.size, dtype=np.int64)
    for person in range(people):
        for draw in range(draws):
            low, high = start[first + person], start[first + person + 1]
            size = _choose(items, low, high, known, rolls[person, draw], chosen)
            rarest = chosen[0]
            for i in range(1, size):
                if heads[chosen[i] + 1] - heads[chosen[i]] < heads[rarest + 1] - heads[rarest]:
                    rarest = chosen[i]
            if bitmap_of[rarest] >= 0:
                found = _count_in_bitmaps(chosen, size, bitmap_of, bitmaps)
            else:
                found = _count_in_lists(chosen, size, rarest, heads, holders, bitmap_of, bitmaps, left)
            others[person, draw] = found - 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _choose(items, low, high, known, rolls, chosen):  # type: ignore[no-untyped-def]
    """Draw `known` different points of a person into `chosen` (all, if there are no more) and return their number."""
    have = high - low
    if have <= known:
        for i in range(have):
            chosen[i] = items[low + i]
        return have
    # Floyd's algorithm: a uniform subset with one draw a member
    for i in range(known):
        top = have - known + i
        candidate = np.int64(rolls[i] * (top + 1))
        for j in range(i):
            if chosen[j] == candidate:
                candidate = top
                break
        chosen[i] = candidate
    for i in range(known):
        chosen[i] = items[low + chosen[i]]
    return known


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _count_in_bitmaps(chosen, size, bitmap_of, bitmaps):  # type: ignore[no-untyped-def]
    """Count people whose bit is set in the bitmap of every chosen point; if the rarest point has one, all do."""
    found = 0
    for word in range(bitmaps.shape[1]):
        both = bitmaps[bitmap_of[chosen[0]], word]
        for i in range(1, size):
            both &= bitmaps[bitmap_of[chosen[i]], word]
        while both:
            both &= both - np.uint64(1)
            found += 1
    return found


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _count_in_lists(chosen, size, rarest, heads, holders, bitmap_of, bitmaps, left):  # type: ignore[no-untyped-def]
    """Count the holders of the rarest point who hold all other chosen points; `left` is a work array."""
    count = heads[rarest + 1] - heads[rarest]
    for j in range(count):
        left[j] = holders[heads[rarest] + j]
    for i in range(size):
        if chosen[i] == rarest:
            continue
        kept = 0
        if bitmap_of[chosen[i]] >= 0:
            bits = bitmaps[bitmap_of[chosen[i]]]
            for j in range(count):
                left[kept] = left[j]
                if (bits[left[j] >> 6] >> np.uint64(left[j] & 63)) & np.uint64(1):
                    kept += 1
        else:
            at, end = heads[chosen[i]], heads[chosen[i] + 1]
            for j in range(count):
                at = _advance(holders, at, end, left[j])
                if at == end:
                    break
                if holders[at] == left[j]:
                    left[kept] = left[j]
                    kept += 1
        count = kept
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _advance(values, at, end, wanted):  # type: ignore[no-untyped-def]
    """First position from `at` on whose value is not below `wanted`: doubling steps, then bisection."""
    step = 1
    low = at
    while at < end and values[at] < wanted:
        low = at + 1
        at += step
        step *= 2
    high = min(at, end)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low
