"""How often each class has each value: what l, t and their relatives are made of."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.engines import class_numbers

_TOGETHER = 17  # about 2^17 records are sorted together: so many stay in a processor's cache
_MOST = 8  # records are dealt out to at most 2^8 places


class Pairs(NamedTuple):
    """Every pair of a class and a value that occurs, class × values + value, in order; and how many records have it.

    A class may go by any number that no other class has, and is with all its records in the same pairs.
    """

    pairs: NDArray[np.uint64]
    counts: NDArray[np.int64]


def count_pairs(
    classes: NDArray[Any], codes: NDArray[Any], size: int, times: NDArray[np.int64] | None = None
) -> list[Pairs]:
    """Pair the class of every record with its code, of which there are `size`, some classes after the others.

    Where a record stands for others, `times` says for how many; classes are then numbered from 0.
    """
    if times is not None:
        distinct, place = np.unique(classes * np.uint64(size) + codes, return_inverse=True)
        counts = np.zeros(distinct.size, dtype=np.int64)
        np.add.at(counts, place, times)
        return [Pairs(distinct, counts)]
    bits = min(_MOST, classes.size.bit_length() - _TOGETHER)
    if bits <= 0:
        return [_counted(classes.astype(np.uint64), codes, size)]
    dealt = _dealt(classes, codes, bits)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda keys, values: _counted(keys, values, size), *zip(*dealt, strict=True)))


def _dealt(classes: NDArray[Any], codes: NDArray[Any], bits: int) -> list[tuple[NDArray[np.uint64], NDArray[Any]]]:
    """Classes and codes of some records after the others, dealt out by the first bits of the class."""
    from incrowd.measure import kernels

    shift = max(0, int(classes.max()).bit_length() - bits)
    ends = np.cumsum(kernels.count_first_bits(classes, shift, 1 << bits))
    keys, values = np.empty(classes.size, dtype=np.uint64), np.empty_like(codes)
    kernels.deal(classes, codes, shift, np.concatenate([[0], ends[:-1]]), keys, values)
    places = zip(np.split(keys, ends[:-1]), np.split(values, ends[:-1]), strict=True)
    return [place for place in places if place[0].size]


def _counted(keys: NDArray[np.uint64], codes: NDArray[Any], size: int) -> Pairs:
    """The pairs of some classes, written over the keys."""
    from incrowd.engines.kernels import append_digit
    from incrowd.measure import kernels

    low, high = keys.min(), keys.max()
    if (int(high - low) + 1) * size > 1 << 64:
        keys[:], _ = class_numbers(keys)
    else:
        keys -= low
    append_digit(keys, codes, size)
    keys.sort()
    counts = np.empty(keys.size, dtype=np.int64)
    found = kernels.tally_runs(keys, counts)
    return Pairs(keys[:found], counts[:found].copy())
