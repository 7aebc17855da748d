"""Intervals of population estimates: certain limits, and the measured error of each method.

A model's own standard deviation assumes that the model is right. Its model error was measured on real tables; it grows
with N/n. The variances are added on the log-odds scale, where they hardly depend on B:

    s² = c₀² + c₁² log²(N/n) + noise² + c₂² deviation²

`noise` is the sampling error of the mean of 1/F: B has the variance v (1 − n/N)/n, where v is the variance of 1/F among
the records, from the posterior (`scatter` is v/(B(1 − B))). `deviation` is the method's own standard deviation. The
constants are such that 95 % of the true values are inside the intervals on the tables used for tuning.

The error of the crowd model (also combined with the copula) falls with the size of the sample, and is larger where
estimates disagree. Half its interval on the log-odds scale is

    √((c₃ log(N/n)/n^¼)² + (c₄ drift)² + (c₅ gap)²)

with `drift` that of the growth (`crowd_estimator.py`) and `gap` the distance from the copula, 0 where the sample is so
large that the copula is not used. It is at least the sampling error, and wider if the population is larger than the
number of people grown. Where the drift is not known, half the interval is c log(N/n)/n^¼. If weights are unequal, n is
divided by the design effect, 1 + their squared coefficient of variation.
Methods that do not use weights get an additional error instead.
"""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from incrowd.classes import ClassSizes
from incrowd.special import NORMAL_QUANTILE

if TYPE_CHECKING:
    from incrowd.populations.sample import Sample


class _Error(NamedTuple):
    """Error of a method on the log-odds scale: c₀ (`least`), c₁ (`growth`) and c₂ (`own`) of the formula above."""

    least: float
    growth: float
    own: float


CROWD_ERROR = 0.8
"""c: half the interval of the crowd model at N = e n and one record, on the log-odds scale, if nothing can disagree."""

CROWD_ERRORS = (0.45, 1.0, 0.8)
"""c₃, c₄ and c₅: the same error where estimates agree, and its increase with drift and gap."""

CROWD_EXTRAPOLATION = 0.17
"""Error added (in quadrature) for every e-fold by which the population exceeds the people grown."""

UNEQUAL_WEIGHTS = 0.25
"""The error of a method that does not use weights for every e-fold of the design effect, on the log-odds scale."""

ERRORS = {
    "combined": _Error(0.0, 0.04, 1.0),
    "posterior": _Error(0.0, 0.1, 1.0),
    "anchored": _Error(0.05, 0.06, 0.0),
    "gaussian": _Error(0.25, 0.08, 0.0),
    "dvine": _Error(0.3, 0.08, 0.0),
    "average": _Error(0.25, 0.08, 0.0),
}
"""Errors of B, by method."""

ERRORS_OF_UNIQUES = {
    "crowd": _Error(0.25, 0.25, 0.0),
    "combined": _Error(0.2, 0.2, 1.0),
    "posterior": _Error(0.3, 0.3, 1.0),
    "anchored": _Error(0.4, 0.4, 0.0),
}
"""Errors of P(unique in the population | unique in the sample), for the methods that were measured on it."""


def interval_around(
    method: str, estimate: float, sample: Sample, *, scatter: float, deviation: float = 0.0
) -> tuple[float, float]:
    """The 95 % interval of an estimate of B, within the certain limits; `deviation` is that of log B.

    If all records are unique, nothing in the sample contradicts a risk of 1, so the upper end is 1.
    """
    certain = certain_limits(sample.sizes, sample.population)
    if estimate <= 0.0 or estimate >= 1.0:
        return certain
    error = ERRORS[method]
    distance = math.log(sample.population / sample.sizes.people)
    room = 1.0 - estimate
    noise = scatter * (1.0 - sample.fraction) / (sample.sizes.people * estimate * room)
    width = NORMAL_QUANTILE * math.sqrt(
        error.least**2
        + (error.growth * distance) ** 2
        + noise
        + (error.own * deviation / max(room, 1e-3)) ** 2
        + (UNEQUAL_WEIGHTS * math.log(sample.design_effect)) ** 2
    )
    return _within_certain(estimate, width, certain, sample.sizes)


def interval_of_crowd(
    estimate: float, sample: Sample, *, grown: int, variance: float, drift: float, gap: float
) -> tuple[float, float]:
    """The 95 % interval of an estimate of B by the crowd model, within the certain limits.

    `grown` is the number of people grown, `variance` the variance of 1/F among the records, `drift` that of the growth
    (NaN if it is not known), and `gap` the distance of crowd model and copula on the log-odds scale.
    """
    certain = certain_limits(sample.sizes, sample.population)
    if estimate <= 0.0 or estimate >= 1.0:
        return certain
    people, room = sample.sizes.people, 1.0 - estimate
    effective = people / sample.design_effect
    distance = math.log(sample.population / people) / effective**0.25
    if math.isnan(drift):
        usual = CROWD_ERROR * distance
    else:
        usual = math.hypot(*(c * part for c, part in zip(CROWD_ERRORS, (distance, drift, gap), strict=True)))
    noise = NORMAL_QUANTILE * math.sqrt(variance * (1.0 - sample.fraction) / effective) / (estimate * room)
    width = math.hypot(max(usual, noise), CROWD_EXTRAPOLATION * math.log(sample.population / grown))
    low, high = _within_certain(estimate, width, certain, sample.sizes)
    return min(low, estimate), max(high, estimate)


def _within_certain(
    estimate: float, width: float, certain: tuple[float, float], sizes: ClassSizes
) -> tuple[float, float]:
    """An interval of this width to either side on the log-odds scale, within the certain limits."""
    log_odds = math.log(estimate / (1.0 - estimate))
    low, high = (min(max(_share(log_odds + side), certain[0]), certain[1]) for side in (-width, width))
    return low, certain[1] if sizes.uniques == sizes.people else high


def interval_of_uniques(
    method: str, still_unique: float | None, estimate: float, sample: Sample, *, deviation: float = 0.0
) -> tuple[float, float] | None:
    """The 95 % interval of P(unique in the population | unique in the sample); None for a method without one.

    Computed like `interval_around`; the sampling error is that of a share of the sample's uniques. An estimate within
    half a person of 0 or of all uniques is moved to half a person, the resolution of so few uniques. A lower end below
    half a person becomes 0.
    """
    if still_unique is None or method not in ERRORS_OF_UNIQUES or not sample.sizes.uniques:
        return None
    half = 0.5 / sample.sizes.uniques
    middle = min(max(still_unique, half), 1.0 - half)
    error = ERRORS_OF_UNIQUES[method]
    distance = math.log(sample.population / sample.sizes.people)
    noise = 1.0 / (sample.sizes.uniques * middle * (1.0 - middle))
    own = error.own * deviation / max(1.0 - estimate, 1e-3)
    unequal = UNEQUAL_WEIGHTS * math.log(sample.design_effect)
    width = NORMAL_QUANTILE * math.sqrt(error.least**2 + (error.growth * distance) ** 2 + noise + own**2 + unequal**2)
    log_odds = math.log(middle / (1.0 - middle))
    low = _share(log_odds - width)
    return min(low if low >= half else 0.0, still_unique), max(_share(log_odds + width), still_unique)


def _share(log_odds: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * log_odds))


_ROUNDED_DOWN = 1 - 8 * sys.float_info.epsilon  # keeps rounding errors from putting the limit above an exact value


def certain_limits(sizes: ClassSizes, population: int) -> tuple[float, float]:
    """Limits of B whatever the population looks like: (Σ √f)²/(nN) ≤ B ≤ K/n, the sum over the sample's classes.

    Upper limit: F ≥ f. Lower limit by Cauchy–Schwarz, as the F of the sample's classes add up to at most N:
    (Σ √f)² = (Σ √(f/F) √F)² ≤ Σ f/F · N. K/N is a limit for the mean over samples only, not for a given sample.

    >>> certain_limits(ClassSizes.from_sizes([19, 1]), 100)
    (0.0143..., 0.1)
    """
    roots = float(np.sqrt(sizes.sizes.astype(np.float64)) @ sizes.counts)
    low = roots**2 / (sizes.people * population) * _ROUNDED_DOWN
    return min(low, sizes.correctness), sizes.correctness


def bound_estimate(sizes: ClassSizes, population: int, estimate: float) -> float:
    """The estimate of B, moved to the nearest certain limit if it is outside."""
    low, high = certain_limits(sizes, population)
    return min(max(estimate, low), high)
