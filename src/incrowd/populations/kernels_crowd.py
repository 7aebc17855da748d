"""Compiled loops of the crowd model: leave-one-out likelihoods, and growing a sample person by person."""

from __future__ import annotations

import numpy as np

from incrowd._support.compiled import njit
from incrowd.populations.urn_places import CLASSES, GROUPS, PAIRS, POOL, UNIQUES

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_HALF, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)


@njit(inline="always", cache=True)
def _mix(x):  # type: ignore[no-untyped-def]
    """A 64-bit hash of a 64-bit number (splitmix64)."""
    x = x + _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return x ^ (x >> np.uint64(31))


@njit(inline="always", cache=True)
def _mark(column, value):  # type: ignore[no-untyped-def]
    """The hash of one value of one column; sums of these are keys of sets of values."""
    return _mix((np.uint64(column + 1) << np.uint64(40)) ^ np.uint64(value))


@njit(inline="always", cache=True)
def _uniform(state):  # type: ignore[no-untyped-def]
    """The next random number from 0 to 1 of a generator whose state is one number."""
    state[0] += _GOLDEN
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * _FIRST
    x = (x ^ (x >> np.uint64(27))) * _SECOND
    return np.float64((x ^ (x >> np.uint64(31))) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(inline="always", cache=True)
def _row(table, key):  # type: ignore[no-untyped-def]
    """The row of a key in an open-addressing hash table whose first column is the key; the free row if not present."""
    mask = np.uint64(table.shape[0] - 1)
    place = key & mask
    while table[place, 0] != 0 and table[place, 0] != key:
        place = (place + np.uint64(1)) & mask
    return place


@njit(cache=True, nogil=True)
def rehash(table, larger):  # type: ignore[no-untyped-def]
    """Copy a hash table into a larger one."""
    for place in range(table.shape[0]):
        if table[place, 0] != 0:
            row = _row(larger, table[place, 0])
            for column in range(table.shape[1]):
                larger[row, column] = table[place, column]


@njit(cache=True, nogil=True)
def number_cells(first, second, width, cells):  # type: ignore[no-untyped-def]
    """Number the combinations of two codes like `number_groups`, by a lookup table for few possible combinations."""
    number_of_cell = np.full(cells, -1, dtype=np.int32)
    numbers = np.empty(first.size, dtype=np.int64)
    used = 0
    for place in range(first.size):
        cell = np.int64(first[place]) * width + second[place]
        if number_of_cell[cell] < 0:
            number_of_cell[cell] = used
            used += 1
        numbers[place] = number_of_cell[cell]
    return numbers


@njit(cache=True, nogil=True)
def number_groups(first, second, room):  # type: ignore[no-untyped-def]
    """Number the combinations of two codes from 0 in order of first occurrence; `room` is a power of two."""
    keys, number_of_row = np.zeros(room, dtype=np.uint64), np.empty(room, dtype=np.int32)
    numbers = np.empty(first.size, dtype=np.int64)
    used, mask = 0, np.uint64(room - 1)
    for place in range(first.size):
        key = _mix((np.uint64(first[place]) << _HALF) + np.uint64(second[place])) | np.uint64(1)
        row = (key >> np.uint64(1)) & mask
        while keys[row] != 0 and keys[row] != key:
            row = (row + np.uint64(1)) & mask
        if keys[row] == 0:
            keys[row], number_of_row[row] = key, used
            used += 1
        numbers[place] = number_of_row[row]
    return numbers


@njit(cache=True, nogil=True)
def count_contexts(context, pair_of):  # type: ignore[no-untyped-def]
    """Counts of records by context and by context with value, and number of values of each context."""
    records, values = np.zeros(context.max() + 1, dtype=np.int64), np.zeros(context.max() + 1, dtype=np.int64)
    same = np.zeros(pair_of.max() + 1, dtype=np.int64)
    for row in range(context.size):
        records[context[row]] += 1
        if same[pair_of[row]] == 0:
            values[context[row]] += 1
        same[pair_of[row]] += 1
    return records, same, values


@njit(inline="always", cache=True)
def _count_without(row, context, pair_of, records, same, values, left_out):  # type: ignore[no-untyped-def]
    """Counts of a record's context, of context and value, and of distinct values, without the record or its cluster."""
    if left_out.shape[1]:
        group, pair = records[context[row]] - left_out[0, row], same[pair_of[row]] - left_out[1, row]
        distinct = values[context[row]] - left_out[2, row]
    else:
        group, pair = records[context[row]] - 1, same[pair_of[row]] - 1
        distinct = values[context[row]] - (1 if pair == 0 else 0)
    return np.float64(group), np.float64(pair), np.float64(distinct)


@njit(cache=True, nogil=True)
def counts_without(rows, context, pair_of, records, same, values, left_out):  # type: ignore[no-untyped-def]
    """`_count_without` of some rows, one array each."""
    found = np.empty((3, rows.size))
    for place in range(rows.size):
        counts = _count_without(rows[place], context, pair_of, records, same, values, left_out)
        found[0, place], found[1, place], found[2, place] = counts
    return found


@njit(cache=True, nogil=True)
def update_chances(context, pair_of, records, same, values, left_out, d, theta, base, following):  # type: ignore[no-untyped-def]
    """Update `base` (leave-one-out) and `following` (next person) in place from the level below to this level."""
    for row in range(context.size):
        group, pair, distinct = _count_without(row, context, pair_of, records, same, values, left_out)
        kept = max(pair - d, 0.0) if pair > 0 else 0.0
        base[row] = (kept + (theta + d * distinct) * base[row]) / (group + theta)
        in_context = records[context[row]]
        known = np.float64(same[pair_of[row]]) - d
        following[row] = (known + (theta + d * values[context[row]]) * following[row]) / (in_context + theta)


@njit(cache=True, nogil=True)
def level_likelihoods(base, group, pair, distinct, discounts, strengths):  # type: ignore[no-untyped-def]
    """Leave-one-out log-likelihood for every discount and strength of one level.

    `group`, `pair` and `distinct` are the counts of the context, of context and value, and of distinct values in the
    context, without the record itself; `base` is the probability by the level below.
    """
    likelihoods = np.zeros((discounts.size, strengths.size))
    for i in range(discounts.size):
        for j in range(strengths.size):
            d, theta, total = discounts[i], strengths[j], 0.0
            for row in range(base.size):
                kept = max(pair[row] - d, 0.0) if pair[row] > 0 else 0.0
                total += np.log((kept + (theta + d * distinct[row]) * base[row]) / (group[row] + theta))
            likelihoods[i, j] = total
    return likelihoods


@njit(inline="always", cache=True)
def _count_class(classes, used, whole):  # type: ignore[no-untyped-def]
    """Count a person in their class; `whole` is the sum of the marks of their values."""
    key = _mix(whole) | np.uint64(1)
    row = _row(classes, key)
    if classes[row, 0] == 0:
        classes[row, 0] = key
        used[CLASSES] += 1
        used[UNIQUES] += 1
    elif classes[row, 1] == 1:
        used[UNIQUES] -= 1
    classes[row, 1] += np.uint64(1)


@njit(inline="always", cache=True)
def _count_pair(pairs, used, key, mark):  # type: ignore[no-untyped-def]
    """Count a value, given by its mark, in the context with this key."""
    key = _mix(key + mark) | np.uint64(1)
    row = _row(pairs, key)
    if pairs[row, 0] == 0:
        pairs[row, 0] = key
        used[PAIRS] += 1
    pairs[row, 1] += np.uint64(1)


@njit(inline="always", cache=True)
def _open_group(groups, used, key):  # type: ignore[no-untyped-def]
    """The row of a context, which is added if it does not exist."""
    row = _row(groups, key)
    if groups[row, 0] == 0:
        groups[row, 0] = key
        used[GROUPS] += 1
    return row


@njit(inline="always", cache=True)
def _group_key(levels, level, marks):  # type: ignore[no-untyped-def]
    """The key of a person's context at a level, from the marks of their values."""
    key = np.uint64(level + 1) * _GOLDEN
    for place in range(levels.start[level], levels.end[level]):
        key += marks[levels.context[place]]
    return _mix(key) | np.uint64(1)


@njit(inline="always", cache=True)
def _other_key(levels, level, marks, values, other):  # type: ignore[no-untyped-def]
    """The key of the context of person `other`, whose context at the level above equals that of the marks."""
    key = np.uint64(level + 1) * _GOLDEN
    for place in range(levels.start[level], levels.fresh[level]):
        key += marks[levels.context[place]]
    for place in range(levels.fresh[level], levels.end[level]):
        known = levels.context[place]
        key += _mark(known, values[known, other])
    return _mix(key) | np.uint64(1)


@njit(inline="always", cache=True)
def _take_room(pool, free, used, size):  # type: ignore[no-untyped-def]
    """Start of a block of the pool for this many values (a power of two): a free block, or the end of the pool."""
    place = 0
    while 1 << place < size:
        place += 1
    room = free[place]
    if room >= 0:
        free[place] = pool[room]
    else:
        room = used[POOL]
        used[POOL] += size
    return room


@njit(inline="always", cache=True)
def _leave_room(pool, free, begin, size):  # type: ignore[no-untyped-def]
    """Add a block of the pool to the list of free blocks."""
    place = 0
    while 1 << place < size:
        place += 1
    pool[begin] = free[place]
    free[place] = begin


@njit(cache=True, nogil=True)
def _count_levels(levels, urn, person, marks, keys, rows, counts, begins):  # type: ignore[no-untyped-def]
    """Count a person in the context of every level; `keys`, `rows`, `counts` and `begins` are their table entries."""
    values, groups, pairs, pool, used = urn.values, urn.groups, urn.pairs, urn.pool, urn.used
    for level in range(levels.column.size):
        above, count, begin, row = levels.above[level], counts[level], begins[level], np.uint64(rows[level])
        if above >= 0 and counts[above] == 0:
            continue
        column = levels.column[level]
        # counts of single values matter only if there is a discount
        is_discounted, is_stored = levels.discount[level] > 0.0, above < 0 or counts[above] > 1
        key = keys[level] if is_stored else _group_key(levels, level, marks)
        if count == 0:
            row = _open_group(groups, used, key)
            groups[row, 1] = (np.uint64(person) << _HALF) | np.uint64(1)
            if not is_stored:
                other = begins[above]
                row = _open_group(groups, used, _other_key(levels, level, marks, values, other))
                groups[row, 1] = (np.uint64(other) << _HALF) | np.uint64(1)
            continue
        if count & (count - 1) == 0:
            room = _take_room(pool, urn.free, used, 2 * count)
            if count == 1:
                row = _open_group(groups, used, key)
                pool[room] = values[column, begin]
                if is_discounted:
                    _count_pair(pairs, used, key, _mark(column, values[column, begin]))
            else:
                for place in range(count):
                    pool[room + place] = pool[begin + place]
                _leave_room(pool, urn.free, begin, count)
            begin = room
        pool[begin + count] = values[column, person]
        groups[row, 1] = (np.uint64(begin) << _HALF) | np.uint64(count + 1)
        if is_discounted:
            _count_pair(pairs, used, key, marks[column])


@njit(cache=True, nogil=True)
def add_people(levels, urn, start, stop, drawn):  # type: ignore[no-untyped-def]
    """Add people `start` to `stop` - 1; with `drawn` their values are drawn, otherwise `urn.values` has them.

    The arrays are those of `Levels` and `Urn`. If there are strata, the first column is the stratum, which is not part
    of a record's class. Returns the first person who was not added: `stop`, or the person for whom an array is too
    small, which the caller then enlarges.
    """
    values, value_counts, value_sizes = urn.values, urn.value_counts, urn.value_sizes
    groups, pairs, classes, pool, used = urn.groups, urn.pairs, urn.classes, urn.pool, urn.used
    silent, heard, random, strata = urn.silent, urn.heard, urn.random, levels.strata
    columns, depth = values.shape[0], levels.column.size
    hidden = 1 if strata.size else 0
    marks, keys = np.empty(columns, dtype=np.uint64), np.empty(depth, dtype=np.uint64)
    rows, counts, begins = np.zeros(depth, np.int64), np.zeros(depth, np.int64), np.zeros(depth, np.int64)
    is_new = np.zeros(columns, dtype=np.bool_)
    group_limit, pair_limit = groups.shape[0] * 6 // 10, pairs.shape[0] * 6 // 10
    class_limit, more = classes.shape[0] * 6 // 10, 2 * depth
    unheard = silent.size - heard.size
    for person in range(start, stop):
        if used[GROUPS] + more > group_limit or used[PAIRS] + more > pair_limit or used[CLASSES] + 1 > class_limit:
            return person
        before, level, room, whole = random[0], 0, 0, np.uint64(0)
        is_heard = drawn or not silent.size or not silent[person]
        for column in range(columns):
            accepted = False
            is_new[column] = False
            value = -1 if drawn else values[column, person]
            while is_heard and level < depth and levels.column[level] == column:
                count, begin, above = 0, 0, levels.above[level]
                if above < 0 or counts[above] > 1:
                    keys[level] = _group_key(levels, level, marks)
                    row = _row(groups, keys[level])
                    rows[level] = np.int64(row)
                    count, begin = np.int64(groups[row, 1] & _LOWER), np.int64(groups[row, 1] >> _HALF)  # type: ignore[assignment]
                elif counts[above] == 1:
                    count, begin = 1, begins[above]
                    for place in range(levels.fresh[level], levels.end[level]):
                        known = levels.context[place]
                        if values[known, person] != values[known, begin]:
                            count = 0
                counts[level], begins[level] = count, begin
                if count and count & (count - 1) == 0:
                    room += 2 * count
                if drawn and not accepted and count > 0:
                    place, chance = begin + np.int64(_uniform(random) * count), _uniform(random)  # type: ignore[assignment]
                    d, theta = levels.discount[level], levels.strength[level]
                    # limits of the acceptance probability that need no lookup: a count of 1, and no discount
                    if chance < (1.0 - d) * count / (count + theta):
                        accepted, value = True, values[column, begin] if count == 1 else pool[place]
                    elif count > 1 and chance < count / (count + theta):
                        taken = pool[place]
                        key = _mix(keys[level] + _mark(column, taken)) | np.uint64(1)
                        pair = np.int64(pairs[_row(pairs, key), 1])
                        if chance < (1.0 - d / pair) * count / (count + theta):
                            accepted, value = True, taken
                level += 1
            if drawn and column < hidden:
                value = np.searchsorted(strata, _uniform(random), side="right")
            elif drawn and not accepted:
                known = person - unheard
                index = np.int64(_uniform(random) * known)
                taken = values[column, heard[index] if index < heard.size else index + unheard]
                d, theta = levels.margin[column, 0], levels.margin[column, 1]
                if _uniform(random) < (1.0 - d / value_counts[column, taken]) * known / (known + theta):
                    value = taken
                else:
                    value = value_sizes[column]
                    value_sizes[column] += 1
                    is_new[column] = True
            values[column, person] = value
            marks[column] = _mark(column, value)
            if column >= hidden:
                whole += marks[column]
        if is_heard and used[POOL] + room > pool.size:
            random[0] = before
            for column in range(columns):
                value_sizes[column] -= is_new[column]
            return person
        if is_heard:
            _count_levels(levels, urn, person, marks, keys, rows, counts, begins)
            for column in range(columns):
                value_counts[column, values[column, person]] += 1
        _count_class(classes, used, whole)
    return stop


@njit(cache=True, nogil=True)
def class_sizes_of(values, classes, people, hidden):  # type: ignore[no-untyped-def]
    """The class size of each of the first `people`; the first `hidden` columns are not compared."""
    sizes = np.empty(people, dtype=np.int64)
    for person in range(people):
        whole = np.uint64(0)
        for column in range(hidden, values.shape[0]):
            whole += _mark(column, values[column, person])
        sizes[person] = np.int64(classes[_row(classes, _mix(whole) | np.uint64(1)), 1])
    return sizes


@njit(cache=True, nogil=True)
def class_sizes_without(values, asked, room):  # type: ignore[no-untyped-def]
    """For each column and each person of `asked`, the number of people with equal values in all other columns.

    `room`, the size of a hash table, is a power of two.
    """
    columns, people = values.shape
    whole = np.zeros(people, dtype=np.uint64)
    for column in range(columns):
        for person in range(people):
            whole[person] += _mark(column, values[column, person])
    found = np.empty((columns, asked.size), dtype=np.int32)
    for column in range(columns):
        table = np.zeros((room, 2), dtype=np.uint64)
        for place in range(asked.size):
            key = _mix(whole[asked[place]] - _mark(column, values[column, asked[place]])) | np.uint64(1)
            row = _row(table, key)
            table[row, 0] = key
            found[column, place] = np.int32(row)
        for person in range(people):
            key = _mix(whole[person] - _mark(column, values[column, person])) | np.uint64(1)
            row = _row(table, key)
            if table[row, 0] == key:
                table[row, 1] += np.uint64(1)
        for place in range(asked.size):
            found[column, place] = np.int32(table[found[column, place], 1])
    return found
