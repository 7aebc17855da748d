"""Compiled loops over records whose blanks match any value.

The key of a record holds its codes as bit fields of one or more words; a bit mask selects the columns to compare. Sets
of records are bit sets too.
"""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit

_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio


@njit(cache=True, nogil=True)
def _find(keys, row, mask, slots, last, held):  # type: ignore[no-untyped-def]
    """Hash table lookup: the entry with a record's masked key, or -1; and its slot, or the free slot for it."""
    mixed = np.uint64(0)
    for w in range(mask.size):
        mixed = (mixed ^ (keys[row, w] & mask[w])) * _MIX
        mixed ^= mixed >> np.uint64(29)
    slot = np.int64((mixed * _MIX) >> np.uint64(32)) & last
    while slots[slot] >= 0:
        entry = slots[slot]
        same = True
        for w in range(mask.size):
            same = same and held[entry, w] == keys[row, w] & mask[w]
        if same:
            return entry, slot
        slot = (slot + 1) & last
    return -1, slot


@njit(cache=True, nogil=True)
def count_equal(keys, mask, few, many, of_few, of_many):  # type: ignore[no-untyped-def]
    """Count the records of `many` with an equal masked key for each record of `few`, and the reverse."""
    room = 4
    while room < 2 * few.size:
        room *= 2
    slots, held = np.full(room, -1, dtype=np.int32), np.empty((few.size, mask.size), dtype=np.uint64)
    entry_of, own, found = np.empty(few.size, np.int32), np.zeros(few.size, np.int64), np.zeros(few.size, np.int64)
    entries = 0
    for i in range(few.size):
        entry, slot = _find(keys, few[i], mask, slots, room - 1, held)
        if entry < 0:
            entry, slots[slot] = entries, entries
            for w in range(mask.size):
                held[entry, w] = keys[few[i], w] & mask[w]
            entries += 1
        entry_of[i] = entry
        own[entry] += 1
    for i in range(many.size):
        entry, _ = _find(keys, many[i], mask, slots, room - 1, held)
        if entry >= 0:
            found[entry] += 1
            of_many[i] = own[entry]
        else:
            of_many[i] = 0
    for i in range(few.size):
        of_few[i] = found[entry_of[i]]


@njit(cache=True, nogil=True)
def count_matches(keys, masks, order, starts, matches):  # type: ignore[no-untyped-def]
    """Count the matches of every record over all pairs of blank patterns; `order` lists records pattern by pattern."""
    for one in range(masks.shape[0]):
        for other in range(one + 1):
            few, many = order[starts[one] : starts[one + 1]], order[starts[other] : starts[other + 1]]
            if few.size > many.size:
                few, many = many, few
            of_few, of_many = np.empty(few.size, np.int64), np.empty(many.size, np.int64)
            count_equal(keys, masks[one] & masks[other], few, many, of_few, of_many)
            for i in range(few.size):
                matches[few[i]] += of_few[i]
            for i in range(many.size if one != other else 0):
                matches[many[i]] += of_many[i]


@njit(cache=True, nogil=True)
def _count_bits(words):  # type: ignore[no-untyped-def]
    total = np.uint64(0)
    for w in range(words.size):
        x = words[w]
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += (x * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int64(total)


@njit(cache=True, nogil=True)
def _flip(words, row):  # type: ignore[no-untyped-def]
    words[row >> 6] ^= np.uint64(1) << np.uint64(row & 63)


@njit(cache=True, nogil=True)
def _agree(cells, place, value, blank, common, shown, members, starts, agree):  # type: ignore[no-untyped-def]
    """Bit set of the records that show a value in a column or are blank in it, written to `agree`."""
    number = common[place, value]
    for w in range(agree.size):
        agree[w] = blank[place, w]
    if number >= 0:
        for w in range(agree.size):
            agree[w] |= shown[number, w]
        return
    for i in range(starts[place, value], starts[place, value + 1]):
        if cells[members[place, i], place] >= 0:
            _flip(agree, members[place, i])


@njit(cache=True, nogil=True)
def _match(cells, row, blank, common, shown, members, starts, agree, found):  # type: ignore[no-untyped-def]
    """Bit set of the records that match a record, itself included, written to `found`.

    Two records match if they are equal in every column in which neither is blank.
    """
    found[:] = ~np.uint64(0)
    if cells.shape[0] & 63:
        found[-1] = (np.uint64(1) << np.uint64(cells.shape[0] & 63)) - np.uint64(1)
    for place in range(cells.shape[1]):
        if cells[row, place] >= 0:
            _agree(cells, place, cells[row, place], blank, common, shown, members, starts, agree)
            for w in range(found.size):
                found[w] &= agree[w]


@njit(cache=True, nogil=True)
def give_back(cells, values, sizes, rows, places, k):  # type: ignore[no-untyped-def]
    """Restore the listed blanks, one after the other, if every record still matches k records; changes `cells`.

    `values` are the codes of all cells, below `sizes` of their column; `cells` holds the codes with -1 for a blank. The
    records of a common value are a bit set (`shown`), those of a rare value a list (`members`).
    """
    n, width = values.shape
    words = (n + 63) // 64
    blank, most = np.zeros((width, words), np.uint64), sizes.max()
    common, starts = np.full((width, most), -1, np.int64), np.zeros((width, most + 1), np.int64)
    members, commons = np.empty((width, n), np.int64), 0
    for place in range(width):
        for row in range(n):
            starts[place, values[row, place] + 1] += 1
        for value in range(sizes[place]):
            if starts[place, value + 1] * 64 >= n:
                common[place, value] = commons
                commons += 1
            starts[place, value + 1] += starts[place, value]
        following = starts[place].copy()
        for row in range(n):
            members[place, following[values[row, place]]] = row
            following[values[row, place]] += 1
    shown = np.zeros((commons, words), np.uint64)
    for place in range(width):
        for row in range(n):
            if cells[row, place] < 0:
                _flip(blank[place], row)
            elif common[place, cells[row, place]] >= 0:
                _flip(shown[common[place, cells[row, place]]], row)
    agree, found = np.empty(words, np.uint64), np.empty(words, np.uint64)
    matches, tight = np.empty(n, np.int64), np.zeros(words, np.uint64)  # tight: records with at most k matches
    for row in range(n):
        _match(cells, row, blank, common, shown, members, starts, agree, found)
        matches[row] = _count_bits(found)
        if matches[row] <= k:
            _flip(tight, row)
    for at in range(rows.size):
        row, place = rows[at], places[at]
        if matches[row] < k:  # its matches are in other blocks
            continue
        value = values[row, place]
        _match(cells, row, blank, common, shown, members, starts, agree, found)
        _agree(cells, place, value, blank, common, shown, members, starts, agree)
        may = True
        for w in range(words):
            found[w] &= ~agree[w]  # the matches that would be lost
            may = may and not found[w] & tight[w]
        lost = _count_bits(found)
        if not may or matches[row] - lost < k:
            continue
        cells[row, place] = value
        _flip(blank[place], row)
        if common[place, value] >= 0:
            _flip(shown[common[place, value]], row)
        if lost and matches[row] > k and matches[row] - lost <= k:
            _flip(tight, row)
        matches[row] -= lost
        for other in range(n if lost else 0):
            if found[other >> 6] >> np.uint64(other & 63) & np.uint64(1):
                matches[other] -= 1
                if matches[other] == k:
                    _flip(tight, other)
