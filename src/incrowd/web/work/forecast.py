"""Forecasts: from a table's class sizes, or from points that somebody measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from incrowd.curves import Curve, correctness_curve
from incrowd.errors import UnsupportedError
from incrowd.forecast import Forecast, forecast, interval_in_words, people_in_words, percent, population_in_words
from incrowd.pitmanyor import fit_class_sizes, fit_curve
from incrowd.pitmanyor.check import HoldOut, hold_out
from incrowd.pitmanyor.fit import ClassSizeFit, CurveFit
from incrowd.plots import forecast_plot
from incrowd.progress import Progress, part
from incrowd.report import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Work
from incrowd.web.tables import OpenTable
from incrowd.web.work.figures import as_figures

_LARGEST = 8_000_000_000
_LEADS = (1, 2, 3, 5, 7)  # round sizes of the curve that is drawn, and that a slider reads from


def table_forecast(table: OpenTable, question: models.ForecastQuestion) -> Work:
    """Carry the table's class sizes on."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")

    def work(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        sizes = table.count(table.table.require(known, "quasi-identifiers"), person)
        progress("fitting the scaling law", 0.2)
        return _outcome(correctness_curve(sizes), fit_class_sizes(sizes), question, part(progress, 0.3, 1.0))

    return work


def points_forecast(question: models.PointsQuestion) -> Work:
    """Fit the law to measured points."""

    def work(progress: Progress, publish: Publish) -> Outcome:
        progress("fitting the scaling law", 0.0)
        curve = Curve.from_points(
            [point.n for point in question.points],
            [point.correctness for point in question.points],
            people=question.people or 0,
        )
        return _outcome(curve, fit_curve(curve), question, part(progress, 0.3, 1.0))

    return work


def _outcome(
    curve: Curve, fit: ClassSizeFit | CurveFit, question: models.ForecastQuestion, progress: Progress
) -> Outcome:
    answer = forecast(fit, question.at, k=question.k, seed=question.seed, progress=part(progress, 0.0, 0.3))
    check, why_not = _checked(fit, question.seed)
    if check is not None and check.warning:
        answer = replace(answer, notes=(*answer.notes, check.warning))
    largest = max(_LARGEST, float(answer.at.max()))
    between = np.unique([min(lead * 10.0**power, largest) for power in range(13) for lead in _LEADS])
    smooth = forecast(fit, between.tolist(), seed=question.seed, progress=part(progress, 0.4, 0.95))
    result: dict[str, Any] = {
        "fit": fit.to_dict(),
        "forecast": answer.to_dict(),
        "curve": smooth.to_dict(),
        "hold_out": check.to_dict() if check else None,
        "not_checked": why_not,
        "sentences": [_sentence(answer, index) for index in range(len(answer.names))],
    }
    return Outcome(answer, lambda: result, lambda: as_figures([_figure(curve, smooth, answer, check)]))


def _checked(fit: ClassSizeFit | CurveFit, seed: int) -> tuple[HoldOut | None, str | None]:
    """The check on a part of the data, or why there is none."""
    try:
        return hold_out(fit, seed=seed), None
    except UnsupportedError as reason:
        return None, str(reason)


def _sentence(answer: Forecast, index: int) -> str:
    """One population in plain words."""
    where = population_in_words(answer.names[index], float(answer.at[index]))
    value, low, high = (float(getattr(answer.correctness, side)[index]) for side in ("value", "low", "high"))
    return (
        f"Among {where} people, {percent(value)} are named correctly ({answer.level:.0%} interval: "
        f"{interval_in_words(low, high)}): about {people_in_words(float(answer.people_named[index]))} people."
    )


def _figure(curve: Curve, smooth: Forecast, answer: Forecast, check: HoldOut | None) -> Figure:
    rows = tuple(
        (
            population_in_words(name, float(size)),
            percent(float(value)),
            interval_in_words(float(low), float(high)),
            people_in_words(float(people)),
        )
        for name, size, value, low, high, people in zip(
            answer.names,
            answer.at,
            answer.correctness.value,
            answer.correctness.low,
            answer.correctness.high,
            answer.people_named,
            strict=True,
        )
    )
    return Figure(
        "forecast",
        "How many people are named correctly as the crowd grows",
        _sentence(answer, int(np.argmax(answer.at))),
        forecast_plot(curve, smooth, asked=answer, check=check),
        DataTable("Forecast", ("population", "named", f"{answer.level:.0%} interval", "people named"), rows),
    )
