"""Packed keys: the codes of a row as one 64-bit number, equal for equal rows; and classes of rows with equal keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.threads import map_in_threads
from incrowd.backends.encode import Coded

Found = TypeVar("Found")

_SMALL = 1 << 16  # classes up to this size are counted in an array with one entry for each size
_MOST_PARTS = 256
_FIRST_BITS = 16  # leading bits of a key that choose its part; more than 256 parts need, as many keys may share some


def pack(columns: Iterable[Coded]) -> NDArray[np.uint64]:
    """Pack the codes of every row into one key; two keys are equal if and only if all codes of the rows are equal.

    Codes are the digits of a number in mixed radix. If a further column does not fit into 64 bits, the keys so far are
    replaced by consecutive numbers, so any number of columns works.

    Args:
        columns: the columns as codes.

    >>> from incrowd import read_table
    >>> from incrowd.backends import encode
    >>> pack(encode(read_table({"a": [1, 1, 2], "b": ["x", "x", None]}), ["a", "b"])).tolist()
    [0, 0, 3]
    """
    from incrowd.backends import kernels

    keys = np.zeros(0, dtype=np.uint64)
    key_range = 1
    for column in columns:
        if not keys.size:
            keys = np.zeros(column.codes.size, dtype=np.uint64)
        if key_range * column.size > 1 << 64:
            numbers, sizes = class_numbers(keys)
            keys, key_range = numbers.astype(np.uint64), sizes.size
        kernels.append_digit(keys, column.codes, column.size)
        key_range *= column.size
    return keys


def frequencies(keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Count the classes of rows with equal keys.

    Returns distinct class sizes, and how many classes have each.

    Args:
        keys: the key of every row; they are sorted in place.
    """
    from incrowd.backends import kernels

    keys.sort()
    small = np.zeros(min(_SMALL, keys.size + 1), dtype=np.int64)
    large = np.empty(keys.size // _SMALL + 1, dtype=np.int64)
    listed = kernels.run_lengths(keys, small, large)
    sizes, counts = np.unique(large[:listed], return_counts=True)
    present = np.flatnonzero(small)
    return np.concatenate([present, sizes]), np.concatenate([small[present], counts])


def class_numbers(keys: NDArray[np.uint64], *, part_bits: int = 17) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Number the classes of rows with equal keys, from 0 in the order of the keys.

    Returns the class of every row, and the size of every class.

    Args:
        keys: the key of every row.
        part_bits: about 2^part_bits rows are sorted together; they should fit into the processor's cache.
    """
    from incrowd.backends import kernels

    numbers = np.empty(keys.size, dtype=np.uint32)
    sizes = np.empty(keys.size, dtype=np.int64)
    parts = partition_keys(keys, np.arange(keys.size, dtype=np.uint32), part_bits=part_bits)
    classes = 0
    for ordered, rows in map_parts(_in_order, parts):
        classes = kernels.number_runs(ordered, rows, numbers, sizes, classes)
    return numbers, sizes[:classes].copy()


def partition_keys(
    keys: NDArray[Any], values: NDArray[Any], *, part_bits: int = 17
) -> list[tuple[NDArray[np.uint64], NDArray[Any]]]:
    """Partition keys and their values by the leading bits of the keys, into parts that fit into the processor's cache.

    Equal keys are in one part, and the parts are in ascending order of keys. They are copies and may be overwritten.

    Args:
        keys: whole numbers.
        values: a value for each key.
        part_bits: a part has about 2^part_bits rows.
    """
    from incrowd.backends import kernels

    wanted = min(_MOST_PARTS, keys.size >> part_bits)
    if wanted <= 1:
        return [(keys.astype(np.uint64), values.copy())]
    shift = max(0, int(keys.max()).bit_length() - _FIRST_BITS)
    counts = kernels.count_first_bits(keys, shift, 1 << _FIRST_BITS)
    before = np.cumsum(counts) - counts
    part = np.minimum(before * wanted // keys.size, wanted - 1).astype(np.uint8)  # equal leading bits: one part
    starts = np.searchsorted(part, np.arange(wanted))
    starts = np.append(before, keys.size)[starts]
    ordered_keys, ordered_values = np.empty(keys.size, dtype=np.uint64), np.empty_like(values)
    kernels.scatter(keys, values, shift, part, starts.copy(), ordered_keys, ordered_values)
    parts = zip(np.split(ordered_keys, starts[1:]), np.split(ordered_values, starts[1:]), strict=True)
    return [one for one in parts if one[0].size]


def map_parts(
    work: Callable[[NDArray[np.uint64], NDArray[Any]], Found], parts: Sequence[tuple[NDArray[np.uint64], NDArray[Any]]]
) -> Iterator[Found]:
    """Call a function for every part, with one thread per processor; yield the results in the order of the parts.

    Args:
        work: function of the keys and values of a part.
        parts: the result of `partition_keys`.
    """
    return map_in_threads(lambda part: work(*part), parts, small=len(parts) == 1)


def _in_order(keys: NDArray[np.uint64], rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    order = np.argsort(keys)
    keys[:], rows[:] = keys[order], rows[order]
    return keys, rows


def history_classes(rows: NDArray[np.uint32], people: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Number the classes of people: two people are in one class if their records form the same multiset.

    Each person's history is the sorted list of (class of record, count). Step i compares entry i of all histories that
    still agree, until each has ended or is unique. No hash is used, so different histories are never merged.

    `rows` is the class of every record by its own values, `people` the person of every record, numbered from 0. Returns
    the class of every person, and the size of every class.
    """
    pairs = (people.astype(np.uint64) << np.uint64(32)) | rows
    distinct, counts = np.unique(pairs, return_counts=True)
    person_of_entry = (distinct >> np.uint64(32)).astype(np.int64)
    entries, _ = class_numbers(((distinct & np.uint64(0xFFFFFFFF)) << np.uint64(32)) | counts.astype(np.uint64))
    lengths = np.bincount(person_of_entry)
    starts = np.cumsum(lengths) - lengths
    final = np.zeros(lengths.size, dtype=np.uint64)
    prefix_class = np.zeros(lengths.size, dtype=np.uint64)  # equal for people whose first `step` entries are equal
    active = np.arange(lengths.size)
    step, used_numbers = 0, 0
    while active.size:
        ends = lengths[active] == step + 1
        entry = (entries[starts[active] + step].astype(np.uint64) << np.uint64(1)) | ends
        numbers, sizes = class_numbers((prefix_class[active] << np.uint64(33)) | entry)
        done = ends | (sizes[numbers] == 1)  # a person with a unique prefix is unique
        final[active[done]] = numbers[done] + np.uint64(used_numbers)
        prefix_class[active] = numbers
        used_numbers += sizes.size
        active = active[~done]
        step += 1
    return class_numbers(final)
