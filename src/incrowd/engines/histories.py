"""Histories: where a person has many records, people look alike if their whole histories do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.engines.keys import class_numbers


def history_classes(rows: NDArray[np.uint32], people: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """The class of every person and the size of every class.

    `rows` is the class of every record by its own values, `people` whose record it is, numbered from 0. The class of
    a person is the multiset of the classes of all their records: the records are sorted, and people are told apart one
    record after the other, so that no hash can make two histories alike that are not.
    """
    pairs = (people.astype(np.uint64) << np.uint64(32)) | rows
    pairs.sort()
    whose = (pairs >> np.uint64(32)).astype(np.int64)
    kinds = pairs & np.uint64(0xFFFFFFFF)
    lengths = np.bincount(whose)
    starts = np.cumsum(lengths) - lengths
    same_length = np.bincount(lengths)
    alike = np.zeros(lengths.size, dtype=np.uint64)
    active = np.flatnonzero(same_length[lengths] > 1)  # whoever has a length of their own is alone already
    step = 0
    while active.size:
        numbers, _ = class_numbers((alike[active] << np.uint64(32)) | kinds[starts[active] + step])
        alike[active] = numbers
        step += 1
        active = active[lengths[active] > step]
    return class_numbers((lengths.astype(np.uint64) << np.uint64(32)) | alike)
