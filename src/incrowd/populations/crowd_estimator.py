"""The crowd estimator: the sample is grown to the population several times, and its records' classes are counted there.

To grow a sample means to add people drawn from the crowd model; one such simulated population is called a growth. A
sample is grown to at most `people_grown` people. For a larger population, a Pitman–Yor model of the grown population's
class sizes (`Extrapolation`) gives the classes.

The expectation of B of a random sample is κ(N), classes ÷ people. So a growth gives two estimates of B.

- The mean 1/F of the sample's records. It is slightly too high.
- κ of the grown population. It is too low, because values drift: people drawn from the model are alike too often. But
  the drift can be measured. A random part of the grown population with n people (`rarefied`, exact) should have the κ
  of the sample. The difference of the two log-odds is added to κ(N). The κ of a sample in which few records are alike
  is itself uncertain, so of D records that are not the first of their class, the share D/(D + 30) of it is added.

The mean of the two on the log-odds scale is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from incrowd._support.progress import Progress, silent, stoppable_threads
from incrowd.classes import ClassSizes
from incrowd.curves import correctness_curve
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
_REACH = 500_000  # smallest number of people that a sample is grown to, unless the population is smaller
_TOTAL = 200_000  # number of people in all growths of one population together
_FEWEST, _MOST = 1, 6  # number of growths
_TRIAL = 4  # the extrapolation is tested over the last factor of the growth
_STEEPEST = 0.2  # largest correction by the test, in log-odds for every factor e of the population
_ALIKE = 30  # records beyond the first of their class from which half of the drift of κ is removed


class SampleClasses(NamedTuple):
    """The classes of the sample's records in one population, by record."""

    inverse: Floats  # 1/F; its expectation if the population was extrapolated from the grown one
    unique: Floats  # 1 if the record is unique there, else 0; the chance of it if the population was extrapolated


class _Means(NamedTuple):
    """Means over the sample's records in one grown population."""

    correctness: float  # B
    uniqueness: float
    variance: float  # of 1/F
    drift: float
    by_stratum: Floats  # rows: the mean 1/F and the share of records unique in the population, for each stratum
    shares_without: Floats | None  # as in `CrowdEstimate`


@dataclass(frozen=True, slots=True, eq=False)
class CrowdEstimate:
    """The estimate for one population, from all growths."""

    population: int  # size of the population
    grown: int  # size that the sample was grown to; the rest is extrapolated
    correctness: Floats  # B in each growth
    uniqueness: Floats  # share of the sample's records that are unique in the population, in each growth
    variance: float  # variance of 1/F among the records, on average over the growths
    # for each column and record, F ÷ the number of people who share the values of all other columns, on average over
    # the growths; None if not requested
    shares_without: Floats | None
    by_stratum: Floats  # the mean 1/F (first row) and the share of unique records of each stratum
    drift: float  # underestimate of the sample's κ by the grown population, in log-odds; NaN for unequal chances

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
    return int(min(max(_TOTAL // people_grown(people, population), _FEWEST), _MOST))


def grow_sample(
    model: CrowdModel,
    populations: Sequence[int],
    *,
    seed: Sequence[int],
    leave_out: int | None = None,
    progress: Progress = silent,
) -> dict[int, CrowdEstimate]:
    """Grow a sample to populations larger than it.

    One growth passes through all populations, and the estimate for one of them does not depend on the others.

    Args:
        leave_out: the population in which classes without each column are counted too; None for no such population.

    Returns:
        The estimate for each of the populations.
    """
    people = model.people
    wanted = sorted(set(populations))
    counts = {size: count_growths(people, size) for size in wanted}
    start = Growth(model) if model.clusters is None else None

    def grow_once(number: int) -> dict[int, _Means]:
        sizes = [size for size in wanted if counts[size] > number]
        stops = {people_grown(people, size) for size in sizes}
        last = max(stops)
        trial_stop = max(last // _TRIAL, people) if sizes[-1] > last else 0
        trial: Extrapolation | None = None
        estimates: dict[int, _Means] = {}
        all_stops = sorted(stops | {trial_stop} - {0})
        grown_by_stop = grow_through(model, all_stops, seed=[*seed, number], start=start, progress=check)
        for stop, grown in zip(all_stops, grown_by_stop, strict=True):
            if stop == trial_stop:
                trial = Extrapolation.of(grown)
            shares = None
            if leave_out is not None and stop == people_grown(people, leave_out):
                shares = grown.sample_class_sizes / sizes_without(grown.values, np.arange(people))
            sizes_from_stop = [size for size in sizes if people_grown(people, size) == stop]
            weights, drift = _cluster_weights(model, grown), _drift_of(model, grown)
            shift = _kappa_shift(model, grown, drift)
            for size, classes in _classes_at(grown, sizes_from_stop, trial):
                means = _means_of(model, classes, weights, shift)._replace(drift=drift)
                estimates[size] = means._replace(shares_without=shares) if size == leave_out else means
        return estimates

    growths: list[dict[int, _Means]] = []
    total = max(counts.values())
    with stoppable_threads(2, progress) as (pool, tell, check):
        tell("growing the sample to the population", 0.0)
        for done, growth in enumerate(pool.map(grow_once, range(total))):
            growths.append(growth)
            tell("growing the sample to the population", (done + 1) / total)
    return {size: _summarise(size, people, [growth[size] for growth in growths if size in growth]) for size in wanted}


def _means_of(model: CrowdModel, classes: SampleClasses, weights: Floats | None, shift: float) -> _Means:
    """The means over the records, with B shifted on the log-odds scale and uniqueness in proportion."""
    mean = float(np.average(classes.inverse, weights=weights))
    variance = float(np.average((classes.inverse - mean) ** 2, weights=weights))
    correctness = float(expit(_log_odds(mean) + shift)) if shift else mean
    uniqueness = float(np.average(classes.unique, weights=weights)) * correctness / mean
    strata = model.codes[0] if model.hidden else np.zeros(model.people, dtype=np.int32)
    records = np.bincount(strata)
    by_stratum = np.stack([np.bincount(strata, weights=values) / records for values in classes])
    return _Means(correctness, uniqueness, variance, math.nan, by_stratum, None)


def _drift_of(model: CrowdModel, grown: GrownPopulation) -> float:
    """The sample's κ less that of as many people of the grown population, on the log-odds scale.

    NaN if sampling chances were unequal, because then a sample is no random part of its population.
    """
    if model.hidden or model.clusters is not None:
        return math.nan
    people = model.people
    rarefied = correctness_curve(ClassSizes.from_sizes(grown.class_sizes), np.array([people])).correctness[0]
    # half a record more is alike, so that the log-odds are finite
    own, others = (1.0 - (people * (1.0 - kappa) + 0.5) / (people + 1.0) for kappa in (_kappa_of(model), rarefied))
    return float(logit(own) - logit(others))


def _kappa_of(model: CrowdModel) -> float:
    """Classes ÷ people of the sample."""
    return float(np.mean(1.0 / model.class_sizes()))


def _kappa_shift(model: CrowdModel, grown: GrownPopulation, drift: float) -> float:
    """Half the distance on the log-odds scale from the mean 1/F to κ of the grown population without its drift.

    It is 0 if the drift is not known.
    """
    if math.isnan(drift):
        return 0.0
    alike = model.people * (1.0 - _kappa_of(model))
    kappa = _log_odds(grown.classes / grown.people) + drift * alike / (alike + _ALIKE)
    return 0.5 * (kappa - _log_odds(float(np.mean(1.0 / grown.sample_class_sizes))))


def _log_odds(share: float) -> float:
    return float(logit(min(max(share, 1e-9), 1.0 - 1e-9)))


def _cluster_weights(model: CrowdModel, grown: GrownPopulation) -> Floats | None:
    """Weight of each record in a cluster sample: the size of its cluster for the records `grown.heard`, else 0.

    The classes of the other records are too small: values of theirs that no drawn person has cannot grow.
    """
    if model.clusters is None:
        return None
    weights = np.zeros(model.people)
    weights[grown.heard] = np.bincount(model.clusters)[model.clusters[grown.heard]]
    return weights


def _summarise(size: int, people: int, growths: Sequence[_Means]) -> CrowdEstimate:
    shares = [growth.shares_without for growth in growths if growth.shares_without is not None]
    return CrowdEstimate(
        size,
        people_grown(people, size),
        np.array([growth.correctness for growth in growths]),
        np.array([growth.uniqueness for growth in growths]),
        float(np.mean([growth.variance for growth in growths])),
        np.mean(shares, axis=0) if shares else None,
        np.mean([growth.by_stratum for growth in growths], axis=0),
        float(np.mean([growth.drift for growth in growths])),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Extrapolation:
    """A Pitman–Yor model of a grown population, which extrapolates the classes of the sample to larger populations.

    `seen` are the distinct sizes of the sample's classes in the grown population; record i has size `seen[place[i]]`.
    """

    people: int
    posterior: Posterior
    seen: NDArray[np.int64]
    place: NDArray[np.int64]

    @classmethod
    def of(cls, grown: GrownPopulation) -> Extrapolation:
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

    def classes_in(self, population: int, slope: float = 0.0) -> SampleClasses:
        """The sample's classes in a larger population; `slope` is added to log-odds for every factor e of growth."""
        seen, place = self.seen, self.place
        later = population_sizes(self.posterior, seen, people=self.people, population=population)
        shift = slope * np.log(population / self.people)
        # limits: classes never shrink, and a record that is not unique is in a class of two people or more
        shares = (
            expit(logit(np.clip(one, 1e-15, 1.0 - 1e-9)) + shift)
            for one in (later.expected_inverse * seen, later.unique)
        )
        inverse, unique = next(shares) / seen, next(shares)
        unique = np.where(seen == 1, np.clip(unique, np.maximum(2.0 * inverse - 1.0, 0.0), inverse), 0.0)
        return SampleClasses(inverse[place], unique[place])


def _classes_at(
    grown: GrownPopulation, sizes: Sequence[int], trial: Extrapolation | None
) -> list[tuple[int, SampleClasses]]:
    """The records' classes in populations of these sizes, each equal to `grown.people` or larger.

    `trial` extrapolates from an earlier stage of the growth. Its error at `grown.people`, where the truth is known,
    corrects the extrapolation to larger populations.
    """
    reached, counts = grown.people, grown.sample_class_sizes
    classes, extrapolation, slope = [], None, 0.0
    for size in sizes:
        if size == reached:
            classes.append((size, SampleClasses(1.0 / counts, (counts == 1).astype(np.float64))))
            continue
        if extrapolation is None:
            extrapolation = Extrapolation.of(grown)
            if trial is not None:
                slope = _trial_error(trial, reached, float(np.mean(1.0 / counts)))
        classes.append((size, extrapolation.classes_in(size, slope)))
    return classes


def _trial_error(trial: Extrapolation, reached: int, correctness: float) -> float:
    """The underestimate of `correctness` at `reached` people by `trial`, in log-odds for every factor e of growth."""
    true, estimated = (_log_odds(share) for share in (correctness, float(trial.classes_in(reached).inverse.mean())))
    return float(np.clip((true - estimated) / np.log(reached / trial.people), -_STEEPEST, _STEEPEST))
