"""The task that protects a table and evaluates the result."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.assessment import judge_protected
from incrowd.classes import ClassSizes
from incrowd.evaluation import Evaluation, distributions
from incrowd.figures.assessment_charts import class_size_bins
from incrowd.figures.protection_charts import before_and_after, distribution_chart
from incrowd.measures import measure
from incrowd.protection import Protected, protect, write_protected
from incrowd.recipients import in_words
from incrowd.reports import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.risk_basis import basis_of, decided_question, question_of
from incrowd.wording import percent

_NEARLY_UNIQUE = 0.5  # distinct values for each row, from which a column tells most people apart


def options_of(asked: models.Protection, table: OpenTable) -> dict[str, Any]:
    """The arguments of `protect` for a question; the columns come from the roles."""
    options: dict[str, Any] = {
        "quasi_identifiers": table.with_role("quasi-identifier"),
        "k": asked.k,
        "t": asked.t,
        "l": asked.l,
        "sensitive": [asked.sensitive] if asked.sensitive else None,
        "method": asked.method,
        "person": table.one_with_role("person"),
        "identifiers": table.with_role("identifier"),
        "leave_out": table.with_role("drop"),
        "other": table.decided_as("other") or None,
        "aim": asked.aim,
    }
    for name in ("resolution", "suppress", "top", "bottom"):
        value = getattr(asked, name)
        if value not in (None, {}):
            options[name] = value
    if asked.steps:
        options["steps"] = [(step.column, step.action) for step in asked.steps]
    return options


def protect_task(table: OpenTable, asked: models.Protection, folder: Path) -> Task:
    """Protect a table and write it to a file in `folder`; the rows do not stay in memory."""
    options = options_of(asked, table)
    secret = list(dict.fromkeys([*table.with_role("sensitive"), *([asked.sensitive] if asked.sensitive else [])]))
    roles, about, question = table.settings.roles, question_of(table), decided_question(table)
    limits = question.limits

    def run(progress: Progress, publish: Publish) -> Outcome:
        safe = protect(table.table, **options, progress=part(progress, 0.0, 0.5))
        cost = safe.evaluate(progress=part(progress, 0.5, 0.8))
        before = table.count(list(safe.quasi_identifiers), safe.person)
        progress("comparing distributions", 0.85)
        figures = as_figures(
            [_sizes_figure(before, safe.classes), *_distribution_figures(table, safe)], table.table.columns
        )
        progress("judging the protected table", 0.9)
        verdict = judge_protected(safe, question)
        result = {
            **safe.to_dict(),
            "evaluation": cost.to_dict(),
            "before": _risk(before),
            "after": _after(cost),
            "sensitive": _secrets(table, safe, secret),
            "limits": limits.to_dict(),
            "threshold": limits.of_average,
            "recipient": in_words(table.settings.recipient),
            **basis_of(table, about).after(safe.classes),
            "verdict": verdict.to_dict(),
            "unchanged": _unchanged(table, safe, roles),
        }
        progress("writing the protected table", 0.95)
        file = _write(safe, folder)
        release = Release(file, safe.released_quasi_identifiers or safe.quasi_identifiers, safe.person, safe.kept_rows)
        return Outcome(None, lambda: result, lambda: figures, file, file.stat().st_size, release)

    return run


def _unchanged(table: OpenTable, safe: Protected, roles: Mapping[str, models.Role]) -> list[dict[str, Any]]:
    """The columns that are not changed, and whether most of their values are unique.

    Sensitive columns are never marked as nearly unique: they are the subject of the table.
    """
    touched = {*safe.quasi_identifiers, *safe.removed, *safe.pseudonymised, safe.person}
    return [
        {
            "column": one.column,
            "role": roles[one.column],
            "distinct": one.distinct if one.distinct >= 0 else None,
            "rows": table.table.rows,
            "nearly_unique": roles[one.column] != "sensitive" and one.distinct >= _NEARLY_UNIQUE * table.table.rows,
        }
        for one in table.columns
        if one.column not in touched
    ]


def _secrets(table: OpenTable, safe: Protected, names: list[str]) -> list[dict[str, Any]]:
    """Diversity and closeness of each sensitive column, before and after."""
    released = [name for name in names if name not in {*safe.quasi_identifiers, *safe.removed, safe.person}]
    if not released:
        return []
    known: dict[str, Any] = {
        "quasi_identifiers": list(safe.quasi_identifiers),
        "sensitive": released,
        "person": safe.person,
    }
    before, after = measure(table.table, **known).sensitive, measure(safe.table, **known).sensitive
    return [
        {"column": was.column, "before": was.to_dict(), "after": now.to_dict()}
        for was, now in zip(before, after, strict=True)
    ]


def _write(safe: Protected, folder: Path) -> Path:
    """Write the protected table and check the file; last of all, so that work that is stopped leaves none behind."""
    file = folder / f"{secrets.token_hex(8)}.parquet"
    try:
        return write_protected(safe, file)
    except BaseException:
        file.unlink(missing_ok=True)
        raise


def _risk(sizes: ClassSizes) -> dict[str, float]:
    return {"k": sizes.smallest, "uniqueness": sizes.uniqueness, "correctness": sizes.correctness}


def _after(cost: Evaluation) -> dict[str, float]:
    return {"k": cost.k, "uniqueness": cost.uniqueness, "correctness": cost.correctness}


def _sizes_figure(before: ClassSizes, after: ClassSizes) -> Figure:
    bins = [class_size_bins(sizes) for sizes in (before, after)]
    rows = tuple(
        (was["size"], was["people"], percent(was["share"]), now["people"], percent(now["share"]))
        for was, now in zip(*bins, strict=True)
        if was["people"] or now["people"]
    )
    says = (
        f"{percent(before.uniqueness)} of the people stood alone before, {percent(after.uniqueness)} do now; the "
        f"average risk within the table falls from {percent(before.correctness)} to {percent(after.correctness)}."
    )
    return Figure(
        "class-sizes",
        "How large the crowds are, before and after",
        says,
        before_and_after(before, after),
        DataTable("People by the size of their class", ("people alike", "before", "share", "after", "share now"), rows),
    )


def _distribution_figures(table: OpenTable, safe: Protected) -> list[Figure]:
    """A figure for each quasi-identifier, the most changed first."""
    found = distributions(table.table, safe.table, columns=list(safe.quasi_identifiers), hierarchies=safe.hierarchies)
    return [
        Figure(
            f"before-after-{number}",
            one.column,
            f"{percent(one.distance)} of the rows would have to move to make both alike; a range or a set counts in "
            "equal parts for each of its values.",
            distribution_chart(one),
            DataTable(
                f"{one.column} before and after",
                ("values", "before", "after"),
                tuple(
                    (group, percent(was), percent(now))
                    for group, was, now in zip(one.groups, one.before, one.after, strict=True)
                ),
            ),
        )
        for number, one in enumerate(sorted(found, key=lambda one: -one.distance))
    ]
