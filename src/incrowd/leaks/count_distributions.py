"""Distributions of a count in a class, given its h leaked members: targets, or people named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln

from incrowd.special import Floats

Integers = NDArray[np.int64]
Complexes = NDArray[np.complex128]


def tail_width(variance: float | Floats) -> Floats:
    """Distance from the mean beyond which a sum over classes has less than 1e-20 of its mass (Bernstein)."""
    return np.asarray(np.ceil(16 + np.sqrt(256 + 100 * np.asarray(variance, dtype=float))), dtype=float)


class CountDistribution(Protocol):
    """Weighted distribution of a count c in a class, given the number h of its leaked members."""

    @property
    def constant_from(self) -> float:
        """The smallest h from which on the distribution does not change."""

    def log_total(self, h: Integers) -> Floats:
        """Log of the weight of all c together."""

    def weight_ratio(self, h: Integers) -> Floats:
        """The total weight at h + 1 divided by that at h."""

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        """E c and E c²."""

    def characteristic_minus_one(self, phi: Floats, h: Integers) -> Complexes:
        """E[e^{icφ}] − 1 for every φ (rows) and h (columns)."""


@dataclass(frozen=True, slots=True)
class TruncatedPoissonTargets:
    """Poisson(ζ) targets, truncated at the h leaked members: weight ζ^c / c! for c ≤ h, e_h(ζ) in all.

    `last[h]` is the share of e_h(ζ) in its last term, `rest[h]` = 1 − `last[h]` = e_{h−1}/e_h, `logs[h]` = log e_h.
    """

    zeta: float
    last: Floats
    rest: Floats
    logs: Floats

    @classmethod
    def at_rate(cls, zeta: float, longest: int) -> TruncatedPoissonTargets:
        """For h = 0 … `longest`, or as far as Poisson(ζ) has mass."""
        inverse = [1.0]  # e_h / (ζ^h / h!), which grows by a recurrence of positive terms
        for h in range(1, min(longest, int(zeta + tail_width(zeta))) + 1):
            inverse.append(1 + inverse[-1] * h / zeta)
            if inverse[-1] > 1e40:
                break
        terms = np.array(inverse)
        last, rest = 1 / terms, np.zeros(terms.size)
        rest[1:] = np.arange(1, terms.size) / zeta * terms[:-1] / terms[1:]
        steps = np.where(last[1:] < 0.5, np.log1p(-np.minimum(last[1:], 0.5)), np.log(rest[1:]))
        return cls(zeta, last, rest, np.concatenate([[0.0], -np.cumsum(steps)]))

    @property
    def constant_from(self) -> int:
        return self.last.size - 1

    def log_total(self, h: Integers) -> Floats:
        return self.logs[np.minimum(h, self.constant_from)]

    def weight_ratio(self, h: Integers) -> Floats:
        end = self.constant_from
        return np.where(h < end, 1 / self.rest[np.minimum(h + 1, end)], 1.0) if end else np.ones(h.shape)

    def truncated(self, h: Integers) -> Floats:
        """Chance that a Poisson(ζ) number is above h: the share of e^ζ that e_h(ζ) lacks."""
        return np.where(h <= self.constant_from, gammainc(h + 1.0, self.zeta), 0.0)

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        at = np.minimum(h, self.constant_from)
        mean = self.zeta * self.rest
        factorial = self.zeta * mean * np.concatenate([[0.0], self.rest[:-1]])
        return mean[at], (factorial + mean)[at]

    def characteristic_minus_one(self, phi: Floats, h: Integers) -> Complexes:
        table = np.zeros((phi.size, self.last.size), dtype=complex)
        for last in range(1, self.last.size):
            table[:, last] = self.rest[last] * table[:, last - 1] + self.last[last] * np.expm1(1j * last * phi)
        return table[:, np.minimum(h, self.constant_from)]


@dataclass(frozen=True, slots=True)
class EveryLeakedIsTarget:
    """Every leaked member is a target: c = h with weight 1 / h! (ζ^h is part of the odds of leaking)."""

    zeta: float = 1.0
    constant_from: float = np.inf

    def log_total(self, h: Integers) -> Floats:
        return -np.asarray(gammaln(h + 1.0), dtype=float)

    def weight_ratio(self, h: Integers) -> Floats:
        return 1 / (h + 1.0)

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        return h.astype(float), h.astype(float) ** 2

    def characteristic_minus_one(self, phi: Floats, h: Integers) -> Complexes:
        return np.asarray(np.expm1(1j * np.outer(phi, h)))


@dataclass(frozen=True, slots=True)
class CorrectGuesses:
    """People named when each of the h leaked members is guessed once, right with chance 1 / h: Binomial(h, 1/h)."""

    constant_from: float = np.inf

    def log_total(self, h: Integers) -> Floats:
        return np.zeros(h.shape)

    def weight_ratio(self, h: Integers) -> Floats:
        return np.ones(h.shape)

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        some = (h > 0).astype(float)
        return some, some * (2 - 1 / np.maximum(h, 1))

    def characteristic_minus_one(self, phi: Floats, h: Integers) -> Complexes:
        tries = np.maximum(h, 1).astype(float)
        one_guess = np.expm1(1j * phi)[:, None] / tries
        log_modulus, angle = (tries * part for part in complex_log1p(one_guess))
        # e^(log_modulus + i angle) − 1 by its parts: complex arithmetic would make a NaN of log_modulus = −∞
        real = np.expm1(log_modulus) * np.cos(angle) - 2 * np.sin(angle / 2) ** 2
        return np.asarray(np.where(h > 0, real + 1j * np.exp(log_modulus) * np.sin(angle), 0.0))


def complex_log1p(change: Complexes) -> tuple[Floats, Floats]:
    """Real and imaginary part of log(1 + change), exact for small changes; log 0 is −∞."""
    x, y = change.real, change.imag
    small = np.abs(x) < 0.5
    with np.errstate(divide="ignore"):
        real = np.where(small, 0.5 * np.log1p(np.where(small, x * (2 + x) + y * y, 0.0)), np.log(np.hypot(1 + x, y)))
    return real, np.arctan2(y, 1 + x)
