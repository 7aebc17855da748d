"""Forecasts by the fitted scaling law, from class sizes and from curves, with notes on the uncertainty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from incrowd._support.progress import Progress
from incrowd.classes import ClassSizes
from incrowd.curves.exact_matching import correctness_curve, share_below
from incrowd.errors import InputError
from incrowd.forecasts.result import Estimate, Forecast, Parameter
from incrowd.forecasts.tails import TailAverage
from incrowd.forecasts.techniques import add_tails, estimate_technique, is_technique
from incrowd.pitman_yor.class_size_fit import ClassSizeFit
from incrowd.pitman_yor.curve_fit import CurveFit, people_tested
from incrowd.pitman_yor.curve_prediction import CurvePrediction
from incrowd.pitman_yor.model_checks import error_beyond
from incrowd.pitman_yor.prediction import SamplePrediction
from incrowd.special import Floats
from incrowd.wording import one_decimal, people

_LARGEST_K = 100
_SMALL_MISFIT = 0.01  # a residual of a share below this gives no warning
# error of the law for populations of real tables, in log-odds for every e-fold beyond the measured people: half the
# interval of correctness, and of the share of people who are unique or in small classes
_OF_CORRECTNESS, _OF_SMALL_CLASSES = 0.25, 0.4


def forecast_fit(
    fit: ClassSizeFit | CurveFit,
    names: tuple[str, ...],
    at: Floats,
    k: Sequence[int],
    level: float,
    seed: int,
    progress: Progress,
) -> Forecast:
    """The forecast by a fit, at populations `at`."""
    if not 0 < level < 1:
        raise InputError(f"the level of an interval is between 0 and 1; {level:g} was given")
    if any(one < 2 or one > _LARGEST_K or one != int(one) for one in k):
        raise InputError(f"k must be whole numbers from 2 to {_LARGEST_K}")
    by_law = _from_class_sizes if isinstance(fit, ClassSizeFit) else _from_curve
    return by_law(fit, names, at, k, level, seed, progress)  # type: ignore[arg-type]


def _from_curve(
    fit: CurveFit, names: tuple[str, ...], at: Floats, k: Sequence[int], level: float, seed: int, progress: Progress
) -> Forecast:
    """The law's values at populations `at`, with intervals from the posterior given the points."""
    model = fit.pitman_yor
    has_classes = fit.curve.kind != "robust"
    if k and not has_classes:
        raise InputError("robust matching has no classes of people who look alike, so there is no k; leave it out")
    progress("weighing what the points allow", 0.1)
    average = TailAverage.of(fit.curve, finite=fit.gamma < 0) if is_technique(fit) else None
    prediction = CurvePrediction.of(fit) if average is None else CurvePrediction(fit, (average.law,))
    of_correctness, of_small_classes = _OF_CORRECTNESS, _OF_SMALL_CLASSES
    if fit.curve.kind in ("sparse", "robust"):
        of_correctness = of_small_classes = error_beyond(fit)
    beyond = np.log(np.maximum(at / fit.curve.sizes[-1], 1.0))

    def estimate(value: Floats, interval: Callable[[float], tuple[float, float]], error: float) -> Estimate:
        low, high = np.array([interval(size) for size in at]).T
        return _widen(Estimate.containing(value, low, high), error * beyond)

    if average is None:
        correctness = estimate(model.correctness(at), partial(prediction.correctness, level=level), of_correctness)
    else:
        correctness = estimate_technique(fit, average, at, level)
    uniqueness = None
    if has_classes:
        uniqueness = estimate(model.uniqueness(at), partial(prediction.uniqueness, level=level), of_small_classes)
    violations = {
        size: estimate(
            model.violations(at, size), partial(prediction.violations, k=size, level=level), of_small_classes
        )
        for size in k
    }
    h, gamma = (  # at the end of its range, an estimate may differ from the end of its interval by rounding
        Parameter(value, min(low, value), max(high, value))
        for value, (low, high) in ((fit.h, prediction.entropy(level)), (fit.gamma, prediction.tail(level)))
    )
    notes = (*fit.curve.notes, *_note_assumption(fit), *_note_doubts(h, gamma, fit.evidence_below_zero or 0.0))
    notes += (*_note_misfit(fit), *_note_limit(fit))
    measured = int(fit.curve.sizes[-1])
    answer = Forecast(at, names, correctness, uniqueness, violations, h, gamma, level, measured, seed, notes)
    return answer if average is None else add_tails(answer, fit, average)


def _from_class_sizes(
    fit: ClassSizeFit, names: tuple[str, ...], at: Floats, k: Sequence[int], level: float, seed: int, progress: Progress
) -> Forecast:
    """Populations that contain the measured people: exact up to their number, predicted by the posterior above."""
    sizes, posterior, other = fit.sizes, fit.posterior(), fit.below_zero()
    both = [SamplePrediction(sizes, one) for one in (posterior, other) if one is not None]
    progress("carrying the classes on", 0.5)
    inside = at <= sizes.people

    def estimate(exact: ArrayLike, predict: Callable[..., tuple[float, float, float]], **given: int) -> Estimate:
        rows = np.empty((at.size, 3))
        rows[inside] = np.reshape(exact, (-1, 1))
        for place in np.flatnonzero(~inside):
            # if the data do not determine the sign of γ, the interval covers both signs; the value is that of the fit
            values, lows, highs = zip(*(predict(one, at[place], level=level, **given) for one in both), strict=True)
            rows[place] = values[0], min(lows), max(highs)
        return Estimate.containing(*rows.T)

    right, alone = _exact_shares(sizes, at[inside])
    beyond = np.log(np.maximum(at / sizes.people, 1.0))
    correctness = _widen(estimate(right, SamplePrediction.correctness), _OF_CORRECTNESS * beyond)
    uniqueness = _widen(estimate(alone, SamplePrediction.uniqueness), _OF_SMALL_CLASSES * beyond)
    violations = {}
    for size in k:
        exact = [share_below(sizes, int(part), size) for part in at[inside]]
        violations[size] = _widen(estimate(exact, SamplePrediction.violations, k=size), _OF_SMALL_CLASSES * beyond)
    # the fit uses the published prior and the interval a weaker one, so the interval may not contain the fit
    ends = {
        name: [one.posterior.interval(getattr(one.posterior, name), level) for one in both] for name in ("h", "gamma")
    }
    h, gamma = (
        Parameter(value, min(value, *(low for low, _ in ends[name])), max(value, *(high for _, high in ends[name])))
        for name, value in (("h", fit.h), ("gamma", fit.gamma))
    )
    notes = _note_doubts(h, gamma, fit.evidence_below_zero)
    return Forecast(at, names, correctness, uniqueness, violations, h, gamma, level, sizes.people, seed, notes)


def _widen(estimate: Estimate, half: Floats) -> Estimate:
    """The estimate with intervals widened on the log-odds scale, by `half` to each side in quadrature."""
    if not np.any(half):
        return estimate
    middle, low, high = (
        logit(np.clip(one, 1e-15, 1.0 - 1e-15)) for one in (estimate.value, estimate.low, estimate.high)
    )
    ends = expit(middle - np.hypot(middle - low, half)), expit(middle + np.hypot(high - middle, half))
    low = np.where(half > 0.0, np.minimum(ends[0], estimate.low), estimate.low)
    return Estimate(estimate.value, low, np.where(half > 0.0, np.maximum(ends[1], estimate.high), estimate.high))


def _exact_shares(sizes: ClassSizes, at: Floats) -> tuple[Floats, Floats]:
    """Expected correctness and uniqueness of random parts of the measured people."""
    if not at.size:
        return at, at
    curve = correctness_curve(sizes, np.unique(at).astype(np.int64))
    assert curve.uniqueness is not None
    places = np.searchsorted(curve.sizes, at)
    return curve.correctness[places], curve.uniqueness[places]


def _note_doubts(h: Parameter, gamma: Parameter, evidence: float) -> tuple[str, ...]:
    """Notes on what the data do not determine."""
    notes = []
    if gamma.high - gamma.low > 0.5 or h.high > 2 * h.low:
        notes.append(
            f"under-determined: the data allow h from {h.low:.2f} to {h.high:.2f} nats and γ from {gamma.low:.2f} to "
            f"{gamma.high:.2f}; forecasts far beyond the data depend on the model"
        )
    if gamma.value >= 0 and evidence > 0.5:
        notes.append(
            f"a finite number of classes (γ < 0) fits somewhat better (by {one_decimal(evidence)} in log likelihood), "
            "not clearly; if it is true the forecast is too high"
        )
    if abs(gamma.value) > 0.9999:
        kind = "people of a few kinds, all equally common" if gamma.value < 0 else "the heaviest tail there can be"
        notes.append(f"γ is at its limit of {gamma.value:.0f}, {kind}: real data seldom are; check the input")
    return tuple(notes)


def _note_assumption(fit: CurveFit) -> tuple[str, ...]:
    """A note on the number of people that the interval assumes, if the points do not give it."""
    if fit.curve.people:
        return ()
    return (f"assumed that {people(people_tested(fit.curve))} were tested, as many as the largest gallery holds",)


def _note_limit(fit: CurveFit) -> tuple[str, ...]:
    """A warning if the search ended at one of its limits."""
    if not fit.ends_at_limit:
        return ()
    return ("the fit ended at a limit of its search: the points do not say where correctness begins to fall",)


def _note_misfit(fit: CurveFit) -> tuple[str, ...]:
    """A warning if the law misses the points by more than their noise explains."""
    values = fit.curve.correctness if fit.metric == "correctness" else fit.curve.uniqueness
    assert values is not None
    noise = float(np.sqrt(np.mean(values * (1.0 - values)) / people_tested(fit.curve)))
    if fit.residual <= max(3.0 * noise, _SMALL_MISFIT):
        return ()
    return (f"the law misses the points by {fit.residual:.3f} on average: this curve is of another shape",)
