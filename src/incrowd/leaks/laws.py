"""What is counted in each class besides its h leaked members: targets, or people named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc, gammaln

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Complexes = NDArray[np.complex128]


def reach(variance: float | Floats) -> Floats:
    """How far from its mean a sum over classes can be, leaving out less than 1e-20 of it (Bernstein's inequality)."""
    return np.asarray(np.ceil(16 + np.sqrt(256 + 100 * np.asarray(variance, dtype=float))), dtype=float)


class Law(Protocol):
    """A number c for every class, whose law depends on how many of its members leaked."""

    @property
    def end(self) -> float:
        """From this h on the law is the same for every h."""

    def log_total(self, h: Integers) -> Floats:
        """Log of the weight of all c together."""

    def growth(self, h: Integers) -> Floats:
        """By how much that weight grows from h to h + 1."""

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        """E c and E c²."""

    def turned(self, phi: Floats, h: Integers) -> Complexes:
        """E[e^{icφ}] − 1 for every φ (rows) and h (columns)."""


@dataclass(frozen=True, slots=True)
class SomeTargets:
    """Poisson(ζ) targets, cut off at the h leaked members: weight ζ^c / c! for c ≤ h, e_h(ζ) in all.

    `last[h]` is the share of e_h(ζ) in its last term, `rest[h]` = 1 − `last[h]` = e_{h−1}/e_h, `logs[h]` = log e_h.
    """

    zeta: float
    last: Floats
    rest: Floats
    logs: Floats

    @classmethod
    def with_rate(cls, zeta: float, longest: int) -> SomeTargets:
        """For h = 0 … `longest`, or as far as the Poisson law reaches."""
        inverse = [1.0]  # e_h / (ζ^h / h!), which grows by a recurrence of positive terms
        for h in range(1, min(longest, int(zeta + reach(zeta))) + 1):
            inverse.append(1 + inverse[-1] * h / zeta)
            if inverse[-1] > 1e40:
                break
        terms = np.array(inverse)
        last, rest = 1 / terms, np.zeros(terms.size)
        rest[1:] = np.arange(1, terms.size) / zeta * terms[:-1] / terms[1:]
        steps = np.where(last[1:] < 0.5, np.log1p(-np.minimum(last[1:], 0.5)), np.log(rest[1:]))
        return cls(zeta, last, rest, np.concatenate([[0.0], -np.cumsum(steps)]))

    @property
    def end(self) -> int:
        return self.last.size - 1

    def log_total(self, h: Integers) -> Floats:
        return self.logs[np.minimum(h, self.end)]

    def growth(self, h: Integers) -> Floats:
        return np.where(h < self.end, 1 / self.rest[np.minimum(h + 1, self.end)], 1.0) if self.end else np.ones(h.shape)

    def cut(self, h: Integers) -> Floats:
        """Chance that a Poisson(ζ) number is above h: the share of e^ζ that e_h(ζ) lacks."""
        return np.where(h <= self.end, gammainc(h + 1.0, self.zeta), 0.0)

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        at = np.minimum(h, self.end)
        mean = self.zeta * self.rest
        factorial = self.zeta * mean * np.concatenate([[0.0], self.rest[:-1]])
        return mean[at], (factorial + mean)[at]

    def turned(self, phi: Floats, h: Integers) -> Complexes:
        table = np.zeros((phi.size, self.last.size), dtype=complex)
        for last in range(1, self.last.size):
            table[:, last] = self.rest[last] * table[:, last - 1] + self.last[last] * np.expm1(1j * last * phi)
        return table[:, np.minimum(h, self.end)]


@dataclass(frozen=True, slots=True)
class AllTargets:
    """Every leaked member is a target: c = h with weight 1 / h! (ζ^h is part of the odds of leaking)."""

    zeta: float = 1.0
    end: float = np.inf

    def log_total(self, h: Integers) -> Floats:
        return -np.asarray(gammaln(h + 1.0), dtype=float)

    def growth(self, h: Integers) -> Floats:
        return 1 / (h + 1.0)

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        return h.astype(float), h.astype(float) ** 2

    def turned(self, phi: Floats, h: Integers) -> Complexes:
        return np.asarray(np.expm1(1j * np.outer(phi, h)))


@dataclass(frozen=True, slots=True)
class Guesses:
    """People named when each of the h leaked members is guessed once, right with chance 1 / h: Binomial(h, 1/h)."""

    end: float = np.inf

    def log_total(self, h: Integers) -> Floats:
        return np.zeros(h.shape)

    def growth(self, h: Integers) -> Floats:
        return np.ones(h.shape)

    def mean_and_square(self, h: Integers) -> tuple[Floats, Floats]:
        some = (h > 0).astype(float)
        return some, some * (2 - 1 / np.maximum(h, 1))

    def turned(self, phi: Floats, h: Integers) -> Complexes:
        tries = np.maximum(h, 1).astype(float)
        turn = np.expm1(1j * phi)[:, None] / tries
        size, angle = (tries * part for part in log_one_plus(turn))
        # e^(size + i angle) − 1 by its parts: complex arithmetic would make a NaN of size = −∞
        real = np.expm1(size) * np.cos(angle) - 2 * np.sin(angle / 2) ** 2
        return np.asarray(np.where(h > 0, real + 1j * np.exp(size) * np.sin(angle), 0.0))


def log_one_plus(change: Complexes) -> tuple[Floats, Floats]:
    """Real and imaginary part of log(1 + change), exact for small changes; the log of nothing is −∞."""
    x, y = change.real, change.imag
    small = np.abs(x) < 0.5
    with np.errstate(divide="ignore"):
        size = np.where(small, 0.5 * np.log1p(np.where(small, x * (2 + x) + y * y, 0.0)), np.log(np.hypot(1 + x, y)))
    return size, np.arctan2(y, 1 + x)
