"""Every way of protecting a table, side by side."""

from __future__ import annotations

from typing import Any

from incrowd._support.progress import Progress
from incrowd.evaluation import frontier
from incrowd.evaluation.frontier import Frontier, FrontierPoint
from incrowd.figures.protect import NAMES, frontier_chart
from incrowd.recipients import judge, settle_threshold
from incrowd.reports import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Work
from incrowd.web.tables import OpenTable
from incrowd.web.work.basis import basis_of, question_of
from incrowd.web.work.figures import as_figures
from incrowd.wording import share


def every_way(table: OpenTable, question: models.FrontierQuestion) -> Work:
    """Protect in every way; each point says what to ask for to get it."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    threshold = settle_threshold(table.settings.recipient, table.settings.threshold)
    about = question_of(table)

    def work(progress: Progress, publish: Publish) -> Outcome:
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

    return work


def _worth_choosing(found: Frontier, bound: float | None) -> list[FrontierPoint]:
    """Of the points that no other beats, those that leave nobody unique and no risk above the bound.

    With a population there is no bound: its risk is estimated for the table that is chosen, not for every way.
    """
    return [
        point
        for point in found.best
        if not point.uniqueness and (bound is None or judge(point.correctness, bound) == "within")
    ]


def _as_asked(point: FrontierPoint, question: models.FrontierQuestion) -> dict[str, Any]:
    """What to ask of /protections to get this point."""
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
            share(point.correctness),
            share(point.uniqueness),
            share(point.granularity),
            "–" if point.information_loss is None else f"{point.information_loss:.3f}",
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
