"""The default estimator: the crowd model, combined with the anchored copula if the sample is small.

The crowd model uses whole records and needs a large sample. The *anchored* copula uses pairs of columns only; a few
hundred records are enough for it. The weighted mean of the two is taken on the log scale,

    log B = (1 − v) log crowd + v log anchored,     v = max(0, 300/(n + 300) − 0.05),

so that the copula has weight one half at 245 records and 0 from 5 700 on. Uniqueness follows from B: the last person
added is unique if they add a class, so Ξ(N) = d(N B)/dN = B (1 + d log B/d log N). The factor in brackets is the share
of classes that hold one person. The two estimates of this factor are averaged; an average of two estimates of Ξ would
not be consistent with B.

**Without the records** (they stay in a cluster, or are too many), the anchored copula is combined with the *posterior*,
which uses all class sizes through a Pitman–Yor model. The bias of this model depends on the kind of population. It is
estimated by applying the model to synthetic samples from the copula, and most of it is removed (`corrected`). The
remaining error is random and has the posterior's own standard deviation, so the two estimates are weighted by their
variances:

    log B = (1 − w) log anchored + w log corrected,     w = t²/(t² + s²)

with s the posterior's standard deviation of log B and t the copula's error,

    t² = T² log(N/n) + U log²(anchored/corrected)

It grows with N/n, and with the difference of the two estimates: a large difference means that the columns depend on
each other in a way that a normal copula cannot describe. The variance of the combination is

    deviation² = (t s)²/(t² + s²) + w (1 − w) log²(anchored/corrected) + (E log(N/drawn))²

The last term is present only if the population is larger than the number of people drawn, so that the copula's curve
was extrapolated.

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
SMALL = 300
"""Number of records at which crowd model and copula have about equal weights."""

LEAST_WEIGHT = 0.05
"""Subtracted from the copula's weight, so that large samples do not use the copula."""

EXPLANATION = Explanation(
    f"{crowd_estimator.EXPLANATION.how} Samples of fewer than {whole(SMALL / LEAST_WEIGHT - SMALL)} records are joined "
    "with an anchored Gaussian copula of the columns. Where the records cannot be grown, that copula is joined with "
    "the posterior of a Pitman–Yor model of the class sizes; where no two columns can be used, the posterior answers "
    "alone. A note says so.",
    f"{crowd_estimator.EXPLANATION.source} Copula estimators of this kind: patent application US 2022/0050917.",
)

COPULA_ERROR = 0.02
"""T: the copula's error in log B if N is e times n."""

DISAGREEMENT = 0.1
"""U: the share of the squared difference of the two estimates (in log B) that is attributed to the copula."""

CORRECTION = 0.75
"""The share of the posterior's bias on synthetic samples (in log B) that is removed; below 1, as they are not real."""

EXTRAPOLATION = 0.03
"""E: the error in log κ of a synthetic population for every factor e beyond the number of people drawn."""

_SAMPLES = 3  # synthetic samples on which the posterior's bias is estimated


def copula_weight(people: int) -> float:
    """The weight v of the copula for a sample of this many people; the crowd model has 1 − v."""
    return max(0.0, SMALL / (people + SMALL) - LEAST_WEIGHT)


def join_crowd(
    crowd: CrowdEstimate, anchored: AnchoredEstimate | None, sizes: ClassSizes
) -> tuple[float, float, tuple[tuple[str, float], ...]]:
    """Combine the crowd model and the copula, which is None if it has no weight or too few columns.

    Returns:
        B, the share of people who are unique in the population, and the named parts of B.
    """
    estimate, unique_share = crowd.sample_to_population, float(crowd.uniqueness.mean()) / crowd.sample_to_population
    parts = [("crowd", estimate)]
    if anchored is not None:
        weight = copula_weight(sizes.people)
        estimate = estimate ** (1.0 - weight) * anchored.sample_to_population**weight
        if min(unique_share, anchored.unique_class_share) > 0.0:
            unique_share = unique_share ** (1.0 - weight) * anchored.unique_class_share**weight
        parts += [("anchored", anchored.sample_to_population), ("weight of the copula", weight)]
    estimate = bound_estimate(sizes, crowd.population, estimate)
    return estimate, bound_uniqueness(sizes, estimate, estimate * unique_share), tuple(parts)


def gap_between(crowd: CrowdEstimate, anchored: AnchoredEstimate | None) -> float:
    """The distance of the two estimates on the log-odds scale; 0 if there is no copula, or if one says 0 or 1."""
    if anchored is None:
        return 0.0
    shares = crowd.sample_to_population, anchored.sample_to_population
    if min(shares) <= 0.0 or max(shares) >= 1.0:
        return 0.0
    one, other = (math.log(share / (1.0 - share)) for share in shares)
    return abs(one - other)


def bound_uniqueness(counted: ClassSizes | PopulationRisk, correctness: float, uniqueness: float) -> float:
    """Limit the share of records that are unique in the population to the range that B allows.

    n B is the sum of 1/F over the records. A record that is unique in the population contributes 1, any other sample
    unique at most 1/2, and all records of a larger class together at most 1.
    """
    alone, shared = counted.uniques / counted.people, (counted.classes - counted.uniques) / counted.people
    least = 2.0 * (correctness - shared) - alone
    return min(max(uniqueness, least, 0.0), alone, correctness)


@dataclass(frozen=True, slots=True)
class CombinedEstimate:
    """The combination of copula and posterior, and its parts; `corrected` is None if the posterior could not be fitted.

    `weight` is the weight w of the posterior, `deviation` the standard deviation of log B: that of the combination, or
    the posterior's if nothing could be combined.
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
    """Combine copula and posterior of a sample that is smaller than its population; `trials` are from `fit_trials`."""
    sizes, population = anchored.sizes, anchored.population
    deviation = log_deviation(posterior.interval)
    corrected = correct_posterior(anchored, posterior.fit, trials)
    weight, joined, unique_share = 0.0, anchored.sample_to_population, anchored.unique_class_share
    if corrected is not None and posterior.fit is not None:
        difference = math.log(anchored.sample_to_population / corrected)
        error = math.sqrt(COPULA_ERROR**2 * math.log(population / sizes.people) + DISAGREEMENT * difference**2)
        weight = error**2 / (error**2 + deviation**2)
        joined = anchored.sample_to_population ** (1.0 - weight) * corrected**weight
        pooled = error * deviation / math.hypot(error, deviation)
        deviation = math.sqrt(pooled**2 + weight * (1.0 - weight) * difference**2)
        unique_share = join_unique_class_shares(unique_share, posterior.fit, trials, population, weight)
    estimate = bound_estimate(sizes, population, joined)
    uniqueness = bound_uniqueness(sizes, estimate, estimate * unique_share)
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


def join_unique_class_shares(
    anchored: float, fit: ClassSizeFit, trials: Sequence[ClassSizeFit], population: int, weight: float
) -> float:
    """The share of classes that hold one person, combined on the log scale with the correction and weight of B."""
    synthetic = float(np.mean([unique_class_share(trial, population) for trial in trials]))
    own = unique_class_share(fit, population)
    if min(anchored, synthetic, own) <= 0.0:
        return anchored
    corrected = own * math.pow(anchored / synthetic, CORRECTION)
    return math.pow(anchored, 1.0 - weight) * math.pow(corrected, weight)


def log_deviation(interval: tuple[float, float]) -> float:
    """The standard deviation of log B, if log B is normal with this 95 % interval."""
    return math.log(interval[1] / interval[0]) / 3.92


def fit_trials(anchored: AnchoredEstimate, *, seed: Sequence[int]) -> list[ClassSizeFit]:
    """The Pitman–Yor model fitted to samples of the synthetic population; empty if it cannot be fitted."""
    try:
        return [fit_class_sizes(_sample(anchored, [*seed, 0x5A, number])) for number in range(_SAMPLES)]
    except UnsupportedError:
        return []


def correct_posterior(
    anchored: AnchoredEstimate, fit: ClassSizeFit | None, trials: Sequence[ClassSizeFit]
) -> float | None:
    """The fitted model's B, with most of the model's bias on samples of the synthetic population removed."""
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


def unique_class_share(fit: ClassSizeFit, population: int) -> float:
    """The share of the population's classes that hold one person, Ξ(N)/κ(N), at the most probable model."""
    sizes, d, alpha = fit.sizes, fit.model.d, fit.model.alpha
    remaining = still_unique(d, alpha, people=sizes.people, population=float(population))
    new = new_uniques(d, alpha, people=sizes.people, classes=sizes.classes, population=float(population))
    return float(sizes.uniques * remaining + new) / (predicted_correctness(fit, population) * population)


def _sample(anchored: AnchoredEstimate, seed: Sequence[int]) -> ClassSizes:
    """Class sizes of a synthetic sample of the real sample's size."""
    return anchored.copula.sample(anchored.sizes.people, seed).class_sizes()
