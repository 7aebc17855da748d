"""Posterior of (d, α) as weighted points of a grid, without random draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from incrowd.pitman_yor.likelihood import (
    POSTERIOR_DECAY,
    Coordinates,
    bound_tail,
    log_prior_volume,
)
from incrowd.pitman_yor.model import discount_and_concentration, entropy_and_tail
from incrowd.pitman_yor.peak import Peak, is_peaked
from incrowd.results import Result
from incrowd.special import Floats

_ALONG = 45  # points along each axis of the grid
_REACH = 7.0  # half the width of the first grid, in standard deviations
_NEGLIGIBLE = 14.0  # points whose log density is this far below the maximum are left out
_CLOSER, _FEWER = 8, 300  # number of times that a grid over (h, γ) is shrunk, and of points that are returned


@dataclass(frozen=True, slots=True, eq=False)
class Posterior(Result):
    """Weighted points over (d, α): any function of the model gets a mean and an interval from them.

    `weights` add up to 1. Points are on a grid, so results are the same every time.
    """

    d: Floats
    alpha: Floats
    weights: Floats

    @property
    def h(self) -> Floats:
        """Entropy in nats of each point."""
        return entropy_and_tail(self.d, self.alpha)[0]

    @property
    def gamma(self) -> Floats:
        """Tail complexity of each point."""
        return entropy_and_tail(self.d, self.alpha)[1]

    def mean(self, values: ArrayLike) -> float:
        """Posterior mean of a quantity given at each point."""
        return float(np.asarray(values, dtype=np.float64) @ self.weights)

    def interval(self, values: ArrayLike, level: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval of a quantity given at each point."""
        return weighted_interval(np.asarray(values, dtype=np.float64), self.weights, level)

    def thinned(self, points: int) -> Posterior:
        """Approximately the same posterior with at most `points` equally likely points, for costly functions."""
        if points >= self.d.size:
            return self
        order = np.lexsort((self.alpha, self.d))
        cumulative = np.cumsum(self.weights[order])
        chosen = order[np.searchsorted(cumulative, (np.arange(points) + 0.5) / points * cumulative[-1])]
        return Posterior(self.d[chosen], self.alpha[chosen], np.full(points, 1.0 / points))

    def to_dict(self) -> dict[str, Any]:
        """A summary in plain JSON types, without the points."""
        return {
            "points": int(self.d.size),
            "h": list(self.interval(self.h)),
            "gamma": list(self.interval(self.gamma)),
            "d": list(self.interval(self.d)),
            "alpha": list(self.interval(self.alpha)),
        }


def weighted_interval(values: Floats, weights: Floats, level: float) -> tuple[float, float]:
    """Quantiles of weighted values, with linear interpolation between the midpoints of the weights."""
    order = np.argsort(values, kind="stable")
    ordered, share = values[order], weights[order] / weights.sum()
    middle = np.cumsum(share) - 0.5 * share
    tail = 0.5 * (1.0 - level)
    low, high = np.interp([tail, 1.0 - tail], middle, ordered)
    return float(low), float(high)


def posterior_around(
    coordinates: Coordinates, peak: Peak, log_likelihood: Callable[[Floats], Floats], *, along: int = _ALONG
) -> Posterior:
    """Posterior around `peak` for one sign of d, with the prior over (h, γ); `log_likelihood` takes rows of points.

    The grid follows the axes of the peak, with `along` points each way. It is moved up to three times to where the mass
    is, because small tables have posteriors that are neither round nor centred. Points beyond γ = −1 count as γ = −1.
    """

    def log_density(points: Floats) -> Floats:
        return np.asarray(log_likelihood(points) + log_prior_volume(coordinates, points))

    centre, axes = peak.at, _axes(peak)
    reach = np.array([[-_REACH, _REACH], [-_REACH, _REACH]])
    for _ in range(4):
        points, log_weight = _on_grid(log_density, centre, axes, reach, coordinates.limits, along)
        relevant = log_weight > log_weight.max() - _NEGLIGIBLE
        weight = np.exp(log_weight[relevant] - log_weight.max())
        weight /= weight.sum()
        if _settled(points[relevant], weight, centre, axes, reach, along):
            break
        centre, axes, reach = _frame(points[relevant], weight, axes, reach, along)
    d, alpha = bound_tail(*coordinates.parameters(points[relevant]))
    return Posterior(d, alpha, weight)


def posterior_below_zero(log_likelihood: Callable[[Floats, Floats], Floats], h: float) -> tuple[Posterior, float]:
    """Posterior over d < 0 with the prior over (h, γ), and the highest log likelihood; `h` is the start of the search.

    Small tables allow all γ from 0 to −1, which is too wide for a grid around a peak. So the grid is over (h, γ)
    itself, and shrinks to the points that have weight until they fill it.
    """
    limits = np.array([[0.3 * h, 2.0 * h], [-1.0, -1e-3]])
    for _ in range(_CLOSER):
        first, second = (np.linspace(low, high, _ALONG) for low, high in limits)
        points = np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
        d, alpha = discount_and_concentration(points[:, 0], points[:, 1])
        likelihood = log_likelihood(d, alpha)
        density = likelihood - POSTERIOR_DECAY * points[:, 0]
        relevant = density > density.max() - _NEGLIGIBLE
        cell = np.diff(limits, axis=1)[:, 0] / (_ALONG - 1)
        low, high = points[relevant].min(axis=0) - cell, points[relevant].max(axis=0) + cell
        closer = np.stack([np.maximum(low, limits[:, 0]), np.minimum(high, limits[:, 1])], axis=1)
        if np.all(np.diff(closer, axis=1) > 0.5 * np.diff(limits, axis=1)):
            break
        limits = closer
    weight = np.exp(density[relevant] - density.max())
    posterior = Posterior(d[relevant], alpha[relevant], weight / weight.sum())
    return posterior.thinned(_FEWER), float(likelihood.max())


def _axes(peak: Peak) -> Floats:
    """Columns that map standard normal coordinates onto the peak."""
    if is_peaked(peak.precision):
        values, vectors = np.linalg.eigh(peak.precision)
        return np.asarray(vectors / np.sqrt(np.maximum(values, 1e-3)))
    return np.diag(1.0 / np.sqrt(np.maximum(np.abs(np.diag(peak.precision)), 1e-2)))


def _on_grid(
    log_density: Callable[[Floats], Floats], centre: Floats, axes: Floats, reach: Floats, limits: Floats, along: int
) -> tuple[Floats, Floats]:
    first, second = (np.linspace(low, high, along) for low, high in reach)
    unit = np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
    points = centre + unit @ axes.T
    inside = np.all((points >= limits[:, 0]) & (points <= limits[:, 1]), axis=1)
    points = np.concatenate([points[inside], centre[None, :]])
    return points, log_density(points)


def _unit(points: Floats, centre: Floats, axes: Floats) -> Floats:
    return np.asarray(np.linalg.solve(axes, (points - centre).T).T)


def _settled(points: Floats, weight: Floats, centre: Floats, axes: Floats, reach: Floats, along: int) -> bool:
    """True if the grid contains the mass, and is neither too wide nor off-centre."""
    unit = _unit(points, centre, axes)
    cell = (reach[:, 1] - reach[:, 0]) / (along - 1)
    at_edge = np.any((unit <= reach[:, 0] + 0.5 * cell) | (unit >= reach[:, 1] - 0.5 * cell), axis=1)
    deviations = np.sqrt(weight @ (unit - weight @ unit) ** 2)
    return float(weight[at_edge].sum()) < 1e-5 and bool(np.all(deviations > 2.0 * cell))


def _frame(points: Floats, weight: Floats, axes: Floats, reach: Floats, along: int) -> tuple[Floats, Floats, Floats]:
    """Centre, axes and reach of the next grid, wider if the mass reached the edge of this one."""
    middle = weight @ points
    covariance = (points - middle).T @ ((points - middle) * weight[:, None])
    values, vectors = np.linalg.eigh(covariance)
    # if all mass is at one point, the next grid has the size of a cell of this one
    cell = (reach[:, 1] - reach[:, 0]).min() / (along - 1)
    smallest = float(np.linalg.svd(axes, compute_uv=False)[-1])
    floor = max((0.1 * cell * smallest) ** 2, 1e-10 * values[-1], 1e-18)
    new_axes = vectors * np.sqrt(np.maximum(values, floor))
    unit = _unit(points, middle, new_axes)
    low, high = unit.min(axis=0), unit.max(axis=0)
    margin = 0.25 * (high - low)
    return middle, new_axes, np.stack([low - margin, high + margin], axis=1)
