"""What the compiled loop of the crowd model reads and fills while a sample grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

GROUPS, PAIRS, POOL, CLASSES, UNIQUES = range(5)
"""Places in `Urn.used`: how many groups, pairs, pool entries, classes and classes of one person there are."""


class Levels(NamedTuple):
    """The levels of a fitted model, those of one column after each other and the most specific first.

    `context` holds the columns that each level is given, from `start` to `end`; `margin` discount and strength of
    columns by themselves; `strata` the chance of each stratum or one before it, empty where there are none. `above` is
    an earlier level that is given the first of the same columns, those before `fresh`, or -1.
    """

    column: NDArray[np.int64]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    context: NDArray[np.int64]
    above: NDArray[np.int64]
    fresh: NDArray[np.int64]
    discount: NDArray[np.float64]
    strength: NDArray[np.float64]
    margin: NDArray[np.float64]
    strata: NDArray[np.float64]


class Urn(NamedTuple):
    """The people so far and what is counted of them.

    A row of `groups` holds the key of a context and, in one number, where the values of the people who have it start in
    `pool` (upper half) and how many they are (lower half); they are moved to twice the room whenever their number is a
    power of two. Of a context that one person has, the upper half is that person, and `pool` has nothing. Where the
    context of the level above has one person or nobody there is no row: it would tell what that person's values tell.
    `free` has, for every power of two, a place in `pool` of that size that was left, whose first entry is the next such
    place; -1 where there is none.
    A row of `pairs` holds the key of a context with a value and its count, for contexts of several people at levels
    with a discount; a row of `classes` the key of a whole record and its count. `used` holds how much of each is used,
    and `random` the state of the generator. Where `silent` has entries, one for each person of the sample, those marked
    are counted in their classes, but tell nothing about people to come; `heard` are the places of the others.
    """

    values: NDArray[np.int32]
    value_counts: NDArray[np.int32]
    value_sizes: NDArray[np.int64]
    silent: NDArray[np.bool_]
    heard: NDArray[np.int64]
    groups: NDArray[np.uint64]
    pairs: NDArray[np.uint64]
    classes: NDArray[np.uint64]
    pool: NDArray[np.int32]
    free: NDArray[np.int64]
    used: NDArray[np.int64]
    random: NDArray[np.uint64]
