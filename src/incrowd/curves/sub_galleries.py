"""Random sub-galleries: their sizes, and the chance to name the right person in one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.errors import InputError
from incrowd.special import Floats, log_chance_missed

POINTS = 50
"""Default number of sizes of a curve."""


def gallery_sizes(values: ArrayLike) -> NDArray[np.int64]:
    """Return the sizes as whole numbers of 1 or more; refuse anything else."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("sizes must be numbers") from None
    if array.ndim != 1 or array.size == 0:
        raise InputError("sizes must be a list of at least one number")
    if not np.all(np.isfinite(array)) or np.any(array != np.floor(array)) or array.min() < 1:
        raise InputError("sizes must be whole numbers of 1 or more")
    if array.max() >= 2**53:
        raise InputError("sizes must be below 2**53")
    return array.astype(np.int64)


def sub_gallery_sizes(at: ArrayLike | None, people: int) -> NDArray[np.int64]:
    """Return the sizes `at`, ascending and without duplicates; by default 50 log-spaced ones from 1 to `people`."""
    if at is None:
        return np.unique(np.rint(np.geomspace(1, people, POINTS)).astype(np.int64))
    sizes = np.unique(gallery_sizes(np.atleast_1d(np.asarray(at))))
    if sizes[-1] > people:
        raise InputError(f"a gallery of {sizes[-1]:,} cannot be drawn from {people:,} people; give at most {people:,}")
    return sizes


def named_among_equals(gallery: int, alike: Floats, drawn: Floats) -> Floats:
    """E[1/(1+X)], X the number of the `alike − 1` others of the target's class who are drawn; the guess is uniform.

    = n / (s·(m+1)) · [1 − C(n−m−1, s)/C(n, s)] with m + 1 = `alike`. Broadcasts.
    """
    return np.asarray(-np.expm1(log_chance_missed(gallery, alike, drawn)) * gallery / (drawn * alike))


def named_first(gallery: int, better: Floats, tied: Floats, drawn: Floats) -> Floats:
    """Chance that no `better` entry is drawn and the guess among the `tied` ones (true match included) is right."""
    nobody_better = np.exp(log_chance_missed(gallery - 1.0, better, drawn - 1.0))
    not_better = gallery - better
    fits = drawn <= not_better
    among = -np.expm1(log_chance_missed(not_better, tied, np.where(fits, drawn, 1.0))) * not_better / (drawn * tied)
    return np.where(fits, nobody_better * np.where(tied == 1, 1.0, among), 0.0)


def mean_and_covariance(chances: Floats, counts: Floats, people: int) -> tuple[Floats, Floats]:
    """Weighted mean over rows, and the covariance of that mean over `people` independent people."""
    share = counts / counts.sum()
    mean = share @ chances
    deviation = chances - mean
    return mean, (deviation.T * share) @ deviation / max(people - 1, 1)
