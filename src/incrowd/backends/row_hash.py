"""Hashes of rows and a random order of rows, which depend on the rows' values and not on their positions.

So a random split into training and test rows does not change if the table is sorted or shuffled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.encode import Coded

_Keys = NDArray[np.uint64]


def in_order_of_records(columns: Sequence[Coded]) -> list[Coded]:
    """The columns with their rows in a random order that does not depend on the order of the given rows.

    Rows that are equal in all columns are interchangeable.

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
    return [column.take(order) for column in columns]


def order_of_records(columns: Sequence[Coded]) -> NDArray[np.intp]:
    """The indexes of the rows in a random order that depends only on the values of the rows."""
    keys: _Keys = np.zeros(columns[0].codes.size, dtype=np.uint64)
    for column in columns:
        offset = np.uint64(crc32(column.name.encode("utf-8", "surrogatepass")) << 32)
        keys += _mix(np.arange(column.size, dtype=np.uint64) + offset)[column.codes]
    order = np.argsort(keys)
    ordered = keys[order]
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    places = np.arange(order.size, dtype=np.uint64)
    # equal rows get the numbers 0, 1, …, so that each has a random place of its own
    repetition = places - np.maximum.accumulate(np.where(is_first, places, np.uint64(0)))
    return order[np.argsort(_mix(ordered + _mix(repetition)))]


def row_hashes(columns: Sequence[Coded], seed: int = 0) -> NDArray[np.int64]:
    """A 63-bit hash of every row's codes: equal rows have equal hashes.

    Codes must be those of the whole table's sorted values; then hashes do not depend on the engine that holds the rows,
    nor on their distribution over workers.

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


def digest_rows(columns: Sequence[Coded]) -> str:
    """SHA-256 of the names, values and rows of encoded columns, whatever the order of the rows.

    >>> from incrowd import read_table
    >>> from incrowd.backends import encode
    >>> a, b, c = (encode(read_table({"a": one}), ["a"]) for one in ([1, 2, 2], [2, 1, 2], [1, 1, 2]))
    >>> digest_rows(a) == digest_rows(b), digest_rows(a) == digest_rows(c)
    (True, False)
    """
    digest = hashlib.sha256()
    for column in columns:
        digest.update(f"{column.name}\0{column.values.type}\0".encode())
        digest.update(pa.record_batch([column.values], names=["values"]).serialize())
    digest.update(np.sort(row_hashes(columns)).tobytes())
    return digest.hexdigest()


def _mix(numbers: _Keys) -> _Keys:
    """Hash of each number: the last step of SplitMix64 (Steele, Lea and Flood, 2014)."""
    mixed = (numbers + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
