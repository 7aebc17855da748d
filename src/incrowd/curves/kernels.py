"""Compiled loops of the curves."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def others_with_points(start, items, heads, holders, first, last, known, rolls, bitmap_of, bitmaps, others):  # type: ignore[no-untyped-def]
    """For people `first` … `last`: how many others hold `known` of their points, drawn at random, for each draw.

    `items[start[p]:start[p+1]]` are person p's points, ascending; `holders[heads[i]:heads[i+1]]` who holds point i.
    Points held by many also have a bitmap. `rolls[p − first, draw]` are uniform numbers; results go to `others`.
    """
    chosen = np.empty(known, dtype=np.int64)
    for person in range(first, last):
        for draw in range(rolls.shape[1]):
            size = _choose(items, start[person], start[person + 1], known, rolls[person - first, draw], chosen)
            rarest = chosen[0]
            for i in range(1, size):
                if heads[chosen[i] + 1] - heads[chosen[i]] < heads[rarest + 1] - heads[rarest]:
                    rarest = chosen[i]
            if bitmap_of[rarest] >= 0:
                found = _count_in_bitmaps(chosen, size, bitmap_of, bitmaps)
            else:
                found = _count_by_search(chosen, size, rarest, start, items, heads, holders)
            others[person - first, draw] = found - 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _choose(items, low, high, known, rolls, chosen):  # type: ignore[no-untyped-def]
    """`known` different points of a person into `chosen` (all, if they have no more); how many there are."""
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
    """People whose bit is set in every chosen point's bitmap: the rarest has one, so all have."""
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
def _count_by_search(chosen, size, rarest, start, items, heads, holders):  # type: ignore[no-untyped-def]
    """People who hold the rarest point and, found by bisection among their own, all the others."""
    found = 0
    for at in range(heads[rarest], heads[rarest + 1]):
        holder = holders[at]
        holds_all = True
        for i in range(size):
            wanted = chosen[i]
            if wanted == rarest:
                continue
            low, high = start[holder], start[holder + 1]
            while low < high:
                middle = (low + high) // 2
                if items[middle] < wanted:
                    low = middle + 1
                else:
                    high = middle
            if low == start[holder + 1] or items[low] != wanted:
                holds_all = False
                break
        if holds_all:
            found += 1
    return found
