"""Two coordinate systems in which the likelihood of class sizes has a round peak.

Over (h, γ) the likelihood is a narrow curved ridge. For d ≥ 0 it is close to a normal density over
(d, log(α+1)); for d < 0 over the logs of the spare categories and of how even they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import zeta

from incrowd.classes import ClassSizes
from incrowd.pitman_yor.likelihood import POSTERIOR_DECAY, log_likelihood, log_prior
from incrowd.pitman_yor.model import entropy_and_tail
from incrowd.special import Floats


class Side(Protocol):
    """Coordinates for one sign of d; points are rows of two numbers."""

    @property
    def limits(self) -> Floats: ...

    def starts(self) -> Floats: ...

    def parameters(self, points: Floats) -> tuple[Floats, Floats]:
        """(d, alpha) of each point."""

    def log_volume(self, points: Floats) -> Floats:
        """Log of |∂(d, α) / ∂(coordinates)|."""


@dataclass(frozen=True, slots=True)
class HeavySide:
    """d ≥ 0: coordinates d and log(α + 1)."""

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


@dataclass(frozen=True, slots=True)
class FiniteSide:
    """d < 0: with m = −α/d categories, coordinates log(−d/m) and log(m − K).

    Between whole numbers of categories m is a continuation of the formula; below K it is no probability at all.
    """

    people: int
    classes: int

    @property
    def limits(self) -> Floats:
        # −d = m is γ = −1 to within a constant: beyond it categories are equal for every purpose
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


def at_least_minus_one(d: Floats, alpha: Floats) -> tuple[Floats, Floats]:
    """Models whose γ is below −1 with as many categories, but even enough only for γ = −1: nothing changes beyond.

    >>> d, alpha = at_least_minus_one(np.array([-50.0, 0.3]), np.array([500.0, 2.0]))
    >>> entropy_and_tail(d, alpha)[1].round(6).tolist()
    [-1.0, 0.299984]
    """
    past = (d < 0) & (entropy_and_tail(d, alpha)[1] < -1.0)
    categories = -alpha[past] / d[past]
    high = np.log(-d[past])
    low = high - 20.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        outside = entropy_and_tail(-np.exp(middle), categories * np.exp(middle))[1] < -1.0
        low, high = np.where(outside, low, middle), np.where(outside, middle, high)
    weight = np.exp(low) * (1.0 - 1e-12)  # on this side of −1 whatever the rounding
    d, alpha = d.copy(), alpha.copy()
    d[past], alpha[past] = -weight, categories * weight
    return d, alpha


def log_target(side: Side, sizes: ClassSizes, points: Floats, *, strength: float) -> Floats:
    """Log likelihood at each point, plus the log prior over (h, γ) of that strength."""
    d, alpha = side.parameters(points)
    value = log_likelihood(sizes, d, alpha)
    return np.asarray(value + log_prior(entropy_and_tail(d, alpha)[1], strength)) if strength else value


def log_prior_volume(side: Side, points: Floats) -> Floats:
    """Log density over the coordinates of the prior exp(−h/5) over (h, γ), whose part in γ is in `log_target`.

    With w = ψ(1) − ψ(1−d) and z = ψ(α+1) − ψ(1): h = w + z, γ = w/h, so dh dγ = dw dz / h.
    """
    d, alpha = side.parameters(points)
    h, _ = entropy_and_tail(d, alpha)
    flat = np.log(zeta(2.0, 1.0 - d)) + np.log(zeta(2.0, alpha + 1.0)) - np.log(np.maximum(h, 1e-12))
    return np.where(h > 1e-12, flat - POSTERIOR_DECAY * h + side.log_volume(points), -np.inf)


def _mesh(first: Floats, second: Floats) -> Floats:
    return np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
