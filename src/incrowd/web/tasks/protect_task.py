"""The task that protects a table and evaluates the result."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.assessment import Question, judge_protected
from incrowd.assessment.verdict import Verdict
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.evaluation import Evaluation, distributions
from incrowd.evaluation.column_distributions import ColumnDistribution
from incrowd.figures.assessment_charts import class_size_bins
from incrowd.figures.protection_charts import before_and_after, distribution_chart
from incrowd.measures import measure
from incrowd.protection import Hierarchy, Protected, make_codebook, protect, write_protected
from incrowd.protection.marks import remove_release
from incrowd.protection.protect_options import OPTIONS
from incrowd.protection.release_warnings import is_nearly_unique
from incrowd.recipients import in_words
from incrowd.reports import DataTable, Figure
from incrowd.reports.sections.facts import CLASS_SIZES
from incrowd.tables.write import describe_text
from incrowd.web.downloads import upload_ending
from incrowd.web.fields import ChosenRole
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.assess_task import summary_of
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.table_question import basis_of, decided_question, population_question
from incrowd.wording import percent


def options_of(asked: ProtectionRequest, table: OpenTable, everybody: Any = None) -> dict[str, Any]:
    """The arguments of `protect` for a request, in the order of their declaration.

    `everybody` is the population table of k-map.
    """
    left_out = list(dict.fromkeys([*table.with_role("drop"), *asked.leave_out]))
    secrets_left_out = [name for name in table.decided_as("sensitive") if name in left_out]
    options = asked.given_options() | {
        "quasi_identifiers": [name for name in table.with_role("quasi-identifier") if name not in left_out],
        "k": asked.k,
        "method": asked.method,
        "person": table.one_with_role("person"),
        "identifiers": [name for name in table.with_role("identifier") if name not in left_out],
        "leave_out": left_out,
        "sensitive": list(dict.fromkeys([*asked.secrets, *secrets_left_out])) or None,
        "other": [name for name in table.decided_as("other") if name not in left_out] or None,
    }
    if asked.hierarchies:
        options["hierarchies"] = {name: read_hierarchy(given) for name, given in asked.hierarchies.items()}
    if "population_table" in options:
        options["population_table"] = everybody
    return {name: options[name] for name in OPTIONS if options.get(name) is not None}


def read_hierarchy(given: str | list[list[str]]) -> Hierarchy:
    """A hierarchy by a rule or by rows, never from a file of the server."""
    if not isinstance(given, str):
        return Hierarchy.from_rows(given)
    if not given[0].isdigit():
        return Hierarchy.parse(given)
    widths = [float(part) for part in given.split(",")]
    if min(widths) <= 0:
        raise InputError("the widths of intervals must be above 0", hint="hierarchy")
    return Hierarchy.intervals(sorted(widths))


def in_population_of(asked: ProtectionRequest, table: OpenTable) -> ProtectionRequest:
    """The request, with the population of the table's settings if k-map names none."""
    given = asked.given_options()
    if "k_map" not in given or given.keys() & {"population", "population_table"}:
        return asked
    return asked.model_copy(update={"population": table.settings.population})


def protect_task(table: OpenTable, asked: ProtectionRequest, folder: Path, everybody: Any = None) -> Task:
    """Protect a table and write it to a file in `folder`."""
    options, make_outcome = options_of(asked, table, everybody), OutcomeMaker(table, asked, folder)

    def run(progress: Progress, publish: Publish) -> Outcome:
        safe = protect(table.table, **options, progress=part(progress, 0.0, 0.5))
        return make_outcome(safe, None, part(progress, 0.5, 1.0))

    return run


class OutcomeMaker:
    """Makes the outcome of a protected table, with its cost, verdict and file, by the table's settings at the start."""

    def __init__(self, table: OpenTable, asked: ProtectionRequest, folder: Path) -> None:
        self._table, self._folder = table, folder
        self._secrets = list(dict.fromkeys([*table.with_role("sensitive"), *asked.secrets]))
        self._roles, self._about, self.question = (
            table.settings.roles,
            population_question(table),
            decided_question(table),
        )
        self._recipient = in_words(table.settings.recipient)

    def __call__(self, safe: Protected, verdict: Verdict | None, progress: Progress) -> Outcome:
        table, limits = self._table, self.question.limits
        cost = safe.evaluate(progress=part(progress, 0.0, 0.6))
        before = table.count(list(safe.quasi_identifiers), safe.person)
        progress("comparing distributions", 0.7)
        # classes of a perturbed table are no guarantee, so they are not drawn
        sizes = [] if safe.guarantee.perturbed else [_sizes_figure(before, safe.classes)]
        changes = distributions(
            table.table, safe.table, columns=list(safe.quasi_identifiers), hierarchies=safe.hierarchies
        )
        figures = as_figures([*sizes, *_distribution_figures(changes)], table.table.columns)
        if verdict is None:
            progress("judging the protected table", 0.8)
            verdict = judge_protected(safe, self.question, progress=part(progress, 0.8, 0.9))
        result = {
            **safe.to_dict(),
            "evaluation": cost.to_dict(),
            "before": _risk(before, before.smallest),
            "people_before": before.people,
            "after": _risk(cost, cost.k),
            "sensitive": _secrets(table, safe, self._secrets),
            "limits": limits.to_dict(),
            "threshold": limits.of_average,
            "recipient": self._recipient,
            **basis_of(table, self._about).after(safe.classes, in_population=verdict.basis == "population"),
            "verdict": verdict.to_dict(),
            "distributions": [one.to_dict() for one in changes],
            "unchanged": _unchanged(table, safe, self._roles),
            "cells_unchanged": cells_unchanged(safe, len(table.table.columns)),
            "weight_if_known": _count_with_weight(table, safe, limits.class_size),
            "file_format": upload_ending(table),
            "written": describe_text(safe.table, Path(f"table.{upload_ending(table)}"), table.table.codebook),
        }
        codebook = make_codebook(safe)
        result["codebook"] = {"json": codebook.to_ddi(), "md": codebook.to_markdown()}
        progress("writing the protected table", 0.9)
        release = _write(safe, self._folder, self.question)
        summary = {
            **summary_of(verdict),
            "people": cost.people,
            "k": cost.k,
            "uniqueness": cost.uniqueness,
            "correctness": cost.correctness,
            "detail": cost.granularity,
            "rows_left_out": cost.suppressed,
        }
        file = release.file
        return Outcome(None, lambda: result, lambda: figures, file, file.stat().st_size, release, summary)


def _unchanged(table: OpenTable, safe: Protected, roles: Mapping[str, ChosenRole]) -> list[dict[str, Any]]:
    """The columns that are passed on unchanged, and whether most of their values are unique.

    Sensitive columns are never marked as nearly unique: they are the subject of the table.
    """
    touched = {*safe.quasi_identifiers, *safe.removed, *safe.pseudonymised, safe.person}
    return [
        {
            "column": one.column,
            "role": roles[one.column],
            "distinct": one.distinct if one.distinct >= 0 else None,
            "rows": table.table.rows,
            "nearly_unique": roles[one.column] != "sensitive" and is_nearly_unique(one.distinct, table.table.rows),
        }
        for one in table.columns
        if one.column not in touched
    ]


def cells_unchanged(safe: Protected, columns: int) -> float:
    """The share of the original's cells that are in the release as they were, of all its rows and `columns`."""
    original = (safe.rows + safe.suppressed_rows) * columns
    kept = safe.rows * (columns - len({*safe.removed, *safe.pseudonymised}))
    changed = sum(cells for name, cells in safe.changed_cells.items() if name not in safe.removed)
    return (kept - changed) / original if original else 1.0


def _count_with_weight(table: OpenTable, safe: Protected, least: int) -> dict[str, Any] | None:
    """The people whom an attacker finds who also knows the sampling weight; None if none is passed on."""
    weight = table.one_with_role("weight")
    if weight is None or weight in safe.removed:
        return None
    known = [*(safe.released_quasi_identifiers or safe.quasi_identifiers), weight]
    sizes = ClassSizes.from_table(safe.table, quasi_identifiers=known, person=safe.person)
    counts = {"people": sizes.people, "unique": sizes.uniques, "in_small": sizes.below(least)}
    return {"column": weight, "least": least, **counts}


def _secrets(table: OpenTable, safe: Protected, names: list[str]) -> list[dict[str, Any]]:
    """Diversity and closeness of each sensitive column, before and after protection."""
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


def _write(safe: Protected, folder: Path, question: Question) -> Release:
    """Write the protected table and check the file. This is the last step, so that a cancelled job leaves no file."""
    file = folder / f"{secrets.token_hex(8)}.parquet"
    released = safe.released_quasi_identifiers or safe.quasi_identifiers
    try:
        write_protected(safe, file)
        release = Release(file, released, safe.person, safe.kept_rows, question.about_release(safe.removed))
        _ = release.fingerprint  # cached here: the request that lists candidates would wait for it
    except BaseException:
        remove_release(file)
        raise
    return release


def _risk(counted: ClassSizes | Evaluation, k: int) -> dict[str, float]:
    return {"k": k, "uniqueness": counted.uniqueness, "correctness": counted.correctness}


def _sizes_figure(before: ClassSizes, after: ClassSizes) -> Figure:
    bins = [class_size_bins(sizes) for sizes in (before, after)]
    rows = tuple(
        (was["size"], was["people"], percent(was["share"]), now["people"], percent(now["share"]))
        for was, now in zip(*bins, strict=True)
        if was["people"] or now["people"]
    )
    says = (
        f"{percent(before.uniqueness)} of the people stood alone before, {percent(after.uniqueness)} do now; the "
        f"average risk within the table is {percent(after.correctness)}, and was {percent(before.correctness)}."
    )
    return Figure(
        "class-sizes",
        says,
        before_and_after(before, after),
        DataTable("People by the size of their class", ("people alike", "before", "share", "after", "share now"), rows),
        means=CLASS_SIZES,
    )


def _distribution_figures(changes: Sequence[ColumnDistribution]) -> list[Figure]:
    """A figure for each quasi-identifier, the most changed first."""
    return [
        Figure(
            f"before-after-{number}",
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
            means="The values of one column before and after. The closer the two shapes, the more can still be learned "
            "from the column about everybody, while nobody stands out. A range or a set is spread evenly over its "
            "values, so that a rare value may seem to have grown.",
        )
        for number, one in enumerate(sorted(changes, key=lambda one: -one.distance))
    ]
