"""Expected risks in a gallery drawn from a distribution whose class probabilities are known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc

from incrowd.errors import InputError
from incrowd.special import Floats


class KnownDistribution:
    """People drawn independently from classes with known probabilities (scaling-law paper, Methods).

    `frequencies` are the probabilities of the classes, or counts that are divided by their sum. Gallery sizes are a
    number or an array, and so are the results.

    >>> known = KnownDistribution([0.5, 0.25, 0.25])
    >>> known.correctness(2), known.uniqueness(2), known.violations(3, k=3)
    (0.8125, 0.625, 0.84375)

    Raises:
        InputError: there is no frequency above 0, or one is negative or no number.
    """

    def __init__(self, frequencies: ArrayLike) -> None:
        given = np.asarray(frequencies, dtype=np.float64).ravel()
        if not given.size or not np.all(np.isfinite(given)) or given.min() < 0 or given.sum() == 0:
            raise InputError("frequencies must be numbers of 0 or more, at least one of them above 0")
        self.frequencies: Floats = given[given > 0] / given.sum()

    def correctness(self, n: ArrayLike) -> Any:
        """Expected share of people named correctly in a gallery of `n` (eq. 1): Σ [1 − (1−p)^n] / n."""
        size = require_sizes(n, "gallery")
        return shaped_like(n, np.sum(-np.expm1(size[..., None] * self._log_others), axis=-1) / size)

    def uniqueness(self, n: ArrayLike) -> Any:
        """Expected share of people alone in their class in a gallery of `n` (eq. 7): Σ p (1−p)^(n−1)."""
        others = require_sizes(n, "gallery")[..., None] - 1.0
        missed = np.where(others == 0, 1.0, np.exp(np.where(others == 0, 1.0, others) * self._log_others))
        return shaped_like(n, np.sum(self.frequencies * missed, axis=-1))

    def violations(self, n: ArrayLike, k: int) -> Any:
        """Expected share of people in classes below `k` in a gallery of `n` (eq. 11): Σ p I_{1−p}(n−k+1, k−1)."""
        if k < 1 or k != int(k):
            raise InputError(f"k must be a whole number of 1 or more; {k} was given")
        size = require_sizes(n, "gallery")[..., None]
        if k == 1:
            return shaped_like(n, np.zeros(size.shape[:-1]))
        fewer = betaincc(k - 1.0, np.maximum(size - k + 1.0, 1.0), self.frequencies)
        return shaped_like(n, np.sum(self.frequencies * np.where(size < k, 1.0, fewer), axis=-1))

    @property
    def _log_others(self) -> Floats:
        """log(1 − p); minus infinity if one class holds everybody."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log1p(-np.minimum(self.frequencies, 1.0)))


def require_sizes(sizes: ArrayLike, of_what: str) -> Floats:
    """Return sizes of galleries or populations as numbers of 1 or more; refuse anything else."""
    numbers = np.asarray(sizes, dtype=np.float64)
    if numbers.size == 0 or not np.all(np.isfinite(numbers)) or numbers.min() < 1:
        raise InputError(f"sizes of a {of_what} must be numbers of 1 or more")
    return numbers


def shaped_like(given: ArrayLike, result: Floats) -> Any:
    """Return a number for a number and an array for an array."""
    return float(result) if np.ndim(given) == 0 else result
