"""Forecast tasks: from a table, or from measured points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from incrowd._support.progress import Progress, part
from incrowd.assessment.sections.forecast import forecast_along
from incrowd.assessment.sections.population import populations_ahead
from incrowd.curves import Curve, correctness_curve
from incrowd.errors import UnsupportedError
from incrowd.figures import forecast_plot
from incrowd.forecasts.api import Estimate, Forecast, forecast
from incrowd.pitman_yor import fit_class_sizes, fit_curve
from incrowd.pitman_yor.fit import ClassSizeFit, CurveFit
from incrowd.pitman_yor.model_checks import HoldOut, hold_out
from incrowd.populations.risk_curve import curve_of
from incrowd.populations.sample import read_sample
from incrowd.reports import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.wording import chosen_percent, interval_at, large_number, percent, percent_interval, population

_CALLED = {"city": "a city", "us": "the United States", "eu": "the European Union", "world": "the world"}
_LARGEST = 8_000_000_000
_LEADS = (1, 2, 3, 5, 7)  # round sizes of the curve that is drawn, and that a slider reads from


def forecast_task(table: OpenTable, question: models.ForecastQuestion) -> Task:
    """Forecast for a table, with the estimate that an assessment of it gives.

    The classes smaller than k are the fitted law's, which is the only one to tell them.
    """
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    weight = table.one_with_role("weight") if person is None else None
    population = table.settings.population

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        names = table.table.require(known, "quasi-identifiers")
        sizes = table.count(names, person)
        alone = population is None and weight is None
        sample = read_sample(
            table.table,
            population=sizes.people if alone else population,
            quasi_identifiers=names,
            weights=weight,
            person=person,
            sizes=sizes,
        )
        asked = None if alone else sample.population
        fit = fit_class_sizes(sizes)
        law = forecast(fit, question.at, k=question.k, seed=question.seed)
        ahead = populations_ahead(sizes.people, asked)
        wanted = sorted({*ahead, *(int(size) for size in law.at if size > sizes.people)})
        risks = curve_of(
            sample,
            wanted,
            seed=question.seed,
            drawn=max(asked or 0, 4 * sizes.people),
            progress=part(progress, 0.1, 0.9),
        )
        far = forecast_along(forecast(fit, at=sizes.people, seed=question.seed), sizes, risks)
        near = [size for size in _round_sizes(sizes.people) if size < sizes.people]
        curve = _joined(forecast(fit, near, seed=question.seed), far) if near else far
        answer = _read_off(law, far, sizes.people)
        why = sample.why_no_columns()
        return _answered(correctness_curve(sizes), fit, answer, curve, question.seed, why=why, population=asked)

    return run


def _read_off(law: Forecast, far: Forecast, people: int) -> Forecast:
    """The populations asked for: exact up to the people at hand, beyond them as `far` has it."""
    places = np.searchsorted(far.at, law.at)
    beyond = law.at > people

    def estimate(mine: Estimate | None, other: Estimate | None) -> Estimate | None:
        if mine is None or other is None:
            return None
        sides = ((getattr(mine, side), getattr(other, side)) for side in ("value", "low", "high"))
        return Estimate(*(np.where(beyond, b[np.minimum(places, b.size - 1)], a) for a, b in sides))

    correctness = estimate(law.correctness, far.correctness)
    assert correctness is not None
    return replace(
        law,
        correctness=correctness,
        uniqueness=estimate(law.uniqueness, far.uniqueness),
        method=far.method,
        notes=far.notes,
    )


def _joined(near: Forecast, far: Forecast) -> Forecast:
    """One forecast after the other."""

    def estimate(mine: Estimate | None, other: Estimate | None) -> Estimate | None:
        if mine is None or other is None:
            return None
        return Estimate(
            *(np.concatenate([getattr(mine, side), getattr(other, side)]) for side in ("value", "low", "high"))
        )

    correctness = estimate(near.correctness, far.correctness)
    assert correctness is not None
    return replace(
        far,
        at=np.concatenate([near.at, far.at]),
        names=(*near.names, *far.names),
        correctness=correctness,
        uniqueness=estimate(near.uniqueness, far.uniqueness),
        violations={},
    )


def points_task(question: models.PointsQuestion) -> Task:
    """Forecast from a law fitted to measured points."""

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("fitting a law to the points", 0.0)
        curve = Curve.from_points(
            [point.n for point in question.points],
            [point.correctness for point in question.points],
            people=question.people or 0,
        )
        return _outcome(curve, fit_curve(curve), question, part(progress, 0.3, 1.0))

    return run


def _outcome(curve: Curve, fit: CurveFit, question: models.ForecastQuestion, progress: Progress) -> Outcome:
    answer = forecast(fit, question.at, k=question.k, seed=question.seed, progress=part(progress, 0.0, 0.3))
    largest = max(_LARGEST, float(answer.at.max()))
    smooth = forecast(fit, _round_sizes(largest), seed=question.seed, progress=part(progress, 0.4, 0.95))
    return _answered(curve, fit, answer, smooth, question.seed)


def _round_sizes(largest: float) -> list[float]:
    return sorted({min(lead * 10.0**power, largest) for power in range(13) for lead in _LEADS})


def _answered(
    curve: Curve,
    fit: ClassSizeFit | CurveFit,
    answer: Forecast,
    smooth: Forecast,
    seed: int,
    *,
    why: str | None = None,
    population: int | None = None,
) -> Outcome:
    """The forecast with its figure; `population` is the one that the table was drawn from, if it is known.

    The law is checked on a part of the data where it is what was followed.
    """
    check, why_not = _checked(fit, seed) if answer.method == "law" else (None, None)
    if check is not None and check.warning:
        answer = replace(answer, notes=(*answer.notes, check.warning))
    result: dict[str, Any] = {
        "population": population,
        "fit": fit.to_dict(),
        "forecast": answer.to_dict(),
        "curve": smooth.to_dict(),
        "hold_out": check.to_dict() if check else None,
        "not_checked": why_not,
        "method": _method_in_words(answer, why),
        "sentences": [_sentence(answer, index) for index in range(len(answer.names))],
    }
    return Outcome(answer, lambda: result, lambda: as_figures([_figure(curve, smooth, answer, check)]))


def _method_in_words(answer: Forecast, why: str | None) -> str:
    """How the numbers are estimated, in words."""
    if answer.method == "law":
        return (
            "These numbers follow a law that was fitted to the points alone. With the table at hand its columns tell "
            "more: open it, and its forecast is the one to believe."
        )
    if why is not None:
        return (
            "This is the same estimate as on the Risk page. It follows a law fitted to how many people look alike, "
            f"for the columns cannot be used: {why}."
        )
    return "This is the same estimate as on the Risk page: from the columns and how many people look alike."


def _checked(fit: ClassSizeFit | CurveFit, seed: int) -> tuple[HoldOut | None, str | None]:
    """The hold-out check, or the reason why there is none."""
    try:
        return hold_out(fit, seed=seed), None
    except UnsupportedError as reason:
        return None, str(reason)


def _sentence(answer: Forecast, index: int) -> str:
    """The forecast for one population as a sentence."""
    size, name = large_number(float(answer.at[index])), answer.names[index]
    called = "" if name.replace(",", "").isdigit() else f" ({_CALLED.get(name, name)})"
    value, low, high = (float(getattr(answer.correctness, side)[index]) for side in ("value", "low", "high"))
    sure = "counted" if _is_counted(answer, index) else interval_at(answer.level, low, high)
    named = large_number(float(answer.people_named[index]))
    return f"Among {size} people{called}, {percent(value)} are named correctly ({sure}): about {named} people."


def _is_counted(answer: Forecast, index: int) -> bool:
    """Whether a number is counted in the table, and not estimated."""
    low, high = (float(getattr(answer.correctness, side)[index]) for side in ("low", "high"))
    return answer.method != "law" and float(answer.at[index]) <= answer.measured and low == high


def _figure(curve: Curve, smooth: Forecast, answer: Forecast, check: HoldOut | None) -> Figure:
    rows = tuple(
        (
            population(_CALLED.get(name, name), float(size)),
            percent(float(value)),
            "counted" if _is_counted(answer, index) else percent_interval(float(low), float(high)),
            large_number(float(people)),
        )
        for index, name, size, value, low, high, people in zip(
            range(len(answer.names)),
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
        DataTable(
            "Forecast", ("population", "named", f"{chosen_percent(answer.level)} interval", "people named"), rows
        ),
    )
