"""The Pitman–Yor model of the partition of people into classes: expectations at any population, and random draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import psi

from incrowd.curves.known_distribution import require_sizes, shaped_like
from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.special import Floats, expm1_ratio, gamma_ratio_slope, inverse_digamma, log_beta_binomial, log_gamma_ratio

_CHUNK = 1 << 14
_MOST_LIGHT, _MOST_HEAVY = 300.0, 1e6  # nats; d and alpha keep their digits up to here


@dataclass(frozen=True, slots=True)
class PitmanYor(Result):
    """Pitman–Yor process with discount `d` < 1 and concentration `alpha` > −d.

    d > 0 gives a heavy tail, d = 0 a geometric one, d < 0 a finite number of classes, −alpha/d of them.
    The entropy `h` (nats) and the tail complexity `gamma` are another pair of parameters of the same model.

    >>> model = PitmanYor.from_entropy(h=40, gamma=1, unit="bits")
    >>> round(model.correctness(7.53e9), 8)
    0.44764689
    """

    d: float
    alpha: float
    _derived: ClassVar[tuple[str, ...]] = ("h", "gamma")

    def __post_init__(self) -> None:
        if not (math.isfinite(self.d) and math.isfinite(self.alpha)):
            raise InputError("d and alpha must be finite numbers")
        if self.d >= 1 or self.alpha <= -self.d:
            raise InputError(
                f"d must be below 1 and alpha above -d; d={self.d:.6g} and alpha={self.alpha:.6g} were given"
            )

    @classmethod
    def from_entropy(cls, *, h: float, gamma: float, unit: Literal["nats", "bits"] = "nats") -> PitmanYor:
        """From the expected entropy `h` > 0 and the tail complexity `gamma` in [−1, 1] (scaling-law paper, eq. 2)."""
        if unit not in ("nats", "bits"):
            raise InputError(f"the unit of h is 'nats' or 'bits'; {unit!r} was given")
        if not (math.isfinite(h) and h > 0):
            raise InputError(f"h must be a positive number; {h:.6g} was given")
        if not -1 <= gamma <= 1:
            raise InputError(f"gamma must be from -1 to 1; {gamma:.6g} was given")
        nats = h * math.log(2) if unit == "bits" else h
        if nats * (1.0 - gamma) > _MOST_LIGHT or nats * gamma > _MOST_HEAVY:
            raise InputError(
                f"h(1 - gamma) must be at most {_MOST_LIGHT:g} nats, and h gamma at most {_MOST_HEAVY:g}; "
                f"h = {nats:.6g} and gamma = {gamma:.6g} were given"
            )
        d, alpha = discount_and_concentration(nats, gamma)
        return cls(float(d), float(alpha))

    @property
    def h(self) -> float:
        """Expected entropy in nats."""
        return float(psi(self.alpha + 1) - psi(1 - self.d))

    @property
    def gamma(self) -> float:
        """Tail complexity: −1 finite and uniform, 0 geometric, 1 heavy."""
        return float((psi(1) - psi(1 - self.d)) / self.h)

    @property
    def categories(self) -> float:
        """Largest possible number of classes: finite only for d < 0."""
        return -self.alpha / self.d if self.d < 0 else math.inf

    def correctness(self, n: ArrayLike) -> Any:
        """Expected share of people named correctly in a population of `n` (a number, or an array of them)."""
        return shaped_like(n, expected_correctness(self.d, self.alpha, require_sizes(n, "population")))

    def uniqueness(self, n: ArrayLike) -> Any:
        """Expected share of people alone in their class in a population of `n`."""
        return shaped_like(n, expected_uniqueness(self.d, self.alpha, require_sizes(n, "population")))

    def class_size_pmf(self, n: ArrayLike, j: ArrayLike) -> Any:
        """Probability that a person, in a population of `n`, is in a class of exactly `j` people."""
        size, class_size = np.broadcast_arrays(require_sizes(n, "population"), np.asarray(j, dtype=np.float64))
        if np.any(class_size < 1) or np.any(class_size != np.floor(class_size)):
            raise InputError("class sizes must be whole numbers of 1 or more")
        inside = class_size <= size
        x = np.where(inside, class_size, 1.0) - 1.0
        chance = np.exp(log_beta_binomial(x, size - 1.0, 1.0 - self.d, self.alpha + self.d))
        return shaped_like(np.asarray(n) + np.asarray(j), np.where(inside, chance, 0.0))

    def violations(self, n: ArrayLike, k: int) -> Any:
        """Expected share of people in classes smaller than `k`: a violation of k-anonymity."""
        if k < 1 or k != int(k):
            raise InputError(f"k must be a whole number of 1 or more; {k} was given")
        size = require_sizes(n, "population")
        share = np.zeros(size.shape)
        for first in range(1, min(int(k), int(size.max()) + 1), _CHUNK):
            sizes = np.arange(first, min(first + _CHUNK, int(k)), dtype=np.float64)
            share = share + self.class_size_pmf(size[..., None], sizes).sum(axis=-1)
        return shaped_like(n, np.where(size < k, 1.0, share))

    def sample(self, n: int, seed: int) -> NDArray[np.int64]:
        """Sizes of the classes of one random population of `n` people.

        If d < 0, the number of categories is rounded to the nearest whole number, because the process needs one.
        """
        if n < 1 or n != int(n):
            raise InputError(f"a population must be a whole number of 1 or more; {n} was given")
        from incrowd.pitman_yor.kernels import seat_everybody

        alpha = self.alpha if self.d >= 0 else -self.d * max(round(self.categories), 1)
        return np.asarray(seat_everybody(self.d, float(alpha), int(n), np.random.default_rng(seed)), dtype=np.int64)

    def stick_breaking(self, classes: int, seed: int, *, draws: int = 1) -> Floats:
        """Random probabilities of the first `classes` classes, largest first, one row for each draw.

        V_i ~ Beta(1 − d, α + i·d), p_i = V_i Π_{j<i} (1 − V_j). A row adds up to less than 1: the rest belongs to later
        classes.
        """
        if classes < 1 or draws < 1:
            raise InputError(f"classes and draws must be 1 or more; {classes} and {draws} were given")
        random, d, alpha = np.random.default_rng(seed), self.d, self.alpha
        index = np.arange(1, classes + 1)
        if d < 0:
            categories = max(round(self.categories), 1)
            index = index[index <= categories]
            alpha = -d * categories
        rest = np.maximum(alpha + index * d, 0.0)
        first = random.standard_gamma(1.0 - d, (draws, index.size))
        second = random.standard_gamma(rest, (draws, index.size))
        with np.errstate(divide="ignore"):  # the last category of a finite number takes all that is left
            log_kept = np.log(second) - np.log(first + second)
        log_left = np.cumsum(log_kept, axis=1)
        log_left = np.concatenate([np.zeros((draws, 1)), log_left[:, :-1]], axis=1)
        rows = np.zeros((draws, classes))
        rows[:, : index.size] = first / (first + second) * np.exp(log_left)
        return np.asarray(-np.sort(-rows, axis=1))


def discount_and_concentration(h: ArrayLike, gamma: ArrayLike) -> tuple[Floats, Floats]:
    """(d, alpha) of entropy `h` in nats and tail complexity `gamma`; arrays broadcast."""
    h, gamma = np.asarray(h, dtype=np.float64), np.asarray(gamma, dtype=np.float64)
    heavy = h * gamma
    d = 1.0 - inverse_digamma(psi(1.0) - heavy)
    alpha = inverse_digamma(psi(1.0) + (h - heavy)) - 1.0
    return np.where(gamma == 0, 0.0, d), np.where(gamma == 1, 0.0, alpha)


def entropy_and_tail(d: ArrayLike, alpha: ArrayLike) -> tuple[Floats, Floats]:
    """(h, gamma) of discount and concentration; arrays broadcast."""
    d, alpha = np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64)
    heavy = np.asarray(psi(1.0) - psi(1.0 - d))
    h = np.asarray(psi(alpha + 1.0) - psi(1.0 - d))
    return h, np.divide(heavy, h, out=np.zeros(np.broadcast(heavy, h).shape), where=h > 0)


def expected_correctness(d: ArrayLike, alpha: ArrayLike, n: ArrayLike) -> Floats:
    """E κ(n) = [Γ(1+α)/Γ(d+α) · Γ(n+d+α)/Γ(n+α) − α] / (n d), one step of the recurrence taken out.

    In this form every term is positive, d = 0 and α = 0 are ordinary points, and nothing cancels.
    """
    d, alpha, n = (np.asarray(value, dtype=np.float64) for value in (d, alpha, n))
    slope = gamma_ratio_slope(alpha + 1.0, d, n)
    total = n + alpha + d
    share = (alpha + d) / n * ((n + alpha) / total) * slope * expm1_ratio(d * slope) + 1.0 / total
    return np.asarray(np.where(n == 1, 1.0, share))


def expected_uniqueness(d: ArrayLike, alpha: ArrayLike, n: ArrayLike) -> Floats:
    """E Ξ(n) = Γ(α+1)/Γ(d+α) · Γ(n+d+α−1)/Γ(n+α), one step of the recurrence taken out."""
    d, alpha, n = (np.asarray(value, dtype=np.float64) for value in (d, alpha, n))
    base, others = alpha + d, n - 1.0
    log_rest = -log_gamma_ratio(base + 1.0, 1.0 - d, others)
    share = base / (others + base) * ((alpha + n) / (1.0 + alpha)) * np.exp(log_rest)
    return np.asarray(np.where(n == 1, 1.0, share))
