"""Growing a sample to a population by the crowd model, one person at a time (a Pólya urn)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.errors import InputError
from incrowd.populations.crowd_model import CrowdLevel, CrowdModel
from incrowd.populations.urn_places import CLASSES, GROUPS, PAIRS, POOL, UNIQUES

_AT_ONCE = 50_000  # people that are added between two calls of the progress callback


class Levels(NamedTuple):
    """The levels of a fitted model as arrays: column by column, and for one column the most specific level first.

    - `context[start[i]:end[i]]` are the columns that level i conditions on.
    - `margin` has discount and strength of each column's own distribution.
    - `strata` are cumulative probabilities of the strata, without the last; empty if there are no strata.
    - `above[i]` is an earlier level whose context is a prefix of the context of level i, or -1; `context[fresh[i]]` is
      the first column that is not in the prefix.
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
    """The people so far, and counts of them in hash tables.

    - `groups`: a row has the key of a context and one number. Its lower half is the count of people with this context;
      its upper half is where their values start in `pool`. If the count is 1, the upper half is the index of the person
      instead, and `pool` has no entry. If the context of the level above has at most one person, there is no row: that
      person's values say the same.
    - `pool`: values of the people of each context, in blocks whose size is a power of two. A full block is moved to one
      of twice the size.
    - `free`: for every power of two, the start of a free block in `pool`, or -1. The first entry of a free block is the
      start of the next free block of its size.
    - `pairs`: a row has the key of a context with a value, and its count; only for contexts of several people at levels
      with a discount.
    - `classes`: a row has the key of a whole record, and its count.
    - `used`: number of used entries of each of these (see `urn_places`). `random`: state of the random generator.
    - `silent`: empty, or a mask of the people of the sample who are counted in their classes but do not influence
      further people. `heard`: indexes of the others.
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


@dataclass(frozen=True, slots=True, eq=False)
class GrownPopulation:
    """One population grown from the sample."""

    classes: int  # number of classes
    uniques: int  # number of people who are alone in their class
    # for each person of the sample, the size of their class in the whole population
    sample_class_sizes: NDArray[np.int64]
    class_sizes: NDArray[np.int64]  # sizes of all classes of the whole population
    values: NDArray[np.int32]  # the codes of all people, one row for each column in the order of the model
    # for a cluster sample, the people of the sample (one per cluster) who influenced the growth; else empty
    heard: NDArray[np.int64]

    @property
    def people(self) -> int:
        """Number of people."""
        return int(self.values.shape[1])


def sizes_without(values: NDArray[np.int32], asked: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each column and each person of `asked`, the number of people with equal values in all other columns."""
    from incrowd.populations import kernels_crowd

    table_size = 2 << int(asked.size).bit_length()
    sizes: NDArray[np.int32] = kernels_crowd.class_sizes_without(values, asked, table_size)
    return sizes


def _levels_of(model: CrowdModel) -> Levels:
    """The levels of a model as arrays."""
    ends = np.cumsum([0, *(len(level.given) for level in model.levels)]).astype(np.int64)
    above = [_level_above(model.levels[:place], level) for place, level in enumerate(model.levels)]
    fresh = [0 if place < 0 else len(model.levels[place].given) for place in above]
    return Levels(
        column=np.array([level.column for level in model.levels], dtype=np.int64),
        start=ends[:-1],
        end=ends[1:],
        context=np.array([place for level in model.levels for place in level.given], dtype=np.int64),
        above=np.array(above, dtype=np.int64),
        fresh=ends[:-1] + np.array(fresh, dtype=np.int64),
        discount=np.array([level.discount for level in model.levels]),
        strength=np.array([level.strength for level in model.levels]),
        margin=model.margins,
        strata=np.cumsum(model.shares)[:-1],
    )


def _level_above(before: Sequence[CrowdLevel], level: CrowdLevel) -> int:
    """Index of the level whose context is the longest prefix of the level's context, or -1 if there is none."""
    nested = [place for place, one in enumerate(before) if one.given == level.given[: len(one.given)]]
    return max(nested, key=lambda place: (len(before[place].given), place), default=-1)


class Growth:
    """A growing sample: the levels of its model, and the urn, whose arrays are doubled when they are full.

    At first it holds the sample only. Without clusters this state does not depend on the seed, so several growths can
    start from copies of it (`to_grow`).
    """

    def __init__(self, model: CrowdModel, seed: Sequence[int] = (0,)) -> None:
        n, columns = model.people, len(model.codes)
        sizes = [int(codes.max()) + 1 for codes in model.codes]
        self.levels = _levels_of(model)
        heard = model.draw_of_clusters(seed)
        silent = np.zeros(0, dtype=np.bool_)
        if heard.size:
            silent = np.ones(n, dtype=np.bool_)
            silent[heard] = False
        table_size = 2 << int(n).bit_length()
        self.urn = Urn(
            values=np.array(model.codes, dtype=np.int32),
            value_counts=np.zeros((columns, max(sizes)), dtype=np.int32),
            value_sizes=np.array(sizes, dtype=np.int64),
            silent=silent,
            heard=heard,
            groups=np.zeros((table_size, 2), dtype=np.uint64),
            pairs=np.zeros((table_size, 2), dtype=np.uint64),
            classes=np.zeros((table_size, 2), dtype=np.uint64),
            pool=np.zeros(table_size, dtype=np.int32),
            free=np.full(64, -1, dtype=np.int64),
            used=np.zeros(5, dtype=np.int64),
            random=np.zeros(1, dtype=np.uint64),
        )
        self.add(0, n, drawn=False)

    def to_grow(self, people: int, seed: Sequence[int]) -> Growth:
        """A copy with space for `people`, whose random numbers start from this seed."""
        growth, urn = copy(self), self.urn
        n = urn.values.shape[1]
        growth.urn = Urn(
            values=_wider(urn.values, people),
            value_counts=_wider(urn.value_counts, urn.value_counts.shape[1] + people - n + 1),
            value_sizes=urn.value_sizes.copy(),
            silent=urn.silent,
            heard=urn.heard,
            groups=urn.groups.copy(),
            pairs=urn.pairs.copy(),
            classes=urn.classes.copy(),
            pool=_wider(urn.pool[: urn.used[POOL]], urn.pool.size),
            free=urn.free.copy(),
            used=urn.used.copy(),
            random=np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64).astype(np.uint64),
        )
        return growth

    def add(self, start: int, stop: int, *, drawn: bool, progress: Progress = silent) -> None:
        """Add people in steps, so that `progress` can stop the work; full arrays are enlarged."""
        from incrowd.populations import kernels_crowd

        while start < stop:
            end = min(stop, start + _AT_ONCE)
            start = kernels_crowd.add_people(self.levels, self.urn, start, end, drawn)
            if start < end:
                self._enlarge()
            progress("growing the sample to the population", start / stop)

    def _enlarge(self) -> None:
        """Double the arrays that have no space for the next person: full hash tables, otherwise the pool."""
        urn, levels = self.urn, int(self.levels.column.size)
        groups, pairs, classes = (
            urn.used[place] + needed > table.shape[0] * 6 // 10
            for place, needed, table in (
                (GROUPS, 2 * levels, urn.groups),
                (PAIRS, 2 * levels, urn.pairs),
                (CLASSES, 1, urn.classes),
            )
        )
        pool = not (groups or pairs or classes) or urn.used[POOL] > 0.4 * urn.pool.size
        self.urn = urn._replace(
            groups=_larger(urn.groups) if groups else urn.groups,
            pairs=_larger(urn.pairs) if pairs else urn.pairs,
            classes=_larger(urn.classes) if classes else urn.classes,
            pool=_wider(urn.pool[: urn.used[POOL]], 2 * urn.pool.size) if pool else urn.pool,
        )


def _wider(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """A copy that is longer along the last axis; zeros are not written, so new memory is allocated when used."""
    longer = np.zeros((*array.shape[:-1], size), dtype=np.int32)
    longer[..., : array.shape[-1]] = array
    return longer


def _larger(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash table of twice the size with the same entries."""
    from incrowd.populations import kernels_crowd

    larger = np.zeros((2 * table.shape[0], table.shape[1]), dtype=np.uint64)
    kernels_crowd.rehash(table, larger)
    return larger


def grow_through(
    model: CrowdModel,
    stops: Sequence[int],
    *,
    seed: Sequence[int],
    start: Growth | None = None,
    progress: Progress = silent,
) -> Iterator[GrownPopulation]:
    """Grow the sample of a model through ascending numbers of people, all of them larger than the sample or equal.

    With one seed the people of a smaller population are the first ones of a larger population.

    Args:
        stops: the numbers of people at which to stop.
        start: `Growth(model)` before it grows, to save time if a sample without clusters is grown several times.
        progress: progress callback; its share is that of the way to each stop.

    Yields:
        The population at each stop; the `values` of all are views of one array.

    Raises:
        InputError: a population is smaller than the sample.
    """
    from incrowd.populations import kernels_crowd

    if stops[0] < model.people:
        raise InputError(
            f"a population of {stops[0]:,} for a sample of {model.people:,} people; give {model.people:,} or more",
            hint="population",
        )
    n = model.people
    growth = (start or Growth(model, seed)).to_grow(stops[-1], seed)
    size = n
    for stop in stops:
        growth.add(size, stop, drawn=True, progress=progress)
        urn, size = growth.urn, stop
        yield GrownPopulation(
            int(urn.used[CLASSES]),
            int(urn.used[UNIQUES]),
            kernels_crowd.class_sizes_of(urn.values, urn.classes, n, model.hidden),
            urn.classes[urn.classes[:, 0] != 0, 1].astype(np.int64),
            urn.values[model.hidden :, :stop],
            urn.heard,
        )


def grow(model: CrowdModel, population: int, *, seed: Sequence[int] = (0,)) -> GrownPopulation:
    """Grow the sample of a model to one population by `grow_through`."""
    (grown,) = grow_through(model, [population], seed=seed)
    return grown
