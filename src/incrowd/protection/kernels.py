"""Compiled loops of the partition methods.

Each row of `points` is a record, with one scaled coordinate for each column. Records are reordered so that every node
and every class is a contiguous run of rows, which then fits into the processor's cache. `rows` is reordered in the same
way and holds the original index of each record. `nominal` is above 0 for columns whose classes are written as sets of
values, and 0 for those written as intervals. `power` is 2 if the loss is a Euclidean distance, 1 if it is a sum over
columns.
"""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit


@njit(cache=True, nogil=True)
def exchange(points, rows, i, j):  # type: ignore[no-untyped-def]
    """Swap two records."""
    if i == j:
        return
    for c in range(points.shape[1]):
        points[i, c], points[j, c] = points[j, c], points[i, c]
    rows[i], rows[j] = rows[j], rows[i]


@njit(cache=True, nogil=True)
def smallest(values, size, rank):  # type: ignore[no-untyped-def]
    """The value at `rank` in ascending order (Hoare's quick-select); `values` is reordered."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < values[low]:
            values[middle], values[low] = values[low], values[middle]
        if values[high] < values[low]:
            values[high], values[low] = values[low], values[high]
        if values[high] < values[middle]:
            values[high], values[middle] = values[middle], values[high]
        pivot = values[middle]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@njit(cache=True, nogil=True)
def separate(points, rows, start, end, column, pivot):  # type: ignore[no-untyped-def]
    """Put records below the pivot first and those above it last; returns the start and end of the equal ones."""
    below, i, above = start, start, end
    while i < above:
        value = points[i, column]
        if value < pivot:
            exchange(points, rows, i, below)
            below += 1
            i += 1
        elif value > pivot:
            above -= 1
            exchange(points, rows, i, above)
        else:
            i += 1
    return below, above


@njit(cache=True, nogil=True)
def add_moments(points, start, end, total, square, low, high):  # type: ignore[no-untyped-def]
    """Add the records of a run to the sums, sums of squares, minima and maxima of every column."""
    for i in range(start, end):
        for c in range(points.shape[1]):
            value = points[i, c]
            total[c] += value
            square[c] += value * value
            low[c] = min(low[c], value)
            high[c] = max(high[c], value)


@njit(cache=True, nogil=True)
def widest(total, square, low, high, count):  # type: ignore[no-untyped-def]
    """The column with the largest variance, or -1 if all records are equal. Variance, not range: otherwise one outlier
    would make a column be cut again and again."""
    best, column = -1.0, -1
    for c in range(total.size):
        if high[c] > low[c]:
            variance = square[c] / count - (total[c] / count) ** 2
            if variance > best:
                best, column = variance, c
    return column


@njit(cache=True, nogil=True)
def split(points, rows, start, end, k, limit, scratch):  # type: ignore[no-untyped-def]
    """Cut a run of records in two, repeatedly, until no part has more than `limit` records.

    A cut is near the median: between two distinct values if at least k records are on both sides, else at a multiple of
    k. Parts of identical records are not cut. Returns `start` and the end of every part.
    """
    columns = points.shape[1]
    stack = [(start, end)]
    ends = [start]
    while len(stack):
        first, last = stack.pop()
        size = last - first
        column = -1
        if size > limit and size >= 2 * k:
            total, square = np.zeros(columns), np.zeros(columns)
            low, high = np.full(columns, np.inf), np.full(columns, -np.inf)
            add_moments(points, first, last, total, square, low, high)
            column = widest(total, square, low, high, size)
        if column < 0:
            ends.append(last)
            continue
        target = size // k // 2 * k
        for i in range(size):
            scratch[first - start + i] = points[first + i, column]
        pivot = smallest(scratch[first - start :], size, target)
        below, above = separate(points, rows, first, last, column, pivot)
        near, far = below, above
        if target - (below - first) > (above - first) - target:
            near, far = above, below
        cut = first + target
        if near - first >= k and last - near >= k:
            cut = near
        elif far - first >= k and last - far >= k:
            cut = far
        stack.append((cut, last))
        stack.append((first, cut))
    return np.array(ends)


@njit(cache=True, nogil=True)
def is_new(members, filled, column, value):  # type: ignore[no-untyped-def]
    """True if no record of a class has this value in a column."""
    for j in range(filled):  # noqa: SIM110 (compiled)
        if members[j, column] == value:
            return False
    return True


@njit(cache=True, nogil=True)
def join(point, members, filled, low, high):  # type: ignore[no-untyped-def]
    """Add a record to the members of a class, and update its limits."""
    for c in range(point.size):
        value = point[c]
        members[filled, c] = value
        low[c] = value if filled == 0 else min(low[c], value)
        high[c] = value if filled == 0 else max(high[c], value)


@njit(cache=True, nogil=True)
def cheapest(points, start, end, members, filled, low, high, nominal, power):  # type: ignore[no-untyped-def]
    """The record of a run that adds least to the loss of a class."""
    best, found = np.inf, start
    for i in range(start, end):
        cost = 0.0
        for c in range(points.shape[1]):
            value = points[i, c]
            if nominal[c] > 0.0:
                if is_new(members, filled, c, value):
                    cost += nominal[c]
            else:
                width = max(high[c], value) - min(low[c], value)
                cost += width * width if power == 2 else width
            if cost >= best:
                break
        if cost < best:
            best, found = cost, i
    return found


@njit(cache=True, nogil=True)
def farthest(points, start, end, centre, best):  # type: ignore[no-untyped-def]
    """The record of a run farthest from a centre, -1 if none is farther than `best`; and the largest distance."""
    found = -1
    for i in range(start, end):
        distance = 0.0
        for c in range(points.shape[1]):
            distance += (points[i, c] - centre[c]) ** 2
        if distance > best:
            best, found = distance, i
    return found, best


@njit(cache=True, nogil=True)
def add_to_centre(points, start, end, centre):  # type: ignore[no-untyped-def]
    """Add the coordinates of the records of a run to `centre`."""
    for i in range(start, end):
        for c in range(points.shape[1]):
            centre[c] += points[i, c]


@njit(cache=True, nogil=True)
def gather(points, rows, start, end, k, nominal, power, ends, filled):  # type: ignore[no-untyped-def]
    """Make classes of k from a small run. A class begins with the record farthest from the centre, which would be
    expensive in any other class, and adds the k-1 records that increase its loss least.

    The last class takes all remaining records, k to 2k-1. Returns the number of class ends in `ends`.
    """
    columns = points.shape[1]
    members = np.empty((k, columns), points.dtype)
    low, high = np.empty(columns, points.dtype), np.empty(columns, points.dtype)
    while end - start >= 2 * k:
        centre = np.zeros(columns)
        add_to_centre(points, start, end, centre)
        chosen, _ = farthest(points, start, end, centre / (end - start), -1.0)
        for q in range(k):
            if q:
                chosen = cheapest(points, start + q, end, members, q, low, high, nominal, power)
            exchange(points, rows, start + q, chosen)
            join(points[start + q], members, q, low, high)
        start += k
        ends[filled] = start
        filled += 1
    ends[filled] = end
    return filled + 1


@njit(cache=True, nogil=True)
def alike(points, start, end):  # type: ignore[no-untyped-def]
    """True if all records of a run are equal."""
    for i in range(start + 1, end):
        for c in range(points.shape[1]):
            if points[i, c] != points[start, c]:
                return False
    return True


@njit(cache=True, nogil=True)
def partition(points, rows, start, end, k, limit, nominal, power):  # type: ignore[no-untyped-def]
    """Classes of k to 2k-1 from a run of records (more only if all are identical); returns the ends of classes."""
    parts = split(points, rows, start, end, k, limit, np.empty(end - start, points.dtype))
    ends = np.empty((end - start) // k + 1, np.int64)
    filled = 0
    for p in range(parts.size - 1):
        if alike(points, parts[p], parts[p + 1]):
            ends[filled] = parts[p + 1]
            filled += 1
        else:
            filled = gather(points, rows, parts[p], parts[p + 1], k, nominal, power, ends, filled)
    return ends[:filled]
