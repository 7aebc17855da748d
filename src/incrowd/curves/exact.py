"""Exact matching: people are confused with those who look alike, class by class."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.classes import ClassSizes
from incrowd.curves.curve import Curve, sub_sizes
from incrowd.special import Floats, log_chance_missed

_BLOCK = 1 << 16  # class sizes × gallery sizes in one go


def correctness_curve(sizes: ClassSizes, at: ArrayLike | None = None) -> Curve:
    """Expected correctness and uniqueness of random sub-galleries, in closed form: no sampling, no noise.

    E κ(s) = (1/s) Σ_f a_f [1 − C(n−f, s)/C(n, s)] and E Ξ(s) = (1/n) Σ_f a_f·f·C(n−f, s−1)/C(n−1, s−1).
    `at` are the gallery sizes; by default 50 log-spaced ones from 1 to everybody.

    >>> curve = correctness_curve(ClassSizes.from_sizes([2, 1]), at=[1, 2, 3])
    >>> curve.correctness.tolist()
    [1.0, 0.833..., 0.666...]
    """
    people = sizes.people
    gallery = sub_sizes(at, people)
    drawn = gallery.astype(np.float64)
    classes, uniques = np.zeros(gallery.size), np.zeros(gallery.size)
    rows = max(_BLOCK // gallery.size, 1)
    for start in range(0, sizes.sizes.size, rows):
        size = sizes.sizes[start : start + rows, None].astype(np.float64)
        count = sizes.counts[start : start + rows].astype(np.float64)
        classes += count @ -np.expm1(log_chance_missed(people, size, drawn))
        uniques += (count * size[:, 0]) @ np.exp(log_chance_missed(people - 1.0, size - 1.0, drawn - 1.0))
    correctness = _ends(classes / drawn, gallery, sizes.correctness, people)
    uniqueness = _ends(uniques / people, gallery, sizes.uniqueness, people)
    return Curve(gallery, correctness, uniqueness, "exact", f"class sizes of {people:,} people", people)


def share_below(sizes: ClassSizes, gallery: int, k: int) -> float:
    """Expected share of a random sub-gallery that is in classes smaller than `k` there.

    A person of a class of f has X ~ Hypergeom(n−1, f−1, s−1) look-alikes in the sub-gallery.

    >>> share_below(ClassSizes.from_sizes([2, 1]), 2, 2)
    0.666...
    """
    if k > gallery:  # no class of a gallery is larger than the gallery
        return 1.0
    from scipy.stats import hypergeom

    chance = hypergeom.cdf(k - 2, sizes.people - 1, sizes.sizes - 1, gallery - 1)
    return float((sizes.counts * sizes.sizes) @ chance / sizes.people)


def _ends(values: Floats, gallery: NDArray[np.int64], whole: float, people: int) -> Floats:
    """At size 1 and at full size the answer is known to the last digit."""
    return np.where(gallery == 1, 1.0, np.where(gallery == people, whole, values))
