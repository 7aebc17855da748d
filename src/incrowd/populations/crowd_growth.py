"""Growing a sample to a population by the crowd model, one person at a time (a Pólya urn)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.populations.crowd_model import CrowdModel
from incrowd.populations.crowd_urn import CLASSES, GROUPS, PAIRS, POOL, UNIQUES, Levels, Urn


@dataclass(frozen=True, slots=True, eq=False)
class GrownPopulation:
    """One population grown from the sample.

    Attributes:
        sizes: numbers of people on the way, ascending; the last is the whole population.
        classes: how many classes there were at each of these sizes.
        uniques: how many people were alone at each of these sizes.
        sample_class_sizes: size of the class of each person of the sample in the whole population.
        class_sizes: sizes of all classes of the whole population.
        values: the codes of everybody, column by column in the order of the model.
        heard: the people of the sample after whom others were drawn, one of each cluster; empty where it is all.
    """

    sizes: NDArray[np.int64]
    classes: NDArray[np.int64]
    uniques: NDArray[np.int64]
    sample_class_sizes: NDArray[np.int64]
    class_sizes: NDArray[np.int64]
    values: NDArray[np.int32]
    heard: NDArray[np.int64]

    def sizes_without(self) -> NDArray[np.int32]:
        """For each column, how many people are like each person of the sample in every other column."""
        return sizes_without(self.values, np.arange(self.sample_class_sizes.size))


def sizes_without(values: NDArray[np.int32], asked: NDArray[np.int64]) -> NDArray[np.int32]:
    """For each column, how many people are like each of those asked for in every other column."""
    from incrowd.populations import kernels_crowd

    room = 2 << int(asked.size).bit_length()
    found: NDArray[np.int32] = kernels_crowd.class_sizes_without(values, asked, room)
    return found


class _Growth:
    """A sample while it grows: the levels of its model, and the urn, whose arrays double when they are full."""

    def __init__(self, model: CrowdModel, people: int, seed: Sequence[int]) -> None:
        n, columns = model.people, len(model.codes)
        values = np.zeros((columns, people), dtype=np.int32)
        for column, codes in enumerate(model.codes):
            values[column, :n] = codes
        sizes = [int(codes.max()) + 1 for codes in model.codes]
        ends = np.cumsum([0, *(len(level.given) for level in model.levels)]).astype(np.int64)
        self.levels = Levels(
            column=np.array([level.column for level in model.levels], dtype=np.int64),
            start=ends[:-1],
            end=ends[1:],
            context=np.array([place for level in model.levels for place in level.given], dtype=np.int64),
            discount=np.array([level.discount for level in model.levels]),
            strength=np.array([level.strength for level in model.levels]),
            margin=model.margins,
            strata=np.cumsum(model.shares)[:-1],
        )
        heard = model.draw_of_clusters(seed)
        silent = np.zeros(0, dtype=np.bool_)
        if heard.size:
            silent = np.ones(n, dtype=np.bool_)
            silent[heard] = False
        room = 2 << int(n).bit_length()
        self.urn = Urn(
            values=values,
            value_counts=np.zeros((columns, max(sizes) + people - n + 1), dtype=np.int32),
            value_sizes=np.array(sizes, dtype=np.int64),
            silent=silent,
            heard=heard,
            groups=np.zeros((room, 2), dtype=np.uint64),
            pairs=np.zeros((room, 2), dtype=np.uint64),
            classes=np.zeros((room, 2), dtype=np.uint64),
            pool=np.zeros(room, dtype=np.int32),
            used=np.zeros(5, dtype=np.int64),
            random=np.random.SeedSequence(seed).generate_state(1, dtype=np.uint64).astype(np.uint64),
        )

    def add(self, start: int, stop: int, *, drawn: bool) -> None:
        """Add people; enlarge what is full and go on."""
        from incrowd.populations import kernels_crowd

        while start < stop:
            start = kernels_crowd.add_people(self.levels, self.urn, start, stop, drawn)
            if start < stop:
                self._enlarge()

    def _enlarge(self) -> None:
        """Double what the next person does not fit into: the hash tables that are full, or else the pool."""
        urn, levels = self.urn, int(self.levels.column.size)
        groups, pairs, classes = (
            urn.used[place] + needed > table.shape[0] * 6 // 10
            for place, needed, table in (
                (GROUPS, levels, urn.groups),
                (PAIRS, levels, urn.pairs),
                (CLASSES, 1, urn.classes),
            )
        )
        pool = not (groups or pairs or classes) or urn.used[POOL] > 0.4 * urn.pool.size
        self.urn = urn._replace(
            groups=_larger(urn.groups) if groups else urn.groups,
            pairs=_larger(urn.pairs) if pairs else urn.pairs,
            classes=_larger(urn.classes) if classes else urn.classes,
            pool=np.concatenate([urn.pool, np.zeros_like(urn.pool)]) if pool else urn.pool,
        )


def _larger(table: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash table of twice the size with the same entries."""
    from incrowd.populations import kernels_crowd

    larger = np.zeros((2 * table.shape[0], table.shape[1]), dtype=np.uint64)
    kernels_crowd.rehash(table, larger)
    return larger


def grow_through(model: CrowdModel, stops: Sequence[int], *, seed: Sequence[int]) -> Iterator[GrownPopulation]:
    """Grow the sample of a model through ascending numbers of people, all of them larger than the sample or equal.

    With one seed the people of a smaller population are the first ones of a larger population.

    Args:
        model: the fitted model.
        stops: the numbers of people at which to stop.
        seed: seed of the random draws.

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
    growth, n = _Growth(model, stops[-1], seed), model.people
    growth.add(0, n, drawn=False)
    sizes, classes, uniques, size = [], [], [], n
    for stop in stops:
        growth.add(size, stop, drawn=True)
        urn, size = growth.urn, stop
        sizes.append(stop)
        classes.append(int(urn.used[CLASSES]))
        uniques.append(int(urn.used[UNIQUES]))
        yield GrownPopulation(
            np.array(sizes, dtype=np.int64),
            np.array(classes, dtype=np.int64),
            np.array(uniques, dtype=np.int64),
            kernels_crowd.class_sizes_of(urn.values, urn.classes, n, model.hidden),
            urn.classes[urn.classes[:, 0] != 0, 1].astype(np.int64),
            urn.values[model.hidden :, :stop],
            urn.heard,
        )


def grow(model: CrowdModel, population: int, *, at: Sequence[int] = (), seed: Sequence[int] = (0,)) -> GrownPopulation:
    """Grow the sample of a model to a population.

    Args:
        model: the fitted model.
        population: how many people to grow it to.
        at: numbers of people on the way at which classes are counted too.
        seed: seed of the random draws.

    Returns:
        The classes on the way and at the end.

    Raises:
        InputError: the population is smaller than the sample.
    """
    stops = sorted({model.people, *(size for size in at if model.people < size < population), population})
    *_, found = grow_through(model, stops, seed=seed)
    return found
