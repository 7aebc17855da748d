"""The posterior estimator: a Pitman–Yor model of the class sizes, conditioned on the sample. Class sizes are enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import ClassSizeFit, Posterior, fit_class_sizes
from incrowd.pitman_yor.posterior import weighted_interval
from incrowd.pitman_yor.prediction import new_uniques
from incrowd.populations.certain_limits import certain_limits
from incrowd.populations.class_growth import GrownSizes, grow

Floats = NDArray[np.float64]

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "class sizes follow a Pitman–Yor process",
)
_POINTS = 24  # points that stand for the posterior of (d, α) where a distribution is worked out for each class size


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorEstimate:
    """B and what goes with it.

    `still_unique` is P(F = 1 | f = 1), none where nobody is unique; `scatter` the variance of 1/F among the records, as
    a share of the largest one possible, B(1 − B); `fit` the most probable model (none where all people are alike or all
    are unique), `model` the posterior of (d, α), `grown` the population sizes of the sample's classes.
    """

    B: float
    interval: tuple[float, float]
    population_uniques: float
    still_unique: float | None
    scatter: float
    fit: ClassSizeFit | None
    model: Posterior
    grown: GrownSizes
    notes: tuple[str, ...]


def bounded_posterior(sizes: ClassSizes) -> tuple[Posterior, str]:
    """The posterior of (d, α) where all people are alike or all are unique, and a note on what that means.

    In these two cases the data bound the model on one side only. The geometric model (d = 0) is used and α spread so
    that the chance of such a sample is anything from 0 to 1 alike: in the middle it happens as often as not.
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
class SizesModel:
    """The model of the sample's class sizes, the same for every population: `fit` is none where `posterior` is bound
    on one side only, which a note says."""

    sizes: ClassSizes
    fit: ClassSizeFit | None
    posterior: Posterior
    notes: tuple[str, ...]


def model_sizes(sizes: ClassSizes) -> SizesModel:
    """Fit the class sizes of a sample."""
    if sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    if 1 < sizes.classes < sizes.people:
        fit = fit_class_sizes(sizes)
        return SizesModel(sizes, fit, fit.posterior(), ())
    posterior, note = bounded_posterior(sizes)
    return SizesModel(sizes, None, posterior, (note,))


def estimate_posterior(sizes: ClassSizes, population: int) -> PosteriorEstimate:
    """B = (1/n) Σ a_f f E[1/F | f], averaged over the posterior of (d, α)."""
    return posterior_at(model_sizes(sizes), population)


def posterior_at(known: SizesModel, population: int) -> PosteriorEstimate:
    """The same for a model already fitted."""
    sizes, fit, full, notes = known.sizes, known.fit, known.posterior, known.notes
    model = full.thinned(_POINTS)
    people, classes = sizes.people, sizes.classes
    grown = grow(model, sizes.sizes, people=people, population=population)
    share = sizes.sizes * sizes.counts / people
    means = grown.inverse @ share
    variances = (grown.inverse_square - grown.inverse**2) @ (sizes.counts * (sizes.sizes / people) ** 2)
    interval = _mixture_interval(means, np.maximum(variances, 0.0), model.weights)
    low, high = certain_limits(sizes, population)
    still_unique = float(grown.unique[0]) if sizes.uniques else None
    uniques = sizes.uniques * (still_unique or 0.0)
    uniques += full.mean(new_uniques(full.d, full.alpha, people=people, classes=classes, population=float(population)))
    B = float(model.weights @ means)
    square = float(model.weights @ grown.inverse_square @ share)
    return PosteriorEstimate(
        B=B,
        interval=(max(interval[0], low), min(interval[1], high)),
        population_uniques=uniques,
        still_unique=still_unique,
        scatter=max(square - B**2, 0.0) / (B * (1.0 - B)) if B < 1.0 else 0.0,
        fit=fit,
        model=full,
        grown=grown,
        notes=notes,
    )


def _mixture_interval(means: Floats, variances: Floats, weights: Floats) -> tuple[float, float]:
    """95 % interval of a mixture of normal distributions, each cut into slices of equal probability."""
    slices = ndtri((np.arange(41) + 0.5) / 41)
    values = means[:, None] + np.sqrt(variances)[:, None] * slices
    return weighted_interval(values.ravel(), np.repeat(weights / slices.size, slices.size), 0.95)
