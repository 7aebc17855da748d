"""An assessment, shown in stages: the facts first, what takes longer as it comes."""

from __future__ import annotations

from dataclasses import replace

from incrowd._support.progress import Progress
from incrowd.assessment import Assessment, assess
from incrowd.reports import document, verdict_figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.risk_basis import question_of, remember


def assess_task(table: OpenTable, question: models.AssessmentQuestion) -> Task:
    """Assess the table by the settings it has now."""
    settings = table.settings
    known = table.with_role("quasi-identifier")
    sensitive, person, weight = table.with_role("sensitive"), *map(table.one_with_role, ("person", "weight"))
    other, about = table.roles_changed_to_other(), question_of(table)

    def told(found: Assessment) -> Outcome:
        remember(table, about, found)
        return outcome(_as_chosen(found))

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = assess(
            table.table,
            quasi_identifiers=known,
            sensitive=sensitive,
            person=person,
            weight=weight,
            other=other,
            population=settings.population,
            recipient=settings.recipient,
            threshold=settings.threshold,
            groups=settings.groups,
            protection=question.protection,
            seed=question.seed,
            progress=progress,
            partial=lambda early: publish(told(early)),
        )
        return told(found)

    return run


def _as_chosen(found: Assessment) -> Assessment:
    """Only what differs from the suggestion was said by somebody: the app passes all roles on, as they stand."""
    roles = found.roles
    said = tuple(one.column for one in roles.suggested if roles.role(one.column) != one.role)
    return replace(found, roles=replace(roles, said=said))


def outcome(found: Assessment) -> Outcome:
    """The assessment with its JSON and the figures of its report."""
    columns = [one.column for one in found.roles.suggested]
    return Outcome(
        found,
        found.to_dict,
        lambda: as_figures(
            [verdict_figure(found), *(figure for section in document(found) for figure in section.figures)], columns
        ),
    )
