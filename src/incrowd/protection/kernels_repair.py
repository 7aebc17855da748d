"""Compiled loops of t-closeness by repair: classes too far from the whole table are merged with a near class."""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit
from incrowd.measures.kernels import moved_between, sort_numbers

_WORD, _BITS = 64, 256  # the set of values of a class is a bit set; with more than 256 values, some share a bit


@njit(cache=True, nogil=True)
def distance_of_counts(counts, values, filled, people, ordered, share, cumulative, before):  # type: ignore[no-untyped-def]
    """Earth mover's distance between a class and the table; `values` lists the codes of the class, `counts` how often.

    The first `filled` entries of `values` are sorted in place.
    """
    present = values[:filled]
    sort_numbers(present)
    apart, known, moved, held, previous = 0.0, 0.0, 0.0, 0.0, np.int64(0)
    for value in present:
        here = counts[value] / people
        if ordered:
            moved += moved_between(cumulative, before, previous, value, held)
            held += here
            previous = value
        else:
            apart += abs(here - share[value])
            known += share[value]
    if not ordered:
        return 0.5 * (apart + 1.0 - known)
    moved += moved_between(cumulative, before, previous, share.size - 1, 1.0)
    return moved / (share.size - 1) if share.size > 1 else 0.0


@njit(cache=True, nogil=True)
def find_close(codes, ends, ordered, share, cumulative, before, t, good):  # type: ignore[no-untyped-def]
    """Clear the flags of classes that are farther than t from the table. `codes` are the values, class by class."""
    counts, values = np.zeros(share.size, np.int64), np.empty(share.size, np.int64)
    start = 0
    for g in range(ends.size):
        filled = 0
        for i in range(start, ends[g]):
            if counts[codes[i]] == 0:
                values[filled] = codes[i]
                filled += 1
            counts[codes[i]] += 1
        people = ends[g] - start
        good[g] = (
            good[g] and distance_of_counts(counts, values, filled, people, ordered, share, cumulative, before) <= t
        )
        for i in range(filled):
            counts[values[i]] = 0
        start = ends[g]


@njit(cache=True, nogil=True)
def farthest_column(codes, offsets, ordered, share, cumulative, before, following, first, people, scratch, values):  # type: ignore[no-untyped-def]
    """The largest distance of a class from the table, over all sensitive columns.

    Row s of `codes` is sensitive column s. Its distribution begins at `offsets[s]` in `share`, `cumulative` and
    `before`. The members of the class are a linked list: `first`, `following[first]`, … until -1.
    """
    worst = 0.0
    for s in range(codes.shape[0]):
        filled, member = 0, first
        while member >= 0:
            code = codes[s, member]
            if scratch[code] == 0:
                values[filled] = code
                filled += 1
            scratch[code] += 1
            member = following[member]
        start, end = offsets[s], offsets[s + 1]
        # `before` has one entry more for each column
        found = distance_of_counts(
            scratch, values, filled, people, ordered[s], share[start:end], cumulative[start:end],
            before[start + s : end + s + 1],
        )  # fmt: skip
        worst = max(worst, found)
        for i in range(filled):
            scratch[values[i]] = 0
    return worst


@njit(cache=True, nogil=True)
def count_bits(word):  # type: ignore[no-untyped-def]
    """Number of set bits in a 64-bit word."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, nogil=True)
def describe_classes(points, order, ends, nominal):  # type: ignore[no-untyped-def]
    """The limits of every class in every column, and for nominal columns its values as a bit set."""
    columns = points.shape[1]
    words = _BITS // _WORD
    low, high = np.empty((ends.size, columns), points.dtype), np.empty((ends.size, columns), points.dtype)
    places, sets = np.zeros(columns, np.int64), 0
    for c in range(columns):
        if nominal[c] > 0.0:
            places[c] = sets * words
            sets += 1
    bits = np.zeros((ends.size, sets * words), np.uint64)
    start = 0
    for g in range(ends.size):
        for i in range(start, ends[g]):
            for c in range(columns):
                value = points[order[i], c]
                low[g, c] = value if i == start else min(low[g, c], value)
                high[g, c] = value if i == start else max(high[g, c], value)
                if nominal[c] > 0.0:
                    code = np.int64(np.rint(value / nominal[c])) % _BITS
                    bits[g, places[c] + code // _WORD] |= np.uint64(1) << np.uint64(code % _WORD)
        start = ends[g]
    return low, high, bits, places


@njit(cache=True, nogil=True)
def joint_width(low, high, bits, places, nominal, power, a, b, most):  # type: ignore[no-untyped-def]
    """Width of the union of two classes; if it reaches `most`, any number of at least `most`."""
    total = 0.0
    most = most * most if power == 2 else most
    for c in range(low.shape[1]):
        if nominal[c] > 0.0:
            members = 0
            for w in range(places[c], places[c] + _BITS // _WORD):
                members += count_bits(bits[a, w] | bits[b, w])
            total += nominal[c] * (members - 1)
        else:
            width = max(high[a, c], high[b, c]) - min(low[a, c], low[b, c])
            total += width * width if power == 2 else width
        if total >= most:
            break
    return np.sqrt(total) if power == 2 else total


@njit(cache=True, nogil=True)
def binned_distance(binned, a, b, people, ordered, shares, widths):  # type: ignore[no-untyped-def]
    """Approximate distance of the union of two classes from the table, by bins of values; a may equal b."""
    worst = 0.0
    for s in range(widths.size):
        apart, held = 0.0, 0.0
        for v in range(widths[s]):
            count = binned[a, s, v] if a == b else binned[a, s, v] + binned[b, s, v]
            difference = count / people - shares[s, v]
            held += difference
            apart += abs(held) if ordered[s] else abs(difference)
        worst = max(worst, apart / max(widths[s] - 1, 1) if ordered[s] else apart / 2)
    return worst


@njit(cache=True, nogil=True)
def best_partner(one, towards, shapes, width, people, settings, binned, about, ordered, shares, widths):  # type: ignore[no-untyped-def]
    """The class whose union with this one has the best ratio of added loss to reduced distance beyond t.

    Candidates are the `reach` nearest classes in both directions. The loss is the width of every record's class, summed
    over records. The reduced distance is raised to the power 1.5: a smaller power chooses similar partners that help
    little, a larger one distant partners that are not needed.
    """
    low, high, bits, places = shapes
    nominal, power, reach, t = settings
    best, found = np.inf, -1
    for direction in range(2):
        other = towards[direction, one]
        for _ in range(reach):
            if other < 0:
                break
            both = people[one] + people[other]
            beyond = people[one] * max(about[one] - t, 0.0) + people[other] * max(about[other] - t, 0.0)
            now = people[one] * width[one] + people[other] * width[other]
            most = (best * max(beyond, 1e-9) ** 1.5 + now) / both if best < np.inf else np.inf
            joined = joint_width(low, high, bits, places, nominal, power, one, other, most)
            if joined < most:
                left = both * max(binned_distance(binned, one, other, both, ordered, shares, widths) - t, 0.0)
                score = max(joined * both - now, 0.0) / max(beyond - left, 1e-9) ** 1.5
                if score < best:
                    best, found = score, other
            other = towards[direction, other]
    return found if found >= 0 else max(towards[0, one], towards[1, one])


@njit(cache=True, nogil=True)
def link_members(order, ends):  # type: ignore[no-untyped-def]
    """Linked lists of the members of every class: first and last member, and the next of each member (-1: none)."""
    first, last = np.empty(ends.size, np.int64), np.empty(ends.size, np.int64)
    following = np.full(order.size, -1)
    start = 0
    for g in range(ends.size):
        for i in range(start, ends[g] - 1):
            following[order[i]] = order[i + 1]
        first[g], last[g] = order[start], order[ends[g] - 1]
        start = ends[g]
    return first, last, following


@njit(cache=True, nogil=True)
def count_bins(codes, order, ends, offsets, bins, most):  # type: ignore[no-untyped-def]
    """Number of members of every class in each bin of every sensitive column."""
    binned = np.zeros((ends.size, codes.shape[0], most), np.int32)
    start = 0
    for g in range(ends.size):
        for i in range(start, ends[g]):
            for s in range(codes.shape[0]):
                binned[g, s, bins[offsets[s] + codes[s, order[i]]]] += 1
        start = ends[g]
    return binned


@njit(cache=True, nogil=True)
def merge_until_close(points, order, ends, near, settings, codes, distributions, binning):  # type: ignore[no-untyped-def]
    """Merge every class farther than t from the table with its best partner, until none is or one class remains.

    `near` lists the classes so that similar ones are close in the list. Returns for every class the number of the
    merged class that contains it.
    """
    nominal, power, _, t = settings
    offsets, ordered, share, cumulative, before = distributions
    bins, shares, widths = binning
    groups = ends.size
    shapes = describe_classes(points, order, ends, nominal)
    low, high, bits, places = shapes
    first, last, following = link_members(order, ends)
    binned = count_bins(codes, order, ends, offsets, bins, shares.shape[1])
    # loops, because np.diff, np.append and array copies take seconds to compile
    most_values = 0
    for s in range(codes.shape[0]):
        most_values = max(most_values, offsets[s + 1] - offsets[s])
    scratch, values = np.zeros(most_values, np.int64), np.empty(most_values, np.int64)
    people, part_of = np.empty(groups, np.int64), np.arange(groups)
    for g in range(groups):
        people[g] = ends[g] - ends[g - 1] if g else ends[g]
    width, distance, about = np.empty(groups), np.empty(groups), np.empty(groups)
    for g in range(groups):
        width[g] = joint_width(low, high, bits, places, nominal, power, g, g, np.inf)
        about[g] = binned_distance(binned, g, g, people[g], ordered, shares, widths)
        distance[g] = farthest_column(
            codes, offsets, ordered, share, cumulative, before, following, first[g], people[g], scratch, values
        )
    towards = np.full((2, groups), -1)
    for i in range(1, groups):
        towards[0, near[i]], towards[1, near[i - 1]] = near[i - 1], near[i]
    # a class that is still too far goes to the end of the queue, so that classes grow evenly
    queue = np.empty(2 * groups, np.int64)
    for i in range(groups):
        queue[i] = near[i]
    head, tail = 0, groups
    while head < tail:
        one = queue[head]
        head += 1
        if part_of[one] != one or distance[one] <= t:
            continue
        other = best_partner(one, towards, shapes, width, people, settings, binned, about, ordered, shares, widths)
        if other < 0:
            break
        for c in range(low.shape[1]):
            low[one, c], high[one, c] = min(low[one, c], low[other, c]), max(high[one, c], high[other, c])
        for w in range(bits.shape[1]):
            bits[one, w] |= bits[other, w]
        for s in range(binned.shape[1]):
            for v in range(binned.shape[2]):
                binned[one, s, v] += binned[other, s, v]
        following[last[one]], last[one] = first[other], last[other]
        people[one] += people[other]
        part_of[other] = one
        for direction in range(2):
            beside = towards[direction, other]
            if beside >= 0:
                towards[1 - direction, beside] = towards[1 - direction, other]
        width[one] = joint_width(low, high, bits, places, nominal, power, one, one, np.inf)
        about[one] = binned_distance(binned, one, one, people[one], ordered, shares, widths)
        distance[one] = farthest_column(
            codes, offsets, ordered, share, cumulative, before, following, first[one], people[one], scratch, values
        )
        if distance[one] > t:
            queue[tail] = one
            tail += 1
    for g in range(groups):
        root = g
        while part_of[root] != root:
            root = part_of[root]
        part_of[g] = root
    return part_of
