"""Compiled loops of the attacks: distances between records of mixed columns, abandoned as early as possible.

A gallery is a list of different records. `codes[r, j]` is where the label of record r in column j stands in `low` and
`high`; columns with few labels have `sizes[j]` of them from `starts[j]` on, and their costs are worked out once for
each probe. Columns with many labels (`sizes[j]` = 0) have one entry a record. A probe is an interval in each column;
where its code is -1 everything fits. `order` lists the columns so that most records are abandoned early.

The innermost loop is one function that is called for a tile of records: called for each record, numba's counting of
references takes thirty times as long as the work.
"""

import numpy as np

from incrowd._support.compiled import njit

_TILE = 1024  # records that a block of probes goes over while they are in the cache
_FIRST_TILE = 32  # every tile is twice as long as the one before, because limits fall quickly at first
_PROBES = 16
NUMBER, STEP, NORMAL, SETS = 0, 1, 2, 3
"""How a column costs: its gap up to 1, 0 or 1, half the squared gap, or looked up by both labels."""


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator,unused-ignore]
def _cost(mode, weight, gap):  # type: ignore[no-untyped-def]
    """What a gap between two intervals costs; 0 where they overlap."""
    if gap <= 0.0:
        return 0.0
    if mode == 1:
        return weight
    gap *= weight
    return 0.5 * gap * gap if mode == 2 else min(gap, 1.0)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def _prepare(probe, probes, gallery, costs, columns):  # type: ignore[no-untyped-def]
    """The cost of every label of the columns with few labels; the columns that a probe names, and how many."""
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
def _distances(probe, begin, end, probes, gallery, costs, columns, named, limit, found):  # type: ignore[no-untyped-def]
    """The distances of records from `begin` to `end`; any number above the limit for those beyond it."""
    lows, highs, _ = probes
    _, modes, weights, codes, _, sizes, low, high, _, _ = gallery
    for record in range(begin, end):
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
        found[record - begin] = total


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def pair_distances(probes, gallery, own, found):  # type: ignore[no-untyped-def]
    """The distance of each probe to one record."""
    costs, columns = np.empty(gallery[5].sum()), np.empty(gallery[0].size, np.int64)
    for probe in range(own.size):
        named = _prepare(probe, probes, gallery, costs, columns)
        record = own[probe]
        _distances(probe, record, record + 1, probes, gallery, costs, columns, named, np.inf, found[probe : probe + 1])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def count_within(probes, gallery, people, limits, slack, begin, end, most, nearer, level, first):  # type: ignore[no-untyped-def]
    """For probes from `begin` to `end`: how many records are nearer than the limit, how many at it, and one of them.

    Record r stands for `people[r]` rows. Counting stops once `most` rows at the limit were seen.
    """
    costs, columns = np.empty((_PROBES, gallery[5].sum())), np.empty((_PROBES, gallery[0].size), np.int64)
    named, found = np.empty(_PROBES, np.int64), np.empty(_TILE)
    for block in range(begin, end, _PROBES):
        size = min(_PROBES, end - block)
        for place in range(size):
            named[place] = _prepare(block + place, probes, gallery, costs[place], columns[place])
        tile, stop = 0, 0
        while stop < people.size:
            tile, stop = stop, min(stop + min(_TILE, max(stop, _FIRST_TILE)), people.size)
            for place in range(size):
                probe = block + place
                if level[probe] >= most:
                    continue
                least, limit = limits[probe] - slack, limits[probe] + slack
                _distances(probe, tile, stop, probes, gallery, costs[place], columns[place], named[place], limit, found)
                for record in range(tile, stop):
                    distance = found[record - tile]
                    if distance < least:
                        nearer[probe] += people[record]
                    elif distance <= limit:
                        level[probe] += people[record]
                        if first[probe] < 0:
                            first[probe] = record


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def nearest(probes, gallery, people, slack, begin, end, distances, records):  # type: ignore[no-untyped-def]
    """For probes from `begin` to `end` the nearest records, nearest first.

    A record that stands for several rows fills several places; of equally near ones the first is taken.
    """
    wanted = distances.shape[1]
    costs, columns = np.empty((_PROBES, gallery[5].sum())), np.empty((_PROBES, gallery[0].size), np.int64)
    named, found = np.empty(_PROBES, np.int64), np.empty(_TILE)
    for block in range(begin, end, _PROBES):
        size = min(_PROBES, end - block)
        for place in range(size):
            named[place] = _prepare(block + place, probes, gallery, costs[place], columns[place])
        tile, stop = 0, 0
        while stop < people.size:
            tile, stop = stop, min(stop + min(_TILE, max(stop, _FIRST_TILE)), people.size)
            for place in range(size):
                probe = block + place
                limit = distances[probe, wanted - 1] - slack
                _distances(probe, tile, stop, probes, gallery, costs[place], columns[place], named[place], limit, found)
                for record in range(tile, stop):
                    distance = found[record - tile]
                    for _ in range(min(people[record], wanted)):
                        if distance > limit:
                            break
                        at = wanted - 1
                        while at > 0 and distances[probe, at - 1] > distance + slack:
                            distances[probe, at] = distances[probe, at - 1]
                            records[probe, at] = records[probe, at - 1]
                            at -= 1
                        distances[probe, at], records[probe, at] = distance, record
                        limit = distances[probe, wanted - 1] - slack


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator,unused-ignore]
def guess_secrets(probes, gallery, limits, heads, secrets, counts, room, begin, end, guesses):  # type: ignore[no-untyped-def]
    """For probes from `begin` to `end` the secret that most of the records within the limit have.

    Record r stands for people with `secrets[heads[r]:heads[r+1]]`, `counts` of each; of equally frequent ones the
    smallest is guessed.
    """
    costs, columns = np.empty(gallery[5].sum()), np.empty(gallery[0].size, np.int64)
    votes, found = np.zeros(room, np.int64), np.empty(heads.size - 1)
    for probe in range(begin, end):
        named = _prepare(probe, probes, gallery, costs, columns)
        votes[:] = 0
        _distances(probe, 0, found.size, probes, gallery, costs, columns, named, limits[probe], found)
        for record in range(found.size):
            if found[record] <= limits[probe]:
                for at in range(heads[record], heads[record + 1]):
                    votes[secrets[at]] += counts[at]
        guesses[probe] = np.argmax(votes)
