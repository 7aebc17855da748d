"""Tasks about a protected table: its own report, and attacks on it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from incrowd._support.progress import Progress
from incrowd.assessment import assess_question
from incrowd.attacks import KINDS, attack_release
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.releases import Release
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.assess_task import outcome


def report_task(release: Release, name: str) -> Task:
    """Assess a protected table by the settings of its original, for its report."""

    def run(progress: Progress, publish: Publish) -> Outcome:
        assert release.question is not None
        table = release.table
        table.name = name
        table.named = (name,)
        asked = replace(release.question, quasi_identifiers=release.quasi_identifiers, protection=False)
        if not release.question.quasi_identifiers:
            asked = replace(asked, quasi_identifiers=None)  # guessed ones stay guessed
        return outcome(assess_question(table, asked, progress=progress))

    return run


def attack_task(table: OpenTable, question: models.AttackQuestion, released: Any, kept_rows: Any, holdout: Any) -> Task:
    """Attack a release of a table in every way that can be run."""
    known: Any = question.known
    if known is None:
        known = table.settings.groups or table.with_role("quasi-identifier") or None

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = attack_release(
            table.table,
            released,
            known=known,
            secret=question.secret,
            holdout=holdout,
            targets=question.targets,
            seed=question.seed,
            kept_rows=kept_rows,
            progress=progress,
            kinds=question.kinds or KINDS,
        )
        return Outcome(found, found.to_dict, dict, summary={"sentence": found.sentence})

    return run
