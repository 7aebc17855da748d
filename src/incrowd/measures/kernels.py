"""Compiled loops over sorted (class, value) pairs and over subsets of columns."""

from __future__ import annotations

import math

import numpy as np

from incrowd._support.compiled import njit


@njit(cache=True, nogil=True)
def tally_runs(ordered, counts):  # type: ignore[no-untyped-def]
    """Replace sorted numbers by the distinct ones, in place, and count each. Returns the number of distinct ones."""
    found = 0
    start = 0
    for i in range(1, ordered.size + 1):
        if i == ordered.size or ordered[i] != ordered[start]:
            counts[found] = i - start
            ordered[found] = ordered[start]
            found += 1
            start = i
    return found


@njit(cache=True, nogil=True)
def scan_classes(pairs, counts, values, share, cumulative, before):  # type: ignore[no-untyped-def]
    """Every measure for its worst class, in one pass.

    `pairs` are class × values + value, sorted and distinct; `counts` is the number of records of each pair. `share` and
    `cumulative` are the distribution of values in the table. `before` is the running sum of `cumulative`, with which
    the ordered distance of a class takes time proportional to its number of values.
    """
    distinct, entropy = values, math.inf
    equal = ordered = alpha = 0.0
    least, most = 1.0, 1.0  # of the ratios of a value's share in a class to its share in the table
    enhanced, homogeneous = True, 0
    size = np.uint64(values)
    start = 0
    while start < pairs.size:
        base = pairs[start] // size * size
        end, people = start, 0
        while end < pairs.size and pairs[end] - base < size:
            people += counts[end]
            end += 1
        bits, apart, known, moved, held = 0.0, 0.0, 0.0, 0.0, 0.0
        previous = np.int64(0)
        for i in range(start, end):
            value = np.int64(pairs[i] - base)
            here, there = counts[i] / people, share[value]
            moved += moved_between(cumulative, before, previous, value, held)
            held += here
            previous = value
            if end - start > 1:
                bits -= here * math.log(here)
            apart += abs(here - there)
            known += there
            alpha = max(alpha, here)
            ratio = here / there
            least, most = min(least, ratio), max(most, ratio)
            gain = ratio - 1.0
            if enhanced and gain > 0.0 and gain > -math.log(there) + 1e-12:
                enhanced = False
        moved += moved_between(cumulative, before, previous, values - 1, 1.0)
        distinct = min(distinct, end - start)
        entropy = min(entropy, bits)
        equal = max(equal, 0.5 * (apart + 1.0 - known))
        if values > 1:
            ordered = max(ordered, moved / (values - 1))
        if end - start == 1:
            homogeneous += people
        start = end
    delta = max(math.log(most), -math.log(least))
    return distinct, max(entropy, 0.0), equal, ordered, alpha, most - 1.0, enhanced, delta, homogeneous


@njit(cache=True, nogil=True)
def moved_between(cumulative, before, first, last, held):  # type: ignore[no-untyped-def]
    """Sum of |held − cumulative[u]| for first ≤ u < last; `cumulative` increases, so the sign changes once."""
    low, high = first, last
    if held >= 1.0:
        low = last
    elif held == 0.0:
        high = first
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] > held:
            high = middle
        else:
            low = middle + 1
    below = held * (low - first) - (before[low] - before[first])
    above = (before[last] - before[low]) - held * (last - low)
    return below + above


@njit(cache=True, nogil=True)
def sort_numbers(numbers):  # type: ignore[no-untyped-def]
    """Sort in place (Shell's sort). NumPy's sort in a loop takes Numba a second to compile, this a fifth of one."""
    gap = 1
    while gap < numbers.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, numbers.size):
            number, at = numbers[i], i
            while at >= gap and numbers[at - gap] > number:
                numbers[at] = numbers[at - gap]
                at -= gap
            numbers[at] = number
        gap //= 3


@njit(cache=True, nogil=True)
def recursive_ratio(pairs, counts, values, l):  # type: ignore[no-untyped-def]  # noqa: E741
    """The largest r1 / (r_l + … + r_m) over classes, r sorted from the most frequent value down."""
    size = np.uint64(values)
    worst = 0.0
    start = 0
    while start < pairs.size:
        base = pairs[start] // size * size
        end = start
        while end < pairs.size and pairs[end] - base < size:
            end += 1
        ranked, rest = counts[start:end].copy(), 0
        sort_numbers(ranked)
        for rank in range(ranked.size - l + 1):
            rest += ranked[rank]
        worst = max(worst, ranked[ranked.size - 1] / rest)
        start = end
    return worst


@njit(cache=True, nogil=True)
def sort_with_values(keys, values, lowest):  # type: ignore[no-untyped-def]
    """Radix sort of keys with their values, by digits of 11 bits, from bit `lowest` up."""
    bits, digit = np.uint64(11), np.uint64(2047)
    places = (64 - lowest + 10) // 11
    counts = np.zeros((places, 2048), dtype=np.int64)
    for key in keys:
        rest = key >> np.uint64(lowest)
        for place in range(places):
            counts[place, rest & digit] += 1
            rest >>= bits
    from_keys, from_values = keys.copy(), values.copy()
    to_keys, to_values = np.empty_like(keys), np.empty_like(values)
    for place in range(places):
        starts, before, most = np.empty(2048, np.int64), 0, 0
        for number in range(2048):
            starts[number] = before
            before += counts[place, number]
            most = max(most, counts[place, number])
        if most == keys.size:  # all have the same digit
            continue
        shift = np.uint64(lowest + 11 * place)
        for i in range(keys.size):
            number = (from_keys[i] >> shift) & digit
            to = starts[number]
            to_keys[to], to_values[to] = from_keys[i], from_values[i]
            starts[number] = to + 1
        from_keys, to_keys = to_keys, from_keys
        from_values, to_values = to_values, from_values
    return from_keys, from_values


@njit(cache=True, nogil=True)
def repack(keys, shifts, bits, to):  # type: ignore[no-untyped-def]
    """Words that hold some of the bit fields of `keys`, moved from `shifts` to the positions `to`."""
    found = np.zeros_like(keys)
    for i in range(keys.size):
        for place in range(shifts.size):
            field = (keys[i] >> np.uint64(shifts[place])) & ((np.uint64(1) << np.uint64(bits[place])) - np.uint64(1))
            found[i] |= field << np.uint64(to[place])
    return found


@njit(cache=True, nogil=True)
def merge_equal(keys, values, distinct):  # type: ignore[no-untyped-def]
    """The distinct ones of sorted keys and the sum of the values of each; `distinct` is their number."""
    found, sums = np.empty(distinct, dtype=keys.dtype), np.zeros(distinct, dtype=values.dtype)
    last = -1
    for i in range(keys.size):
        if i == 0 or keys[i] != keys[i - 1]:
            last += 1
            found[last] = keys[i]
        sums[last] += values[i]
    return found, sums


@njit(cache=True, nogil=True)
def find_alone(keys, people, shifts, bits, seen, single, alone):  # type: ignore[no-untyped-def]
    """Mark the one-person classes (`single`) that are unique by some of the bit fields of the keys.

    `seen` has an entry for every combination of the fields.
    """
    seen[:] = 0
    masks = np.empty(bits.size, dtype=np.uint64)
    for place in range(bits.size):
        masks[place] = (np.uint64(1) << np.uint64(bits[place])) - np.uint64(1)
    for i in range(keys.size):
        cell = np.uint64(0)
        for place in range(bits.size):
            cell = (cell << np.uint64(bits[place])) | ((keys[i] >> np.uint64(shifts[place])) & masks[place])
        seen[cell] = 2 if people[i] > 1 or seen[cell] else 1
    if not (seen == 1).any():
        return
    for i in range(single.size):
        key, cell = keys[single[i]], np.uint64(0)
        for place in range(bits.size):
            cell = (cell << np.uint64(bits[place])) | ((key >> np.uint64(shifts[place])) & masks[place])
        alone[i] = seen[cell] == 1


@njit(cache=True, nogil=True)
def _first_difference(words, fields, i, j):  # type: ignore[no-untyped-def]
    """The place of the first field in which rows i and j differ; the number of fields where none does."""
    for place in range(fields.shape[0]):
        word = fields[place, 0]
        if (words[word, i] ^ words[word, j]) >> np.uint64(fields[place, 1]):
            return place
    return fields.shape[0]


@njit(cache=True, nogil=True)
def count_prefixes(words, fields, people, classes, uniques, smallest):  # type: ignore[no-untyped-def]
    """Number of classes, number of uniques and smallest class for every prefix of the fields that rows are sorted by.

    If two neighbours first differ in field p, the class of every prefix that includes p ends.
    """
    places = fields.shape[0]
    rows = people.size
    seen = 0
    begun = np.zeros(places, dtype=np.int64)  # people seen before the current class of each prefix began
    smallest[:] = np.iinfo(np.int64).max
    for i in range(1, rows + 1):
        seen += people[i - 1]
        ends = _first_difference(words, fields, i - 1, i) if i < rows else 0
        for place in range(ends, places):
            size = seen - begun[place]
            classes[place] += 1
            if size == 1:
                uniques[place] += 1
            if size < smallest[place]:
                smallest[place] = size
            begun[place] = seen


@njit(cache=True, nogil=True)
def enough_fields(words, fields, order, people, enough):  # type: ignore[no-untyped-def]
    """Length of the shortest prefix of fields that distinguishes each one-person row from its sorted neighbours.

    The number of fields plus one if no prefix does.
    """
    never = fields.shape[0] + 1
    rows = order.size
    before = 0
    for i in range(rows):
        after = _first_difference(words, fields, i, i + 1) + 1 if i + 1 < rows else 0
        enough[order[i]] = max(before, after) if people[order[i]] == 1 else never
        before = after


@njit(cache=True, nogil=True)
def list_sets(items, starts, lengths, size, base, keys):  # type: ignore[no-untyped-def]
    """Every set of `size` items of every person, as a number whose digits (in base `base`) are the items."""
    listed = 0
    pick = np.empty(size, dtype=np.int64)
    for person in range(lengths.size):
        length = lengths[person]
        if length < size:
            continue
        for i in range(size):
            pick[i] = i
        while True:
            key = np.uint64(0)
            for i in range(size):
                key = key * np.uint64(base) + np.uint64(items[starts[person] + pick[i]])
            keys[listed] = key
            listed += 1
            i = size - 1
            while i >= 0 and pick[i] == length - size + i:
                i -= 1
            if i < 0:
                break
            pick[i] += 1
            for j in range(i + 1, size):
                pick[j] = pick[j - 1] + 1
