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

_AT_ONCE = 50_000  # people that are added before somebody can stop it


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


@dataclass(frozen=True, slots=True, eq=False)
class GrownPopulation:
    """One population grown from the sample.

    Attributes:
        classes: how many classes there are.
        uniques: how many people are alone in theirs.
        sample_class_sizes: size of the class of each person of the sample in the whole population.
        class_sizes: sizes of all classes of the whole population.
        values: the codes of everybody, column by column in the order of the model.
        heard: the people of the sample after whom others were drawn, one of each cluster; empty where it is all.
    """

    classes: int
    uniques: int
    sample_class_sizes: NDArray[np.int64]
    class_sizes: NDArray[np.int64]
    values: NDArray[np.int32]
    heard: NDArray[np.int64]

    @property
    def people(self) -> int:
        """Number of people."""
        return int(self.values.shape[1])


def sizes_without(values: NDArray[np.int32], asked: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each column, how many people are like each of those asked for in every other column."""
    from incrowd.populations import kernels_crowd

    room = 2 << int(asked.size).bit_length()
    found: NDArray[np.int32] = kernels_crowd.class_sizes_without(values, asked, room)
    return found


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
    """The place of the level that is given most of the first columns of another one, or -1 where there is none."""
    nested = [place for place, one in enumerate(before) if one.given == level.given[: len(one.given)]]
    return max(nested, key=lambda place: (len(before[place].given), place), default=-1)


class Growth:
    """A sample while it grows: the levels of its model, and the urn, whose arrays double when they are full.

    It begins with the sample itself. Without clusters that is the same whatever the seed, so that one beginning serves
    several growths, each a copy of it by `to_grow`.
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
        room = 2 << int(n).bit_length()
        self.urn = Urn(
            values=np.array(model.codes, dtype=np.int32),
            value_counts=np.zeros((columns, max(sizes)), dtype=np.int32),
            value_sizes=np.array(sizes, dtype=np.int64),
            silent=silent,
            heard=heard,
            groups=np.zeros((room, 2), dtype=np.uint64),
            pairs=np.zeros((room, 2), dtype=np.uint64),
            classes=np.zeros((room, 2), dtype=np.uint64),
            pool=np.zeros(room, dtype=np.int32),
            free=np.full(64, -1, dtype=np.int64),
            used=np.zeros(5, dtype=np.int64),
            random=np.zeros(1, dtype=np.uint64),
        )
        self.add(0, n, drawn=False)

    def to_grow(self, people: int, seed: Sequence[int]) -> Growth:
        """A copy with room for so many people, who are drawn by this seed."""
        found, urn = copy(self), self.urn
        n = urn.values.shape[1]
        found.urn = Urn(
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
        return found

    def add(self, start: int, stop: int, *, drawn: bool, progress: Progress = silent) -> None:
        """Add people, some at a time so that `progress` can stop it; enlarge what is full and go on."""
        from incrowd.populations import kernels_crowd

        while start < stop:
            end = min(stop, start + _AT_ONCE)
            start = kernels_crowd.add_people(self.levels, self.urn, start, end, drawn)
            if start < end:
                self._enlarge()
            progress("growing the sample to the population", start / stop)

    def _enlarge(self) -> None:
        """Double what the next person does not fit into: the hash tables that are full, or else the pool."""
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
    """A copy that is longer along the last axis; memory that is not used yet is not touched."""
    found = np.zeros((*array.shape[:-1], size), dtype=np.int32)
    found[..., : array.shape[-1]] = array
    return found


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
        model: the fitted model.
        stops: the numbers of people at which to stop.
        seed: seed of the random draws.
        start: the sample of the model before it grows, where it has no clusters and is grown several times.
        progress: called with what is done and the share of the way to each stop.

    Yields:
        The population at each of the stops; its `values` are filled further when the next one is asked for.

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
    """Grow the sample of a model to a population, as `grow_through` does."""
    (found,) = grow_through(model, [population], seed=seed)
    return found
