"""The task that compares all methods of protection on a table."""

from __future__ import annotations

from typing import Any

from incrowd._support.progress import Progress
from incrowd.evaluation import frontier
from incrowd.evaluation.frontier import Frontier, FrontierPoint
from incrowd.figures.protection_charts import NAMES, frontier_chart
from incrowd.recipients import judge, settle_limits
from incrowd.reports import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.risk_basis import basis_of, question_of
from incrowd.wording import number, percent


def frontier_task(table: OpenTable, question: models.FrontierQuestion) -> Task:
    """Protect a table with every method; each point carries the settings that make it."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    threshold = settle_limits(table.settings.recipient, threshold=table.settings.threshold).of_average
    about = question_of(table)

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = frontier(
            table.table,
            quasi_identifiers=known,
            methods=question.methods,
            k=question.k,
            sensitive=[question.sensitive] if question.sensitive else None,
            person=person,
            progress=progress,
        )
        bound = None if basis_of(table, about).population else threshold
        best = _worth_choosing(found, bound)
        result = {
            "records": found.records,
            "threshold": bound,
            "points": [
                {
                    **point.to_dict(),
                    "words": NAMES[point.method],
                    "best": point in best,
                    "protection": _as_asked(point, question),
                }
                for point in found.points
            ],
        }
        return Outcome(found, lambda: result, lambda: as_figures([_frontier_figure(found, best)]))

    return run


def _worth_choosing(found: Frontier, bound: float | None) -> list[FrontierPoint]:
    """The points that no other beats in both risk and detail, that leave nobody unique, and no risk above the bound.

    With a population there is no bound: that risk is estimated for the chosen table only, not for every point.
    """
    return [
        point
        for point in found.best
        if not point.uniqueness and (bound is None or judge(point.correctness, bound) == "within")
    ]


def _as_asked(point: FrontierPoint, question: models.FrontierQuestion) -> dict[str, Any]:
    """The settings that /protections takes to make a point."""
    method = "partition" if point.method == "t-close partition" else point.method
    plain: dict[str, Any] = {"method": method, "sensitive": question.sensitive}
    if point.method == "coarsen":
        return plain | {"resolution": int(point.setting.removeprefix("1/"))}
    plain["k"] = int(point.setting.removeprefix("k="))
    if point.method == "t-close partition":
        plain["t"] = "bound"
    if point.method == "generalise":
        plain["suppress"] = 0.02
    return plain


def _frontier_figure(found: Frontier, best: list[FrontierPoint]) -> Figure:
    rows = tuple(
        (
            f"{NAMES[point.method]}, {point.setting}",
            percent(point.correctness),
            percent(point.uniqueness),
            percent(point.granularity),
            "–" if point.information_loss is None else number(point.information_loss),
        )
        for point in found.points
    )
    named = "; ".join(f"{NAMES[point.method]}, {point.setting}" for point in best)
    says = (
        f"Safe enough, and not beaten in both risk and detail: {named}."
        if best
        else "None of these ways is safe enough: people are still unique, or the risk is above the threshold."
    )
    return Figure(
        "frontier",
        "What protection leaves and costs",
        says,
        frontier_chart(found),
        DataTable("Every way", ("method", "named", "unique", "detail kept", "information loss"), rows),
    )
