"""The default: the anchored copula and the posterior, weighed by how much the sample itself can say.

Two ways lead from n to N. The *anchored* copula knows the shape of the population, but only through pairs of columns.
The *posterior* knows every class size, but only through a Pitman–Yor model, whose error depends on the kind of
population. The copula supplies populations of the right kind: the posterior is applied to synthetic samples too, and
what it gets wrong there is taken off. What is left is noise, of the size the posterior itself states, so the two are
joined like two measurements of one thing: log B = (1 − w) log anchored + w log corrected, w = t²/(t² + s²), with s the
posterior's standard deviation of log B and t = T · √log(N/n) the copula's error, which grows with the way to go.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.pitmanyor import ClassSizeFit, fit_class_sizes
from incrowd.pitmanyor.predict import new_classes
from incrowd.population.anchored import Anchored, within
from incrowd.population.posterior import PosteriorEstimate

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "from the sample to the population correctness falls as in a normal copula of the columns, "
    "as far as the class sizes do not say otherwise",
)
COPULA_ERROR = 0.02
"""T: the copula's error in log B where N is e times n, measured on real tables (benchmarks/population.py)."""

_SAMPLES = 3  # synthetic samples the posterior is tried on


@dataclass(frozen=True, slots=True)
class Combined:
    """The combination and its parts; `corrected` is none where the posterior could not be fitted.

    `weight` is that of the class sizes, `spread` the standard deviation of log B that the join leaves.
    """

    B: float
    population_uniques: float
    weight: float
    spread: float
    anchored: float
    posterior: float
    corrected: float | None


def combine(anchored: Anchored, posterior: PosteriorEstimate, *, seed: Sequence[int]) -> Combined:
    """Join the two estimates of one sample."""
    sizes, population = anchored.sizes, anchored.population
    spread = log_spread(posterior.interval)
    corrected = (
        corrected_posterior(anchored, posterior.fit, seed=seed) if population > sizes.people else sizes.correctness
    )
    error = COPULA_ERROR * math.sqrt(math.log(population / sizes.people))
    weight = 0.0 if corrected is None else error**2 / (error**2 + spread**2) if error else 1.0
    joined = anchored.B if corrected is None else anchored.B ** (1.0 - weight) * corrected**weight
    uniques = (1.0 - weight) * anchored.population_uniques + weight * posterior.population_uniques
    return Combined(
        B=within(sizes, population, joined),
        population_uniques=uniques,
        weight=weight,
        spread=error if corrected is None or not error else error * spread / math.hypot(error, spread),
        anchored=anchored.B,
        posterior=posterior.B,
        corrected=corrected,
    )


def log_spread(interval: tuple[float, float]) -> float:
    """The standard deviation of log B that a 95 % interval stands for."""
    return math.log(interval[1] / interval[0]) / 3.92


def corrected_posterior(anchored: Anchored, fit: ClassSizeFit | None, *, seed: Sequence[int]) -> float | None:
    """The fitted model's B, times what the copula's population has by what the model makes of samples of it."""
    sizes, population = anchored.sizes, anchored.population
    if fit is None:
        return None
    try:
        synthetic = [
            predicted_correctness(fit_class_sizes(_sample(anchored, [*seed, 0x5A, number])), population)
            for number in range(_SAMPLES)
        ]
    except UnsupportedError:
        return None
    return within(
        sizes, population, predicted_correctness(fit, population) * anchored.at_population / float(np.mean(synthetic))
    )


def predicted_correctness(fit: ClassSizeFit, population: int) -> float:
    """κ(N) given the sample, at the most probable Pitman–Yor model."""
    sizes, model = fit.sizes, fit.model
    new = new_classes(model.d, model.alpha, people=sizes.people, classes=sizes.classes, population=float(population))
    return (sizes.classes + float(new)) / population


def _sample(anchored: Anchored, seed: Sequence[int]) -> ClassSizes:
    """Class sizes of a synthetic sample, as large as the real one."""
    return anchored.copula.sample(anchored.sizes.people, seed).class_sizes()
