"""Assessments, shown in stages: the facts first, what takes longer as it comes; of protected tables too."""

from __future__ import annotations

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
from incrowd.web.tasks.table_question import decided_question, question_of, remember


def assessment_question(table: OpenTable, asked: models.AssessmentQuestion) -> Question:
    """The question that the settings of a table make up now."""
    return replace(decided_question(table), protection=asked.protection, seed=asked.seed)


def assess_task(table: OpenTable, asked: models.AssessmentQuestion) -> Task:
    """Assess the table by the settings it has now."""
    question, about = assessment_question(table, asked), question_of(table)

    def kept(found: Assessment) -> Outcome:
        remember(table, about, found)
        return outcome(found)

    def run(progress: Progress, publish: Publish) -> Outcome:
        return kept(
            assess_question(table.table, question, progress=progress, partial=lambda early: publish(kept(early)))
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
    """A verdict in a few numbers, for records."""
    return {
        "decision": verdict.decision,
        "headline": verdict.headline,
        "recommendation": verdict.recommendation,
        "conditions": [str(reason) for reason in verdict.internal_reasons] if verdict.decision == "within" else [],
        "risk": verdict.risk,
        "highest": verdict.highest,
        "basis": verdict.basis,
    }


def report_task(release: Release, name: str, place: str) -> Task:
    """Assess a protected table by the settings of its original, for its report.

    Args:
        release: the protected table.
        name: what the report calls it.
        place: the file that commands name.
    """

    def run(progress: Progress, publish: Publish) -> Outcome:
        assert release.question is not None
        table = release.table
        table.name = name
        table.place, table.reading = place, {}
        asked = replace(release.question, quasi_identifiers=release.quasi_identifiers, protection=False)
        if not release.question.quasi_identifiers:
            asked = replace(asked, quasi_identifiers=None)  # guessed ones stay guessed
        if {asked.strata, asked.cluster} - {None, *table.columns}:  # how people were drawn cannot be told any more
            other = [*asked.other, *([] if asked.weights is None else [asked.weights])]
            asked = replace(asked, strata=None, cluster=None, weights=None, population=None, other=other)
        return outcome(assess_question(table, asked, progress=progress))

    return run
