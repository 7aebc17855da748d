"""Decisions about a table, each written down with all that it was made on."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.recipients import settle_limits
from incrowd.web.candidates import describe_candidate, is_candidate
from incrowd.web.jobs import Job
from incrowd.web.models import TableSettings
from incrowd.web.project_models import AcceptedRisk, DecidedNumbers, Decision, NewDecision
from incrowd.web.projects import describe_table, without_cells, without_rows
from incrowd.web.refusals import Refusal
from incrowd.web.session_table import OpenTable
from incrowd.web.table_history import now_in_words


def decide(new: NewDecision, table: OpenTable, candidate: Job | None, jobs: Sequence[Job]) -> Decision:
    """The decision with its numbers and the settings by which they were judged.

    A candidate was judged by the settings when it was made, which may be others than those of the table now.

    Args:
        new: what somebody decides.
        table: the table that it is about.
        candidate: the protected table that it is about, if it is about one.
        jobs: the work on the table, the newest first.

    Raises:
        Refusal: the candidate is none of this table, a table is released that nobody assessed by these settings, or
            it is released against the verdict without a word why.
    """
    judged, settings = table, table.settings
    if candidate is not None:
        if not is_candidate(candidate) or candidate.table != table.id:
            raise Refusal(409, "only a protection of this table can be decided about")
        judged, settings = candidate.source or table, candidate.settings or settings
    assessed = next((job for job in jobs if _has_assessed(job, judged, settings)), None)
    if new.decision == "release" and candidate is None and assessed is None:
        raise Refusal(409, "a table is released by an assessment of its settings as they are now; assess it first")
    made = describe_candidate(candidate, judged) if candidate else None
    limits = settle_limits(settings.recipient, threshold=settings.threshold, highest=settings.highest)
    decided = Decision(
        at=now_in_words(),
        **new.model_dump(exclude={"candidate"}),
        table=describe_table(judged),
        settings=without_cells(settings)[0],
        accepted=AcceptedRisk(highest=limits.highest, average=limits.average),
        before=DecidedNumbers(**assessed.answer().summary) if assessed else None,
        after=DecidedNumbers(**candidate.answer().summary) if candidate else None,
        candidate=made.name if made else None,
        protection=without_rows(made.protection) if made else None,
    )
    if decided.is_against_verdict and not new.note.strip():
        raise Refusal(409, "the verdict is not yes: write in the note why it goes out all the same")
    return decided


def _has_assessed(job: Job, table: OpenTable, settings: TableSettings) -> bool:
    """Whether a job assessed the table by these settings; how it is to be protected does not matter."""
    if job.kind != "assessment" or job.state != "done" or job.source is not table or job.settings is None:
        return False
    return job.settings.model_copy(update={"protection": settings.protection}) == settings
