"""A binormal model of scores: how often the best of many impostors beats the match.

A probe's match scores t standard deviations above the impostors' mean, and t is normal over probes. Then the
correctness is κ(n) = E Φ(t)ⁿ⁻¹. Equivalently, 1 − κ(n) is the mean of Φ((m − μ)/σ) over the best of n − 1 impostors, m.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri_exp

from incrowd.special import Floats

# −log(−(n − 1) log Φ(m)) has a Gumbel distribution at every n; its density is below 1e-17 outside
_NODES = np.arange(-3.7, 36.0, 0.35)
_WEIGHTS = np.exp(-_NODES - np.exp(-_NODES))
_WEIGHTS /= _WEIGHTS.sum()


def binormal_shortfall(mean: ArrayLike, spread: ArrayLike, sizes: ArrayLike) -> Floats:
    """1 − κ at each gallery size (columns), for matches with this mean and spread of scores (rows).

    >>> round(float(binormal_shortfall([2.0], [1.0], [2])[0, 0]), 6)  # Φ(−μ / √(1 + σ²))
    0.07865
    """
    mean, spread = (np.atleast_1d(np.asarray(values, dtype=np.float64))[:, None] for values in (mean, spread))
    columns = []
    for size in np.atleast_1d(np.asarray(sizes, dtype=np.float64)):
        if size <= 1:
            columns.append(np.zeros(mean.shape[0]))
            continue
        best = ndtri_exp(-np.exp(-_NODES) / (size - 1.0))
        columns.append(ndtr((best - mean) / spread) @ _WEIGHTS)
    return np.stack(columns, axis=1)
