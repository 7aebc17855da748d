"""Likelihood and prior of the Pitman–Yor model given class sizes, and coordinates in which it is nearly normal.

Over (h, γ) the likelihood is a narrow curved ridge. For d ≥ 0 it is close to a normal density over (d, log(α+1)); for
d < 0 over log(−d/m) and log(m − K), with m categories of which K were seen (see `FiniteClasses`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, zeta

from incrowd.classes import ClassSizes
from incrowd.pitman_yor.model import entropy_and_tail
from incrowd.special import Floats, log_steps

PUBLISHED_STRENGTH = 10.0
"""Strength of the prior under which the most probable model is sought, as in the scaling-law paper."""

POSTERIOR_STRENGTH, POSTERIOR_DECAY = 1.0, 0.2
"""Constants of the posterior's log prior, −1/(1 − γ) − h/5. The published prior is so strong that intervals miss heavy
tails; with a flat prior, forecasts of small tables are too high. With this prior, intervals have the right coverage and
forecasts of real tables a small error."""


def log_likelihood(sizes: ClassSizes, d: ArrayLike, alpha: ArrayLike) -> Floats:
    """log probability of the partition (Pitman 1995); −inf if d < 0 leaves too few categories.

    Σ_{i<K} log(α + i d) − Σ_{i<n} log(α + i) + Σ_f a_f [lnΓ(f−d) − lnΓ(1−d)]; arrays of d and alpha broadcast.

    >>> table = ClassSizes.from_sizes([2, 1])  # the third person joins one of two: three such partitions
    >>> float(np.exp(log_likelihood(table, 0.5, 1.0)))
    0.125...
    """
    d, alpha = np.broadcast_arrays(np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64))
    shape = d.shape
    d, alpha = np.atleast_1d(d).ravel(), np.atleast_1d(alpha).ravel()
    possible = (alpha + (sizes.classes - 1.0) * d > 0) & (alpha > -1)
    result = np.full(d.shape, -np.inf)
    d, alpha = d[possible], alpha[possible]
    between = log_steps(alpha, d, sizes.classes - 1.0) - log_steps(alpha, 1.0, sizes.people - 1.0)
    result[possible] = between + _within_classes(sizes, d)
    return result.reshape(shape)


def _within_classes(sizes: ClassSizes, d: Floats) -> Floats:
    """Σ_f a_f [lnΓ(f−d) − lnΓ(1−d)], which depends on d alone."""
    d, where = np.unique(d, return_inverse=True)  # points of a grid share their d
    size, count = sizes.sizes.astype(np.float64), sizes.counts.astype(np.float64)
    mild = d > -1e4  # below, the two log-gammas agree in too many digits
    total = np.empty(d.shape)
    total[mild] = gammaln(size - d[mild, None]) @ count - gammaln(1.0 - d[mild]) * count.sum()
    if not np.all(mild):
        total[~mild] = log_steps(-d[~mild, None], 1.0, size - 1.0) @ count
    return np.asarray(total[where])


def log_prior(gamma: ArrayLike, strength: float) -> Floats:
    """−strength / (1 − γ), after Archer, Park & Pillow 2014; constant for γ < 0."""
    gamma = np.maximum(np.asarray(gamma, dtype=np.float64), 0.0)
    return np.asarray(-strength / np.maximum(1.0 - gamma, 1e-12))


class Coordinates(Protocol):
    """Coordinates for one sign of d; points are rows of two numbers."""

    @property
    def limits(self) -> Floats: ...

    def starts(self) -> Floats: ...

    def parameters(self, points: Floats) -> tuple[Floats, Floats]:
        """(d, alpha) of each point."""

    def log_volume(self, points: Floats) -> Floats:
        """Log of |∂(d, α) / ∂(coordinates)|."""

    def log_prior(self, h: Floats, gamma: Floats) -> Floats:
        """Log density of the posterior's prior over (h, γ)."""


def _prior_of_classes(h: Floats, gamma: Floats) -> Floats:
    """The posterior's prior over (h, γ) given class sizes."""
    return np.asarray(log_prior(gamma, POSTERIOR_STRENGTH) - POSTERIOR_DECAY * h)


@dataclass(frozen=True, slots=True)
class InfiniteClasses:
    """Coordinates for d ≥ 0: d and log(α + 1)."""

    people: int

    @property
    def limits(self) -> Floats:
        return np.array([[0.0, 0.9999], [1e-9, 80.0]])

    def starts(self) -> Floats:
        d = np.array([0.0, 0.05, 0.2, 0.4, 0.6, 0.75, 0.9])
        log_alpha = np.concatenate([[0.01], np.linspace(0.5, np.log(self.people) + 14, 24)])
        return _mesh(d, log_alpha)

    def parameters(self, points: Floats) -> tuple[Floats, Floats]:
        return points[:, 0], np.expm1(points[:, 1])

    def log_volume(self, points: Floats) -> Floats:
        return points[:, 1]

    def log_prior(self, h: Floats, gamma: Floats) -> Floats:
        return _prior_of_classes(h, gamma)


@dataclass(frozen=True, slots=True)
class AccurateTechniques:
    """Coordinates for d ≥ 0 of techniques that hardly ever fail: −log(1 − d) and log(α + 1).

    An accurate technique has h of hundreds or thousands of nats, so the prior falls as a power of hγ: it is that of
    class sizes while hγ is small, and has no scale beyond.
    """

    people: float

    @property
    def limits(self) -> Floats:
        return np.array([[0.0, 13.0], [1e-9, 80.0]])

    def starts(self) -> Floats:
        tail = np.array([0.0, 0.1, 0.3, 0.6, 1.0, 1.6, 2.3, 3.2, 4.5, 6.0, 8.0, 10.0])
        return _mesh(tail, np.concatenate([[0.01], np.linspace(0.5, np.log(self.people) + 14, 24)]))

    def parameters(self, points: Floats) -> tuple[Floats, Floats]:
        return -np.expm1(-points[:, 0]), np.expm1(points[:, 1])

    def log_volume(self, points: Floats) -> Floats:
        return points[:, 1] - points[:, 0]

    def log_prior(self, h: Floats, gamma: Floats) -> Floats:
        heavy, light = h * gamma, np.maximum(h * (1.0 - gamma), 1e-12)
        return np.asarray(-POSTERIOR_DECAY * light - np.log1p(POSTERIOR_DECAY * heavy) - np.log1p(heavy / light))


@dataclass(frozen=True, slots=True)
class FiniteClasses:
    """Coordinates for d < 0: with m = −α/d categories, log(−d/m) and log(m − K).

    m need not be a whole number; the likelihood is 0 for m < K.
    """

    people: int
    classes: int

    @property
    def limits(self) -> Floats:
        # at −d = m, γ is about −1: categories are practically equally likely
        return np.array([[-45.0, 0.0], [-12.0, 45.0]])

    def starts(self) -> Floats:
        evenness = -np.array([0.3, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0, 13.0, 16.0, 20.0])
        spare = np.linspace(-4.0, np.log(self.people) + 8, 20)
        return _mesh(evenness, spare)

    def parameters(self, points: Floats) -> tuple[Floats, Floats]:
        categories = self.classes + np.exp(points[:, 1])
        weight = categories * np.exp(points[:, 0])
        return -weight, categories * weight

    def log_volume(self, points: Floats) -> Floats:
        categories = self.classes + np.exp(points[:, 1])
        return np.asarray(2.0 * np.log(categories) + 2.0 * points[:, 0] + points[:, 1])

    def log_prior(self, h: Floats, gamma: Floats) -> Floats:
        return _prior_of_classes(h, gamma)


def bound_tail(d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Move models with γ < −1 to γ = −1 with their number of categories; the distributions are practically equal.

    >>> d, alpha = bound_tail(np.array([-50.0, 0.3]), np.array([500.0, 2.0]))
    >>> entropy_and_tail(d, alpha)[1].round(6).tolist()
    [-1.0, 0.299984]
    """
    past = (d < 0) & (entropy_and_tail(d, alpha)[1] < -1.0)
    categories = -alpha[past] / d[past]
    high = np.log(-d[past])
    low = high - 20.0
    for _ in range(60):  # bisection of all models at once
        middle = 0.5 * (low + high)
        outside = entropy_and_tail(-np.exp(middle), categories * np.exp(middle))[1] < -1.0
        low, high = np.where(outside, low, middle), np.where(outside, middle, high)
    weight = np.exp(low) * (1.0 - 1e-12)  # so that rounding does not give γ < −1
    d, alpha = d.copy(), alpha.copy()
    d[past], alpha[past] = -weight, categories * weight
    return d, alpha


def log_target(coordinates: Coordinates, sizes: ClassSizes, points: Floats, *, strength: float) -> Floats:
    """Log likelihood at each point, plus the log prior over (h, γ) of that strength."""
    d, alpha = coordinates.parameters(points)
    value = log_likelihood(sizes, d, alpha)
    return np.asarray(value + log_prior(entropy_and_tail(d, alpha)[1], strength)) if strength else value


def log_prior_volume(coordinates: Coordinates, points: Floats) -> Floats:
    """Log density over the coordinates of the posterior's prior over (h, γ).

    With w = ψ(1) − ψ(1−d) and z = ψ(α+1) − ψ(1): h = w + z, γ = w/h, so dh dγ = dw dz / h.
    """
    d, alpha = coordinates.parameters(points)
    h, gamma = entropy_and_tail(d, alpha)
    flat = np.log(zeta(2.0, 1.0 - d)) + np.log(zeta(2.0, alpha + 1.0)) - np.log(np.maximum(h, 1e-12))
    density = flat + coordinates.log_prior(h, gamma) + coordinates.log_volume(points)
    return np.where(h > 1e-12, density, -np.inf)


def _mesh(first: Floats, second: Floats) -> Floats:
    return np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
