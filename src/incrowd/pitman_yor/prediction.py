"""A population of N people, given a sample of n of its people in K classes.

The first functions take d and α as given; `SamplePrediction` averages over their posterior. All broadcast over `d` and
`alpha`, hold for d < 0, d = 0 and d > 0, and for N up to 1e12. A class of size f has probability Beta(f − d, n + α − f
+ d) given the sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri, zeta

from incrowd.classes import ClassSizes
from incrowd.pitman_yor.posterior import Posterior, weighted_interval
from incrowd.special import Floats, expm1_ratio, gamma_ratio_slope, log_beta_binomial, log_gamma_ratio

_OUTCOMES = (np.arange(9) + 0.5) / 9  # each point of the posterior represents nine equally likely outcomes
_COSTLY = 60  # points of the posterior that are used for costly functions


def new_classes(d: ArrayLike, alpha: ArrayLike, *, people: int, classes: int, population: float) -> Floats:
    """Expected number of classes of the population that are not in the sample: E[K_N | data] − K.

    (K + α/d) [(α+n+d)_{N−n} / (α+n)_{N−n} − 1], written so that d = 0 is an ordinary point.
    """
    d, alpha = np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    slope = gamma_ratio_slope(alpha + people, d, population - people)
    return np.asarray((alpha + classes * d) * slope * expm1_ratio(d * slope))


def new_classes_variance(d: ArrayLike, alpha: ArrayLike, *, people: int, classes: int, population: float) -> Floats:
    """Variance of the number of new classes.

    With W = K + α/d each arrival turns E[W(W+1)…(W+r−1)] into (1 + r·d/(α+i)) times itself, which gives all
    moments: Var = W²(ρ₂ − ρ₁²) + W(ρ₂ − ρ₁), ρ_r = (α+n+r·d)_{N−n} / (α+n)_{N−n}.
    """
    d, alpha = np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    base, arrivals = alpha + people, population - people
    once, twice = gamma_ratio_slope(base, d, arrivals), gamma_ratio_slope(base, 2.0 * d, arrivals)
    # (slope at 2d − slope at d) / d; near d = 0, where the difference cancels, by a derivative
    near = 0.5 * (zeta(2.0, base + arrivals + d) - zeta(2.0, base + d))
    bend = np.where(np.abs(d) < 1e-3, near, (twice - once) / np.where(d == 0, 1.0, d))
    weight = alpha + classes * d
    growth = np.exp(d * once)
    squared = (weight * growth) ** 2 * 2.0 * bend * expm1_ratio(2.0 * d * d * bend)
    single = weight * growth * (2.0 * twice - once) * expm1_ratio(d * (2.0 * twice - once))
    return np.asarray(np.maximum(squared + single, 0.0))


def still_unique(d: ArrayLike, alpha: ArrayLike, *, people: int, population: float) -> Floats:
    """P(population unique | sample unique) = B(1−d, N+α−1+d) / B(1−d, n+α−1+d)."""
    d, alpha = np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    return np.exp(-log_gamma_ratio(alpha + people - 1.0 + d, 1.0 - d, population - people))


def new_uniques(d: ArrayLike, alpha: ArrayLike, *, people: int, classes: int, population: float) -> Floats:
    """Expected number of people outside the sample who are unique in the population.

    Such a person starts a class with chance (α + K·d)/(α + n), and none of the others joins it.
    """
    d, alpha = np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    others = population - people
    if others < 1:
        return np.zeros(np.broadcast(d, alpha).shape)
    start = (alpha + classes * d) / (alpha + people)
    return np.asarray(others * start * np.exp(-log_gamma_ratio(alpha + people + d, 1.0 - d, others - 1.0)))


def population_size_pmf(
    d: ArrayLike, alpha: ArrayLike, *, people: int, population: float, seen: ArrayLike, size: ArrayLike
) -> Floats:
    """P(F = size | f = seen): the chance that a class with `seen` people in the sample has `size` in the population.

    F = f + BetaBinomial(N − n; f − d, n + α − f + d).
    """
    d, alpha, seen, size = (np.asarray(value, dtype=np.float64) for value in (d, alpha, seen, size))
    d, alpha, seen, size = np.broadcast_arrays(d, alpha, seen, size)
    more, arrivals = size - seen, population - people
    inside = (more >= 0) & (more <= arrivals)
    log_chance = log_beta_binomial(np.where(inside, more, 0.0), arrivals, seen - d, people + alpha - seen + d)
    return np.where(inside, np.exp(log_chance), 0.0)


def new_class_size_pmf(d: ArrayLike, alpha: ArrayLike, *, people: int, population: float, size: ArrayLike) -> Floats:
    """P(a class that is new with the first person after the sample has `size` people in the population)."""
    d, alpha, size = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in (d, alpha, size)))
    more, arrivals = size - 1.0, population - people - 1.0
    inside = (more >= 0) & (more <= arrivals)
    if not np.any(inside):
        return np.zeros(d.shape)
    log_chance = log_beta_binomial(np.where(inside, more, 0.0), max(arrivals, 0.0), 1.0 - d, people + alpha + d)
    return np.where(inside, np.exp(log_chance), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class SamplePrediction:
    """Quantities of a population that contains the sample, as (value, low, high) over the posterior."""

    sizes: ClassSizes
    posterior: Posterior

    def correctness(self, population: float, level: float = 0.95) -> tuple[float, float, float]:
        """Share of people named correctly: classes of the population ÷ people."""
        known, posterior = (self.sizes.people, self.sizes.classes), self.posterior
        mean, _ = new_classes_moments(posterior, *known, population)
        value = (self.sizes.classes + posterior.mean(mean)) / population
        return value, *correctness_interval(posterior, *known, population, level)

    def uniqueness(self, population: float, level: float = 0.95) -> tuple[float, float, float]:
        """Share of people alone in their class."""
        known, alone, posterior = (self.sizes.people, self.sizes.classes), self.sizes.uniques, self.posterior
        mean, _ = uniques_moments(posterior, *known, alone, population)
        return posterior.mean(mean) / population, *uniqueness_interval(posterior, *known, alone, population, level)

    def violations(self, population: float, k: int, level: float = 0.95) -> tuple[float, float, float]:
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


def new_classes_moments(posterior: Posterior, people: int, classes: int, population: float) -> tuple[Floats, Floats]:
    """Mean and variance of the number of new classes at each point of the posterior."""
    d, alpha = posterior.d, posterior.alpha
    mean = new_classes(d, alpha, people=people, classes=classes, population=population)
    return mean, new_classes_variance(d, alpha, people=people, classes=classes, population=population)


def uniques_moments(
    posterior: Posterior, people: int, classes: int, alone: float | Floats, population: float
) -> tuple[Floats, Floats]:
    """Mean and variance of the uniques of a population, from `alone` uniques of the sample and new ones.

    New uniques have the relative variance of the new classes; the remaining uniques of the sample are binomial.
    """
    d, alpha = posterior.d, posterior.alpha
    remaining = still_unique(d, alpha, people=people, population=population)
    new = new_uniques(d, alpha, people=people, classes=classes, population=population)
    mean, variance = new_classes_moments(posterior, people, classes, population)
    share = np.divide(variance, mean**2, out=np.zeros(mean.shape), where=mean > 0)
    return alone * remaining + new, alone * remaining * (1.0 - remaining) + share * new**2


def correctness_interval(
    posterior: Posterior, people: int, classes: int, population: float, level: float
) -> tuple[float, float]:
    """Interval of classes ÷ people: the uncertainty of the model, and the chance within the model."""
    new = beta_quantiles(*new_classes_moments(posterior, people, classes, population), population - people)
    low, high = _interval(posterior, new, level)
    return (classes + low) / population, (classes + high) / population


def uniqueness_interval(
    posterior: Posterior, people: int, classes: int, alone: float | Floats, population: float, level: float
) -> tuple[float, float]:
    """Interval of the share of people alone in their class.

    Every unique person is a class, so no outcome has more uniques than classes.
    """
    new = new_classes_moments(posterior, people, classes, population)
    most = classes + beta_quantiles(*new, population - people)
    uniques = beta_quantiles(*uniques_moments(posterior, people, classes, alone, population), population)
    low, high = _interval(posterior, np.minimum(uniques, most), level)
    return low / population, high / population


def _interval(posterior: Posterior, outcomes: Floats, level: float) -> tuple[float, float]:
    """Interval of outcomes (a row of equally likely ones for each point of the posterior), rounded outwards."""
    weights = np.repeat(posterior.weights / _OUTCOMES.size, _OUTCOMES.size)
    low, high = weighted_interval(outcomes.ravel(), weights, level)
    return float(np.floor(low)), float(np.ceil(high))


def beta_quantiles(mean: Floats, variance: Floats, most: float) -> Floats:
    """Nine quantiles of beta distributions on [0, `most`] with these moments, a row for each.

    For a mean far below `most` they are nearly gamma quantiles. The largest possible variance is that of a number that
    is either 0 or `most`; if the given variance is larger, these two values are used.
    """
    result = np.repeat(mean[:, None], _OUTCOMES.size, axis=1)
    if most <= 0:
        return result
    share, deviation = mean / most, np.sqrt(variance) / most
    room = np.minimum(share, 1.0 - share)
    open_ = (room > 0) & (deviation > 0)
    narrow = open_ & (deviation <= 1e-3 * room)  # a beta so far from its limits is normal, and stays inside them
    total = np.zeros(share.shape)  # a + b
    near = open_ & ~narrow
    total[near] = share[near] / deviation[near] * ((1.0 - share[near]) / deviation[near]) - 1.0
    split = near & (total <= 1e-6)
    wide = near & ~split
    a, b = (share * total)[wide, None], ((1.0 - share) * total)[wide, None]
    result[wide] = most * betaincinv(a, b, _OUTCOMES)
    result[split] = most * (1.0 - share[split, None] < _OUTCOMES)
    result[narrow] += most * ndtri(_OUTCOMES) * deviation[narrow, None]
    return result
