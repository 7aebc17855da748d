"""Intervals that hold what a model cannot know about itself: how wrong it usually is.

A model's own spread is the noise it would have if it were right. On top comes its error, which was measured on real
tables and grows with the way from n to N. Both are added on the log-odds scale, where they do not depend much on B:

    s² = c₀² + c₁² log²(N/n) + noise² + c₂² spread²

`noise` is that of the sample's own 1/F around their mean: B has the variance v (1 − n/N)/n, v that of 1/F among the
records, which the posterior knows (`scatter` is v/(B(1 − B))); `spread` is what the method itself states. The
constants are those under which 95 % of the truths lie inside on the tables used for tuning.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from incrowd.populations.certain_limits import certain_limits
from incrowd.populations.sample import Sample

_REACH = 1.96


class _Error(NamedTuple):
    """How wrong a method usually is, on the log-odds scale: at least, for each unit of log(N/n), and by its spread."""

    least: float
    growth: float
    spread: float


ERRORS = {
    "combined": _Error(0.0, 0.04, 1.0),
    "posterior": _Error(0.0, 0.1, 1.0),
    "anchored": _Error(0.05, 0.06, 0.0),
    "gaussian": _Error(0.25, 0.08, 0.0),
    "dvine": _Error(0.3, 0.08, 0.0),
    "average": _Error(0.25, 0.08, 0.0),
}


ERRORS_OF_UNIQUES = {
    "combined": _Error(0.2, 0.2, 1.0),
    "posterior": _Error(0.3, 0.3, 1.0),
    "anchored": _Error(0.4, 0.4, 0.0),
}
"""The same for P(unique in the population | unique in the sample), by the methods that were measured on it."""


def interval_around(
    method: str, B: float, sample: Sample, *, scatter: float, spread: float = 0.0
) -> tuple[float, float]:
    """The 95 % interval of an estimate, within the certain limits; `spread` is that of log B.

    Where all records are unique nothing in the sample speaks against a risk of 1, so the interval goes up to it.
    """
    certain = certain_limits(sample.sizes, sample.population)
    if B <= 0.0 or B >= 1.0:
        return certain
    error = ERRORS[method]
    way = math.log(sample.population / sample.sizes.people)
    room = 1.0 - B
    noise = scatter * (1.0 - sample.fraction) / (sample.sizes.people * B * room)
    width = _REACH * math.sqrt(
        error.least**2 + (error.growth * way) ** 2 + noise + (error.spread * spread / max(room, 1e-3)) ** 2
    )
    odds = math.log(B / room)
    low, high = (min(max(_share(odds + side), certain[0]), certain[1]) for side in (-width, width))
    return low, certain[1] if sample.sizes.uniques == sample.sizes.people else high


def interval_of_uniques(
    method: str, still_unique: float | None, B: float, sample: Sample, *, spread: float = 0.0
) -> tuple[float, float] | None:
    """The 95 % interval of P(unique in the population | unique in the sample); none for a method without one.

    Made as `interval_around` is; the noise is that of a share of the sample's uniques. An estimate of fewer than half a
    person, or of all but half a person, is taken as that half, because so few uniques cannot say it more sharply; and
    a lower end of less than half a person is nobody.
    """
    if still_unique is None or method not in ERRORS_OF_UNIQUES or not sample.sizes.uniques:
        return None
    half = 0.5 / sample.sizes.uniques
    middle = min(max(still_unique, half), 1.0 - half)
    error = ERRORS_OF_UNIQUES[method]
    way = math.log(sample.population / sample.sizes.people)
    noise = 1.0 / (sample.sizes.uniques * middle * (1.0 - middle))
    own = error.spread * spread / max(1.0 - B, 1e-3)
    width = _REACH * math.sqrt(error.least**2 + (error.growth * way) ** 2 + noise + own**2)
    odds = math.log(middle / (1.0 - middle))
    low = _share(odds - width)
    return min(low if low >= half else 0.0, still_unique), max(_share(odds + width), still_unique)


def _share(odds: float) -> float:
    return 0.5 * (1.0 + math.tanh(0.5 * odds))
