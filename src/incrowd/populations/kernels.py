"""The hot loops of the copulas, compiled: cell probabilities, expected information, sampling, counting."""

from __future__ import annotations

import math

import numpy as np

from incrowd._support.compiled import njit

_BLOCK = 256  # records processed together, so that the compiler can vectorise the inner loops


@njit(cache=True, nogil=True)
def fill_cells(first, second, rho, nodes, weights, cells):  # type: ignore[no-untyped-def]
    """Probability of every cell of a bivariate normal cut at `first` and `second` (edges, ±inf at the ends).

    Row by row: ∫ φ(x) [Φ((b − ρx)/s) − Φ((a − ρx)/s)] dx over the row, by Gauss–Legendre on panels no wider than the
    step of Φ. Every cell is a sum of positive terms, so that small cells keep their digits.
    """
    s = math.sqrt(1.0 - rho * rho)
    widest = 0.75 if rho < 1e-9 else min(0.75, 1.5 * s / rho)
    scale = 1.0 / (s * math.sqrt(2.0))
    columns = second.size - 1
    for row in range(first.size - 1):
        low, high = max(first[row], -8.5), min(first[row + 1], 8.5)
        cells[row, :] = 0.0
        if high <= low:
            continue
        panels = max(1, math.ceil((high - low) / widest))
        half = 0.5 * (high - low) / panels
        for panel in range(panels):
            middle = low + (2 * panel + 1) * half
            for node in range(nodes.size):
                x = middle + half * nodes[node]
                mass = weights[node] * half * math.exp(-0.5 * x * x) * 0.3989422804014327
                before = 0.0
                for column in range(columns):
                    edge = second[column + 1]
                    after = 1.0 if edge == np.inf else 0.5 * math.erfc((rho * x - edge) * scale)
                    cells[row, column] += mass * (after - before)
                    before = after


@njit(cache=True, nogil=True)
def count_pairs(first, second, times, rows, columns, cells):  # type: ignore[no-untyped-def]
    """Add up how often the groups of two columns' values occur together, in cells `rows[value] + columns[value]`.

    Entry i stands for `times[i]` records; a single entry of `times` for all.
    """
    for i in range(first.size):
        cells[rows[first[i]] + columns[second[i]]] += times[i] if times.size > 1 else times[0]


@njit(cache=True, nogil=True)
def expected_log_sum(chances, lowest, step, table):  # type: ignore[no-untyped-def]
    """Σ p · E ln(1 + Y), read from a table over log p that starts at `lowest`."""
    total = 0.0
    last = table.size - 2
    for chance in chances:
        if chance <= 0.0:
            continue
        place = (math.log(chance) - lowest) / step
        if place <= 0.0:
            total += chance * table[0] * math.exp(place * step)  # E ln(1 + Y) is proportional to p there
            continue
        index = min(int(place), last)
        share = place - index
        total += chance * (table[index] * (1.0 - share) + table[index + 1] * share)
    return total


@njit(cache=True, nogil=True)
def draw_keys(normals, factor, edges, starts, guide, steps, marks, low, high, keys):  # type: ignore[no-untyped-def]
    """A key for every synthetic record: correlated normals, cut at the edges of each column; the key adds up marks.

    `edges` and `marks` hold all columns one after the other, column j from `starts[j]`. `guide` holds, from `steps[j]`,
    the index at which the search for the value starts, for each step of `width` from `low`.
    """
    columns, rows = factor.shape[0], normals.shape[0]
    block, correlated = np.empty((columns, _BLOCK)), np.empty(_BLOCK)
    for start in range(0, rows, _BLOCK):
        size = min(_BLOCK, rows - start)
        for i in range(size):
            keys[start + i] = 0
            for column in range(columns):
                block[column, i] = normals[start + i, column]
        for column in range(columns):
            correlated[:] = 0.0
            for k in range(column + 1):
                weight = factor[column, k]
                for i in range(size):
                    correlated[i] += weight * block[k, i]
            first, last = starts[column], starts[column + 1] - 1
            begin, count = steps[column], steps[column + 1] - steps[column]
            width = (high - low) / count
            for i in range(size):
                z = correlated[i]
                step = int((z - low) / width)
                step = min(max(step, 0), count - 1)
                value = first + guide[begin + step]
                while value < last and z >= edges[value]:
                    value += 1
                keys[start + i] += marks[value]


@njit(cache=True, nogil=True)
def sort_keys(keys):  # type: ignore[no-untyped-def]
    """Radix sort of 64-bit keys, one byte at a time from the lowest."""
    counts = np.zeros((8, 256), dtype=np.int64)
    for key in keys:
        for place in range(8):
            counts[place, (key >> np.uint64(8 * place)) & np.uint64(255)] += 1
    ordered, other = keys, np.empty_like(keys)
    for place in range(8):
        shift = np.uint64(8 * place)
        starts = np.cumsum(counts[place]) - counts[place]
        for key in ordered:
            digit = (key >> shift) & np.uint64(255)
            other[starts[digit]] = key
            starts[digit] += 1
        ordered, other = other, ordered
    return ordered


@njit(cache=True, nogil=True)
def merge_runs(keys, counts, ordered, merged_keys, merged_counts):  # type: ignore[no-untyped-def]
    """Merge distinct sorted `keys` with `counts` and the runs of sorted raw keys. Returns how many are distinct."""
    found = 0
    i = 0
    j = 0
    while i < keys.size or j < ordered.size:
        if j >= ordered.size or (i < keys.size and keys[i] < ordered[j]):
            merged_keys[found] = keys[i]
            merged_counts[found] = counts[i]
            i += 1
        else:
            key = ordered[j]
            count = 0
            while j < ordered.size and ordered[j] == key:
                count += 1
                j += 1
            if i < keys.size and keys[i] == key:
                count += counts[i]
                i += 1
            merged_keys[found] = key
            merged_counts[found] = count
        found += 1
    return found


@njit(cache=True, nogil=True)
def grow_class(  # type: ignore[no-untyped-def]
    more, seen, first, second, start, peak, log_peak, log_beta, edges, nodes, weights, shares, mass, moments
):
    """Distribution of a class's size in the population, F = seen + BetaBinomial(more; first, second), at each point.

    `mass[i]` is the probability of X = start + i, by the beta-binomial's recursion from its mode `peak`, whose log
    probability is `log_peak`. Then follow bins with these `edges` (in log X), with the beta density of the class's
    share. `mass` is the mean over the points with weights `shares`; `moments` are E 1/F and E 1/F² at each point.
    """
    exact = mass.size - (edges.size - 1)
    last = min(exact, int(more - start) + 1)
    one = np.empty(mass.size)
    for point in range(first.size):
        one[:] = 0.0
        fill_exact(one, last, more, first[point], second[point], start, int(peak[point]), math.exp(log_peak[point]))
        once = 0.0
        twice = 0.0
        total = 0.0
        for i in range(last):
            size = seen + start + i
            total += one[i]
            once += one[i] / size
            twice += one[i] / (size * size)
        for b in range(edges.size - 1):
            half = 0.5 * (edges[b + 1] - edges[b])
            for k in range(nodes.size):
                log_x = edges[b] + half * (1.0 + nodes[k])
                x = math.exp(log_x)
                if x >= more:
                    continue
                log_chance = first[point] * (log_x - math.log(more)) + (second[point] - 1.0) * math.log1p(-x / more)
                chance = half * weights[k] * math.exp(log_chance - log_beta[point])
                one[exact + b] += chance
                total += chance
                once += chance / (seen + x)
                twice += chance / ((seen + x) * (seen + x))
        moments[point, 0] = once / total
        moments[point, 1] = twice / total
        for i in range(mass.size):
            mass[i] += shares[point] * one[i] / total


@njit(cache=True, nogil=True)
def fill_exact(mass, last, more, first, second, start, peak, highest):  # type: ignore[no-untyped-def]
    """Probabilities of the beta-binomial from `start` on, computed up and down from `peak` until negligible."""
    value = highest
    for i in range(peak, last):
        if value < 1e-16:
            break
        mass[i] = value
        x = start + i
        value *= (more - x) * (first + x) / ((x + 1.0) * (second + more - x - 1.0))
    value = highest
    for i in range(peak - 1, -1, -1):
        x = start + i
        value *= (x + 1.0) * (second + more - x - 1.0) / ((more - x) * (first + x))
        if value < 1e-18:
            break
        mass[i] = value


@njit(cache=True, nogil=True)
def shuffled_x_log_x(one, other, one_times, other_times, people):  # type: ignore[no-untyped-def]
    """Σ E[X ln X] over the cells of two columns whose values are shuffled: X is hypergeometric.

    `one_times[i]` values of the first column occur `one[i]` times each; `other` and `other_times` describe the second
    column. Each distribution is summed from its mode outwards until terms are negligible.
    """
    total = 0.0
    for i in range(one.size):
        for j in range(other.size):
            a, b = one[i], other[j]
            least, most = max(0, a + b - people), min(a, b)
            mode = min(max(int((a + 1.0) * (b + 1.0) / (people + 2.0)), least), most)
            mass, value = 1.0, mode * np.log(mode) if mode > 1 else 0.0
            chance, x = 1.0, mode
            while x < most and chance > 1e-12:
                chance *= (a - x) * float(b - x) / ((x + 1.0) * (people - a - b + x + 1.0))
                x += 1
                mass += chance
                value += chance * x * np.log(x)
            chance, x = 1.0, mode
            while x > least and chance > 1e-12:
                chance *= x * float(people - a - b + x) / ((a - x + 1.0) * (b - x + 1.0))
                x -= 1
                mass += chance
                if x > 1:
                    value += chance * x * np.log(x)
            total += one_times[i] * other_times[j] * value / mass
    return total
