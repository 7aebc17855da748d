"""Compiled loops of the box rule: which boxes intersect, and which contain another.

A box is a row of label numbers. Per column, `low` and `high` are the first and last atom of every label; an atom is a
range of numbers, or a value, that no label splits. `bits` holds the atoms as 64-bit words if labels are not ranges;
otherwise the column has no words (`words[c]` is 0).
"""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit

_LEAF = 16


@njit(cache=True, nogil=True)
def meet(first, second, low, high, bits, words, offset):  # type: ignore[no-untyped-def]
    """0 if two boxes share no point, 1 if they share some, 2 if the second lies in the first."""
    inside = True
    for c in range(first.size):
        a, b = first[c], second[c]
        if a == b:
            continue
        if low[c, a] > high[c, b] or low[c, b] > high[c, a]:
            return 0
        if words[c] == 0:
            inside = inside and low[c, a] <= low[c, b] and high[c, a] >= high[c, b]
            continue
        common = False
        for w in range(words[c]):
            of_a, of_b = bits[offset[c] + a * words[c] + w], bits[offset[c] + b * words[c] + w]
            common = common or (of_a & of_b) != 0
            inside = inside and (of_b & ~of_a) == 0
        if not common:
            return 0
    return 2 if inside else 1


@njit(cache=True, nogil=True)
def build_tree(boxes, low, high, order):  # type: ignore[no-untyped-def]
    """Split the boxes repeatedly in half by their midpoints; return each node's range in `order` and its hull.

    The halves of node i are 2i + 1 and 2i + 2.
    """
    count, columns = boxes.shape
    depth = 0
    while count >> depth > _LEAF:
        depth += 1
    nodes = (1 << (depth + 1)) - 1
    start, end = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    hull_low, hull_high = np.zeros((nodes, columns), np.int64), np.zeros((nodes, columns), np.int64)
    end[0] = count
    for node in range(nodes):
        for c in range(columns):
            least, most = np.int64(1) << 60, np.int64(-1)
            for i in range(start[node], end[node]):
                label = boxes[order[i], c]
                least, most = min(least, low[c, label]), max(most, high[c, label])
            hull_low[node, c], hull_high[node, c] = least, most
        if 2 * node + 2 < nodes:
            part = order[start[node] : end[node]]
            middle = np.empty(part.size, np.float64)
            best, column = -1.0, 0
            for c in range(columns):
                width = 0.0
                for i in range(part.size):
                    first, last = low[c, boxes[part[i], c]], high[c, boxes[part[i], c]]
                    middle[i] = first + last
                    width += last - first
                # the halves overlap little if the midpoints vary more than the widths of the boxes
                spread = middle.std() / (1.0 + width / part.size) if part.size else 0.0
                if spread > best:
                    best, column = spread, c
            for i in range(part.size):
                middle[i] = low[column, boxes[part[i], column]] + high[column, boxes[part[i], column]]
            placed = np.argsort(middle)
            for i in range(part.size):
                placed[i] = part[placed[i]]
            for i in range(part.size):
                part[i] = placed[i]
            half = (start[node] + end[node]) // 2
            start[2 * node + 1], end[2 * node + 1] = start[node], half
            start[2 * node + 2], end[2 * node + 2] = half, end[node]
    return start, end, hull_low, hull_high


@njit(cache=True, nogil=True)
def find_others(box, boxes, low, high, bits, words, offset, order, start, end, hull_low, hull_high, found):  # type: ignore[no-untyped-def]
    """Collect the other boxes that intersect a box in `found`, and return their number; -1 if one contains all of it.

    Also returns the number of boxes and groups of boxes compared.
    """
    columns = boxes.shape[1]
    stack = np.empty(128, np.int64)
    stack[0] = 0
    top, filled, compared = 1, 0, 0
    while top:
        top -= 1
        compared += 1
        node = stack[top]
        apart = end[node] <= start[node]
        for c in range(columns):
            label = boxes[box, c]
            if hull_low[node, c] > high[c, label] or hull_high[node, c] < low[c, label]:
                apart = True
                break
        if apart:
            continue
        if 2 * node + 2 < start.size:
            stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
            top += 2
            continue
        for i in range(start[node], end[node]):
            other = order[i]
            if other == box:
                continue
            compared += 1
            relation = meet(boxes[other], boxes[box], low, high, bits, words, offset)
            if relation == 2:
                return -1, compared
            if relation == 1:
                if filled < found.size:
                    found[filled] = other
                filled += 1
    return filled, compared


@njit(cache=True, nogil=True)
def screen(singles, boxes, low, high, bits, words, offset, order, start, end, hull_low, hull_high, met, room):  # type: ignore[no-untyped-def]
    """For boxes of single records: -1 if another box contains all of it, otherwise the number of boxes it intersects.

    Returns the number of boxes and groups of boxes compared.
    """
    found, compared = np.empty(room, np.int64), 0
    for i in range(singles.size):
        met[i], more = find_others(
            singles[i], boxes, low, high, bits, words, offset, order, start, end, hull_low, hull_high, found
        )
        compared += more
    return compared


@njit(cache=True, nogil=True)
def covers(label, c, atom, low, high, bits, words, offset):  # type: ignore[no-untyped-def]
    """True if a label of a column contains an atom."""
    if words[c] == 0:
        return low[c, label] <= atom <= high[c, label]
    return (bits[offset[c] + label * words[c] + atom // 64] >> np.uint64(atom % 64)) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def reaches_a_free_point(box, others, boxes, low, high, bits, words, offset):  # type: ignore[no-untyped-def]
    """Search for a point of a box in none of the others, each step to the atom that the fewest of them contain.

    True proves that there is such a point; False proves nothing.
    """
    columns = boxes.shape[1]
    left, fixed = others.copy(), np.zeros(columns, np.bool_)
    for _ in range(columns):
        if left.size == 0:
            return True
        fewest, column, atom = left.size + 1, 0, 0
        for c in range(columns):
            if fixed[c]:
                continue
            mine = boxes[box, c]
            first, last = low[c, mine], high[c, mine]
            held = np.zeros(last - first + 1, np.int64)
            for other in left:
                label = boxes[other, c]
                for a in range(max(first, low[c, label]), min(last, high[c, label]) + 1):
                    if words[c] == 0 or covers(label, c, a, low, high, bits, words, offset):
                        held[a - first] += 1
            for a in range(first, last + 1):
                if held[a - first] < fewest and covers(mine, c, a, low, high, bits, words, offset):
                    fewest, column, atom = held[a - first], c, a
        fixed[column] = True
        still = np.empty(left.size, np.int64)
        count = 0
        for other in left:
            if covers(boxes[other, column], column, atom, low, high, bits, words, offset):
                still[count] = other
                count += 1
        left = still[:count]
    return left.size == 0
