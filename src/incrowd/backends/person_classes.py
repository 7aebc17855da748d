"""Classes of people with several records each: people are in one class if their whole histories are equal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends.packed_keys import class_numbers


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
