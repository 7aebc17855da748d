"""Gaussian copulas and the synthetic populations that are drawn from them.

Populations are drawn in pieces and counted at once; their records are not stored.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from incrowd._support.progress import Progress, part, silent
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.measures.auxiliary import determines
from incrowd.populations.marginals import CodedColumns
from incrowd.populations.result import Explanation
from incrowd.special import Floats, log_chance_missed

MOST_PEOPLE = 10**9
"""Largest synthetic population that is drawn: about a minute for each hundred million people."""

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "pairs of columns determine how all columns depend on each other, as in a normal distribution",
)
PATENT = "copula estimators of this kind are the subject of a patent application (US 2022/0050917)"
EXPLANATION = Explanation(
    "Synthetic populations are drawn from normal copulas (Gaussian, D-vine, or the mean of both) that keep the mutual "
    "information between columns, and their classes are counted.",
    "Patent application US 2022/0050917.",
)
Keys = NDArray[np.uint64]

_PIECE = 1 << 18  # records drawn at a time by one thread
_BATCH = 1 << 20  # keys sorted at a time
_MOST_CLASSES = 1 << 24  # classes in memory; if there are more, a random part of them is counted
_GUIDE_LOW, _GUIDE_HIGH = -5.0, 5.0
_GUIDE_STEPS, _MOST_STEPS = 1 << 12, 1 << 16  # steps of a column, and of a column with more values than 1 << 12


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticClasses:
    """Class sizes of a synthetic population.

    `scale` is 1 if all classes were counted; otherwise a random 1/scale of them was, chosen by a hash of their values.
    """

    people: int
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    scale: int

    @property
    def classes(self) -> float:
        """Number of classes; an estimate if not all were counted."""
        return float(self.counts.sum()) * self.scale

    @property
    def uniques(self) -> float:
        """Number of people who are alone in their class."""
        return float(self.counts[self.sizes == 1].sum()) * self.scale

    def class_sizes(self) -> ClassSizes:
        """The class sizes of all people drawn; counts are multiplied by `scale`."""
        return ClassSizes.from_counts(self.sizes, self.counts * self.scale)

    def correctness(self, people: ArrayLike) -> Floats:
        """κ expected in random subpopulations of these sizes: (1/s) Σ a_f [1 − C(N−f, s)/C(N, s)]."""
        wanted = np.atleast_1d(np.asarray(people, dtype=np.float64))
        seen = -np.expm1(log_chance_missed(self.people, self.sizes, wanted[:, None]))
        return np.asarray(self.scale * (seen @ self.counts) / wanted)

    def uniqueness(self, people: ArrayLike) -> Floats:
        """Ξ expected in random subpopulations of these sizes: (1/N) Σ a_f f C(N−f, s−1)/C(N−1, s−1)."""
        wanted = np.atleast_1d(np.asarray(people, dtype=np.float64))
        alone = np.exp(log_chance_missed(self.people - 1, self.sizes - 1, wanted[:, None] - 1.0))
        return np.asarray(self.scale * (alone @ (self.counts * self.sizes)) / self.people)


class ClassCounter:
    """Counts the classes of keys that arrive in batches, in bounded memory.

    Keys are hashes, so the classes with a key in the lowest 1/scale of the range of keys are a random part of all
    classes. If more than `most` classes are in memory, `scale` is doubled.
    """

    def __init__(self, most: int = _MOST_CLASSES) -> None:
        self._most = most
        self._keys: Keys = np.empty(0, dtype=np.uint64)
        self._counts: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self.scale = 1

    def add(self, keys: Keys) -> None:
        """Count a batch, which may be overwritten."""
        from incrowd.populations import kernels

        if self.scale > 1:
            keys = keys[keys < self._limit()]
        keys = kernels.sort_keys(keys)
        capacity = self._keys.size + keys.size
        merged, counts = np.empty(capacity, dtype=np.uint64), np.empty(capacity, dtype=np.int32)
        classes = kernels.merge_runs(self._keys, self._counts, keys, merged, counts)
        while classes > self._most:
            self.scale *= 2
            classes = int(np.searchsorted(merged[:classes], self._limit()))
        merged.resize(classes, refcheck=False)  # in place: a copy would need memory for all classes a third time
        counts.resize(classes, refcheck=False)
        self._keys, self._counts = merged, counts

    def _limit(self) -> np.uint64:
        return np.uint64((1 << 64) // self.scale)

    def frequencies(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Distinct class sizes and how many classes have each."""
        sizes, counts = np.unique(self._counts, return_counts=True)
        return sizes.astype(np.int64), counts.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Copula:
    """A Gaussian copula of discrete columns: `chances[j]` are the probabilities of the values of column j, in order."""

    chances: Sequence[Floats]
    correlation: Floats

    def sample(
        self, people: int, seed: Sequence[int], *, most: int = _MOST_CLASSES, progress: Progress = silent
    ) -> SyntheticClasses:
        """Class sizes of a synthetic population of `people`."""
        counter = ClassCounter(most)
        batch = np.empty(min(people, _BATCH), dtype=np.uint64)
        filled = done = 0
        for keys in self._pieces(people, seed):
            if filled + keys.size > batch.size:
                counter.add(batch[:filled])
                filled = 0
            batch[filled : filled + keys.size] = keys
            filled += keys.size
            done += keys.size
            progress("drawing the synthetic population", done / people)
        counter.add(batch[:filled])
        return SyntheticClasses(people, *counter.frequencies(), counter.scale)

    def _pieces(self, people: int, seed: Sequence[int]) -> Iterator[Keys]:
        """Keys of all records, in pieces that two threads draw ahead; each piece has its own seed."""
        plan = _Plan.of(self, seed)
        lengths = [_PIECE] * (people // _PIECE) + ([people % _PIECE] if people % _PIECE else [])
        with ThreadPoolExecutor(2) as pool:
            ahead: deque[Future[Keys]] = deque()
            for number, length in enumerate(lengths):
                ahead.append(pool.submit(plan.draw, length, [*seed, number]))
                if len(ahead) > 3:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """Arrays that the compiled loop needs to draw from a copula."""

    factor: Floats
    edges: Floats
    starts: NDArray[np.int64]
    guide: NDArray[np.int32]
    steps: NDArray[np.int64]
    marks: Keys

    @classmethod
    def of(cls, copula: Copula, seed: Sequence[int]) -> _Plan:
        edges = [upper_edges(chances) for chances in copula.chances]
        starts = np.concatenate([[0], np.cumsum([edge.size for edge in edges])]).astype(np.int64)
        guides = [_first_values(edge) for edge in edges]
        steps = np.concatenate([[0], np.cumsum([guide.size for guide in guides])]).astype(np.int64)
        # a random number for every value: a record's key is the sum over its values, so two different records have
        # equal keys with probability 2^-64
        generator = np.random.default_rng([*seed, 0xC0])
        marks = generator.integers(0, 1 << 64, size=int(starts[-1]), dtype=np.uint64)
        factor = np.asarray(np.linalg.cholesky(copula.correlation), dtype=np.float64)
        return cls(factor, np.concatenate(edges), starts, np.concatenate(guides), steps, marks)

    def draw(self, records: int, seed: Sequence[int]) -> Keys:
        """Keys of some records."""
        from incrowd.populations import kernels

        normals = np.random.default_rng(seed).standard_normal((records, self.factor.shape[0]), dtype=np.float32)
        keys = np.empty(records, dtype=np.uint64)
        cut = self.edges, self.starts, self.guide, self.steps
        kernels.draw_keys(normals, self.factor, *cut, self.marks, _GUIDE_LOW, _GUIDE_HIGH, keys)
        return keys


def _first_values(edges: Floats) -> NDArray[np.int32]:
    """For each step of a grid on the normal scale, the index of the value at which the search in `edges` starts."""
    count = _GUIDE_STEPS if edges.size <= _GUIDE_STEPS else _MOST_STEPS
    steps = np.linspace(_GUIDE_LOW, _GUIDE_HIGH, count, endpoint=False)
    guide = np.minimum(np.searchsorted(edges, steps, side="right"), edges.size - 1).astype(np.int32)
    guide[0] = 0  # below the first step the search begins at the first value
    return guide


def upper_edges(chances: Floats) -> Floats:
    """Cut points of a standard normal whose pieces have these probabilities; the last edge is +inf."""
    cumulative = np.cumsum(chances)
    edges = np.asarray(ndtri(np.minimum(cumulative / cumulative[-1], 1.0)), dtype=np.float64)
    edges[-1] = np.inf
    return edges


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticPopulations:
    """Synthetic populations of one copula, and their averages."""

    populations: tuple[SyntheticClasses, ...]

    @property
    def correctness(self) -> float:
        """Classes ÷ people, on average over the draws."""
        return float(np.mean(self.each))

    @property
    def each(self) -> list[float]:
        """Classes ÷ people of each draw."""
        return [one.classes / one.people for one in self.populations]

    @property
    def population_uniques(self) -> float:
        """People alone in their class in the synthetic population."""
        return float(np.mean([one.uniques for one in self.populations]))

    def still_unique(self, people: int) -> float:
        """The chance that a unique in a random sample of `people` is unique in the synthetic population."""
        in_sample = float(np.mean([one.uniqueness(people)[0] for one in self.populations]))
        in_population = float(np.mean([one.uniques / one.people for one in self.populations]))
        return min(1.0, in_population / in_sample) if in_sample else 0.0


def draw_populations(
    copula: Copula, population: int, *, seed: Sequence[int], draws: int, progress: Progress
) -> SyntheticPopulations:
    """Draw synthetic populations one after the other."""
    if population > MOST_PEOPLE:
        raise UnsupportedError(
            f"a synthetic population of {population:,} takes too long to draw; "
            f"up to {MOST_PEOPLE:,} it is done, beyond use the combined or the posterior estimator"
        )
    return SyntheticPopulations(
        tuple(
            copula.sample(population, [*seed, number], progress=part(progress, number / draws, (number + 1) / draws))
            for number in range(draws)
        )
    )


def informative(columns: CodedColumns) -> CodedColumns:
    """Leave out columns whose values another column determines (see `determines`).

    The classes of the sample stay the same, but a copula would not keep such an exact dependence.
    """
    remaining = list(range(len(columns.sizes)))
    for j in sorted(remaining, key=lambda column: columns.sizes[column]):
        others = [i for i in remaining if i != j and columns.sizes[i] >= columns.sizes[j]]
        if any(determines(*columns.pair(i, j)) for i in others):
            remaining.remove(j)
    return columns.only(remaining)
