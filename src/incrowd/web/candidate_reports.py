"""What the report of a candidate says beside its assessment: the original before, and who decided about it."""

from __future__ import annotations

from incrowd.reports import Origin
from incrowd.web.candidate_jobs import is_candidate, release_of, result_of
from incrowd.web.candidates import candidate_name
from incrowd.web.decisions import is_about
from incrowd.web.jobs import Job
from incrowd.web.refusals import Refusal
from incrowd.web.server import Server


def origin_of(job: Job, server: Server) -> Origin | None:
    """The original of the candidate that a report is about, with the last decision; None for another report."""
    if job.kind != "release" or job.source is None:
        return None
    try:
        candidate = server.jobs.get(job.session, job.question["candidate"])
    except Refusal:  # it was removed meanwhile
        return None
    if not is_candidate(candidate):
        return None
    table, result = job.source, result_of(candidate)
    known = [name for name in result["quasi_identifiers"] if name in table.table.columns]
    name = candidate_name(candidate)
    decisions = [one for one in table.current.history.decisions if one.candidate == name and is_about(one, table)]
    decision = decisions[-1] if decisions else None
    return Origin(
        before=table.count(known, release_of(candidate).person),
        cells_unchanged=result["cells_unchanged"],
        columns=len(table.table.columns) - len(result["removed"]),
        columns_before=len(table.table.columns),
        signed=f"{decision.by}, {decision.at[:10]}" if decision else "",
        confirmed={one.condition: one.reason for one in decision.confirmed} if decision else {},
        files=dict(decision.files) if decision else {},
    )
