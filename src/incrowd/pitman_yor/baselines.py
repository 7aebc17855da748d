"""Baseline curves for comparison with the scaling law (scaling-law paper, supplement S3.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import least_squares, minimize_scalar

from incrowd.results import Result
from incrowd.special import Floats


class CurveModel(Protocol):
    """A model of the share of people named correctly in a gallery of n."""

    def correctness(self, n: ArrayLike) -> Any: ...

    def to_dict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class EntropyRule(Result):
    """ENT: 2^bits equally likely classes, κ = 2^b/n · [1 − (1 − 2^−b)^n]."""

    bits: float

    def correctness(self, n: ArrayLike) -> Any:
        size = np.asarray(n, dtype=np.float64)
        rate = math.exp(-self.bits * math.log(2.0))
        # with one class only, 1 − 2^−b is 0 and everybody shares it
        log_missed = size * math.log1p(-rate) if rate < 1 else np.full(size.shape, -np.inf)
        return -np.expm1(log_missed) / (size * rate)


@dataclass(frozen=True, slots=True)
class Exponential(Result):
    """EXP: a·e^(−b√n) + 1 − a·e^(−b)."""

    a: float
    b: float

    def correctness(self, n: ArrayLike) -> Any:
        root = np.sqrt(np.asarray(n, dtype=np.float64))
        return self.a * np.exp(-self.b * root) + 1.0 - self.a * math.exp(-self.b)


@dataclass(frozen=True, slots=True)
class Polynomial(Result):
    """POL: 1 + b·x + c·x² + d·x³ with x = log10 n, clipped to [0, 1] as in the authors' package.

    The paper states two degrees of freedom; its package fits three.
    """

    b: float
    c: float
    d: float

    def correctness(self, n: ArrayLike) -> Any:
        x = np.log10(np.asarray(n, dtype=np.float64))
        return np.clip(1.0 + x * (self.b + x * (self.c + x * self.d)), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class RandomGuess(Result):
    """RND: one uniform draw between 0 and the correctness at the largest size measured, whatever n is."""

    value: float

    def correctness(self, n: ArrayLike) -> Any:
        return np.full(np.shape(n), self.value) if np.ndim(n) else self.value


def fit_entropy_rule(n: Floats, correctness: Floats, weights: Floats) -> EntropyRule:
    """One parameter by bounded search from the best of a grid."""

    def loss(bits: float) -> float:
        return float(weights @ (correctness - EntropyRule(bits).correctness(n)) ** 2)

    grid = np.linspace(0.0, 115.0, 231)
    best = grid[int(np.argmin([loss(bits) for bits in grid]))]
    optimum = minimize_scalar(
        loss, bounds=(max(best - 0.5, 0.0), best + 0.5), method="bounded", options={"xatol": 1e-9}
    )
    return EntropyRule(float(optimum.x))


def fit_exponential(n: Floats, correctness: Floats, weights: Floats) -> Exponential:
    """For a given b the best a is a ratio: a grid over b, then least squares over both."""
    root = np.sqrt(weights)

    def residuals(x: Floats) -> Floats:
        return np.asarray(root * (correctness - Exponential(float(x[0]), math.exp(x[1])).correctness(n)))

    starts = []
    for log_b in np.linspace(-12.0, 1.0, 27):
        shape = np.exp(-math.exp(log_b) * np.sqrt(n)) - math.exp(-math.exp(log_b))
        power = float(weights @ shape**2)
        a = float(weights @ ((correctness - 1.0) * shape)) / power if power > 0 else 0.0
        starts.append((float(np.sum(residuals(np.array([a, log_b])) ** 2)), a, log_b))
    _, a, log_b = min(starts)
    optimum = least_squares(residuals, [min(max(a, 0.0), 1.0), log_b], bounds=([-1e-9, -16.0], [1.0 + 1e-9, 2.0]))
    return Exponential(float(optimum.x[0]), math.exp(optimum.x[1]))


def fit_polynomial(n: Floats, correctness: Floats, weights: Floats) -> Polynomial:
    """Weighted linear least squares; with two points, two coefficients are fitted and the third is 0."""
    root = np.sqrt(weights)
    powers = np.log10(n)[:, None] ** np.arange(1, min(3, n.size) + 1)
    solution = np.zeros(3)
    solution[: powers.shape[1]] = np.linalg.lstsq(powers * root[:, None], (correctness - 1.0) * root, rcond=None)[0]
    return Polynomial(*solution.tolist())


def fit_random_guess(correctness: Floats, seed: int) -> RandomGuess:
    """One uniform draw below the last point."""
    return RandomGuess(float(np.random.default_rng(seed).uniform(0.0, correctness[-1])))
