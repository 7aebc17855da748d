"""Logarithms of binomial probabilities, accurate to the last digits for any size.

A difference of log-gammas loses nine digits at a million people; the saddle-point form of C. Loader, "Fast and Accurate
Computation of Binomial Probabilities" (2000), loses none.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.special import Floats

_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
# log n! minus Stirling's formula, for n = 0 … 15 (0 is never used)
_STIRLING_REST = np.array(
    [0.0] + [math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - _HALF_LOG_TWO_PI for n in range(1, 16)]
)
_NEGLIGIBLE = -60.0  # 1 + e^-60 is 1 in floating point


def log_binomial(hits: ArrayLike, draws: ArrayLike, odds: float) -> Floats:
    """log of C(draws, hits) p^hits q^(draws − hits), with p = odds / (1 + odds).

    >>> float(np.exp(log_binomial(2, 4, 1.0)))
    0.375
    """
    hit, draw = np.broadcast_arrays(np.asarray(hits, dtype=float), np.asarray(draws, dtype=float))
    miss = draw - hit
    chance, rest = odds / (1 + odds), 1 / (1 + odds)
    inner = (hit > 0) & (miss > 0)
    result = np.asarray(np.where(hit > 0, draw * math.log(chance), -draw * math.log1p(odds)), dtype=float)
    x, n, y = hit[inner], draw[inner], miss[inner]
    result[inner] = (
        _stirling_rest(n)
        - _stirling_rest(x)
        - _stirling_rest(y)
        - _deviance(x, n * chance)
        - _deviance(y, n * rest)
        + 0.5 * np.log(n / x / y)
        - _HALF_LOG_TWO_PI
    )
    return result


def log_none(sizes: ArrayLike, drawn: int, people: int) -> Floats:
    """log of C(people − size, drawn) / C(people, drawn): the chance that nobody of a class of that size is drawn.

    >>> np.exp(log_none([1, 2, 6], drawn=3, people=6)).round(4).tolist()
    [0.5, 0.2, 0.0]
    """
    given = np.asarray(sizes, dtype=np.int64)
    distinct, where = np.unique(given, return_inverse=True)
    result = np.full(distinct.shape, -np.inf)
    possible = distinct <= people - drawn
    short = possible & (distinct <= drawn)
    if short.any():
        result[short] = _running_log(distinct[short], drawn, people)
    for index in np.flatnonzero(possible & ~short):
        # C(D−s, L)/C(D, L) is symmetric in s and L: take the shorter product
        result[index] = _running_log(np.array([drawn]), int(distinct[index]), people)[0]
    return result[where].reshape(given.shape)


def _running_log(lengths: NDArray[np.int64], taken: int, people: int) -> Floats:
    """Σ log(1 − taken / (people − i)) over i below each length, up to the point where the rest is negligible."""
    if taken == 0:
        return np.zeros(lengths.shape)
    longest = int(min(lengths.max(), -_NEGLIGIBLE * people // taken + 1))
    steps = np.log1p(-taken / (people - np.arange(longest, dtype=float)))
    totals = np.concatenate([[0.0], np.cumsum(steps)])
    return np.asarray(totals[np.minimum(lengths, longest)], dtype=float)


def _stirling_rest(n: Floats) -> Floats:
    square = n * n
    series = (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / n
    small = n < 16
    table: Any = _STIRLING_REST[np.where(small, n, 0).astype(np.int64)]
    return np.asarray(np.where(small, table, series), dtype=float)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x log(x / mean) + mean − x without cancellation where x is near its mean."""
    ratio = (x - mean) / (x + mean)
    square = ratio * ratio
    series = np.zeros_like(x)
    for power in range(10, 0, -1):
        series = (series + 1 / (2 * power + 1)) * square
    near = (x - mean) * ratio + 2 * x * ratio * series
    return np.asarray(np.where(np.abs(ratio) < 0.1, near, x * np.log(x / mean) + mean - x), dtype=float)
