"""The report's section "protection": what protection would cost."""

from __future__ import annotations

from collections.abc import Iterator

from incrowd.assessment import Assessment, Protection
from incrowd.figures import assessment_charts as plots
from incrowd.reports.elements import DataTable, Figure, HowComputed, ReportSection, statements_of, unanswered_section
from incrowd.wording import chosen_percent, number, percent, percent_interval

_METHODS = (
    HowComputed(
        "Protection",
        "Local recoding by recursive partition: values become ranges or sets shared by at least k people, and k is "
        "counted on the result.",
        "Sánchez, Martínez & Domingo-Ferrer, how to avoid reidentification with proper anonymization "
        "(arXiv:1511.05957); LeFevre, DeWitt & Ramakrishnan 2006.",
    ),
)
_MEANS = (
    "Every point is the same table with more or less protection. Lower points are safer, points further right keep "
    "more detail. Choose the point furthest right that is still below the threshold."
)


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    released = assessment.provenance.question.released is not None
    if assessment.protection is None and (external or released):
        return None
    lead = "Values are generalised just enough that everybody shares them with k − 1 others. This is the cost."
    if assessment.protection is None:
        return unanswered_section(assessment, "protection", "What protection would cost", lead)
    costs = assessment.protection.costs
    in_population = bool(costs) and all(cost.population_limits for cost in costs)
    rows = tuple(
        (
            cost.k,
            percent(cost.risk if in_population else cost.correctness),
            *([percent_interval(*cost.population_limits)] if in_population and cost.population_limits else []),
            percent(cost.granularity),
            percent(cost.cells_changed),
            "–" if cost.information_loss is None else number(cost.information_loss),
        )
        for cost in costs
    )
    where: tuple[str, ...] = ("average risk in the table",)
    if in_population:
        where = ("average risk in the population", "what is certain of it")
    columns = ("k", *where, "detail kept", "cells changed", "information loss")
    figure = Figure(
        "protection",
        f"From k = {costs[0].k} to k = {costs[-1].k}: the risk falls to {percent(costs[-1].risk)}, "
        f"{percent(costs[-1].granularity)} of the detail is kept. The limit on the average is "
        f"{chosen_percent(assessment.verdict.threshold)}; classes of {assessment.verdict.limits.class_size} keep that "
        "on the highest."
        if costs
        else "The table is too small to protect.",
        plots.protection_chart(assessment.protection, assessment.verdict.threshold),
        DataTable("Cost of protection", columns, rows),
        means=_MEANS,
    )
    return ReportSection(
        "protection",
        "What protection would cost",
        lead,
        statements=(
            *statements_of(assessment, "protection"),
            *(() if external else statements_of(assessment, "secrets left")),
        ),
        figures=(figure,) if costs else (),
        tables=() if external else tuple(_secrets_left(assessment.protection)),
        notes=assessment.protection.notes,
        methods=_METHODS,
    )


def _secrets_left(protection: Protection) -> Iterator[DataTable]:
    """Remaining disclosure of each sensitive column, by class size."""
    rows = tuple(
        (secret.column, cost.k, secret.l, number(secret.t, digits=3), percent(secret.given_away))
        for cost in protection.costs
        for secret in cost.secrets
    )
    if rows:
        caption = "Remaining disclosure of each sensitive column (k alone does not prevent it; add t or l)"
        yield DataTable(
            caption, ("sensitive column", "k", "l", "t", "one value in the whole class"), tuple(sorted(rows))
        )
