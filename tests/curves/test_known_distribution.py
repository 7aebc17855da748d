"""Risks under a known distribution, against every gallery that can be drawn and against the equations as printed."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest

from incrowd import InputError
from incrowd.classes import ClassSizes
from incrowd.curves import KnownDistribution

PROBABILITIES = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


def enumerated(metric, n):
    """The mean of a metric of single records over all records of all galleries of n, in fractions (eq. 5)."""
    total = Fraction(0)
    for gallery in product(range(len(PROBABILITIES)), repeat=n):
        chance = math.prod(PROBABILITIES[one] for one in gallery)
        sizes = Counter(gallery)
        total += chance * sum(metric(sizes[one]) for one in gallery) / n
    return float(total)


@pytest.mark.paper("scaling-law", "eq. 1", "eq. 5", "eq. 6", "eq. 7", "eq. 8", "eq. 10", "eq. 11")
@pytest.mark.parametrize("n", [1, 2, 3, 6])
def test_expectations_are_means_over_all_galleries(n):
    known = KnownDistribution([float(p) for p in PROBABILITIES])
    assert known.correctness(n) == pytest.approx(enumerated(lambda size: Fraction(1, size), n), rel=1e-14)
    assert known.uniqueness(n) == pytest.approx(enumerated(lambda size: Fraction(size == 1), n), rel=1e-14)
    for k in (1, 2, 3, 4, 9):
        assert known.violations(n, k) == pytest.approx(enumerated(lambda size, k=k: Fraction(size < k), n), rel=1e-14)


@pytest.mark.paper("scaling-law", "eq. 1", "eq. 7", "eq. 11")
@pytest.mark.parametrize(("n", "k"), [(50, 5), (10**6, 3), (7_530_000_000, 20)])
def test_large_galleries_agree_with_mpmath(n, k):
    chances = [0.5, 0.3, 0.2 - 1e-9, 1e-9]
    known = KnownDistribution(chances)
    with mp.workdps(60):
        chances = [mp.mpf(float(p)) for p in known.frequencies]
        kappa = sum((1 - (1 - p) ** n) / n for p in chances)
        unique = sum(p * (1 - p) ** (n - 1) for p in chances)
        below = sum(p * mp.betainc(n - k + 1, k - 1, 0, 1 - p, regularized=True) for p in chances)
    assert known.correctness(n) == pytest.approx(float(kappa), rel=1e-12)
    assert known.uniqueness(n) == pytest.approx(float(unique), rel=1e-6, abs=1e-300)
    assert known.violations(n, k) == pytest.approx(float(below), rel=1e-9, abs=1e-300)


@pytest.mark.paper("scaling-law", "eq. 5")
def test_metrics_of_a_gallery_are_means_over_its_records():
    sizes = ClassSizes.from_sizes([4, 2, 1, 1])
    each = [4] * 4 + [2] * 2 + [1, 1]
    assert sizes.correctness == pytest.approx(sum(1 / size for size in each) / 8)
    assert sizes.uniqueness == sum(size == 1 for size in each) / 8
    assert sizes.below(4) / 8 == sum(size < 4 for size in each) / 8


def test_counts_are_frequencies_and_arrays_give_arrays():
    counted, known = KnownDistribution([3, 2, 0, 1]), KnownDistribution([1 / 2, 1 / 3, 1 / 6])
    assert counted.correctness([1, 4]).tolist() == pytest.approx(known.correctness([1, 4]).tolist())
    assert counted.violations(np.array([1, 4]), 2).shape == (2,)
    one = KnownDistribution([7])
    assert (one.correctness(4), one.uniqueness(1), one.uniqueness(4), one.violations(4, 5)) == (0.25, 1.0, 0.0, 1.0)


@pytest.mark.parametrize("given", [[], [0.0], [0.5, -0.1], [float("nan")]])
def test_frequencies_that_are_none_are_refused(given):
    with pytest.raises(InputError, match="frequencies must be numbers"):
        KnownDistribution(given)


def test_impossible_questions_are_refused():
    known = KnownDistribution([1, 1])
    with pytest.raises(InputError, match="sizes of a gallery"):
        known.correctness(0)
    with pytest.raises(InputError, match="k must be"):
        known.violations(5, 0)
