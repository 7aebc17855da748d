"""How large the sample's classes are in the population, given the sample: the distribution of F for each f."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.pitmanyor import Posterior
from incrowd.special import log_beta_binomial, log_gamma_ratio

Floats = NDArray[np.float64]

_EXACT, _BINS = 4096, 160  # sizes added up one by one, and bins over the logarithm of the others (good to 1/4096)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_REACH = 14.0  # standard deviations either side that are looked at


@dataclass(frozen=True, slots=True, eq=False)
class GrownSizes:
    """For every size `seen` in the sample, what is known of the size F of such a class in the population.

    `inverse` and `inverse_square` are E 1/F and E 1/F² at each point of the posterior (rows) for each size (columns);
    `unique` is P(F = 1), `low` and `high` hold F with 95 % probability. `weights` are those of the posterior.
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
        """E 1/F of each size: the chance to name one of its people in the population."""
        return np.asarray(self.weights @ self.inverse)


def grow(posterior: Posterior, seen: ArrayLike, *, people: int, population: int, level: float = 0.95) -> GrownSizes:
    """The distribution of F | f over a posterior of (d, α): F = f + BetaBinomial(N − n; f − d, n + α − f + d)."""
    sizes = np.asarray(seen, dtype=np.int64)
    points = posterior.d.size
    inverse, square = np.empty((points, sizes.size)), np.empty((points, sizes.size))
    unique, low, high = np.zeros(sizes.size), sizes.copy(), sizes.copy()
    if population == people:
        inverse[:], square[:] = 1.0 / sizes, 1.0 / sizes**2
        return GrownSizes(sizes, posterior.weights, inverse, square, (sizes == 1) * 1.0, low, high)
    for column, size in enumerate(sizes):
        one = _Grown.of(posterior, int(size), people, population)
        inverse[:, column], square[:, column] = one.inverse, one.inverse_square
        unique[column] = one.mass[0] if size == 1 and one.start == 0 else 0.0
        tail = (1.0 - level) / 2.0
        low[column], high[column] = one.quantile(tail), one.quantile(1.0 - tail)
    return GrownSizes(sizes, posterior.weights, inverse, square, unique, low, high)


@dataclass(frozen=True, slots=True, eq=False)
class _Grown:
    """The distribution of F for one size: cells from `seen + start`, then bins."""

    seen: int
    start: float
    edges: Floats
    mass: Floats
    inverse: Floats
    inverse_square: Floats

    @classmethod
    def of(cls, posterior: Posterior, seen: int, people: int, population: int) -> _Grown:
        from incrowd.population import kernels

        more = float(population - people)
        first, second = seen - posterior.d, people + posterior.alpha - seen + posterior.d
        start, edges = _window(first, second, more)
        peak = np.clip(np.floor((first - 1.0) / (first + second - 1.0) * more) - start, 0.0, None)
        peak = np.minimum(peak, min(_EXACT, more - start + 1.0) - 1.0)
        log_start = np.stack([peak, log_beta_binomial(start + peak, more, first, second)], axis=1)
        log_beta = _log_beta(first, second)
        total, moments = np.zeros(_EXACT + edges.size - 1), np.empty((first.size, 2))
        for i in range(first.size):
            mass = np.zeros(total.size)
            kernels.grow_class(
                more, float(seen), first[i], second[i], start, log_start[i], log_beta[i], edges, _NODES, _WEIGHTS,
                mass, moments[i],
            )  # fmt: skip
            total += posterior.weights[i] * mass
        return cls(seen, start, edges, total, moments[:, 0], moments[:, 1])

    def quantile(self, share: float) -> int:
        """The smallest size with at least this share of the probability at or below it."""
        place = int(np.searchsorted(np.cumsum(self.mass), share))
        if place < _EXACT:
            return self.seen + int(self.start) + place
        return self.seen + int(np.exp(self.edges[min(place - _EXACT + 1, self.edges.size - 1)]))


def _window(first: Floats, second: Floats, more: float) -> tuple[float, Floats]:
    """Where the one-by-one sizes begin, and the edges of the bins behind them (none where they are not needed)."""
    total = first + second
    mean = more * first / total
    spread = np.sqrt(mean * second / total * (total + more) / (total + 1.0))
    start = max(0.0, float(np.floor((mean - _REACH * spread).min())))
    behind = start + _EXACT - 0.5
    # the upper tail of a small class falls off exponentially, slower than its standard deviation says
    stop = min(more, float((mean + _REACH * spread + 40.0 * more / total).max()))
    if stop <= behind:
        return start, np.array([0.0])
    return start, np.linspace(np.log(behind), np.log(stop), _BINS + 1)


def _log_beta(first: Floats, second: Floats) -> Floats:
    """log B(a, b), without taking large log-gammas apart: B(a, b) = Γ(a) · Γ(b)/Γ(a + b)."""
    from scipy.special import gammaln

    # Γ(b+a)/Γ(b) = Γ(1+a) · Γ(1+a+(b−1)) Γ(1) / (Γ(1+(b−1)) Γ(1+a))
    return np.asarray(gammaln(first) - gammaln(1.0 + first) - log_gamma_ratio(1.0, first, second - 1.0))
