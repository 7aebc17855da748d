"""Chances of naming the right person in a random sub-gallery, given who stands in the way in the whole one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.special import Floats, log_chance_missed


def named_among_equals(gallery: int, alike: Floats, drawn: Floats) -> Floats:
    """E[1/(1+X)]: the target is drawn with others, of whom X of the `alike − 1` look-alikes; a fair guess among them.

    = n / (s·(m+1)) · [1 − C(n−m−1, s)/C(n, s)] with m + 1 = `alike`. Broadcasts.
    """
    return np.asarray(-np.expm1(log_chance_missed(gallery, alike, drawn)) * gallery / (drawn * alike))


def named_first(gallery: int, better: Floats, tied: Floats, drawn: Floats) -> Floats:
    """None of the `better` entries is drawn, and the guess among the `tied` (true match included) that are is right."""
    nobody_better = np.exp(log_chance_missed(gallery - 1.0, better, drawn - 1.0))
    left = gallery - better
    fits = drawn <= left
    among = -np.expm1(log_chance_missed(left, tied, np.where(fits, drawn, 1.0))) * left / (drawn * tied)
    return np.where(fits, nobody_better * np.where(tied == 1, 1.0, among), 0.0)


def mean_and_covariance(
    chances: NDArray[np.float64], counts: NDArray[np.float64], people: int
) -> tuple[Floats, Floats]:
    """Weighted mean over rows, and the covariance of that mean when `people` independent people stand behind it."""
    share = counts / counts.sum()
    mean = share @ chances
    spread = chances - mean
    return mean, (spread.T * share) @ spread / max(people - 1, 1)
