"""Compiled loops of the crowd model: leave-one-out likelihoods, and growing a sample person by person."""

from __future__ import annotations

import numba
import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@numba.njit(inline="always", cache=True)
def _mix(x):  # type: ignore[no-untyped-def]
    """A 64-bit hash of a 64-bit number (splitmix64)."""
    x = x + _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@numba.njit(inline="always", cache=True)
def _mark(column, value):  # type: ignore[no-untyped-def]
    """The hash of one value of one column; sums of these are keys of sets of values."""
    return _mix((np.uint64(column + 1) << np.uint64(40)) ^ np.uint64(value))


@numba.njit(inline="always", cache=True)
def _uniform(state):  # type: ignore[no-untyped-def]
    """The next random number from 0 to 1 of a generator whose state is one number."""
    state[0] += _GOLDEN
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return np.float64((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@numba.njit(inline="always", cache=True)
def _slot(keys, key):  # type: ignore[no-untyped-def]
    """Where a key is in an open-addressing table, or where it would go; 0 marks a free slot."""
    mask = np.uint64(keys.size - 1)
    place = key & mask
    while keys[place] != 0 and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@numba.njit(cache=True, nogil=True)
def rehash(keys, numbers, new_keys, new_numbers):  # type: ignore[no-untyped-def]
    """Copy a hash table into a larger one."""
    for place in range(keys.size):
        if keys[place] != 0:
            slot = _slot(new_keys, keys[place])
            new_keys[slot] = keys[place]
            new_numbers[slot] = numbers[place]


@numba.njit(cache=True, nogil=True)
def level_likelihoods(base, group, pair, distinct, discounts, strengths):  # type: ignore[no-untyped-def]
    """Log-likelihood of leaving each record out, for every discount and strength of one level.

    `group`, `pair` and `distinct` are the counts of the context, of context and value, and of the values in the
    context, without the record itself; `base` is the chance by the level below.
    """
    found = np.zeros((discounts.size, strengths.size))
    for i in range(discounts.size):
        for j in range(strengths.size):
            d, theta, total = discounts[i], strengths[j], 0.0
            for row in range(base.size):
                kept = max(pair[row] - d, 0.0) if pair[row] > 0 else 0.0
                total += np.log((kept + (theta + d * distinct[row]) * base[row]) / (group[row] + theta))
            found[i, j] = total
    return found


@numba.njit(cache=True, nogil=True)
def add_people(  # type: ignore[no-untyped-def]
    values, value_counts, value_sizes, level_column, level_start, level_end, context, discount, strength, margin,
    group_keys, group_numbers, group_count, group_start, group_room, pair_keys, pair_counts, class_keys, class_counts,
    pool, used, start, stop, drawn, random,
):  # fmt: skip
    """Add people `start` to `stop`; draw their values first where `drawn`, else take those that are there.

    Levels of one column follow each other, the most specific first. `used` holds how many groups, pairs, pool entries
    and classes there are, and how many classes have one person. Returns the first person who was not added: `stop`, or
    whoever did not fit into one of the arrays, which the caller then enlarges.
    """
    columns, levels = values.shape[0], level_column.size
    keys = np.empty(levels, dtype=np.uint64)
    groups = np.empty(levels, dtype=np.int64)
    is_new = np.zeros(columns, dtype=np.bool_)
    group_limit = min(group_keys.size * 6 // 10, group_count.size)
    pair_limit, class_limit = pair_keys.size * 6 // 10, class_keys.size * 6 // 10
    for person in range(start, stop):
        if used[0] + levels > group_limit or used[1] + levels > pair_limit or used[3] + 1 > class_limit:
            return person
        before, level, room = random[0], 0, 0
        for column in range(columns):
            accepted = False
            is_new[column] = False
            value = -1 if drawn else values[column, person]
            while level < levels and level_column[level] == column:
                key = np.uint64(level + 1) * _GOLDEN
                for place in range(level_start[level], level_end[level]):
                    known = context[place]
                    key += _mark(known, values[known, person])
                key = _mix(key) | np.uint64(1)
                slot = _slot(group_keys, key)
                if group_keys[slot] == 0:
                    group_keys[slot] = key
                    group_numbers[slot] = used[0]
                    group_count[used[0]] = 0
                    group_room[used[0]] = 0
                    used[0] += 1
                number = group_numbers[slot]
                keys[level], groups[level] = key, number
                count = group_count[number]
                if count == group_room[number]:
                    room += max(1, 2 * count)
                if drawn and not accepted and count > 0:
                    member = pool[group_start[number] + np.int64(_uniform(random) * count)]
                    taken = values[column, member]
                    pair = pair_counts[_slot(pair_keys, _mix(key + _mark(column, taken)) | np.uint64(1))]
                    if _uniform(random) < (1.0 - discount[level] / pair) * count / (count + strength[level]):
                        accepted, value = True, taken
                level += 1
            if drawn and not accepted:
                taken = values[column, np.int64(_uniform(random) * person)]
                d, theta = margin[column, 0], margin[column, 1]
                if _uniform(random) < (1.0 - d / value_counts[column, taken]) * person / (person + theta):
                    value = taken
                else:
                    value = value_sizes[column]
                    value_sizes[column] += 1
                    is_new[column] = True
            values[column, person] = value
        if used[2] + room > pool.size:
            random[0] = before
            for column in range(columns):
                value_sizes[column] -= is_new[column]
            return person
        for level in range(levels):
            number = groups[level]
            count = group_count[number]
            if count == group_room[number]:
                room = max(1, 2 * count)
                for place in range(count):
                    pool[used[2] + place] = pool[group_start[number] + place]
                group_start[number], group_room[number] = used[2], room
                used[2] += room
            pool[group_start[number] + count] = person
            group_count[number] = count + 1
            column = level_column[level]
            pair_key = _mix(keys[level] + _mark(column, values[column, person])) | np.uint64(1)
            slot = _slot(pair_keys, pair_key)
            if pair_keys[slot] == 0:
                pair_keys[slot] = pair_key
                used[1] += 1
            pair_counts[slot] += 1
        whole = np.uint64(0)
        for column in range(columns):
            value_counts[column, values[column, person]] += 1
            whole += _mark(column, values[column, person])
        whole = _mix(whole) | np.uint64(1)
        slot = _slot(class_keys, whole)
        if class_keys[slot] == 0:
            class_keys[slot] = whole
            used[3] += 1
            used[4] += 1
        elif class_counts[slot] == 1:
            used[4] -= 1
        class_counts[slot] += 1
    return stop


@numba.njit(cache=True, nogil=True)
def class_sizes_of(values, class_keys, class_counts, people):  # type: ignore[no-untyped-def]
    """The size of the class of each of the first `people`."""
    found = np.empty(people, dtype=np.int64)
    for person in range(people):
        whole = np.uint64(0)
        for column in range(values.shape[0]):
            whole += _mark(column, values[column, person])
        found[person] = class_counts[_slot(class_keys, _mix(whole) | np.uint64(1))]
    return found
