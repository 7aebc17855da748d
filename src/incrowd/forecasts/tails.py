"""Forecasts of identification techniques: two forms of the tail, weighed by the counts of probes.

A technique compares scores, and nothing says that its matches follow the scaling law. Another form, a binormal model of
scores, fits as well and has a lighter tail. Either may lose a share ε of the probes at every gallery size (no face
found, a wrong label). The posterior is over all of them.

The same probes are searched in galleries of growing size, so each fails between two of the sizes, or never: the counts
are multinomial. Neither form is exact, so the likelihood of many probes would be too sure: fewer count than there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaincinv, xlogy

from incrowd.curves.result import Curve
from incrowd.forecasts.score_model import binormal_shortfall
from incrowd.pitman_yor.curve_fit import LEAST, limits_of_fit, people_tested
from incrowd.pitman_yor.likelihood import POSTERIOR_DECAY
from incrowd.pitman_yor.posterior import Posterior, weighted_interval
from incrowd.special import Floats

TailName = Literal["law", "binormal", "alarm"]

FAR = 100.0
"""Populations beyond this multiple of the largest gallery have the forecast of each tail shown."""

_ALONG = 25  # points of a grid along each axis
_CLOSER = 7  # times that a grid is shrunk to the points that count
_IMPOSSIBLE = 1e-300  # the smallest probability of a count
_NEGLIGIBLE = 12.0  # log density below the highest at which a point does not count
_SIZES = 8  # sizes used of a curve
_FLOORS = np.linspace(0.0, 1.0, 11) ** 2  # ε in units of the largest that is plausible
_SMALL_GALLERY = 10  # ε can be told from other losses only if the smallest gallery has at most so many people
_TRUSTED = 300  # probes that count in full; beyond, the square root of this times their number counts
_BEYOND = 6.0  # how far the shapes of the beta distribution of false alarms go, in logs
_STRANGE = 0.99  # a misfit above this quantile of its distribution is attributed to the forms, not to chance
_MIDDLE_SPREAD, _WIDTH_SPREAD = np.log(2.0), 0.7  # of the log-normal prior of the spread of match scores


class Form(NamedTuple):
    """A form of the tail with two coordinates: 1 − κ of rows of points, their limits, and their log prior density."""

    name: TailName
    shortfall: Callable[[Floats, Floats], Floats]
    limits: Callable[[float], Floats]
    log_prior: Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class WeighedTail:
    """The models of one form that count: two coordinates and ε for each, their weights, and the form's evidence.

    `misfit` is the deviance of the best of them.
    """

    form: Form
    has_floor: bool
    points: Floats
    floor: Floats
    weights: Floats
    log_evidence: float
    misfit: float

    def correctness(self, sizes: Floats) -> Floats:
        """The correctness of each model (rows) at each size (columns)."""
        return np.asarray((1.0 - self.floor[:, None]) * (1.0 - self.form.shortfall(self.points, sizes)))


@dataclass(frozen=True, slots=True, eq=False)
class TailAverage:
    """The posterior over all forms; each has the weight of its evidence."""

    tails: tuple[WeighedTail, ...]
    NAMES: ClassVar[tuple[TailName, ...]] = ("law", "binormal")

    @classmethod
    def of(cls, curve: Curve, *, finite: bool = False) -> TailAverage:
        """Weigh the forms by the points of a curve; `finite` lets the law have γ < 0, on clear evidence for that."""
        law = Form("law", law_shortfall, limits_of_any_law if finite else limits_of_law, _log_prior_of_law)
        return cls.weigh(ProbeCounts.of(curve), (law, SCORES))

    @classmethod
    def weigh(cls, counts: ProbeCounts, forms: Sequence[Form]) -> TailAverage:
        """Weigh these forms by counts of probes."""
        floors = (False, True) if counts.sizes[0] <= _SMALL_GALLERY else (False,)
        tails = [_weigh(form, counts, floor) for form in forms for floor in floors]
        doubt = counts.doubt(min(tail.misfit for tail in tails))
        if doubt < 1.0:
            fewer = replace(counts, counts=doubt * counts.counts)
            tails = [_weigh(form, fewer, floor) for form in forms for floor in floors]
        return cls(tuple(tails))

    @property
    def law(self) -> Posterior:
        """The posterior of the scaling law without ε."""
        from incrowd.pitman_yor.kernels import model_at

        (tail,) = [tail for tail in self.tails if tail.form.name == "law" and not tail.has_floor]
        models = np.array([model_at(*point) for point in tail.points])
        return Posterior(1.0 - models[:, 0], models[:, 1] - 1.0, tail.weights)

    def share(self, name: TailName) -> float:
        """The weight of a form, with and without ε."""
        evidence = np.array([tail.log_evidence for tail in self.tails])
        weight = np.exp(evidence - evidence.max())
        chosen = np.array([tail.form.name == name for tail in self.tails])
        return float(weight[chosen].sum() / weight.sum())

    def correctness(self, sizes: Floats, level: float, names: Sequence[TailName] = ()) -> tuple[Floats, Floats, Floats]:
        """Mean and interval of the correctness at each size, by the forms named, or by all."""
        chosen = [tail for tail in self.tails if not names or tail.form.name in names]
        highest = max(tail.log_evidence for tail in chosen)
        weights = np.concatenate([tail.weights * np.exp(tail.log_evidence - highest) for tail in chosen])
        values = np.concatenate([tail.correctness(sizes) for tail in chosen])
        ends = [weighted_interval(column, weights, level) for column in values.T]
        low, high = np.array(ends).T
        return weights @ values / weights.sum(), low, high


@dataclass(frozen=True, slots=True, eq=False)
class ProbeCounts:
    """Gallery sizes, and how many probes first fail between two of them; the last count is of those that never do."""

    sizes: Floats
    counts: Floats

    @classmethod
    def of(cls, curve: Curve) -> ProbeCounts:
        """The counts of a curve."""
        inside = curve.sizes > 1
        return cls.of_shares(curve.sizes[inside], 1.0 - curve.correctness[inside], people_tested(curve))

    @classmethod
    def of_shares(cls, sizes: ArrayLike, failed: ArrayLike, probes: float) -> ProbeCounts:
        """The counts of the shares that failed at each size; a share that falls by chance counts as no change."""
        size, lost = np.asarray(sizes, dtype=np.float64), np.asarray(failed, dtype=np.float64)
        spaced = np.geomspace(size[0], size[-1], _SIZES)
        chosen = np.unique(np.abs(np.log(size)[:, None] - np.log(spaced)).argmin(axis=0))
        grown = np.maximum.accumulate(lost[chosen])
        return cls(size[chosen], effective_probes(probes) * np.diff(grown, prepend=0.0, append=1.0))

    def doubt(self, misfit: float) -> float:
        """The factor of the counts with which the best model is plausible: below 1 if no form comes near the points."""
        freedom = self.sizes.size - 2
        if freedom < 1:
            return 1.0
        strange = 2.0 * float(gammaincinv(freedom / 2.0, _STRANGE))  # a quantile of χ²
        return 1.0 / max(misfit / strange, 1.0)


def effective_probes(probes: float) -> float:
    """The number of probes that count.

    It was set on simulated vectors, so that 95 % of the intervals contain the truth ten times ahead.
    """
    return float(min(probes, np.sqrt(_TRUSTED * probes)))


def _weigh(form: Form, counts: ProbeCounts, has_floor: bool) -> WeighedTail:
    """The posterior over one form on a grid that shrinks to the points that count."""
    limits = form.limits(counts.sizes[-1])
    whole = float(np.prod(np.diff(limits, axis=1)))
    probes = counts.counts.sum()
    plausible = 2.0 * max(counts.counts[0], 1.0) / probes
    floors = plausible * _FLOORS if has_floor else np.zeros(1)
    of_floor = np.gradient(floors) / plausible if has_floor else np.ones(1)
    for _ in range(_CLOSER):
        first, second = (np.linspace(low, high, _ALONG) for low, high in limits)
        points = np.stack([axis.ravel() for axis in np.meshgrid(first, second)], axis=1)
        lost = form.shortfall(points, counts.sizes)[:, None, :]
        lost = lost + floors[None, :, None] * (1.0 - lost)
        due = np.diff(lost, prepend=0.0, append=1.0, axis=2)
        likelihood = np.log(np.maximum(due, _IMPOSSIBLE)) @ counts.counts
        density = likelihood + np.log(of_floor) + form.log_prior(points)[:, None]
        relevant = density > density.max() - _NEGLIGIBLE
        inside = points[relevant.any(axis=1)]
        cell = np.diff(limits, axis=1)[:, 0] / (_ALONG - 1)
        closer = np.stack(
            [
                np.maximum(inside.min(axis=0) - cell, limits[:, 0]),
                np.minimum(inside.max(axis=0) + cell, limits[:, 1]),
            ],
            axis=1,
        )
        if np.all(np.diff(closer, axis=1) > 0.6 * np.diff(limits, axis=1)):
            break
        limits = closer
    weight = np.exp(density[relevant] - density.max())
    evidence = density.max() + np.log(weight.sum() * np.prod(cell) / whole)
    place, at_floor = np.nonzero(relevant)
    misfit = 2.0 * float(np.sum(xlogy(counts.counts, counts.counts / probes)) - likelihood.max())
    return WeighedTail(form, has_floor, points[place], floors[at_floor], weight / weight.sum(), float(evidence), misfit)


def law_shortfall(points: Floats, sizes: Floats) -> Floats:
    from incrowd.pitman_yor.kernels import shortfalls_at

    return np.asarray(shortfalls_at(points[:, 0], points[:, 1], np.asarray(sizes, dtype=np.float64), False))


def _alarm_shortfall(points: Floats, sizes: Floats) -> Floats:
    """The chance of a false alarm: impostors score above the threshold with a probability p ~ Beta for each probe.

    E (1 − p)ⁿ is the uniqueness of the law in a population of n + 1.
    """
    from incrowd.pitman_yor.kernels import shortfalls_at

    return np.asarray(shortfalls_at(points[:, 0], points[:, 1], np.asarray(sizes, dtype=np.float64) + 1.0, True))


def _score_shortfall(points: Floats, sizes: Floats) -> Floats:
    return binormal_shortfall(points[:, 0], np.exp(points[:, 1]), sizes)


def limits_of_law(largest: float) -> Floats:
    """Of log(1 − d), for γ ≥ 0, and of h(1 − γ)."""
    (least, _), (_, longest) = limits_of_fit(largest)
    return np.array([[least, 0.0], [LEAST, longest]])


def limits_of_any_law(largest: float) -> Floats:
    """The same for γ of either sign."""
    return np.array([[limits_of_law(largest)[0, 0], np.log(largest)], limits_of_law(largest)[1]])


def _alarm_limits(largest: float) -> Floats:
    """As those of the law; log(1 − d) is the log of the first shape of the beta distribution: above 0, probes agree."""
    longest = np.log(largest) + _BEYOND
    return np.array([[-_BEYOND, longest], [0.0, longest]])


def _score_limits(largest: float) -> Floats:
    """Of the mean and of the log of the spread of scores."""
    return np.array([[-1.0, 25.0], [np.log(0.1), np.log(12.0)]])


def _log_prior_of_law(points: Floats) -> Floats:
    return np.asarray(-POSTERIOR_DECAY * points[:, 1])


def _flat(points: Floats) -> Floats:
    return np.zeros(points.shape[0])


def _score_prior(points: Floats) -> Floats:
    return np.asarray(-0.5 * ((points[:, 1] - _MIDDLE_SPREAD) / _WIDTH_SPREAD) ** 2)


SCORES = Form("binormal", _score_shortfall, _score_limits, _score_prior)
"""The binormal model of scores."""

ALARMS = Form("alarm", _alarm_shortfall, _alarm_limits, _flat)
"""False alarms in an open set."""
