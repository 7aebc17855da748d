"""The task that assesses a protected table, for its own report."""

from __future__ import annotations

from dataclasses import replace

from incrowd._support.progress import Progress
from incrowd.assessment import assess_question
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.releases import Release
from incrowd.web.tasks.assess_task import outcome


def report_task(release: Release, name: str) -> Task:
    """Assess a protected table by the settings of its original, for its report."""

    def run(progress: Progress, publish: Publish) -> Outcome:
        assert release.question is not None
        table = release.table
        table.name = name
        table.place, table.reading = name, {}
        asked = replace(release.question, quasi_identifiers=release.quasi_identifiers, protection=False)
        if not release.question.quasi_identifiers:
            asked = replace(asked, quasi_identifiers=None)  # guessed ones stay guessed
        if {asked.strata, asked.cluster} - {
            None,
            *table.columns,
        }:  # how people were drawn cannot be told any more, so its own classes count
            other = [*asked.other, *([] if asked.weights is None else [asked.weights])]
            asked = replace(asked, strata=None, cluster=None, weights=None, population=None, other=other)
        return outcome(assess_question(table, asked, progress=progress))

    return run
