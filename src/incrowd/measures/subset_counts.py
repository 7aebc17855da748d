"""Counts for every set of columns, from one count of the table.

The table is counted once by all columns; sets of columns are counted on the classes. Sorting the classes by columns in
some order counts every prefix of that order in one pass, so few orders are needed: the sets of m columns fall into
C(m, m/2) chains, each a run of prefixes of one order (de Bruijn, Tengbergen & Kruyswijk 1951; by brackets: Greene &
Kleitman 1976). Nine columns have 511 sets and 126 chains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Backend, TooManyDistinctError, encode
from incrowd.classes import classes_of_counted
from incrowd.tables import Table

_WORTHWHILE = 0.75  # share of the classes, up to which those by fewer columns are kept for sets of still fewer
_KEPT = 8  # times as many classes as the table has that are kept in all
_FEW_BITS = 24  # bits of the codes of some columns, up to which their combinations are counted without sorting
_PART_KEPT = 16  # of the memory: a count that takes more is made again
_BYTES_A_CODE = 8  # of a record in a column, and of its class
_BYTES_SORTED = 48  # of a class: packed codes and people, sorted by two orders of columns at a time


@dataclass(frozen=True, slots=True, eq=False)
class ClassTable:
    """One row for each class: its codes in every column, and how many people it has.

    `numbers` is the class of every record; of a table in a cluster, the class of every distinct row.
    """

    columns: tuple[str, ...]
    codes: tuple[NDArray[Any], ...]
    cardinalities: tuple[int, ...]
    people: NDArray[np.int64]
    numbers: NDArray[np.uint32]

    @classmethod
    def of(cls, table: Table, columns: Sequence[str]) -> ClassTable:
        """Count a table by the columns; the last count is kept where it is small, for further questions."""
        known = _LAST.get(table.backend)
        if known is not None and known.columns == tuple(columns):
            table.backend.check_unchanged()
            return known
        counted = table.backend.counted_rows(columns)
        classes = classes_of_counted(counted, columns)
        first = np.empty(classes.people.size, dtype=np.int64)
        first[classes.numbers[::-1]] = np.arange(classes.numbers.size - 1, -1, -1)
        coded = encode(counted.backend, columns)
        found = cls(
            tuple(columns),
            tuple(column.codes[first] for column in coded),
            tuple(column.size for column in coded),
            classes.people,
            classes.numbers,
        )
        if sum(one.nbytes for one in (*found.codes, found.people, found.numbers)) <= table.memory // _PART_KEPT:
            _LAST[table.backend] = found
        return found


_LAST: WeakKeyDictionary[Backend, ClassTable] = WeakKeyDictionary()


def class_table(table: Table, columns: Sequence[str]) -> ClassTable | None:
    """The classes of a table; None where they are too many for memory, so that each set is counted by itself."""
    backend = table.backend
    a_record = backend.needs.record_class + _BYTES_A_CODE * len(columns) + _BYTES_SORTED
    if not backend.fits_records(a_record):
        return None
    try:
        return ClassTable.of(table, columns)
    except TooManyDistinctError:
        return None


@dataclass(frozen=True, slots=True)
class SubsetCount:
    """Classes, unique people and the smallest class by one set of columns, given by their positions."""

    positions: tuple[int, ...]
    classes: int
    uniques: int
    smallest: int


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """Classes by some of the columns: their codes as bit fields of one word each, and how many people they have.

    `shifts` has the lowest bit of each column's field; columns that are not `held` have none.
    """

    keys: NDArray[np.uint64]
    people: NDArray[Any]
    shifts: NDArray[np.int64]
    held: frozenset[int]


def count_subsets(table: ClassTable, up_to: int) -> Iterator[SubsetCount]:
    """Count every set of at most `up_to` columns, two orders of columns at a time.

    Large sets come first: what is left of the classes by fewer columns is counted in place of all of them, as far as
    that takes no more than `_KEPT` times their memory.
    """
    orders = sorted(chains(len(table.columns), up_to), key=lambda chain: -len(chain[1]))
    whole = _pack(table)
    if whole is None:
        count, kept = partial(count_prefixes, table), []
    else:
        kept = [whole]
        count = partial(_count_packed, _bits_of(table), kept)
    with ThreadPoolExecutor(2) as pool:
        for (least, _), counted in zip(orders, pool.map(count, [order for _, order in orders]), strict=True):
            yield from counted[least - 1 :]


def count_subset(table: ClassTable, positions: Sequence[int]) -> SubsetCount:
    """Count one set of columns."""
    return count_prefixes(table, tuple(positions))[-1]


def isolated_by_subsets(table: ClassTable, up_to: int) -> Iterator[tuple[tuple[int, ...], NDArray[np.bool_]]]:
    """For every set of at most `up_to` columns, which of the classes of one person it distinguishes from all others."""
    from incrowd.measures import kernels

    single, packed, bits = np.flatnonzero(table.people == 1), _pack(table), _bits_of(table)
    seen = np.zeros(1 << _FEW_BITS if packed is not None else 0, dtype=np.uint8)
    for fewest, order in chains(len(table.columns), up_to):
        if packed is not None and bits[list(order)].sum() <= _FEW_BITS:
            for size in range(fewest, len(order) + 1):
                some = np.array(order[:size])
                isolated = np.zeros(single.size, dtype=np.bool_)
                cells = seen[: 1 << int(bits[some].sum())]
                kernels.find_alone(packed.keys, packed.people, packed.shifts[some], bits[some], cells, single, isolated)
                yield tuple(sorted(order[:size])), isolated
            continue
        words, fields = _packed_words(table, order)
        words, rows = _sorted(words, fields, np.arange(table.people.size))
        enough = np.empty(rows.size, dtype=np.int64)
        kernels.enough_fields(words, fields, rows, table.people, enough)
        for size in range(fewest, len(order) + 1):
            yield tuple(sorted(order[:size])), enough[single] <= size


def chains(columns: int, up_to: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Orders of columns whose prefixes, from a shortest one on, are all sets of at most `up_to` columns, each once.

    Read a set as brackets, a column outside it opening and one inside it closing: the matched ones stay, and the
    unmatched ones are added from left to right.

    >>> list(chains(2, 2))
    [(1, (0, 1)), (1, (1,))]
    """
    for size in range(up_to + 1):
        for members in combinations(range(columns), size):
            inside, waiting = set(members), []
            for position in range(columns):
                if position not in inside:
                    waiting.append(position)
                elif waiting:
                    waiting.pop()
                else:
                    break  # a column that matches nothing: the set is not the first of its chain
            else:
                order = (*members, *waiting)[:up_to]
                if order:
                    yield max(size, 1), order


def count_prefixes(table: ClassTable, order: tuple[int, ...]) -> list[SubsetCount]:
    """Sort the classes by columns in this order and count every prefix of it."""
    words, fields = _packed_words(table, order)
    return _count_sorted(*_sorted(words, fields, table.people), fields, order)


def _count_sorted(
    keys: NDArray[np.uint64], people: NDArray[Any], fields: NDArray[np.int64], order: tuple[int, ...]
) -> list[SubsetCount]:
    """Count every prefix of an order of columns that classes are sorted by."""
    from incrowd.measures import kernels

    counts = np.zeros((3, len(order)), dtype=np.int64)
    kernels.count_prefixes(keys, fields, people, *counts)
    return [
        SubsetCount(tuple(sorted(order[: size + 1])), *(int(count) for count in counts[:, size]))
        for size in range(len(order))
    ]


def _count_packed(bits: NDArray[np.int64], kept: list[_Packed], order: tuple[int, ...]) -> list[SubsetCount]:
    """Count every prefix of an order on the fewest classes that tell it, and keep the classes by all of it."""
    from incrowd.measures import kernels

    columns, held = list(order), frozenset(order)
    fewest = min((one for one in tuple(kept) if held <= one.held), key=lambda one: one.keys.size)
    shifts = np.zeros_like(fewest.shifts)
    shifts[columns] = 64 - np.cumsum(bits[columns])
    keys = kernels.repack(fewest.keys, fewest.shifts[columns], bits[columns], shifts[columns])
    keys, people = kernels.sort_with_values(keys, fewest.people, int(shifts[columns[-1]]))
    fields = np.column_stack([np.zeros(len(order), dtype=np.int64), shifts[columns]])
    found = _count_sorted(keys[None], people, fields, order)
    rows, left = kept[0].keys.size, found[-1].classes
    if left <= _WORTHWHILE * fewest.keys.size and left + sum(one.keys.size for one in kept) <= _KEPT * rows:
        keys, people = kernels.merge_equal(keys, people, left)
        kept.append(_Packed(keys, people, shifts, held))
    return found


def _bits_of(table: ClassTable) -> NDArray[np.int64]:
    """Number of bits that the codes of each column take."""
    return np.array([max(1, (size - 1).bit_length()) for size in table.cardinalities])


def _pack(table: ClassTable) -> _Packed | None:
    """All classes with their codes in one word each; None where the codes take more than one."""
    bits = _bits_of(table)
    if bits.sum() > 64 or not table.people.size:
        return None
    words, fields = _packed_words(table, range(len(table.columns)))
    few = table.people.sum() < 1 << 31
    people = table.people.astype(np.int32) if few else table.people
    return _Packed(words[0], people, fields[:, 1].copy(), frozenset(range(len(table.columns))))


def _sorted(
    words: NDArray[np.uint64], fields: NDArray[np.int64], values: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Packed words in ascending order, and a value of each."""
    from incrowd.measures import kernels

    if len(words) == 1:
        keys, values = kernels.sort_with_values(words[0], values, int(fields[-1, 1]))
        return keys[None], values
    rows = np.lexsort(words[::-1])
    return words[:, rows], values[rows]


def _packed_words(table: ClassTable, order: Sequence[int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The codes of the columns as bit fields of one or more words, the first column highest.

    Also, for every column, the word it is in and the lowest bit of its field.
    """
    fields = np.empty((len(order), 2), dtype=np.int64)
    word, free = 0, 64
    for place, position in enumerate(order):
        bits = max(1, (table.cardinalities[position] - 1).bit_length())
        if bits > free:
            word, free = word + 1, 64
        free -= bits
        fields[place] = word, free
    words = np.zeros((word + 1, table.people.size), dtype=np.uint64)
    for (word, shift), position in zip(fields.tolist(), order, strict=True):
        words[word] |= table.codes[position].astype(np.uint64) << np.uint64(shift)
    return words, fields
