"""Packed keys: a row's codes as one 64-bit number, so that equal rows are equal numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from incrowd.engines.encode import Coded

_SMALL = 1 << 16  # runs up to this length are tallied in place


def pack(columns: Iterable[Coded]) -> NDArray[np.uint64]:
    """A key for every row, the same for two rows exactly if all their codes are.

    Codes are the digits of a number in mixed radix. Where they no longer fit into 64 bits, the keys so far are
    renumbered densely and packing goes on, so that any number of columns works.

    >>> from incrowd import read_table
    >>> from incrowd.engines import encode
    >>> pack(encode(read_table({"a": [1, 1, 2], "b": ["x", "x", None]}), ["a", "b"])).tolist()
    [0, 0, 3]
    """
    from incrowd.engines import kernels

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
    """Distinct class sizes and how many classes have each. The keys are sorted in place."""
    from incrowd.engines import kernels

    keys.sort()
    small = np.zeros(min(_SMALL, keys.size + 1), dtype=np.int64)
    large = np.empty(keys.size // _SMALL + 1, dtype=np.int64)
    listed = kernels.run_lengths(keys, small, large)
    sizes, counts = np.unique(large[:listed], return_counts=True)
    present = np.flatnonzero(small)
    return np.concatenate([present, sizes]), np.concatenate([small[present], counts])


def class_numbers(keys: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The class of every row, numbered from 0 in the order of the keys, and the size of every class."""
    from incrowd.engines import kernels

    order = np.argsort(keys)
    numbers = np.empty(keys.size, dtype=np.uint32)
    sizes = np.empty(keys.size, dtype=np.int64)
    found = kernels.number_runs(keys[order], order, numbers, sizes)
    return numbers, sizes[:found].copy()
