"""Random numbers of rows, and a random order, that depend on what rows hold and not on where they stand.

What is fitted on some rows and judged on others must not change when a table is sorted or mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from incrowd.backends.encode import Coded

_Keys = NDArray[np.uint64]


def in_order_of_records(columns: Sequence[Coded]) -> list[Coded]:
    """The columns with their rows in a random order, the same in whatever order the rows were given.

    Rows that are equal in all columns cannot be told apart, so that it does not matter which of them comes first.

    Args:
        columns: the columns as codes.

    >>> import pyarrow as pa
    >>> codes, values = np.arange(6) // 2, pa.array(["a", "b", "c"])
    >>> one, other = (in_order_of_records([Coded("x", rows, values)])[0] for rows in (codes, codes[::-1]))
    >>> bool((one.codes == other.codes).all())
    True
    """
    if not columns:
        return []
    order = order_of_records(columns)
    return [replace(column, codes=column.codes[order]) for column in columns]


def order_of_records(columns: Sequence[Coded]) -> NDArray[np.intp]:
    """The places of the rows in a random order that depends on their records alone.

    Args:
        columns: the columns as codes.
    """
    keys: _Keys = np.zeros(columns[0].codes.size, dtype=np.uint64)
    for column in columns:
        first = np.uint64(crc32(column.name.encode("utf-8", "surrogatepass")) << 32)
        keys += _mix(np.arange(column.size, dtype=np.uint64) + first)[column.codes]
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    places = np.arange(order.size, dtype=np.uint64)
    again = places - np.maximum.accumulate(np.where(is_first, places, np.uint64(0)))  # equal ones are drawn one by one
    return order[np.argsort(_mix(ordered + _mix(again)))]


def row_hashes(columns: Sequence[Coded], seed: int = 0) -> NDArray[np.int64]:
    """A number of 63 bits for every row, from the codes of its values: equal rows have equal numbers.

    Codes count the values of the whole table in ascending order, so that it does not matter which engine holds the
    rows, nor how they are spread over its workers.

    >>> from incrowd import read_table
    >>> from incrowd.backends import encode
    >>> hashes = row_hashes(encode(read_table({"a": [1, 2, 1], "b": ["x", "y", "x"]}), ["a", "b"]))
    >>> bool(hashes[0] == hashes[2]), bool(hashes[0] == hashes[1])
    (True, False)
    """
    state: _Keys = np.full(columns[0].codes.size, seed, dtype=np.uint64)
    for column in columns:
        state = _mix(state + column.codes.astype(np.uint64))
    return (state >> np.uint64(1)).astype(np.int64)


def _mix(numbers: _Keys) -> _Keys:
    """Numbers as random ones: the last step of SplitMix64 (Steele, Lea and Flood, 2014)."""
    mixed = (numbers + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
