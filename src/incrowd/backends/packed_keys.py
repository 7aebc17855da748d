"""Packed keys: a row's codes as one 64-bit number, so that equal rows are equal numbers; classes of such rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from incrowd.backends.encode import Coded

Found = TypeVar("Found")

_SMALL = 1 << 16  # runs up to this length are tallied in place
_MOST = 256  # parts that rows are partitioned into
_FIRST_BITS = 16  # of a key, which choose its part: more than the parts need, for most keys may begin alike


def pack(columns: Iterable[Coded]) -> NDArray[np.uint64]:
    """Pack the codes of every row into one key, the same for two rows exactly if all their codes are.

    Codes are the digits of a number in mixed radix. Where they no longer fit into 64 bits, the keys so far are
    renumbered densely and packing goes on, so that any number of columns works.

    Args:
        columns: the columns as codes.

    >>> from incrowd import read_table
    >>> from incrowd.backends import encode
    >>> pack(encode(read_table({"a": [1, 1, 2], "b": ["x", "x", None]}), ["a", "b"])).tolist()
    [0, 0, 3]
    """
    from incrowd.backends import kernels

    keys = np.zeros(0, dtype=np.uint64)
    room = 1
    for column in columns:
        if not keys.size:
            keys = np.zeros(column.codes.size, dtype=np.uint64)
        if room * column.size > 1 << 64:
            numbers, sizes = class_numbers(keys)
            keys, room = numbers.astype(np.uint64), sizes.size
        kernels.append_digit(keys, column.codes, column.size)
        room *= column.size
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
        part_bits: about 2^part_bits rows are sorted together, so many that a processor's cache holds them.
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
    """Keys, and the value of each, partitioned by the first bits of the keys into parts that a cache holds.

    Equal keys are in the same part, and smaller keys in parts before. The parts are copies, free to be overwritten.

    Args:
        keys: whole numbers.
        values: what belongs to each key.
        part_bits: a part has about 2^part_bits rows.
    """
    from incrowd.backends import kernels

    wanted = min(_MOST, keys.size >> part_bits)
    if wanted <= 1:
        return [(keys.astype(np.uint64), values.copy())]
    shift = max(0, int(keys.max()).bit_length() - _FIRST_BITS)
    counts = kernels.count_first_bits(keys, shift, 1 << _FIRST_BITS)
    before = np.cumsum(counts) - counts
    part = np.minimum(before * wanted // keys.size, wanted - 1).astype(np.uint8)  # keys that begin alike stay together
    starts = np.searchsorted(part, np.arange(wanted))
    starts = np.append(before, keys.size)[starts]
    dealt, others = np.empty(keys.size, dtype=np.uint64), np.empty_like(values)
    kernels.scatter(keys, values, shift, part, starts.copy(), dealt, others)
    parts = zip(np.split(dealt, starts[1:]), np.split(others, starts[1:]), strict=True)
    return [one for one in parts if one[0].size]


def map_parts(
    work: Callable[[NDArray[np.uint64], NDArray[Any]], Found], parts: Sequence[tuple[NDArray[np.uint64], NDArray[Any]]]
) -> Iterator[Found]:
    """Work on all parts, on all processors.

    The results come in the order of the parts.

    Args:
        work: what is done with the keys and values of a part.
        parts: those of `partition_keys`.
    """
    if len(parts) == 1:
        yield work(*parts[0])
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(work, *zip(*parts, strict=True))


def _in_order(keys: NDArray[np.uint64], rows: NDArray[np.uint32]) -> tuple[NDArray[np.uint64], NDArray[np.uint32]]:
    order = np.argsort(keys)
    keys[:], rows[:] = keys[order], rows[order]
    return keys, rows


def history_classes(rows: NDArray[np.uint32], people: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Number the classes of people: the class of a person is the multiset of the classes of all their records.

    Records are sorted, equal ones counted, and people are told apart one kind of record after the other, so that no
    hash can make two histories alike that are not. `rows` is the class of every record by its own values, `people` says
    whose it is, from 0. Returns the class of every person, and the size of every class.
    """
    pairs = (people.astype(np.uint64) << np.uint64(32)) | rows
    distinct, often = np.unique(pairs, return_counts=True)
    whose = (distinct >> np.uint64(32)).astype(np.int64)
    kinds, _ = class_numbers(((distinct & np.uint64(0xFFFFFFFF)) << np.uint64(32)) | often.astype(np.uint64))
    lengths = np.bincount(whose)
    starts = np.cumsum(lengths) - lengths
    settled = np.zeros(lengths.size, dtype=np.uint64)
    alike = np.zeros(lengths.size, dtype=np.uint64)
    active = np.arange(lengths.size)
    step, given = 0, 0
    while active.size:
        ends = lengths[active] == step + 1
        here = (kinds[starts[active] + step].astype(np.uint64) << np.uint64(1)) | ends
        numbers, sizes = class_numbers((alike[active] << np.uint64(33)) | here)
        done = ends | (sizes[numbers] == 1)  # whoever is alone by now stays alone
        settled[active[done]] = numbers[done] + np.uint64(given)
        alike[active] = numbers
        given += sizes.size
        active = active[~done]
        step += 1
    return class_numbers(settled)
