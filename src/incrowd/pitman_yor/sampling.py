"""Random populations and random frequencies from a Pitman–Yor process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def chinese_restaurant(d: float, alpha: float, n: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Class sizes of `n` people who arrive one by one."""
    from incrowd.pitman_yor.kernels import seat_everybody

    if d < 0:
        alpha = -d * max(round(-alpha / d), 1)
    return np.asarray(seat_everybody(d, alpha, n, random), dtype=np.int64)


def stick_breaking(
    d: float, alpha: float, classes: int, draws: int, random: np.random.Generator
) -> NDArray[np.float64]:
    """The first sticks, largest first: V_i ~ Beta(1 − d, α + i·d), p_i = V_i Π_{j<i} (1 − V_j)."""
    index = np.arange(1, classes + 1)
    if d < 0:
        categories = max(round(-alpha / d), 1)
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
