"""Exact matching: a person cannot be distinguished from others in the same equivalence class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.curves.result import Curve
from incrowd.curves.sub_galleries import sub_gallery_sizes
from incrowd.special import Floats, log_chance_missed
from incrowd.tables import TableLike

_BLOCK = 1 << 16  # class sizes × gallery sizes in one go


def correctness_curve(
    data: ClassSizes | TableLike,
    at: ArrayLike | None = None,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
) -> Curve:
    """Expected correctness and uniqueness of random sub-galleries, in closed form: no sampling, no noise.

    E κ(s) = (1/s) Σ_f a_f [1 − C(n−f, s)/C(n, s)] and E Ξ(s) = (1/n) Σ_f a_f·f·C(n−f, s−1)/C(n−1, s−1).

    Args:
        data: a table (a path, a frame or a `Table`) with `quasi_identifiers`, or `ClassSizes`.
        at: gallery sizes; 50 log-spaced ones from 1 to everybody unless given.
        quasi_identifiers: the columns an attacker knows.
        person: the column that identifies the person of each record, if people have several.

    Returns:
        The curve, with `people` as many as the data hold.

    Raises:
        InputError: a size is larger than the table, or quasi-identifiers are missing.

    >>> curve = correctness_curve(ClassSizes.from_sizes([2, 1]), at=[1, 2, 3])
    >>> curve.correctness.tolist()
    [1.0, 0.833..., 0.666...]
    """
    sizes = class_sizes_of(data, quasi_identifiers, person)
    people = sizes.people
    gallery = sub_gallery_sizes(at, people)
    drawn = gallery.astype(np.float64)
    classes, uniques = np.zeros(gallery.size), np.zeros(gallery.size)
    rows = max(_BLOCK // gallery.size, 1)
    for start in range(0, sizes.sizes.size, rows):
        size = sizes.sizes[start : start + rows, None].astype(np.float64)
        count = sizes.counts[start : start + rows].astype(np.float64)
        classes += count @ -np.expm1(log_chance_missed(people, size, drawn))
        uniques += (count * size[:, 0]) @ np.exp(log_chance_missed(people - 1.0, size - 1.0, drawn - 1.0))
    correctness, uniqueness = (
        _exact_where_known(share, gallery, sizes, at_full_size)
        for share, at_full_size in ((classes / drawn, sizes.correctness), (uniques / people, sizes.uniqueness))
    )
    return Curve(gallery, correctness, uniqueness, "exact", f"class sizes of {people:,} people", people)


def share_below(sizes: ClassSizes, gallery: int, k: int) -> float:
    """Expected share of a random sub-gallery in classes that have fewer than `k` members there.

    A person in a class of f has X ~ Hypergeom(n−1, f−1, s−1) others of the class in the sub-gallery.

    >>> share_below(ClassSizes.from_sizes([2, 1]), 2, 2)
    0.666...
    """
    if k > gallery:  # no class of a gallery is larger than the gallery
        return 1.0
    from scipy.stats import hypergeom  # a slow import

    chance = hypergeom.cdf(k - 2, sizes.people - 1, sizes.sizes - 1, gallery - 1)
    return float((sizes.counts * sizes.sizes) @ chance / sizes.people)


def _exact_where_known(share: Floats, gallery: NDArray[np.int64], sizes: ClassSizes, at_full_size: float) -> Floats:
    """Replace values that are known exactly: at size 1, at full size, and if everybody is unique."""
    everybody_unique = sizes.classes == sizes.people
    return np.where((gallery == 1) | everybody_unique, 1.0, np.where(gallery == sizes.people, at_full_size, share))
