"""Protection: the table made safe, what is left of risk and detail, and every way side by side."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from incrowd.classes import ClassSizes
from incrowd.evaluate import Evaluation, distributions, frontier
from incrowd.evaluate.frontier import Frontier, FrontierPoint
from incrowd.measure import measure
from incrowd.plots.assess import class_size_bins
from incrowd.plots.protect import before_and_after, distribution_chart, frontier_chart
from incrowd.progress import Progress, part
from incrowd.protect import Protected, protect
from incrowd.recipients import in_words, settle_threshold
from incrowd.report import DataTable, Figure
from incrowd.table import write_table
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Work
from incrowd.web.tables import OpenTable
from incrowd.web.work.figures import as_figures


def options_of(asked: models.Protection, table: OpenTable) -> dict[str, Any]:
    """The options of `protect` for what was asked; the columns' roles say the rest."""
    options: dict[str, Any] = {
        "quasi_identifiers": table.with_role("quasi-identifier"),
        "k": asked.k,
        "t": asked.t,
        "l": asked.l,
        "sensitive": asked.sensitive,
        "method": asked.method,
        "person": table.one_with_role("person"),
        "identifiers": table.with_role("identifier"),
        "other": table.said_other() or None,
        "aim": asked.aim,
        "seed": asked.seed,
    }
    for name in ("resolution", "suppress", "top", "bottom"):
        value = getattr(asked, name)
        if value not in (None, {}):
            options[name] = value
    if asked.steps:
        options["steps"] = [(step.column, step.action) for step in asked.steps]
    return options


def protection(table: OpenTable, asked: models.Protection, folder: Path) -> Work:
    """Protect the table and keep it as a file; the rows do not stay in memory."""
    options = options_of(asked, table)
    secret = list(dict.fromkeys([*table.with_role("sensitive"), *([asked.sensitive] if asked.sensitive else [])]))
    threshold = settle_threshold(table.settings.recipient, table.settings.threshold)
    recipient = in_words(table.settings.recipient)

    def work(progress: Progress, publish: Publish) -> Outcome:
        safe = protect(table.table, **options, progress=part(progress, 0.0, 0.5))
        cost = safe.evaluate(progress=part(progress, 0.5, 0.8))
        before = table.count(list(safe.quasi_identifiers), safe.person)
        progress("comparing distributions", 0.85)
        figures = as_figures(
            [_sizes_figure(before, safe.classes), *_distribution_figures(table, safe)], table.table.columns
        )
        result = {
            **safe.to_dict(),
            "evaluation": cost.to_dict(),
            "before": _risk(before),
            "after": _after(cost),
            "sensitive": _secrets(table, safe, secret),
            "threshold": threshold,
            "recipient": recipient,
        }
        progress("writing the protected table", 0.95)
        file = _kept(safe, folder)
        return Outcome(None, lambda: result, lambda: figures, file, file.stat().st_size)

    return work


def _secrets(table: OpenTable, safe: Protected, names: list[str]) -> list[dict[str, Any]]:
    """How well each sensitive column is hidden, before and after."""
    there = [name for name in names if name not in {*safe.quasi_identifiers, *safe.removed, safe.person}]
    if not there:
        return []
    known: dict[str, Any] = {
        "quasi_identifiers": list(safe.quasi_identifiers),
        "sensitive": there,
        "person": safe.person,
    }
    before, after = measure(table.table, **known).sensitive, measure(safe.table, **known).sensitive
    return [
        {"column": was.column, "before": was.to_dict(), "after": now.to_dict()}
        for was, now in zip(before, after, strict=True)
    ]


def _kept(safe: Protected, folder: Path) -> Path:
    """The protected table as a file, written last: whoever stops the work before leaves none behind."""
    file = folder / f"{secrets.token_hex(8)}.parquet"
    try:
        return write_table(safe.table, file)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def every_way(table: OpenTable, question: models.FrontierQuestion) -> Work:
    """Protect in every way; each point says what to ask for to get it."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")

    def work(progress: Progress, publish: Publish) -> Outcome:
        found = frontier(
            table.table,
            quasi_identifiers=known,
            methods=question.methods,
            k=question.k,
            sensitive=question.sensitive,
            person=person,
            progress=progress,
        )
        best = set(found.best)
        result = {
            "records": found.records,
            "points": [
                {**point.to_dict(), "best": point in best, "protection": _as_asked(point, question)}
                for point in found.points
            ],
        }
        return Outcome(found, lambda: result, lambda: as_figures([_frontier_figure(found)]))

    return work


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


def _risk(sizes: ClassSizes) -> dict[str, float]:
    return {"k": sizes.smallest, "uniqueness": sizes.uniqueness, "correctness": sizes.correctness}


def _after(cost: Evaluation) -> dict[str, float]:
    return {"k": cost.k, "uniqueness": cost.uniqueness, "correctness": cost.correctness}


def _sizes_figure(before: ClassSizes, after: ClassSizes) -> Figure:
    bins = [class_size_bins(sizes) for sizes in (before, after)]
    rows = tuple(
        (was["size"], was["people"], f"{was['share']:.2%}", now["people"], f"{now['share']:.2%}")
        for was, now in zip(*bins, strict=True)
        if was["people"] or now["people"]
    )
    says = (
        f"{before.uniqueness:.1%} of the people stood alone before, {after.uniqueness:.1%} do now; the average risk "
        f"falls from {before.correctness:.1%} to {after.correctness:.1%}."
    )
    return Figure(
        "class-sizes",
        "How large the crowds are, before and after",
        says,
        before_and_after(before, after),
        DataTable("People by the size of their class", ("people alike", "before", "share", "after", "share now"), rows),
    )


def _distribution_figures(table: OpenTable, safe: Protected) -> list[Figure]:
    """One for each quasi-identifier, those that have changed most first."""
    found = distributions(table.table, safe.table, columns=list(safe.quasi_identifiers), hierarchies=safe.hierarchies)
    return [
        Figure(
            f"before-after-{number}",
            one.column,
            f"{one.distance:.1%} of the rows would have to move to make both alike.",
            distribution_chart(one),
            DataTable(
                f"{one.column} before and after",
                ("values", "before", "after"),
                tuple(
                    (group, f"{was:.2%}", f"{now:.2%}")
                    for group, was, now in zip(one.groups, one.before, one.after, strict=True)
                ),
            ),
        )
        for number, one in enumerate(sorted(found, key=lambda one: -one.distance))
    ]


def _frontier_figure(found: Frontier) -> Figure:
    rows = tuple(
        (
            f"{point.method} {point.setting}",
            f"{point.correctness:.2%}",
            f"{point.uniqueness:.2%}",
            f"{point.granularity:.1%}",
            "–" if point.information_loss is None else f"{point.information_loss:.3f}",
        )
        for point in found.points
    )
    best = ", ".join(f"{point.method} {point.setting}" for point in found.best)
    return Figure(
        "frontier",
        "What protection leaves and costs",
        f"Not beaten in both risk and detail: {best}.",
        frontier_chart(found),
        DataTable("Every way", ("method", "named", "unique", "detail kept", "information loss"), rows),
    )
