"""A posterior carried to a population: values and intervals of what a user asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincinv, ndtri

from incrowd.classes import ClassSizes
from incrowd.pitmanyor.posterior import Posterior, weighted_interval
from incrowd.pitmanyor.predict import (
    new_class_size_pmf,
    new_classes,
    new_classes_variance,
    new_uniques,
    population_size_pmf,
    still_unique,
)
from incrowd.special import Floats

_SPREAD = (np.arange(9) + 0.5) / 9  # each point of the posterior stands for nine equally likely outcomes
_COSTLY = 60  # points of the posterior where a function is costly
Answer = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Predictive:
    """What a sample says about populations that contain it: (value, low, high) of each quantity."""

    sizes: ClassSizes
    posterior: Posterior

    def correctness(self, population: float, level: float = 0.95) -> Answer:
        """Share of people named correctly: classes of the population ÷ people."""
        mean, variance = self._new_classes(population)
        return self._answer(self.sizes.classes, mean, variance, population, level)

    def uniqueness(self, population: float, level: float = 0.95) -> Answer:
        """Share of people alone in their class."""
        d, alpha, people = self.posterior.d, self.posterior.alpha, self.sizes.people
        kept = still_unique(d, alpha, people=people, population=population)
        new = new_uniques(d, alpha, people=people, classes=self.sizes.classes, population=population)
        mean, variance = uniques_moments(self.sizes.uniques, kept, new, *self._new_classes(population))
        return self._answer(0, mean, variance, population, level)

    def violations(self, population: float, k: int, level: float = 0.95) -> Answer:
        """Share of people in classes smaller than `k`."""
        few = self.posterior.thinned(_COSTLY)
        people = self.sizes.people
        size = np.arange(1.0, k)
        small = self.sizes.sizes < k
        total = np.zeros(few.d.size)
        for seen, count in zip(self.sizes.sizes[small], self.sizes.counts[small], strict=True):
            chance = population_size_pmf(
                few.d[:, None], few.alpha[:, None], people=people, population=population, seen=seen, size=size
            )
            total += count * (chance @ size)
        if population > people:
            start = (few.alpha + self.sizes.classes * few.d) / (few.alpha + people)
            chance = new_class_size_pmf(
                few.d[:, None], few.alpha[:, None], people=people, population=population, size=size
            )
            total += (population - people) * start * chance.sum(axis=1)
        share = total / population
        return (few.mean(share), *few.interval(share, level))

    def _new_classes(self, population: float) -> tuple[Floats, Floats]:
        d, alpha = self.posterior.d, self.posterior.alpha
        sample = {"people": self.sizes.people, "classes": self.sizes.classes}
        mean = new_classes(d, alpha, population=population, **sample)
        return mean, new_classes_variance(d, alpha, population=population, **sample)

    def _answer(self, known: int, mean: Floats, variance: Floats, population: float, level: float) -> Answer:
        """Posterior mean, and an interval with both the doubt about the model and the chance within it."""
        value = (known + self.posterior.mean(mean)) / population
        low, high = outcome_interval(self.posterior, mean, variance, level)
        return value, (known + low) / population, (known + high) / population


def uniques_moments(
    alone: float | Floats, kept: Floats, new: Floats, mean: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the uniques of a population, of those of `alone` in the sample and of the new ones.

    New uniques vary as the new classes (`mean`, `variance`) do of which they are a share, the old ones as coin tosses.
    """
    share = np.divide(variance, mean**2, out=np.zeros(mean.shape), where=mean > 0)
    return alone * kept + new, alone * kept * (1.0 - kept) + share * new**2


def outcome_interval(posterior: Posterior, mean: Floats, variance: Floats, level: float) -> tuple[float, float]:
    """Interval of a positive number that has these moments at each point of the posterior."""
    weights = np.repeat(posterior.weights / _SPREAD.size, _SPREAD.size)
    return weighted_interval(_gamma_quantiles(mean, variance).ravel(), weights, level)


def _gamma_quantiles(mean: Floats, variance: Floats) -> Floats:
    """Quantiles of gamma distributions with these moments: a positive number with a longer upper tail."""
    result = np.repeat(mean[:, None], _SPREAD.size, axis=1)
    spread = np.divide(np.sqrt(variance), mean, out=np.zeros(mean.shape), where=mean > 0)
    wide, narrow = spread > 1e-3, (spread > 0) & (spread <= 1e-3)
    shape = spread[wide, None] ** -2
    result[wide] *= gammaincinv(shape, _SPREAD) / shape
    result[narrow] *= 1.0 + ndtri(_SPREAD) * spread[narrow, None]  # a gamma of so large a shape is normal
    return result
