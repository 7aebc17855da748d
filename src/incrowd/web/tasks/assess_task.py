"""Tasks that assess a table, with results published in stages, and a protected table for its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from incrowd._support.progress import Progress
from incrowd.assessment import Assessment, Question, assess_question
from incrowd.assessment.verdict import Verdict
from incrowd.reports import document, verdict_figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.table_question import decided_question, population_question, remember
from incrowd.wording import Advice, percent


def assessment_question(table: OpenTable, asked: models.AssessmentQuestion) -> Question:
    """The question of an assessment by the table's current settings."""
    return replace(decided_question(table), protection=asked.protection, seed=asked.seed)


def assess_task(table: OpenTable, asked: models.AssessmentQuestion) -> Task:
    """Assess the table by its current settings."""
    question, about_population = assessment_question(table, asked), population_question(table)

    def keep(found: Assessment) -> Outcome:
        remember(table, about_population, found)
        return outcome(found)

    def run(progress: Progress, publish: Publish) -> Outcome:
        return keep(
            assess_question(table.table, question, progress=progress, partial=lambda early: publish(keep(early)))
        )

    return run


def outcome(found: Assessment) -> Outcome:
    """The assessment with its JSON and the figures of its report."""
    columns = [one.column for one in found.roles.suggested]
    return Outcome(
        found,
        found.to_dict,
        lambda: as_figures(
            [verdict_figure(found), *(figure for section in document(found) for figure in section.figures)], columns
        ),
        summary={
            **summary_of(found.verdict),
            "people": found.facts.people,
            "k": found.facts.k,
            "uniqueness": found.facts.uniqueness,
            "correctness": found.facts.correctness,
        },
    )


def summary_of(verdict: Verdict) -> dict[str, Any]:
    """The main facts of a verdict, for the summary of an outcome."""
    return {
        "decision": verdict.decision,
        "headline": verdict.headline,
        "recommendation": verdict.recommendation,
        "conditions": [str(condition) for condition in verdict.conditions],
        "risk": verdict.risk,
        "highest": verdict.highest,
        "basis": verdict.basis,
    }


def report_task(release: Release, name: str, place: str, notes: Sequence[str]) -> Task:
    """Assess a protected table by the settings of its original, for its report.

    Args:
        release: the protected table.
        name: its name in the report.
        place: its file in commands.
        notes: the first notes of the report: what protection cost, and how the original was read.
    """

    def run(progress: Progress, publish: Publish) -> Outcome:
        assert release.question is not None
        table = release.table
        table.name = name
        table.place, table.reading = place, {}
        asked = replace(release.question, quasi_identifiers=release.quasi_identifiers, protection=False)
        if not release.question.quasi_identifiers:
            asked = replace(asked, quasi_identifiers=None)  # suggested ones stay suggestions
        if {asked.strata, asked.cluster} - {None, *table.columns}:  # the columns of the sampling design are removed
            other = [*asked.other, *([] if asked.weights is None else [asked.weights])]
            asked = replace(asked, strata=None, cluster=None, weights=None, population=None, other=other)
        found = assess_question(table, asked, progress=progress)
        return outcome(replace(found, notes=(*map(Advice, notes), *found.notes)))

    return run


def notes_on_protection(result: Mapping[str, Any], original: OpenTable, reading: Mapping[str, Any]) -> list[str]:
    """Notes on what a protected table lacks of its original, and on how the original's file was read.

    Args:
        result: the result of the protection, as JSON.
        original: the table that was protected.
        reading: the reading options of its file at that time.
    """
    rows, dropped, removed = original.table.rows, result["suppressed_rows"], result["removed"]
    detail = percent(result["evaluation"]["granularity"])
    gone = f"{dropped:,} of {rows:,} rows were dropped ({percent(dropped / rows)})" if dropped else "no row was dropped"
    left_out = f"left out: {', '.join(removed)}" if removed else "no column was left out"
    how = "; ".join(f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in reading.items())
    noticed = "".join(f"; {note.rstrip('.')}" for note in original.table.notes)
    return [
        f"Made from {original.name}: {detail} of the detail of the quasi-identifiers is kept; {gone}; {left_out}.",
        f"How the file of {original.name} was read: {how or 'as it is, nothing was set by hand'}{noticed}.",
    ]


def _in_words(value: Any) -> str:
    """The value of a reading option in words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return "yes" if value is True else str(value)
