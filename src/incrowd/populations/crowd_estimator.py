"""The crowd estimator: the sample is grown to the population several times, and its records' classes are counted there.

A sample is grown to `people_grown` people at most. From there to a larger population the classes are carried on by a
Pitman–Yor model of the grown population's own class sizes.

B of a random sample is expected to be κ(N), classes ÷ people, so that a growth measures it twice: by the 1/F of the
sample's records, and by its own κ. People who are drawn from the model are alike a little too often and the second is
lower; the first, which keeps the records as they are, is a little too high. They are joined on the log scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from incrowd._support.progress import Progress, silent, stoppable_threads
from incrowd.classes import ClassSizes
from incrowd.pitman_yor import Posterior, fit_class_sizes
from incrowd.populations.class_growth import population_sizes
from incrowd.populations.crowd_growth import GrownPopulation, Growth, grow_through, sizes_without
from incrowd.populations.crowd_model import CrowdModel
from incrowd.populations.posterior_estimator import model_class_sizes
from incrowd.populations.result import Explanation
from incrowd.special import Floats

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "each column depends on the others as the crowd model of whole records says",
)
EXPLANATION = Explanation(
    "The crowd model: each column given all columns before it, backing off to fewer of them, each level a Pitman–Yor "
    "process. The sample is grown by it to the population, several times, and the classes of its records are counted.",
    "The crowd model is this package's own; the process of each level: Pitman & Yor 1997.",
)
_REACH = 500_000  # people grown at least, where the population has as many
_TOTAL = 1_500_000  # people in all growths of one population together
_FEWEST, _MOST = 3, 12  # growths
_TRIAL = 4  # the tail is tried on the last step of the growth by this factor
_STEEPEST = 0.2  # most that a trial may change the log-odds for every e-fold
_KAPPA = 0.2  # weight of the grown population's κ beside the 1/F of the sample's records, on the log scale
_LEFT_OUT = 3  # growths in which columns are left out
_LARGE, _FEWEST_OF_LARGE = 200_000, 2  # records of a sample so large that chance moves its estimate little


@dataclass(frozen=True, slots=True, eq=False)
class SampleClasses:
    """The classes of the sample's records in one grown population, by record.

    Attributes:
        inverse: 1/F; its expectation where the population is larger than the one that was grown.
        unique: whether the record is unique there; the chance of it where the population is larger.
        low: F, or the lower end of its 95 % interval.
        high: F, or the upper end of its 95 % interval.
        without: for each column of the model, F ÷ how many people share all values but that column's; None where not
            asked for.
        weights: how many records each one counts for in the means, where clusters were drawn; else None.
        factor: by which the means are multiplied to be joined with κ of the population that was grown.
    """

    inverse: Floats
    unique: Floats
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    without: Floats | None = None
    weights: Floats | None = None
    factor: float = 1.0


class _Means(NamedTuple):
    """B, uniqueness and the variance of 1/F in one grown population."""

    correctness: float
    uniqueness: float
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class CrowdEstimate:
    """The estimate of all growths for one population.

    Attributes:
        population: how many people there are.
        grown: how many of them were grown.
        correctness: B in each growth.
        uniqueness: share of the sample's records that are unique in the population, in each growth.
        variance: of 1/F among the records, on average over the growths.
        growths: the classes of the records in each growth; empty where they were not kept.
    """

    population: int
    grown: int
    correctness: Floats
    uniqueness: Floats
    variance: float
    growths: tuple[SampleClasses, ...] = ()

    @property
    def sample_to_population(self) -> float:
        """B, on average over the growths."""
        return float(self.correctness.mean())

    @property
    def notes(self) -> tuple[str, ...]:
        """Note on extrapolation, if the population is larger than the people grown."""
        if self.population == self.grown:
            return ()
        return (f"beyond {self.grown:,} people the estimate is extrapolated",)


def people_grown(people: int, population: int) -> int:
    """Number of people that a sample of `people` is grown to for a population."""
    return min(population, max(_REACH, 2 * people))


def count_growths(people: int, population: int) -> int:
    """Number of populations to grow: the larger they are, the fewer."""
    fewest = _FEWEST_OF_LARGE if people > _LARGE else _FEWEST
    return int(min(max(_TOTAL // people_grown(people, population), fewest), _MOST))


def grow_sample(
    model: CrowdModel,
    populations: Sequence[int],
    *,
    seed: Sequence[int],
    keep: int | None = None,
    leave_out: bool = False,
    progress: Progress = silent,
) -> dict[int, CrowdEstimate]:
    """Grow a sample to populations larger than it.

    One growth serves all populations on its way, and the estimate for one of them does not depend on the others.

    Args:
        model: the model of the sample.
        populations: the sizes of the populations.
        seed: of the random draws.
        keep: the population in which the classes of all records are kept.
        leave_out: whether the classes without each of the columns are counted there too.
        progress: called with what is done and the share that is done.

    Returns:
        The estimate for each of the populations.
    """
    people = model.people
    wanted = sorted(set(populations))
    counts = {size: count_growths(people, size) for size in wanted}
    start = Growth(model) if model.clusters is None else None

    def grow_once(number: int) -> dict[int, SampleClasses | _Means]:
        sizes = [size for size in wanted if counts[size] > number]
        stops = {people_grown(people, size) for size in sizes}
        last = max(stops)
        trial = max(last // _TRIAL, people) if sizes[-1] > last else 0
        tried: Tail | None = None
        found: dict[int, SampleClasses | _Means] = {}
        ways = sorted(stops | {trial} - {0})
        grown_by_stop = grow_through(model, ways, seed=[*seed, number], start=start, progress=check)
        for stop, grown in zip(ways, grown_by_stop, strict=True):
            if stop == trial:
                tried = Tail.of(grown)
            here = [one for one in sizes if people_grown(people, one) == stop]
            weights, factor = _cluster_weights(model, grown), _kappa_factor(model, grown)
            for size, classes in _classes_at(grown, here, tried):
                weighted = replace(classes, weights=weights, factor=factor)
                found[size] = weighted if size == keep else _means_of(weighted)
                if size == keep and leave_out and number < _LEFT_OUT:
                    alike = sizes_without(grown.values, np.arange(people))
                    found[size] = replace(weighted, without=grown.sample_class_sizes / alike)
        return found

    growths: list[dict[int, Any]] = []
    total = max(counts.values())
    with stoppable_threads(2, progress) as (pool, tell, check):
        tell("growing the sample to the population", 0.0)
        for done, found in enumerate(pool.map(grow_once, range(total))):
            growths.append(found)
            tell("growing the sample to the population", (done + 1) / total)
    return {size: _summarise(size, people, [found[size] for found in growths if size in found]) for size in wanted}


def _means_of(classes: SampleClasses) -> _Means:
    inverse, unique, weights = classes.inverse, classes.unique, classes.weights
    correctness = float(np.average(inverse, weights=weights))
    variance = float(np.average((inverse - correctness) ** 2, weights=weights))
    alone = float(np.average(unique, weights=weights))
    return _Means(correctness * classes.factor, alone * classes.factor, variance)


def _kappa_factor(model: CrowdModel, grown: GrownPopulation) -> float:
    """By what the means of the sample's records are multiplied; they are no κ where chances were unequal."""
    if model.hidden or model.clusters is not None:
        return 1.0
    kappa = grown.classes / grown.people
    return float((kappa / np.mean(1.0 / grown.sample_class_sizes)) ** _KAPPA)


def _cluster_weights(model: CrowdModel, grown: GrownPopulation) -> Floats | None:
    """Number of records that each one represents: its cluster if the others were drawn after it, else none.

    The classes of the other records of its cluster are too small: values of theirs that nobody drawn has cannot grow.
    """
    if model.clusters is None:
        return None
    weights = np.zeros(model.people)
    weights[grown.heard] = np.bincount(model.clusters)[model.clusters[grown.heard]]
    return weights


def _summarise(size: int, people: int, found: Sequence[Any]) -> CrowdEstimate:
    kept = tuple(one for one in found if isinstance(one, SampleClasses))
    correctness, uniqueness, variance = np.array([_means_of(one) for one in kept] or found).T
    return CrowdEstimate(size, people_grown(people, size), correctness, uniqueness, float(variance.mean()), kept)


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """A Pitman–Yor model of a grown population, which carries the classes of the sample on to larger ones.

    `seen` are the sizes that classes of the sample have there, `place` says which of them each record's has.
    """

    people: int
    posterior: Posterior
    seen: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, grown: GrownPopulation) -> Tail:
        """Fit the class sizes of a grown population."""
        sizes = ClassSizes.from_sizes(grown.class_sizes)
        if 1 < sizes.classes < sizes.people:
            model = fit_class_sizes(sizes).model
            posterior = Posterior(np.array([model.d]), np.array([model.alpha]), np.ones(1))
        else:
            posterior = model_class_sizes(sizes).posterior
        tally = np.bincount(grown.sample_class_sizes)
        place = (np.cumsum(tally > 0) - 1)[grown.sample_class_sizes]
        return cls(grown.people, posterior, np.flatnonzero(tally), place)

    def carry_on(self, population: int, slope: float = 0.0) -> SampleClasses:
        """The sample's classes in a larger population; `slope` is added to the log-odds for every e-fold."""
        seen, place = self.seen, self.place
        later = population_sizes(self.posterior, seen, people=self.people, population=population)
        shift = slope * np.log(population / self.people)
        # a class is never smaller than it was, and whoever is not unique shares a class with one person at least
        shares = (
            expit(logit(np.clip(one, 1e-15, 1.0 - 1e-9)) + shift)
            for one in (later.expected_inverse * seen, later.unique)
        )
        inverse, unique = next(shares) / seen, next(shares)
        unique = np.where(seen == 1, np.clip(unique, np.maximum(2.0 * inverse - 1.0, 0.0), inverse), 0.0)
        return SampleClasses(inverse[place], unique[place], later.low[place], later.high[place])


def _classes_at(grown: GrownPopulation, sizes: Sequence[int], tried: Tail | None) -> list[tuple[int, SampleClasses]]:
    """The records' classes in populations of these sizes, of which `grown` is the whole or a part.

    What the model of a part of the grown people, `tried`, gets wrong for all of them is taken off what the model of all
    of them says for larger populations.
    """
    reached, counts = grown.people, grown.sample_class_sizes
    found, tail, slope = [], None, 0.0
    for size in sizes:
        if size == reached:
            found.append((size, SampleClasses(1.0 / counts, (counts == 1).astype(np.float64), counts, counts)))
            continue
        if tail is None:
            tail = Tail.of(grown)
            if tried is not None:
                slope = _trial_error(tried, reached, float(np.mean(1.0 / counts)))
        found.append((size, tail.carry_on(size, slope)))
    return found


def _trial_error(tried: Tail, reached: int, correctness: float) -> float:
    """Underestimate by the tail of a part of the grown people for all of them, in log-odds for every e-fold."""
    true, estimated = (
        logit(min(one, 1.0 - 1e-9)) for one in (correctness, float(tried.carry_on(reached).inverse.mean()))
    )
    return float(np.clip((true - estimated) / np.log(reached / tried.people), -_STEEPEST, _STEEPEST))
