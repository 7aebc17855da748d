"""Compiled loops of the attacks: distances between records of mixed columns, with early exit.

A gallery is a list of distinct records. `codes[r, j]` is the position of the label of record r, column j, in `low` and
`high`. Columns with few labels have `sizes[j]` of them from `starts[j]` on, and their costs are computed once for each
probe. Columns with many labels (`sizes[j]` = 0) have one entry per record. A probe is an interval in each column; if
its code is -1, everything fits. `order` lists the columns so that most records are excluded early. `runs` are the
candidate records of each probe (see `record_index`).

The innermost loop is one function that is called for a tile of records. If it is called for each record, numba's
reference counting takes thirty times as long as the work.
"""

import numpy as np

from incrowd._support.compiled import njit

_TILE = 1024
_FIRST_TILE = 32  # every tile is twice as long as the one before: limits fall quickly at first, and some stop early


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator,unused-ignore]
def _cost(mode, weight, gap):  # type: ignore[no-untyped-def]
    """The cost of a gap between two intervals; 0 if they overlap."""
    if gap <= 0.0:
        return 0.0
    if mode == 1:
        return weight
    gap *= weight
    return 0.5 * gap * gap if mode == 2 else min(gap, 1.0)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _prepare(probe, probes, gallery, costs, columns):  # type: ignore[no-untyped-def]
    """The cost of every label of the columns with few labels; also the columns that a probe uses, and their number."""
    lows, highs, probe_codes = probes
    order, modes, weights, _, starts, sizes, low, high, misses, miss_starts = gallery
    named = 0
    for j in order:
        first, code = starts[j], probe_codes[probe, j]
        if code < 0:
            continue
        columns[named] = j
        named += 1
        if modes[j] == 3:
            for label in range(sizes[j]):
                missed = misses[miss_starts[j] + code * sizes[j] + label]
                costs[first + label] = weights[j] if missed else 0.0
        else:
            for label in range(first, first + sizes[j]):
                gap = max(low[label] - highs[probe, j], lows[probe, j] - high[label])
                costs[label] = _cost(modes[j], weights[j], gap)
    return named


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _distances(probe, records, probes, gallery, costs, columns, named, limit, found):  # type: ignore[no-untyped-def]
    """The distances of some records; any number above the limit for records beyond it."""
    lows, highs, _ = probes
    _, modes, weights, codes, _, sizes, low, high, _, _ = gallery
    for place in range(records.size):
        record = records[place]
        total = 0.0
        for at in range(named):
            j = columns[at]
            code = codes[record, j]
            if sizes[j]:
                total += costs[code]
            else:
                total += _cost(modes[j], weights[j], max(low[code] - highs[probe, j], lows[probe, j] - high[code]))
            if total > limit:
                break
        found[place] = total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def pair_distances(probes, gallery, own, found):  # type: ignore[no-untyped-def]
    """The distance of each probe to one record."""
    costs, columns = np.empty(gallery[5].sum()), np.empty(gallery[0].size, np.int64)
    for probe in range(own.size):
        named, one = _prepare(probe, probes, gallery, costs, columns), slice(probe, probe + 1)
        _distances(probe, own[one], probes, gallery, costs, columns, named, np.inf, found[one])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def count_within(probes, gallery, runs, people, limits, slack, begin, end, most, nearer, level, first):  # type: ignore[no-untyped-def]
    """For probes from `begin` to `end`, count the records nearer than the limit and at it; also give one at the limit.

    Record r has `people[r]` rows. Counting stops after `most` rows at the limit.
    """
    orders, which, begins, ends = runs
    costs, columns = np.empty(gallery[5].sum()), np.empty(gallery[0].size, np.int64)
    found = np.empty(_TILE)
    for probe in range(begin, end):
        named = _prepare(probe, probes, gallery, costs, columns)
        least, limit = limits[probe] - slack, limits[probe] + slack
        stop, size = begins[probe], _FIRST_TILE
        while stop < ends[probe] and level[probe] < most:
            start, stop = stop, min(stop + size, ends[probe])
            size = min(2 * size, _TILE)
            records = orders[which[probe], start:stop]
            _distances(probe, records, probes, gallery, costs, columns, named, limit, found)
            for place in range(records.size):
                if found[place] < least:
                    nearer[probe] += people[records[place]]
                elif found[place] <= limit:
                    level[probe] += people[records[place]]
                    if first[probe] < 0:
                        first[probe] = records[place]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def nearest(probes, gallery, runs, people, slack, begin, end, distances, records):  # type: ignore[no-untyped-def]
    """For probes from `begin` to `end`, the nearest records, nearest first; ties in any order.

    A record with several rows fills several places.
    """
    orders, which, begins, ends = runs
    wanted = distances.shape[1]
    costs, columns = np.empty(gallery[5].sum()), np.empty(gallery[0].size, np.int64)
    found = np.empty(_TILE)
    for probe in range(begin, end):
        named = _prepare(probe, probes, gallery, costs, columns)
        limit, stop, size = distances[probe, wanted - 1] - slack, begins[probe], _FIRST_TILE
        while stop < ends[probe]:
            start, stop = stop, min(stop + size, ends[probe])
            size = min(2 * size, _TILE)
            some = orders[which[probe], start:stop]
            _distances(probe, some, probes, gallery, costs, columns, named, limit, found)
            for place in range(some.size):
                distance = found[place]
                for _ in range(min(people[some[place]], wanted)):
                    if distance > limit:
                        break
                    at = wanted - 1
                    while at > 0 and distances[probe, at - 1] > distance + slack:
                        distances[probe, at] = distances[probe, at - 1]
                        records[probe, at] = records[probe, at - 1]
                        at -= 1
                    distances[probe, at], records[probe, at] = distance, some[place]
                    limit = distances[probe, wanted - 1] - slack


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def guess_secrets(probes, gallery, runs, limits, heads, secrets, counts, room, begin, end, guesses):  # type: ignore[no-untyped-def]
    """For probes from `begin` to `end`, the commonest secret of the records within the limit.

    Record r has the secrets `secrets[heads[r]:heads[r+1]]`, with their `counts`; the smallest one wins a tie.
    """
    orders, which, begins, ends = runs
    costs, columns = np.empty(gallery[5].sum()), np.empty(gallery[0].size, np.int64)
    votes, found = np.zeros(room, np.int64), np.empty(_TILE)
    for probe in range(begin, end):
        named = _prepare(probe, probes, gallery, costs, columns)
        votes[:] = 0
        for start in range(begins[probe], ends[probe], _TILE):
            records = orders[which[probe], start : min(start + _TILE, ends[probe])]
            _distances(probe, records, probes, gallery, costs, columns, named, limits[probe], found)
            for place in range(records.size):
                if found[place] <= limits[probe]:
                    for at in range(heads[records[place]], heads[records[place] + 1]):
                        votes[secrets[at]] += counts[at]
        guesses[probe] = np.argmax(votes)
