"""How often each class has each value: what l, t and their relatives are made of."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import class_numbers, map_parts, partition_keys


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
    return list(map_parts(lambda keys, values: _counted(keys, values, size), partition_keys(classes, codes)))


def _counted(keys: NDArray[np.uint64], codes: NDArray[Any], size: int) -> Pairs:
    """The pairs of some classes, written over the keys."""
    from incrowd.backends.kernels import append_digit
    from incrowd.measures import kernels

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
