"""Forecasts of identification techniques, whose tail is weighed (`tails`), and their check on held-out points."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from incrowd.forecasts.result import Estimate, Forecast
from incrowd.forecasts.tails import FAR, TailAverage
from incrowd.pitman_yor.class_size_fit import ClassSizeFit
from incrowd.pitman_yor.curve_fit import CurveFit, fit_curve
from incrowd.pitman_yor.model_checks import HoldOut, part_of_curve
from incrowd.special import Floats
from incrowd.wording import people, percent


def is_technique(fit: ClassSizeFit | CurveFit) -> TypeGuard[CurveFit]:
    """True for the correctness of scores or of published points: nothing says that their tail is the law's."""
    return isinstance(fit, CurveFit) and fit.metric == "correctness" and fit.curve.kind in ("robust", "published")


def estimate_technique(fit: CurveFit, average: TailAverage, at: Floats, level: float) -> Estimate:
    """The average of the tails, with its interval; without a number of probes, the law of least loss is the value."""
    mean, low, high = average.correctness(at, level)
    return Estimate.containing(mean if fit.curve.people else fit.model.correctness(at), low, high)


def add_tails(answer: Forecast, fit: CurveFit, average: TailAverage) -> Forecast:
    """The forecast with each tail by itself, where it is far beyond the largest gallery."""
    answer = replace(answer, method="average" if fit.curve.people else "law")
    far = answer.at > FAR * answer.measured
    if not np.any(far):
        return answer
    tails: dict[str, Estimate] = {}
    for name in average.NAMES:
        mean, low, high = average.correctness(answer.at, answer.level, [name])
        tails[name] = Estimate.containing(mean, low, high)
    note = (
        f"beyond {people(FAR * answer.measured)}, a hundred times the largest gallery, the points hardly tell one tail "
        f"from another (weights {percent(average.share('law'))} and {percent(average.share('binormal'))}): each tail "
        "is shown by itself"
    )
    return replace(answer, tails=tails, notes=(*answer.notes, note))


def hold_out_technique(fit: CurveFit) -> HoldOut:
    """Weigh the tails on galleries of up to a tenth of the largest size, and forecast the largest."""
    part, largest = part_of_curve(fit)
    seen = fit_curve(part, weighting=fit.weighting)
    estimate = estimate_technique(seen, TailAverage.of(part, finite=seen.gamma < 0), np.array([float(largest)]), 0.95)
    ((value, low, high),) = estimate.rows
    return HoldOut(int(part.sizes[-1]), largest, float(fit.curve.correctness[-1]), value, low, high)
