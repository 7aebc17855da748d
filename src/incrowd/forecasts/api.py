"""From a fit to any population: how many people are named there, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd._support.progress import Progress, silent
from incrowd.curves.exact_matching import correctness_curve, share_below
from incrowd.errors import InputError
from incrowd.pitman_yor.curve_prediction import CurvePrediction
from incrowd.pitman_yor.curve_fit import H_LIMITS, CurveFit, people_behind
from incrowd.pitman_yor.class_size_fit import ClassSizeFit
from incrowd.pitman_yor.prediction import SamplePrediction
from incrowd.results import Result
from incrowd.special import Floats

POPULATIONS: Mapping[str, int] = {
    "city": 1_000_000,
    "us": 331_000_000,
    "eu": 449_000_000,
    "world": 7_530_000_000,  # as in the scaling-law paper
}
"""Populations that have a name: a city of a million, the United States, the European Union, the world."""

_LARGEST = 1e12
_LARGEST_K = 100
_SMALL_MISFIT = 0.01  # of a share: no decision hangs on less


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(Result):
    """A quantity at each population: its value, and the limits of its interval."""

    value: Floats
    low: Floats
    high: Floats

    def to_dict(self) -> dict[str, list[float]]:
        """Plain JSON types."""
        return {"value": self.value.tolist(), "low": self.low.tolist(), "high": self.high.tolist()}


@dataclass(frozen=True, slots=True, eq=False)
class Forecast(Result):
    """What to expect in populations of sizes `at`; every estimate has a `level` interval.

    `violations` maps k to the share of people in classes smaller than k. `uniqueness` is None for robust matching,
    where there are no classes to be alone in. `notes` says what limits the answer. `method` is "law" where the
    estimates are those of the fitted law, and "combined" where they are those of `population_risk`.
    """

    at: Floats
    names: tuple[str, ...]
    correctness: Estimate
    uniqueness: Estimate | None
    violations: Mapping[int, Estimate]
    h: tuple[float, float, float]
    gamma: tuple[float, float, float]
    level: float
    measured: int
    seed: int
    notes: tuple[str, ...] = ()
    method: str = "law"

    @property
    def people_named(self) -> Floats:
        """Expected number of people named correctly in each population."""
        return np.asarray(self.at * self.correctness.value)

    @property
    def people_unique(self) -> Floats | None:
        """Expected number of people who are alone in their class in each population, if there are classes."""
        return np.asarray(self.at * self.uniqueness.value) if self.uniqueness is not None else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        unique = self.people_unique
        return {
            "at": self.at.tolist(),
            "names": list(self.names),
            "level": self.level,
            "correctness": self.correctness.to_dict(),
            "uniqueness": self.uniqueness.to_dict() if self.uniqueness is not None else None,
            "violations": {str(k): estimate.to_dict() for k, estimate in self.violations.items()},
            "people_named": self.people_named.tolist(),
            "people_unique": unique.tolist() if unique is not None else None,
            "h": dict(zip(("value", "low", "high"), self.h, strict=True)),
            "gamma": dict(zip(("value", "low", "high"), self.gamma, strict=True)),
            "measured": self.measured,
            "method": self.method,
            "seed": self.seed,
            "notes": list(self.notes),
        }


def forecast(
    fit: ClassSizeFit | CurveFit,
    at: Sequence[float | str] | float | str,
    *,
    k: Sequence[int] = (),
    populations: Mapping[str, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
    progress: Progress = silent,
) -> Forecast:
    """Correctness, uniqueness and k-anonymity violations at populations given by size or by name.

    Names are "city", "us", "eu", "world" and those of `populations`. A fit to class sizes is carried on from the
    people at hand, who are part of the population; a fit to a curve gives the law's value.

    >>> from incrowd.pitman_yor import fit_curve
    >>> answer = forecast(fit_curve([100, 1000], correctness=[0.9, 0.6]), at=[10_000, "world"])
    >>> answer.names, round(float(answer.correctness.value[0]), 2)
    (('10,000', 'world'), 0.28)
    """
    if not 0 < level < 1:
        raise InputError(f"the level of an interval is between 0 and 1; {level:g} was given")
    if any(one < 2 or one > _LARGEST_K or one != int(one) for one in k):
        raise InputError(f"k must be whole numbers from 2 to {_LARGEST_K}")
    names, sizes = _populations(at, populations or {})
    if isinstance(fit, ClassSizeFit):
        return _from_class_sizes(fit, names, sizes, k, level, seed, progress)
    return _from_curve(fit, names, sizes, k, level, seed, progress)


def _from_curve(
    fit: CurveFit, names: tuple[str, ...], sizes: Floats, k: Sequence[int], level: float, seed: int, progress: Progress
) -> Forecast:
    model = fit.pitman_yor
    classless = fit.curve.kind == "robust"
    if classless and k:
        raise InputError("robust matching has no classes of people who look alike, so there is no k; leave it out")
    progress("weighing what the points allow", 0.1)
    belief = CurvePrediction.of(fit)
    correctness = _estimate(model.correctness(sizes), [belief.correctness(size, level) for size in sizes])
    uniqueness = None
    if not classless:
        uniqueness = _estimate(model.uniqueness(sizes), [belief.uniqueness(size, level) for size in sizes])
    violations = {
        one: _estimate(model.violations(sizes, one), [belief.violations(size, one, level) for size in sizes])
        for one in k
    }
    h, gamma = (fit.h, *belief.entropy(level)), (fit.gamma, *belief.tail(level))
    measured = int(fit.curve.sizes[-1])
    notes = (*fit.curve.notes, *_assumed(fit), *_doubts(h, gamma, fit.evidence_below_zero or 0.0), *_misfit(fit))
    return Forecast(sizes, names, correctness, uniqueness, violations, h, gamma, level, measured, seed, notes)


def _from_class_sizes(
    fit: ClassSizeFit,
    names: tuple[str, ...],
    sizes: Floats,
    k: Sequence[int],
    level: float,
    seed: int,
    progress: Progress,
) -> Forecast:
    belief = SamplePrediction(fit.sizes, fit.posterior())
    progress("carrying the classes on", 0.5)
    smaller = np.unique(sizes[sizes <= fit.sizes.people]).astype(np.int64)
    known = correctness_curve(fit.sizes, smaller) if smaller.size else None

    def each(quantity: str, estimate: Any) -> Estimate:
        rows = []
        for size in sizes:
            if known is not None and size <= fit.sizes.people:
                value = float(getattr(known, quantity)[np.searchsorted(known.sizes, size)])
                rows.append((value, value, value))
            else:
                rows.append(estimate(size))
        return Estimate(*(np.array(column) for column in zip(*rows, strict=True)))

    correctness = each("correctness", lambda size: belief.correctness(size, level))
    uniqueness = each("uniqueness", lambda size: belief.uniqueness(size, level))
    violations = {one: _violations(belief, sizes, one, level) for one in k}
    h = _around(fit.h, belief.posterior.interval(belief.posterior.h, level))
    gamma = _around(fit.gamma, belief.posterior.interval(belief.posterior.gamma, level))
    notes = _doubts(h, gamma, fit.evidence_below_zero)
    people = fit.sizes.people
    return Forecast(sizes, names, correctness, uniqueness, violations, h, gamma, level, people, seed, notes)


def _around(value: float, interval: tuple[float, float]) -> tuple[float, float, float]:
    """The value with an interval that holds it: the fit has the published prior, the interval a weaker one."""
    return value, min(interval[0], value), max(interval[1], value)


def _violations(belief: SamplePrediction, sizes: Floats, k: int, level: float) -> Estimate:
    """Share of people in classes smaller than `k`: exact below the people at hand, carried on above."""
    rows = []
    for size in sizes:
        if size <= belief.sizes.people:
            rows.append((share_below(belief.sizes, int(size), k),) * 3)
        else:
            rows.append(belief.violations(size, k, level))
    return Estimate(*(np.array(column) for column in zip(*rows, strict=True)))


def _populations(at: Sequence[float | str] | float | str, more: Mapping[str, float]) -> tuple[tuple[str, ...], Floats]:
    """Names and sizes of the populations asked for."""
    known = {**POPULATIONS, **{name.lower(): size for name, size in more.items()}}
    wanted = [at] if isinstance(at, str | int | float | np.number) else list(at)
    names, sizes = [], []
    for one in wanted:
        if isinstance(one, str):
            if one.lower() not in known:
                raise InputError(f"no population is called {one!r}; there are {', '.join(known)}; or give a number")
            names.append(one)
            sizes.append(float(known[one.lower()]))
        else:
            names.append(f"{one:,.0f}")
            sizes.append(float(one))
    array = np.array(sizes)
    if not array.size or not np.all(np.isfinite(array)) or np.any(array < 1) or np.any(array != np.floor(array)):
        raise InputError("populations must be whole numbers of 1 or more")
    if array.max() > _LARGEST:
        raise InputError(f"populations can be at most {_LARGEST:.0e}")
    return tuple(names), array


def _estimate(value: Any, intervals: list[tuple[float, float]]) -> Estimate:
    low, high = (np.array(column) for column in zip(*intervals, strict=True))
    return Estimate(np.asarray(value, dtype=np.float64), low, high)


def _doubts(h: tuple[float, float, float], gamma: tuple[float, float, float], evidence: float) -> tuple[str, ...]:
    """What the data leave open, in words."""
    notes = []
    if gamma[2] - gamma[1] > 0.5 or h[2] > 2 * h[1]:
        notes.append(
            f"under-determined: the data allow h from {h[1]:.2f} to {h[2]:.2f} nats and γ from {gamma[1]:.2f} to "
            f"{gamma[2]:.2f}; forecasts far beyond the data rest on the model"
        )
    if gamma[0] >= 0 and evidence > 0.5:
        notes.append(
            f"a finite number of classes (γ < 0) fits somewhat better (by {evidence:.1f} in log likelihood), not "
            "clearly; if it is true the forecast is too high"
        )
    low, high = H_LIMITS
    if not 1.001 * low < h[0] < 0.999 * high:
        notes.append(f"h is at the end of what is looked for ({low:g} to {high:g} nats): the data are not like the law")
    if abs(gamma[0]) > 0.9999:
        kind = "people of a few kinds, all equally common" if gamma[0] < 0 else "the heaviest tail there can be"
        notes.append(f"γ is at its limit of {gamma[0]:.0f}, {kind}: real data seldom are; check the input")
    return tuple(notes)


def _assumed(fit: CurveFit) -> tuple[str, ...]:
    """How many people the interval takes for granted, where the points do not say."""
    if fit.curve.people:
        return ()
    return (f"assumed that {people_behind(fit.curve):,.0f} people were tested, as many as the largest gallery holds",)


def _misfit(fit: CurveFit) -> tuple[str, ...]:
    """A warning where the law passes the points by more than their noise explains."""
    values = fit.curve.correctness if fit.metric == "correctness" else fit.curve.uniqueness
    assert values is not None
    noise = float(np.sqrt(np.mean(values * (1.0 - values)) / people_behind(fit.curve)))
    if fit.residual <= max(3.0 * noise, _SMALL_MISFIT):
        return ()
    return (f"the law misses the points by {fit.residual:.3f} on average: this curve is of another shape",)
