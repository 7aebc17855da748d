"""Sizes of the sample's classes in the population: the distribution of F for each size f in the sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from incrowd.pitman_yor import Posterior
from incrowd.special import Floats, log_beta_binomial, log_gamma_ratio

_EXACT, _BINS = 4096, 96  # sizes summed one by one, and bins on a log scale for larger sizes (error below 1/4096)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_REACH = 14.0  # number of standard deviations on either side that are evaluated
_LEVEL = 0.95  # level of the interval of F
_LARGE = 150  # for classes from this size on, F is nearly normal: its relative deviation is below 1/12


@dataclass(frozen=True, slots=True, eq=False)
class PopulationSizes:
    """For every class size `seen` in the sample, the distribution of the size F of the class in the population.

    `inverse` and `inverse_square` are E 1/F and E 1/F² at each point of the posterior (rows) for each size (columns);
    `unique` is P(F = 1), `low` and `high` are the 95 % interval of F. `weights` are those of the posterior's points.
    """

    seen: NDArray[np.int64]
    weights: Floats
    inverse: Floats
    inverse_square: Floats
    unique: Floats
    low: NDArray[np.int64]
    high: NDArray[np.int64]

    @property
    def expected_inverse(self) -> Floats:
        """E 1/F for each size: the chance that a person of the class is named correctly in the population."""
        return np.asarray(self.weights @ self.inverse)


def population_sizes(posterior: Posterior, seen: ArrayLike, *, people: int, population: int) -> PopulationSizes:
    """The distribution of F | f over a posterior of (d, α): F = f + BetaBinomial(N − n; f − d, n + α − f + d)."""
    sizes = np.asarray(seen, dtype=np.int64)
    if population == people:
        inverse = np.broadcast_to(1.0 / sizes, (posterior.d.size, sizes.size))
        return PopulationSizes(sizes, posterior.weights, inverse, inverse**2, (sizes == 1) * 1.0, sizes, sizes)
    more = float(population - people)
    first = sizes - posterior.d[:, None]
    second = people + posterior.alpha[:, None] - first
    result = _near_normal(sizes, first, second, more, posterior.weights)
    small = sizes < _LARGE
    if np.any(small):
        exact = _one_by_one(sizes[small], first[:, small], second[:, small], more, posterior.weights)
        for field in ("inverse", "inverse_square", "unique", "low", "high"):
            getattr(result, field)[..., small] = getattr(exact, field)
    return result


def _near_normal(
    sizes: NDArray[np.int64], first: Floats, second: Floats, more: float, weights: Floats
) -> PopulationSizes:
    """Large classes, from mean and variance: E 1/F ≈ (1 + v)/μ and E 1/F² ≈ (1 + 3v)/μ², v the relative variance."""
    mean, deviation = _mean_and_deviation(first, second, more)
    mean = mean + sizes
    relative = (deviation / mean) ** 2
    middle = weights @ mean
    width = np.sqrt(weights @ (deviation**2 + (mean - middle) ** 2)) * float(ndtri(0.5 + _LEVEL / 2.0))
    low = np.maximum(sizes, np.floor(middle - width)).astype(np.int64)
    high = np.minimum(sizes + more, np.ceil(middle + width)).astype(np.int64)
    inverse = (1.0 + relative) / mean
    return PopulationSizes(sizes, weights, inverse, (1.0 + 3.0 * relative) / mean**2, np.zeros(sizes.size), low, high)


def _one_by_one(
    sizes: NDArray[np.int64], first: Floats, second: Floats, more: float, weights: Floats
) -> PopulationSizes:
    """Small classes, from the probabilities of the distribution."""
    from incrowd.populations import kernels

    windows = [_window(first[:, j], second[:, j], more) for j in range(sizes.size)]
    starts = np.array([start for start, _ in windows])
    peak = np.floor((first - 1.0) / (first + second - 1.0) * more) - starts
    peak = np.clip(peak, 0.0, np.minimum(_EXACT, more - starts + 1.0) - 1.0)
    log_peak, log_beta = log_beta_binomial(starts + peak, more, first, second), _log_beta(first, second)
    inverse, square = np.empty(first.shape), np.empty(first.shape)
    unique, tail = np.zeros(sizes.size), (1.0 - _LEVEL) / 2.0
    low, high = sizes.copy(), sizes.copy()
    for j, (start, edges) in enumerate(windows):
        mass, moments = np.zeros(_EXACT + edges.size - 1), np.empty((weights.size, 2))
        kernels.grow_class(
            more, float(sizes[j]), first[:, j], second[:, j], start, peak[:, j], log_peak[:, j], log_beta[:, j],
            edges, _NODES, _WEIGHTS, weights, mass, moments,
        )  # fmt: skip
        inverse[:, j], square[:, j] = moments[:, 0], moments[:, 1]
        unique[j] = mass[0] if sizes[j] == 1 and start == 0 else 0.0
        total = np.cumsum(mass)
        low[j], high[j] = (sizes[j] + _quantile(total, share, start, edges) for share in (tail, 1.0 - tail))
    return PopulationSizes(sizes, weights, inverse, square, unique, low, high)


def _quantile(total: Floats, share: float, start: float, edges: Floats) -> int:
    """The quantile at `share` of the distribution with cumulative probabilities `total`, interpolated within a bin."""
    place = int(np.searchsorted(total, share))
    if place < _EXACT:
        return int(start) + place
    place = min(place, total.size - 1)
    within = (share - total[place - 1]) / max(total[place] - total[place - 1], 1e-300)
    lower, upper = edges[place - _EXACT], edges[place - _EXACT + 1]
    return int(np.exp(lower + min(within, 1.0) * (upper - lower)))


def _mean_and_deviation(first: Floats, second: Floats, more: float) -> tuple[Floats, Floats]:
    """Mean and standard deviation of BetaBinomial(more; first, second)."""
    total = first + second
    mean = more * first / total
    return mean, np.sqrt(mean * second / total * (total + more) / (total + 1.0))


def _window(first: Floats, second: Floats, more: float) -> tuple[float, Floats]:
    """First of the sizes that are summed one by one, and the log edges of the bins above them (one edge: no bins)."""
    mean, deviation = _mean_and_deviation(first, second, more)
    start = max(0.0, float(np.floor((mean - _REACH * deviation).min())))
    exact_end = start + _EXACT - 0.5
    # the upper tail of a small class is exponential, heavier than a normal tail with its standard deviation
    stop = min(more, float((mean + _REACH * deviation + 40.0 * more / (first + second)).max()))
    if stop <= exact_end:
        return start, np.array([0.0])
    return start, np.linspace(np.log(exact_end), np.log(stop), _BINS + 1)


def _log_beta(first: Floats, second: Floats) -> Floats:
    """log B(a, b) = log[Γ(a)/Γ(1+a)] − log[Γ(b+a) Γ(1) / (Γ(b) Γ(1+a))], without subtracting large log-gammas."""
    return np.asarray(-np.log(first) - log_gamma_ratio(1.0, first, second - 1.0))
