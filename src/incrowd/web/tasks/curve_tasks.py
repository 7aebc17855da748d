"""Tasks that measure correctness curves, compare techniques, and check the fit of the law."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.curves import (
    Curve,
    correctness_curve,
    robust_curve,
    robust_curve_from_ranks,
    sparse_curve,
    study_accuracy,
)
from incrowd.errors import InputError
from incrowd.figures.curve_charts import rank_size_plot, techniques_plot
from incrowd.forecasts import Forecast, forecast
from incrowd.forecasts.population_sizes import drawn_sizes
from incrowd.forecasts.side_by_side import name_leaders
from incrowd.pitman_yor import fit_class_sizes, fit_curve
from incrowd.pitman_yor.model_checks import RankSize, rank_size_check
from incrowd.reports import DataTable, Figure
from incrowd.web import curve_models as models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.forecast_task import MeasuredTechnique, curve_task
from incrowd.wording import large_number, number, percent, percent_interval

_RANK_SIZE_MEANS = (
    "Classes by their size, the largest first: the line is the table, the band holds 95% of the draws from the fitted "
    "law at each rank. Where the line leaves the band, the law gives other class sizes than the table has, and a "
    "forecast by the law alone is to be trusted less than its interval says. Real tables often leave it."
)
_LAW_ALONE = (
    "These numbers follow the scaling law, which knows how many people look alike and nothing of the columns. Under "
    "Populations the columns are used too, and that forecast is the one to believe."
)
_FITTED_LAW = (
    "These numbers follow the scaling law, fitted to what was measured here at every size of gallery. The farther from "
    "what was measured, the wider the interval."
)
_TECHNIQUES_MEANS = (
    "One line for each technique: how many people it names correctly as the crowd grows, with the 95% interval of its "
    "forecast; points were measured. Where two bands overlap, the measurements do not tell which of the two names more."
)


def check_task(table: OpenTable, question: models.CheckQuestion) -> Task:
    """Check the fit of the law: the share of ranks at which the table lies inside the band of draws from it."""
    known, person = table.known_and_person

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        fit = fit_class_sizes(table.count(known, person))
        found = rank_size_check(fit, **question.model_dump(), progress=part(progress, 0.1, 1.0))
        sentence = (
            f"At {percent(found.inside)} of the ranks the table lies inside the band that holds 95% of "
            f"{question.draws:,} draws from the fitted law; about 95% would if the law were right."
        )
        result = {**found.to_dict(), "fit": fit.to_dict(), "sentence": sentence}
        figure = partial(_rank_size_figure, found, sentence)
        return Outcome(found, lambda: result, lambda: as_figures([figure()]), summary={"inside": found.inside})

    return run


def _rank_size_figure(found: RankSize, sentence: str) -> Figure:
    columns = ("rank of the class", "share in the table", "expected by the law", "95% of the draws")
    rows = zip(found.ranks, found.observed, found.expected, found.low, found.high, strict=True)
    shown = tuple((int(one[0]), percent(one[1]), percent(one[2]), percent_interval(one[3], one[4])) for one in rows)
    caption = f"Shares of classes by rank; divergence {number(found.divergence_bits)} bits"
    table = DataTable(caption, columns, shown)
    return Figure("rank-size", sentence, rank_size_plot(found), table, means=_RANK_SIZE_MEANS)


def exact_task(table: OpenTable, question: models.ExactQuestion) -> Task:
    """The curve of an attacker who knows some columns exactly, and its forecast by the law alone."""
    known, person = columns_asked_about(table, question), table.one_with_role("person")

    def make(progress: Progress) -> Curve:
        progress("counting people who look alike", 0.0)
        return correctness_curve(table.count(known, person))

    return curve_task(
        make,
        question,
        fit_law=lambda curve: fit_class_sizes(table.count(known, person), method="ml"),
        method=_LAW_ALONE,
        name="curve",
        by="By the scaling law alone",
    )


def columns_asked_about(table: OpenTable, question: models.ExactQuestion | models.MaskedQuestion) -> list[str]:
    """The known columns of a question; without named ones, the quasi-identifiers by role."""
    return table.check_known(question.quasi_identifiers or table.with_role("quasi-identifier"))


def sparse_task(table: OpenTable, question: models.SparseQuestion) -> Task:
    """The curve of an attacker who knows a few points, and its forecast."""
    table.check_names([question.person, *question.item])
    make = partial(sparse_curve, table.table, **sparse_options(question))
    return curve_task(lambda progress: make(progress=progress), question, method=_FITTED_LAW, name="curve")


def sparse_options(question: models.SparseQuestion) -> dict[str, Any]:
    """The arguments of `sparse_curve`."""
    options = question.model_dump(include={"person", "known", "draws", "seed"})
    return options | {"item": list(dict.fromkeys(question.item))}


def ranks_task(table: OpenTable, question: models.RanksQuestion) -> Task:
    """The curve of a matcher from the ranks of true matches, and its forecast."""
    split = [name for name in (question.ties, question.group, question.confidence) if name is not None]
    table.check_names(split if isinstance(question.ranks, list) else [question.ranks, *split])
    if isinstance(question.ranks, list) and split:
        raise InputError("pasted ranks have no columns; name the column of the ranks to split them by others")

    values = table.table.filled_values

    def ranks() -> list[Any]:
        return question.ranks if isinstance(question.ranks, list) else values(question.ranks)

    def study() -> dict[str, Any]:
        if question.group is None and question.confidence is None:
            return {}
        groups = None if question.group is None else values(question.group)
        confidence = None if question.confidence is None else values(question.confidence)
        correct = [rank == 1 for rank in ranks()]
        return {"study": study_accuracy(correct, groups=groups, confidence=confidence).to_dict()}

    def make(progress: Progress) -> Curve:
        ties = values(question.ties) if question.ties else None
        return robust_curve_from_ranks(ranks(), gallery=question.gallery, ties=ties)

    return curve_task(make, question, method=_FITTED_LAW, name="curve", more=study)


def robust_task(table: OpenTable, question: models.RobustQuestion, gallery: OpenTable) -> Task:
    """The curve of matching noisy vectors, and its forecast."""
    if question.columns is not None:
        for one in (table, gallery):
            one.check_names(question.columns)

    def make(progress: Progress) -> Curve:
        names = None if question.columns is None else list(dict.fromkeys(question.columns))
        sides = [one.table.to_arrow(names) for one in (table, gallery)]
        return robust_curve(sides[0], sides[1], metric=question.metric, progress=progress)

    return curve_task(make, question, method=_FITTED_LAW, name="curve")


def techniques_task(question: models.TechniquesQuestion, measured: Mapping[str, MeasuredTechnique]) -> Task:
    """Forecast every technique for the same populations; `measured` are those of finished jobs, by name."""
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
            lines[one.name] = forecast(fit, drawn_sizes(float(answers[one.name].at.max())), seed=question.seed)
        leaders = name_leaders(answers)
        result = {
            "sentence": " ".join(leaders),
            "leaders": leaders,
            "techniques": [_technique_json(name, found[name].curve, answers[name]) for name in names],
        }
        figure = partial(_techniques_figure, {name: found[name].curve for name in names}, answers, lines, leaders)
        return Outcome(answers, lambda: result, lambda: as_figures([figure()]))

    return run


def _from_points(one: models.Technique) -> MeasuredTechnique:
    if one.points is None:
        raise InputError(f"{one.name} has no points; give those of its curve, or the work that measured them")
    sizes, shares = [point.n for point in one.points], [point.correctness for point in one.points]
    curve = Curve.from_points(sizes, shares, people=one.people or 0)
    return MeasuredTechnique(curve, fit_curve(curve))


def _technique_json(name: str, curve: Curve, answer: Forecast) -> dict[str, Any]:
    return {
        "name": name,
        "measured": int(curve.sizes[-1]),
        "named_there": float(curve.correctness[-1]),
        "forecast": answer.to_dict(),
        "hold_out": answer.hold_out.to_dict() if answer.hold_out else None,
    }


def _techniques_figure(
    curves: Mapping[str, Curve], answers: Mapping[str, Forecast], lines: Mapping[str, Forecast], leaders: list[str]
) -> Figure:
    first = next(iter(answers.values()))
    labels = first.populations
    rows = tuple(
        (
            name,
            f"{percent(float(curves[name].correctness[-1]))} of {large_number(float(curves[name].sizes[-1]))}",
            *(answer.correctness.in_words(place) for place in range(len(labels))),
            number(answer.h[0]),
            number(answer.gamma[0]),
        )
        for name, answer in answers.items()
    )
    columns = ("technique", "measured", *labels, "h, nats", "γ")
    table = DataTable("Named correctly, with 95% intervals", columns, rows)
    says = " ".join(leaders)
    return Figure("techniques", says, techniques_plot(curves, lines), table, means=_TECHNIQUES_MEANS)
