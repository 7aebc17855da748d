"""The task that puts several identification techniques side by side."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.curves import Curve
from incrowd.errors import InputError
from incrowd.figures.curve_charts import techniques_plot
from incrowd.forecasts import Forecast, forecast
from incrowd.forecasts.side_by_side import name_leaders
from incrowd.pitman_yor import fit_curve
from incrowd.reports import DataTable, Figure
from incrowd.web import curve_models as models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.forecast_task import Measured, drawn_sizes
from incrowd.wording import large_number, number, percent, percent_interval, population

_MEANS = (
    "A line a technique: how many people it names correctly as the crowd grows, with the 95% interval of its forecast; "
    "points were measured. Where two bands overlap, what was measured does not tell which of the two names more."
)


def techniques_task(question: models.TechniquesQuestion, measured: Mapping[str, Measured]) -> Task:
    """Forecast every technique for the same populations; `measured` has those that jobs have measured."""
    names = [one.name for one in question.techniques]
    if len(set(names)) < len(names):
        raise InputError("two techniques have the same name; give each one of its own")

    def run(progress: Progress, publish: Publish) -> Outcome:
        found, answers, lines = {}, {}, {}
        for place, one in enumerate(question.techniques):
            span = part(progress, place / len(names), (place + 1) / len(names))
            span(f"forecasting {one.name}", 0.0)
            found[one.name] = measured[one.name] if one.job is not None else _from_points(one)
            fit = found[one.name].fit
            answers[one.name] = forecast(fit, question.at, k=question.k, seed=question.seed, progress=span)
            lines[one.name] = forecast(fit, drawn_sizes(answers[one.name]), seed=question.seed)
        leaders = name_leaders(answers)
        result = {
            "sentence": " ".join(leaders),
            "leaders": leaders,
            "techniques": [_plain(name, found[name].curve, answers[name]) for name in names],
        }
        figure = partial(_figure, {name: found[name].curve for name in names}, answers, lines, leaders)
        return Outcome(answers, lambda: result, lambda: as_figures([figure()]))

    return run


def _from_points(one: models.Technique) -> Measured:
    if one.points is None:
        raise InputError(f"{one.name} has no points; give those of its curve, or the work that measured them")
    sizes, shares = [point.n for point in one.points], [point.correctness for point in one.points]
    curve = Curve.from_points(sizes, shares, people=one.people or 0)
    return Measured(curve, fit_curve(curve))


def _plain(name: str, curve: Curve, answer: Forecast) -> dict[str, Any]:
    return {
        "name": name,
        "measured": int(curve.sizes[-1]),
        "named_there": float(curve.correctness[-1]),
        "forecast": answer.to_dict(),
        "hold_out": answer.hold_out.to_dict() if answer.hold_out else None,
    }


def _figure(
    curves: Mapping[str, Curve], answers: Mapping[str, Forecast], lines: Mapping[str, Forecast], leaders: list[str]
) -> Figure:
    first = next(iter(answers.values()))
    labels = [population(name, float(size)) for name, size in zip(first.names, first.at, strict=True)]
    rows = tuple(
        (
            name,
            f"{percent(float(curves[name].correctness[-1]))} of {large_number(float(curves[name].sizes[-1]))}",
            *(_share(answer, place) for place in range(len(labels))),
            number(answer.h[0]),
            number(answer.gamma[0]),
        )
        for name, answer in answers.items()
    )
    columns = ("technique", "measured", *labels, "h, nats", "γ")
    table = DataTable("Named correctly, with 95% intervals", columns, rows)
    says = " ".join(leaders)
    return Figure("techniques", "Techniques side by side", says, techniques_plot(curves, lines), table, means=_MEANS)


def _share(answer: Forecast, place: int) -> str:
    shares = answer.correctness
    return f"{percent(shares.value[place])} ({percent_interval(shares.low[place], shares.high[place])})"
