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

from incrowd._support.distinct import first_places
from incrowd.backends import Backend, TooManyDistinctError, encode
from incrowd.classes import ClassSizes, classes_of_counted
from incrowd.tables import Table

_WORTHWHILE = 0.75  # merged classes are cached if they are at most this share of the classes they were merged from
_KEPT = 8  # size of that cache, as a multiple of the number of classes of the table
_FEW_BITS = 24  # total bits of the codes of a set of columns, up to which combinations are counted without sorting
_PART_KEPT = 16  # a `ClassTable` is cached if it takes at most 1/16 of the memory limit
_BYTES_A_CODE = 8  # for a record in a column, and for its class
_BYTES_SORTED = 48  # for a class: packed codes and people, sorted by two orders of columns at a time


@dataclass(frozen=True, slots=True, eq=False)
class ClassTable:
    """One row for each class: its codes in every column, and its number of people.

    `numbers` is the class of every record; for a table in a cluster, the class of every distinct row.
    """

    columns: tuple[str, ...]
    codes: tuple[NDArray[Any], ...]
    cardinalities: tuple[int, ...]
    people: NDArray[np.int64]
    numbers: NDArray[np.uint32]

    @classmethod
    def of(cls, table: Table, columns: Sequence[str]) -> ClassTable:
        """Count a table by the columns; the last count of each table is cached if it is small."""
        cached = _LAST.get(table.backend)
        if cached is not None and cached.columns == tuple(columns):
            table.backend.check_unchanged()
            return cached
        counted = table.backend.counted_rows(columns)
        classes = classes_of_counted(counted, columns)
        first = first_places(classes.numbers)
        coded = encode(counted.backend, columns)
        classes_by_columns = cls(
            tuple(columns),
            tuple(column.codes[first] for column in coded),
            tuple(column.size for column in coded),
            classes.people,
            classes.numbers,
        )
        arrays = (*classes_by_columns.codes, classes_by_columns.people, classes_by_columns.numbers)
        if sum(one.nbytes for one in arrays) <= table.memory // _PART_KEPT:
            _LAST[table.backend] = classes_by_columns
        return classes_by_columns


_LAST: WeakKeyDictionary[Backend, ClassTable] = WeakKeyDictionary()  # cache: the last count of each table


def class_table(table: Table, columns: Sequence[str]) -> ClassTable | None:
    """The classes of a table; None if they do not fit into memory, so that each set must be counted by itself."""
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


class SubsetCounter:
    """Counts of sets of columns, named by their positions.

    `classes` is the one count of the table that all sets are counted from. It is None for histories, and if the classes
    do not fit into memory; then every set takes a query of its own.
    """

    def __init__(self, table: Table, columns: Sequence[str], person: str | None = None) -> None:
        self.columns = tuple(columns)
        self.classes = class_table(table, columns) if person is None else None
        self._table, self._person = table, person
        self._counted: dict[tuple[int, ...], SubsetCount] = {}
        self._people: int | None = None if self.classes is None else int(self.classes.people.sum())

    @property
    def people(self) -> int:
        """The people of the table."""
        if self._people is None:
            self.count(range(len(self.columns)))
        assert self._people is not None
        return self._people

    def count(self, positions: Sequence[int]) -> SubsetCount:
        """Count one set of columns."""
        if self.classes is not None:
            return count_prefixes(self.classes, tuple(positions))[-1]
        members = tuple(sorted(positions))
        if members not in self._counted:
            names = [self.columns[position] for position in members]
            sizes = ClassSizes.from_table(self._table, quasi_identifiers=names, person=self._person)
            self._people = sizes.people
            self._counted[members] = SubsetCount(members, sizes.classes, sizes.uniques, sizes.smallest)
        return self._counted[members]

    def count_all(self, up_to: int) -> Iterator[SubsetCount]:
        """Count every set of at most `up_to` columns, in any order."""
        if self.classes is not None:
            yield from count_subsets(self.classes, up_to)
            return
        for size in range(1, up_to + 1):
            for positions in combinations(range(len(self.columns)), size):
                yield self.count(positions)

    def count_prefixes(self, order: tuple[int, ...]) -> list[SubsetCount]:
        """Count the first column of an order, the first two, and so on."""
        if self.classes is not None:
            return count_prefixes(self.classes, order)
        return [self.count(order[:size]) for size in range(1, len(order) + 1)]


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """Classes by some of the columns: the codes of a class as bit fields of one word, and its number of people.

    `held` are the positions of the columns; `shifts` is the lowest bit of the field of each of them.
    """

    keys: NDArray[np.uint64]
    people: NDArray[Any]
    shifts: NDArray[np.int64]
    held: frozenset[int]


def count_subsets(table: ClassTable, up_to: int) -> Iterator[SubsetCount]:
    """Count every set of at most `up_to` columns, two orders of columns at a time.

    Large sets come first. Their merged classes are cached, and smaller sets are counted on the smallest cached classes
    that hold all their columns; see `_WORTHWHILE` and `_KEPT`.
    """
    orders = sorted(chains(len(table.columns), up_to), key=lambda chain: -len(chain[1]))
    whole = _pack(table)
    packed_count = None if whole is None else partial(_count_packed, _bits_of(table), [whole])
    count = packed_count or partial(count_prefixes, table)
    with ThreadPoolExecutor(2) as pool:
        for (least, _), counted in zip(orders, pool.map(count, [order for _, order in orders]), strict=True):
            yield from counted[least - 1 :]


def isolated_by_subsets(table: ClassTable, up_to: int) -> Iterator[tuple[tuple[int, ...], NDArray[np.bool_]]]:
    """For every set of at most `up_to` columns, the mask of the one-person classes that are unique by these columns."""
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

    A set is read as a row of brackets: a column outside it opens, a column inside it closes. A chain starts with a set
    whose closing brackets are all matched; the unmatched columns are then added from left to right.

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


def _count_packed(bits: NDArray[np.int64], cache: list[_Packed], order: tuple[int, ...]) -> list[SubsetCount]:
    """Count every prefix of an order on the smallest cached classes with its columns, and cache the merged classes."""
    from incrowd.measures import kernels

    columns, held = list(order), frozenset(order)
    fewest = min((one for one in tuple(cache) if held <= one.held), key=lambda one: one.keys.size)
    shifts = np.zeros_like(fewest.shifts)
    shifts[columns] = 64 - np.cumsum(bits[columns])
    keys = kernels.repack(fewest.keys, fewest.shifts[columns], bits[columns], shifts[columns])
    keys, people = kernels.sort_with_values(keys, fewest.people, int(shifts[columns[-1]]))
    fields = np.column_stack([np.zeros(len(order), dtype=np.int64), shifts[columns]])
    counts = _count_sorted(keys[None], people, fields, order)
    all_classes, merged = cache[0].keys.size, counts[-1].classes
    cached = sum(one.keys.size for one in cache)
    if merged <= _WORTHWHILE * fewest.keys.size and merged + cached <= _KEPT * all_classes:
        keys, people = kernels.merge_equal(keys, people, merged)
        cache.append(_Packed(keys, people, shifts, held))
    return counts


def _bits_of(table: ClassTable) -> NDArray[np.int64]:
    """Number of bits that the codes of each column take."""
    return np.array([max(1, (size - 1).bit_length()) for size in table.cardinalities])


def _pack(table: ClassTable) -> _Packed | None:
    """All classes with their codes packed into one word each; None if one word is too small."""
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
    """Packed words in ascending order, and their values in the same order."""
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
