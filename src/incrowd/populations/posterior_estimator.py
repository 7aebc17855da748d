"""The posterior estimator: a Pitman–Yor model of the class sizes, conditioned on the sample's class sizes only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import ClassSizeFit, Posterior, fit_class_sizes
from incrowd.pitman_yor.posterior import weighted_interval
from incrowd.pitman_yor.prediction import new_uniques
from incrowd.populations.class_growth import PopulationSizes, population_sizes
from incrowd.populations.intervals import certain_limits
from incrowd.populations.result import Explanation
from incrowd.special import Floats

ASSUMPTIONS = ("the sample was drawn at random from the population", "class sizes follow a Pitman–Yor process")
EXPLANATION = Explanation(
    "The posterior of a Pitman–Yor model of the class sizes, given those of the sample.",
    "Pitman & Yor 1997; Archer, Park & Pillow 2014 (prior).",
)
_POINTS = 24  # points that represent the posterior of (d, α) when a distribution is computed for each class size


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorEstimate:
    """The estimate of B, and other quantities from the same posterior.

    - `still_unique`: P(F = 1 | f = 1); None if nobody is unique.
    - `scatter`: variance of 1/F among the records, divided by its largest possible value B(1 − B).
    - `fit`: the most probable model; None if all people are in one class or all are unique.
    - `class_growth`: distributions of the population sizes of the sample's classes.
    """

    sample_to_population: float
    interval: tuple[float, float]
    population_uniques: float
    still_unique: float | None
    scatter: float
    fit: ClassSizeFit | None
    class_growth: PopulationSizes
    notes: tuple[str, ...]


def _one_sided_posterior(sizes: ClassSizes) -> tuple[Posterior, str]:
    """The posterior of (d, α) if all people are in one class or all are unique, and a note on what that means.

    In these two cases the data bound α on one side only. The model with d = 0 is used, with values of α at which the
    probability of such a sample is uniformly distributed on 0 to 1; at the middle value it is 1/2.
    """
    chance = (np.arange(_POINTS) + 0.5) / _POINTS
    if sizes.classes == 1:
        alpha = -np.log(chance) / float(np.sum(1.0 / np.arange(1, sizes.people)))
        note = f"all {sizes.people:,} records are alike: the sample only says that other classes are rare"
    else:
        alpha = sizes.people * (sizes.people - 1) / (-2.0 * np.log(chance))
        note = (
            f"all {sizes.people:,} records are unique: the sample sets a lower limit to the risk, but no upper one "
            "below 1; use a larger sample or fewer columns for a sharper answer"
        )
    return Posterior(np.zeros(_POINTS), alpha, np.full(_POINTS, 1.0 / _POINTS)), note


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizeModel:
    """The model of a sample's class sizes, for any population.

    `fit` is None if the data bound `posterior` on one side only; then a note says so.
    """

    sizes: ClassSizes
    fit: ClassSizeFit | None
    posterior: Posterior
    notes: tuple[str, ...]


def model_class_sizes(sizes: ClassSizes) -> ClassSizeModel:
    """Fit the class sizes of a sample."""
    if sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    if 1 < sizes.classes < sizes.people:
        fit = fit_class_sizes(sizes)
        return ClassSizeModel(sizes, fit, fit.posterior(), ())
    posterior, note = _one_sided_posterior(sizes)
    return ClassSizeModel(sizes, None, posterior, (note,))


def estimate_by_posterior(model: ClassSizeModel, population: int) -> PosteriorEstimate:
    """B = (1/n) Σ a_f f E[1/F | f], averaged over the posterior of (d, α)."""
    sizes, full = model.sizes, model.posterior
    few = full.thinned(_POINTS)
    people, classes = sizes.people, sizes.classes
    growth = population_sizes(few, sizes.sizes, people=people, population=population)
    share = sizes.sizes * sizes.counts / people
    means = growth.inverse @ share
    variances = (growth.inverse_square - growth.inverse**2) @ (sizes.counts * (sizes.sizes / people) ** 2)
    interval = _mixture_interval(means, np.maximum(variances, 0.0), few.weights)
    low, high = certain_limits(sizes, population)
    still_unique = float(growth.unique[0]) if sizes.uniques else None
    uniques = sizes.uniques * (still_unique or 0.0)
    uniques += full.mean(new_uniques(full.d, full.alpha, people=people, classes=classes, population=float(population)))
    estimate = float(few.weights @ means)
    square = float(few.weights @ growth.inverse_square @ share)
    return PosteriorEstimate(
        sample_to_population=estimate,
        interval=(min(max(interval[0], low), estimate), max(min(interval[1], high), estimate)),
        population_uniques=uniques,
        still_unique=still_unique,
        scatter=max(square - estimate**2, 0.0) / (estimate * (1.0 - estimate)) if estimate < 1.0 else 0.0,
        fit=model.fit,
        class_growth=growth,
        notes=model.notes,
    )


def _mixture_interval(means: Floats, variances: Floats, weights: Floats) -> tuple[float, float]:
    """95 % interval of a mixture of normal distributions, each cut into slices of equal probability."""
    slices = ndtri((np.arange(41) + 0.5) / 41)
    values = means[:, None] + np.sqrt(variances)[:, None] * slices
    return weighted_interval(values.ravel(), np.repeat(weights / slices.size, slices.size), 0.95)
