"""The default estimator: the crowd model, joined with the anchored copula where the sample is small.

The crowd model knows whole records, but needs some of them. The *anchored* copula knows pairs of columns only, and less
than a few hundred records tell it enough. Their estimates are joined on the log scale,

    log B = (1 − v) log crowd + v log anchored,     v = max(0, 150/(n + 150) − 0.05),

so that the copula counts half at 120 records and no more from 2 850 on. Uniqueness follows from B: the last person to
come is unique if they add a class, so Ξ(N) = d(N B)/dN = B (1 + d log B/d log N). The factor, the share of classes that
hold one person, is what is joined; joining two estimates of uniqueness itself would contradict B.

**Without the records** (they stay in a cluster, or are too many), the anchored copula is joined with the *posterior*,
which knows every class size, but only through a Pitman–Yor model, whose error depends on the kind of population. The
copula supplies populations of the right kind: the posterior is applied to synthetic samples too, and most of what it
gets wrong there is taken off. What is left is noise, of the size the posterior itself states, so the two are joined
like two measurements of one thing:

    log B = (1 − w) log anchored + w log corrected,     w = t²/(t² + s²)

with s the posterior's standard deviation of log B and t the copula's error,

    t² = T² log(N/n) + U log²(anchored/corrected):

it grows with the distance from n to N, and where the two are far apart the columns depend on each other in ways that a
normal copula does not know. What the join leaves of the two errors, and how far apart the two are, make its own:

    deviation² = (t s)²/(t² + s²) + w (1 − w) log²(anchored/corrected) + (E log(N/drawn))²

with the last part only where the population is larger than the people that were drawn, so that the copula's curve had
to be carried on.

Which constants were set on which tables: benchmarks/population.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import ClassSizeFit, fit_class_sizes
from incrowd.pitman_yor.prediction import new_classes, new_uniques, still_unique
from incrowd.populations import crowd_estimator
from incrowd.populations.anchored import AnchoredEstimate
from incrowd.populations.crowd_estimator import CrowdEstimate
from incrowd.populations.intervals import bound_estimate
from incrowd.populations.posterior_estimator import PosteriorEstimate
from incrowd.populations.result import Explanation, PopulationRisk
from incrowd.wording import whole

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "from the sample to the population correctness falls as in a normal copula of the columns, "
    "as far as the class sizes do not say otherwise",
)
SMALL = 150
"""Records at which crowd model and copula count about the same."""

LEAST_WEIGHT = 0.05
"""Amount subtracted from the copula's weight, so that large samples do not use the copula."""

EXPLANATION = Explanation(
    f"{crowd_estimator.EXPLANATION.how} Samples of fewer than {whole(SMALL / LEAST_WEIGHT - SMALL)} records are joined "
    "with an anchored Gaussian copula of the columns. Where the records cannot be grown, that copula is joined with "
    "the posterior of a Pitman–Yor model of the class sizes; where no two columns can be used, the posterior answers "
    "alone. A note says so.",
    f"{crowd_estimator.EXPLANATION.source} Copula estimators of this kind: patent application US 2022/0050917.",
)

COPULA_ERROR = 0.02
"""T: the copula's error in log B where N is e times n."""

DISAGREEMENT = 0.1
"""U: how much of the squared distance between the two (in log B) counts as the copula's error."""

CORRECTION = 0.75
"""The share of the posterior's error on synthetic samples (in log B) that is taken off: they are not quite real."""

EXTRAPOLATION = 0.03
"""E: the error in log κ of a synthetic population for every e-fold that it is carried beyond the people drawn."""

_SAMPLES = 3  # synthetic samples the posterior is tried on


def copula_weight(people: int) -> float:
    """The weight of the copula beside the crowd model for a sample of so many people."""
    return max(0.0, SMALL / (people + SMALL) - LEAST_WEIGHT)


def join_crowd(
    crowd: CrowdEstimate, anchored: AnchoredEstimate | None, sizes: ClassSizes
) -> tuple[float, float, tuple[tuple[str, float], ...]]:
    """Join the crowd model and the copula, which is None where it is not needed or has too few columns.

    Returns:
        B, the share of people who are unique in the population, and the parts that B was joined from.
    """
    estimate, alone = crowd.sample_to_population, float(crowd.uniqueness.mean()) / crowd.sample_to_population
    parts = [("crowd", estimate)]
    if anchored is not None:
        weight = copula_weight(sizes.people)
        estimate = estimate ** (1.0 - weight) * anchored.sample_to_population**weight
        if min(alone, anchored.alone_in_class) > 0.0:
            alone = alone ** (1.0 - weight) * anchored.alone_in_class**weight
        parts += [("anchored", anchored.sample_to_population), ("weight of the copula", weight)]
    estimate = bound_estimate(sizes, crowd.population, estimate)
    return estimate, bound_uniqueness(sizes, estimate, estimate * alone), tuple(parts)


def bound_uniqueness(counted: ClassSizes | PopulationRisk, correctness: float, uniqueness: float) -> float:
    """The share of records that are unique in the population, within what B allows.

    Each unique record counts 1 in n B, every other unique of the sample at most a half, and each further class at most
    1 for all its records together.
    """
    alone, shared = counted.uniques / counted.people, (counted.classes - counted.uniques) / counted.people
    least = 2.0 * (correctness - shared) - alone
    return min(max(uniqueness, least, 0.0), alone, correctness)


@dataclass(frozen=True, slots=True)
class CombinedEstimate:
    """The combination and its parts; `corrected` is None where the posterior could not be fitted.

    `weight` is that of the class sizes, `deviation` the standard deviation of log B that the join leaves; where nothing
    could be joined it is the posterior's, which then tells best how little the sample says.
    """

    sample_to_population: float
    population_uniques: float
    still_unique: float | None
    weight: float
    deviation: float
    anchored: float
    posterior: float
    corrected: float | None


def combine(
    anchored: AnchoredEstimate, posterior: PosteriorEstimate, trials: Sequence[ClassSizeFit]
) -> CombinedEstimate:
    """Join the two estimates of one sample, which is smaller than its population; `trials` are from `fit_trials`."""
    sizes, population = anchored.sizes, anchored.population
    deviation = log_deviation(posterior.interval)
    corrected = correct_posterior(anchored, posterior.fit, trials)
    weight, joined, alone = 0.0, anchored.sample_to_population, anchored.alone_in_class
    if corrected is not None and posterior.fit is not None:
        apart = math.log(anchored.sample_to_population / corrected)
        error = math.sqrt(COPULA_ERROR**2 * math.log(population / sizes.people) + DISAGREEMENT * apart**2)
        weight = error**2 / (error**2 + deviation**2)
        joined = anchored.sample_to_population ** (1.0 - weight) * corrected**weight
        left = error * deviation / math.hypot(error, deviation)
        deviation = math.sqrt(left**2 + weight * (1.0 - weight) * apart**2)
        alone = join_alone_in_class(alone, posterior.fit, trials, population, weight)
    estimate = bound_estimate(sizes, population, joined)
    uniqueness = bound_uniqueness(sizes, estimate, estimate * alone)
    return CombinedEstimate(
        sample_to_population=estimate,
        population_uniques=population * uniqueness,
        still_unique=uniqueness / sizes.uniqueness if sizes.uniques else None,
        weight=weight,
        deviation=math.hypot(deviation, EXTRAPOLATION * max(0.0, math.log(population / anchored.reach))),
        anchored=anchored.sample_to_population,
        posterior=posterior.sample_to_population,
        corrected=corrected,
    )


def join_alone_in_class(
    anchored: float, fit: ClassSizeFit, trials: Sequence[ClassSizeFit], population: int, weight: float
) -> float:
    """The share of classes that hold one person, joined as B is: on the log scale, where it cannot fall below 0."""
    tried = float(np.mean([alone_in_class(trial, population) for trial in trials]))
    own = alone_in_class(fit, population)
    if min(anchored, tried, own) <= 0.0:
        return anchored
    corrected = own * math.pow(anchored / tried, CORRECTION)
    return math.pow(anchored, 1.0 - weight) * math.pow(corrected, weight)


def log_deviation(interval: tuple[float, float]) -> float:
    """The standard deviation of log B that a 95 % interval stands for."""
    return math.log(interval[1] / interval[0]) / 3.92


def fit_trials(anchored: AnchoredEstimate, *, seed: Sequence[int]) -> list[ClassSizeFit]:
    """The class-size model fitted to samples of the synthetic population; empty where there is nothing to fit."""
    try:
        return [fit_class_sizes(_sample(anchored, [*seed, 0x5A, number])) for number in range(_SAMPLES)]
    except UnsupportedError:
        return []


def correct_posterior(
    anchored: AnchoredEstimate, fit: ClassSizeFit | None, trials: Sequence[ClassSizeFit]
) -> float | None:
    """The fitted model's B, less most of the error the same model makes for samples of the synthetic population."""
    sizes, population = anchored.sizes, anchored.population
    if fit is None or not trials:
        return None
    synthetic = [predicted_correctness(trial, population) for trial in trials]
    correction = (anchored.at_population / float(np.mean(synthetic))) ** CORRECTION
    return bound_estimate(sizes, population, predicted_correctness(fit, population) * correction)


def predicted_correctness(fit: ClassSizeFit, population: int) -> float:
    """κ(N) given the sample, at the most probable Pitman–Yor model."""
    sizes, model = fit.sizes, fit.model
    new = new_classes(model.d, model.alpha, people=sizes.people, classes=sizes.classes, population=float(population))
    return (sizes.classes + float(new)) / population


def alone_in_class(fit: ClassSizeFit, population: int) -> float:
    """The share of the population's classes that hold one person, Ξ(N)/κ(N), at the most probable model."""
    sizes, d, alpha = fit.sizes, fit.model.d, fit.model.alpha
    kept = still_unique(d, alpha, people=sizes.people, population=float(population))
    new = new_uniques(d, alpha, people=sizes.people, classes=sizes.classes, population=float(population))
    return float(sizes.uniques * kept + new) / (predicted_correctness(fit, population) * population)


def _sample(anchored: AnchoredEstimate, seed: Sequence[int]) -> ClassSizes:
    """Class sizes of a synthetic sample, as large as the real one."""
    return anchored.copula.sample(anchored.sizes.people, seed).class_sizes()
