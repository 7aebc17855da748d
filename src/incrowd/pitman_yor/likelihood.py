"""How likely a partition of people into classes is under the Pitman–Yor model."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from incrowd.classes import ClassSizes
from incrowd.special import Floats, log_steps

PUBLISHED_STRENGTH = 10.0
"""Of the prior with which the most probable model is sought, as in the scaling-law paper."""

POSTERIOR_STRENGTH, POSTERIOR_DECAY = 1.0, 0.2
"""Of the prior of the posterior, −1/(1 − γ) − h/5. The published one is so strong that intervals miss heavy tails; a
flat one forecasts small tables too high. This one covers, and has a small forecast error on real tables."""


def log_likelihood(sizes: ClassSizes, d: ArrayLike, alpha: ArrayLike) -> Floats:
    """log probability of the partition (Pitman 1995): −inf where d < 0 leaves too few categories.

    Σ_{i<K} log(α + i d) − Σ_{i<n} log(α + i) + Σ_f a_f [lnΓ(f−d) − lnΓ(1−d)]; arrays of d and alpha broadcast.

    >>> table = ClassSizes.from_sizes([2, 1])  # the third person joins one of two: three such partitions
    >>> float(np.exp(log_likelihood(table, 0.5, 1.0)))
    0.125...
    """
    d, alpha = np.broadcast_arrays(np.asarray(d, dtype=np.float64), np.asarray(alpha, dtype=np.float64))
    shape = d.shape
    d, alpha = np.atleast_1d(d).ravel(), np.atleast_1d(alpha).ravel()
    possible = (alpha + (sizes.classes - 1.0) * d > 0) & (alpha > -1)
    result = np.full(d.shape, -np.inf)
    d, alpha = d[possible], alpha[possible]
    between = log_steps(alpha, d, sizes.classes - 1.0) - log_steps(alpha, 1.0, sizes.people - 1.0)
    result[possible] = between + _within(sizes, d)
    return result.reshape(shape)


def _within(sizes: ClassSizes, d: Floats) -> Floats:
    """Σ_f a_f [lnΓ(f−d) − lnΓ(1−d)], which depends on d alone."""
    d, where = np.unique(d, return_inverse=True)  # points of a grid share their d
    size, count = sizes.sizes.astype(np.float64), sizes.counts.astype(np.float64)
    mild = d > -1e4  # below, the two log-gammas agree in too many digits
    total = np.empty(d.shape)
    total[mild] = gammaln(size - d[mild, None]) @ count - gammaln(1.0 - d[mild]) * count.sum()
    if not np.all(mild):
        total[~mild] = log_steps(-d[~mild, None], 1.0, size - 1.0) @ count
    return np.asarray(total[where])


def log_prior(gamma: ArrayLike, strength: float) -> Floats:
    """−strength / (1 − γ), after Archer, Park & Pillow 2014; below γ = 0 a light tail is not rewarded further."""
    gamma = np.maximum(np.asarray(gamma, dtype=np.float64), 0.0)
    return np.asarray(-strength / np.maximum(1.0 - gamma, 1e-12))
