"""What is certain of B whatever the population looks like."""

from __future__ import annotations

import numpy as np

from incrowd.classes import ClassSizes


def certain_limits(sizes: ClassSizes, population: int) -> tuple[float, float]:
    """(Σ √f)²/(nN) ≤ B ≤ K/n, the sum over the sample's classes.

    Above, because F ≥ f. Below by Cauchy–Schwarz, because the F of the sample's classes add up to N at most:
    (Σ √f)² = (Σ √(f/F) √F)² ≤ Σ f/F · N. K/N is no limit for a given sample, only for the average of all samples.

    >>> certain_limits(ClassSizes.from_sizes([19, 1]), 100)
    (0.0143..., 0.1)
    """
    roots = float(np.sqrt(sizes.sizes.astype(np.float64)) @ sizes.counts)
    return min(roots**2 / (sizes.people * population), sizes.correctness), sizes.correctness


def within(sizes: ClassSizes, population: int, value: float) -> float:
    """The value within the certain limits."""
    low, high = certain_limits(sizes, population)
    return min(max(value, low), high)
