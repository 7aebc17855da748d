"""Row hashes: random choices of rows that are the same on every engine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from incrowd.backends.encode import Coded

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def row_hashes(columns: Sequence[Coded], seed: int = 0) -> NDArray[np.int64]:
    """A number of 63 bits for every row, from the codes of its values: equal rows have equal numbers.

    Codes count the values of the whole table in ascending order, so that it does not matter which engine holds the
    rows, nor how they are spread over its workers. The mixing is that of splitmix64 (Steele, Lea & Flood 2014).

    >>> from incrowd import read_table
    >>> from incrowd.backends import encode
    >>> hashes = row_hashes(encode(read_table({"a": [1, 2, 1], "b": ["x", "y", "x"]}), ["a", "b"]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    state = np.full(columns[0].codes.size, seed, dtype=np.uint64)
    for column in columns:
        state = _mixed(state + _GOLDEN + column.codes.astype(np.uint64))
    return (state >> np.uint64(1)).astype(np.int64)


def _mixed(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * _FIRST
    state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))
