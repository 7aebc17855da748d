"""Tasks that forecast from a table, or from measured points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from incrowd._support.progress import Progress, part
from incrowd.curves import Curve, correctness_curve
from incrowd.figures import forecast_plot
from incrowd.forecasts import Forecast, forecast, forecast_table
from incrowd.forecasts.population_sizes import drawn_sizes
from incrowd.pitman_yor import ClassSizeFit, CurveFit, compare_fits, fit_curve
from incrowd.reports import Figure
from incrowd.reports.sections.forecast import FORECAST
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.wording import large_number, percent

_SAME = "This is the same estimate as under Risk, once the table is assessed with the current settings"
_POINTS_ALONE = (
    "These numbers follow a law that was fitted to the points alone. With the table at hand its columns tell "
    "more: open it, and its forecast is the one to believe."
)


class MeasuredTechnique(NamedTuple):
    """The measured curve of an identification technique, and the law fitted to it."""

    curve: Curve
    fit: ClassSizeFit | CurveFit


def forecast_task(table: OpenTable, question: models.ForecastQuestion) -> Task:
    """Forecast a table in the same way as an assessment, so that both give one answer."""
    names, person = table.known_and_person
    weights = next(iter(table.decided_as("weight")), None) if person is None else None
    settings = table.settings

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        known = table.table.require(names, "quasi-identifiers")
        sizes = table.count(known, person)
        answer = forecast_table(
            table.table,
            question.at,
            quasi_identifiers=known,
            population=settings.population,
            weights=weights,
            strata=settings.strata,
            cluster=settings.cluster,
            person=person,
            k=question.k,
            seed=question.seed,
            sizes=sizes,
            progress=part(progress, 0.1, 0.9),
        )
        method = _method_in_words(answer.forecast, answer.why_no_columns)
        measured = correctness_curve(sizes)
        return _outcome(measured, answer.fit, answer.forecast, answer.curve, method, population=answer.population)

    return run


def points_task(question: models.PointsQuestion) -> Task:
    """Fit the law to measured points and forecast."""
    return curve_task(
        lambda progress: Curve.from_points(
            [point.n for point in question.points],
            [point.correctness for point in question.points],
            people=question.people or 0,
        ),
        question,
    )


def curve_task(
    make: Callable[[Progress], Curve],
    question: models.CurveQuestion,
    *,
    fit_law: Callable[[Curve], ClassSizeFit | CurveFit] = fit_curve,
    method: str = _POINTS_ALONE,
    name: str = "forecast",
    by: str = "",
    more: Callable[[], dict[str, Any]] = dict,
) -> Task:
    """Make a correctness curve, fit the law to it and forecast; `more` returns further entries of the result."""

    def run(progress: Progress, publish: Publish) -> Outcome:
        curve = make(part(progress, 0.0, 0.2))
        progress("fitting a law to the points", 0.2)
        fit = fit_law(curve)
        others = compare_fits(curve, seed=question.seed) if question.compare else {}
        baselines = [one for law, one in others.items() if law != "PYC"]
        answer = forecast(fit, question.at, k=question.k, seed=question.seed, progress=part(progress, 0.3, 0.5))
        smooth = forecast(
            fit, drawn_sizes(float(answer.at.max())), seed=question.seed, progress=part(progress, 0.6, 0.95)
        )
        shares = {one.name: one.correctness_at(answer.at) for one in baselines}
        result = {"baselines": shares, **more()}
        return _outcome(curve, fit, answer, smooth, method, name=name, baselines=baselines, by=by, more=result)

    return run


def _outcome(
    curve: Curve,
    fit: ClassSizeFit | CurveFit,
    answer: Forecast,
    smooth: Forecast,
    method: str,
    *,
    population: int | None = None,
    name: str = "forecast",
    baselines: Sequence[CurveFit] = (),
    by: str = "",
    more: Mapping[str, Any] | None = None,
) -> Outcome:
    """The forecast with its figure; `population` is the one that the table was drawn from, if it is known."""
    result: dict[str, Any] = {
        "population": population,
        "fit": fit.to_dict(),
        "forecast": answer.to_dict(),
        "curve": smooth.to_dict(),
        "hold_out": answer.hold_out.to_dict() if answer.hold_out else None,
        "method": method,
        "sentences": [forecast_sentence(answer, index, by) for index in range(len(answer.names))],
        **(more or {}),
    }
    figure = partial(_figure, name, curve, smooth, answer, baselines, by)
    return Outcome(MeasuredTechnique(curve, fit), lambda: result, lambda: as_figures([figure()]))


def _method_in_words(answer: Forecast, why: str | None) -> str:
    """A sentence on what a forecast is based on; `why` says why the columns are not used."""
    if answer.method != "combined":
        return _POINTS_ALONE
    if why is not None:
        return f"{_SAME}. It follows a law fitted to how many people look alike, for the columns cannot be used: {why}."
    return f"{_SAME}. It is made from the columns and how many people look alike."


def forecast_sentence(answer: Forecast, index: int, by: str = "") -> str:
    """The forecast for one population as a sentence; `by` names a method that is not the one to believe."""
    value = percent(float(answer.correctness.value[index]))
    named = large_number(float(answer.people_named[index]))
    name, _, size = answer.populations[index].rpartition(", ")
    called = f" ({name})" if name else ""
    among = f"{by}, among" if by else "Among"
    return (
        f"{among} {size} people{called}, {value} are named correctly ({answer.certainty(index)}): about {named} people."
    )


def _figure(
    name: str, curve: Curve, smooth: Forecast, answer: Forecast, baselines: Sequence[CurveFit], by: str
) -> Figure:
    return Figure(
        name,
        forecast_sentence(answer, int(answer.at.argmax()), by),
        forecast_plot(curve, smooth, headline=answer, check=answer.hold_out, baselines=baselines),
        answer.data_tables[0],
        means=FORECAST,
    )
