"""A posterior carried to a population: values and intervals of what a user asks for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtri

from incrowd.classes import ClassSizes
from incrowd.pitman_yor.posterior import Posterior, weighted_interval
from incrowd.pitman_yor.predict import (
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
        known, (mean, variance) = self.sizes.classes, self._new_classes(population)
        low, high = outcome_interval(self.posterior, mean, variance, population - self.sizes.people, level)
        value = known + self.posterior.mean(mean)
        return value / population, (known + low) / population, (known + high) / population

    def uniqueness(self, population: float, level: float = 0.95) -> Answer:
        """Share of people alone in their class."""
        d, alpha, people = self.posterior.d, self.posterior.alpha, self.sizes.people
        kept = still_unique(d, alpha, people=people, population=population)
        new = new_uniques(d, alpha, people=people, classes=self.sizes.classes, population=population)
        added = self._new_classes(population)
        moments = uniques_moments(self.sizes.uniques, kept, new, *added)
        known = (people, self.sizes.classes, population)
        low, high = uniques_interval(self.posterior, moments, added, known, level)
        return self.posterior.mean(moments[0]) / population, low / population, high / population

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


def uniques_moments(
    alone: float | Floats, kept: Floats, new: Floats, mean: Floats, variance: Floats
) -> tuple[Floats, Floats]:
    """Mean and variance of the uniques of a population, of those of `alone` in the sample and of the new ones.

    New uniques vary as the new classes (`mean`, `variance`) do of which they are a share, the old ones as coin tosses.
    """
    share = np.divide(variance, mean**2, out=np.zeros(mean.shape), where=mean > 0)
    return alone * kept + new, alone * kept * (1.0 - kept) + share * new**2


def outcome_interval(
    posterior: Posterior, mean: Floats, variance: Floats, most: float, level: float
) -> tuple[float, float]:
    """Interval of a number from 0 to `most` that has these moments at each point of the posterior.

    It holds both the doubt about the model and the chance within it.
    """
    return _interval(posterior, beta_quantiles(mean, variance, most), level)


def uniques_interval(
    posterior: Posterior,
    uniques: tuple[Floats, Floats],
    new_classes: tuple[Floats, Floats],
    known: tuple[int, int, float],
    level: float,
) -> tuple[float, float]:
    """Interval of the uniques of a population, from moments of theirs and of the new classes at each point.

    Every unique is a class: no outcome has more of them than the same outcome has classes. `known` are the people of
    the sample, their classes and the people of the population.
    """
    people, classes, population = known
    most = classes + beta_quantiles(*new_classes, population - people)
    return _interval(posterior, np.minimum(beta_quantiles(*uniques, population), most), level)


def _interval(posterior: Posterior, outcomes: Floats, level: float) -> tuple[float, float]:
    """Interval of outcomes, a row of equally likely ones for each point of the posterior."""
    weights = np.repeat(posterior.weights / _SPREAD.size, _SPREAD.size)
    return weighted_interval(outcomes.ravel(), weights, level)


def beta_quantiles(mean: Floats, variance: Floats, most: float) -> Floats:
    """Nine quantiles of beta distributions on [0, `most`] with these moments, a row for each.

    Far below `most` they are those of a gamma distribution. No number in that range varies more than one that is
    either 0 or `most`: where the moments say more, that is what it is taken for.
    """
    result = np.repeat(mean[:, None], _SPREAD.size, axis=1)
    if most <= 0:
        return result
    share, spread = mean / most, np.sqrt(variance) / most
    room = np.minimum(share, 1.0 - share)
    open_ = (room > 0) & (spread > 0)
    narrow = open_ & (spread <= 1e-3 * room)  # a beta so far from its limits is normal, and stays inside them
    total = np.zeros(share.shape)  # a + b
    near = open_ & ~narrow
    total[near] = share[near] / spread[near] * ((1.0 - share[near]) / spread[near]) - 1.0
    split = near & (total <= 1e-6)
    wide = near & ~split
    a, b = (share * total)[wide, None], ((1.0 - share) * total)[wide, None]
    result[wide] = most * betaincinv(a, b, _SPREAD)
    result[split] = most * (1.0 - share[split, None] < _SPREAD)
    result[narrow] += most * ndtri(_SPREAD) * spread[narrow, None]
    return result
