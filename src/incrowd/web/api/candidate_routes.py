"""Routes of candidates: the list, names, comparisons, rows side by side, and the search for the least loss."""

from __future__ import annotations

from fastapi import APIRouter

from incrowd.web import candidate_models as models
from incrowd.web import equivalents
from incrowd.web.api.dependencies import TheJob, TheServer, TheSession, TheTable, refusals
from incrowd.web.api.job_routes import TableJob, population_table_of
from incrowd.web.candidates import (
    compare_pair,
    describe_candidates,
    distinct_name,
    name_candidates,
    rows_side_by_side,
)
from incrowd.web.models import JobInfo, SolutionQuestion
from incrowd.web.refusals import Refusal
from incrowd.web.tasks.solve_task import solve_task

router = APIRouter(tags=["candidates"])


@router.get("/tables/{table_id:key}/candidates", responses=refusals(404, 409))
def list_candidates(table: TheTable, server: TheServer, session: TheSession) -> list[models.Candidate]:
    """The protected tables that were made of a table, the newest first, each with the settings that made it."""
    jobs = server.jobs.of_session(session.key, table.id)
    name_candidates(jobs)
    return describe_candidates(jobs, table)


@router.post("/tables/{table_id:key}/candidates/compare", responses=refusals(404, 409))
def compare_candidates(
    question: models.PairQuestion, table: TheTable, server: TheServer, session: TheSession
) -> models.Pair:
    """Two candidates side by side: numbers and distributions."""
    jobs = [server.jobs.get(session.key, key) for key in (question.a, question.b)]
    if any(job.table != table.id for job in jobs):
        raise Refusal(409, "both candidates must be protections of this table")
    with server.limit_concurrency():
        return compare_pair(jobs[0], jobs[1], table)


@router.post("/tables/{table_id:key}/solutions", status_code=202, responses=refusals(404, 409))
def start_solution(
    start: TableJob, server: TheServer, session: TheSession, question: SolutionQuestion | None = None
) -> JobInfo:
    """Find the protection with the least loss that passes; the result is a candidate."""
    server.check_room(session)
    folder = server.store.folder
    asked = question or SolutionQuestion()
    everybody = population_table_of(asked.protection or start.table.settings.protection, session)
    return start(
        "solution",
        lambda table, asked: solve_task(table, asked, folder, everybody.table if everybody else None),
        lambda table, asked: equivalents.solution(table, asked, everybody.source if everybody else None),
        asked,
    )


@router.post("/jobs/{job_id:key}/name", responses=refusals(404, 409))
def name_candidate(new: models.NewName, job: TheJob, server: TheServer, session: TheSession) -> JobInfo:
    """Rename a candidate; a number is added if another candidate of the table has the name."""
    taken = {one.name for one in server.jobs.of_session(session.key, job.table) if one is not job}
    job.name = distinct_name(new.name, taken)
    return job.info()


@router.post("/jobs/{job_id:key}/rows", responses=refusals(404, 409))
def read_rows(
    job: TheJob, server: TheServer, session: TheSession, question: models.RowsQuestion | None = None
) -> models.RowPairs:
    """Rows of a protected table beside those of its original, with the cells that changed marked."""
    table = session.table(job.table or "")
    table.check_file()
    with server.limit_concurrency():
        return rows_side_by_side(job, table, question or models.RowsQuestion())
