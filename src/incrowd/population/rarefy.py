"""What is expected in random subpopulations of a population whose class sizes are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.special import log_gamma_ratio

Floats = NDArray[np.float64]


def log_missed(size: ArrayLike, drawn: ArrayLike, population: ArrayLike) -> Floats:
    """log C(N−f, s)/C(N, s): the chance that `drawn` people of a population hold nobody of a class of `size`.

    >>> round(float(np.exp(log_missed(2, 3, 5))), 12)  # C(3, 3) / C(5, 3)
    0.1
    """
    size, drawn, population = (np.asarray(value, dtype=np.float64) for value in (size, drawn, population))
    rest = population - size - drawn
    return np.where(rest < 0, -np.inf, -log_gamma_ratio(np.maximum(rest, 0.0) + 1.0, size, drawn))
