"""Jobs: starting, watching, cancelling."""

from __future__ import annotations

from fastapi import APIRouter, Response

from incrowd.errors import InputError
from incrowd.web import equivalents, models
from incrowd.web.api.common import TheJob, TheServer, TheSession, TheTable, refusals
from incrowd.web.jobs import Job, Work
from incrowd.web.server import Server
from incrowd.web.sessions import Session
from incrowd.web.tables import OpenTable

router = APIRouter(tags=["jobs"])


@router.post("/tables/{table_id:key}/assessments", status_code=202, responses=refusals(404, 409))
def start_assessment(
    table: TheTable, server: TheServer, session: TheSession, question: models.AssessmentQuestion | None = None
) -> models.JobInfo:
    """From the table to a decision, by the table's settings. The result is there in stages."""
    from incrowd.web.work.assessment import assessment

    asked = question or models.AssessmentQuestion()
    _check_known(table)
    return _start(server, session, "assessment", table, assessment(table, asked), equivalents.assessment(table, asked))


@router.post("/tables/{table_id:key}/forecasts", status_code=202, responses=refusals(404, 409))
def start_forecast(
    table: TheTable, server: TheServer, session: TheSession, question: models.ForecastQuestion | None = None
) -> models.JobInfo:
    """How many people would be named in larger populations."""
    from incrowd.web.work.forecast import table_forecast

    asked = question or models.ForecastQuestion()
    _check_known(table)
    work = table_forecast(table, asked)
    return _start(server, session, "forecast", table, work, equivalents.table_forecast(table, asked))


@router.post("/forecasts", status_code=202, responses=refusals(409))
def start_points_forecast(question: models.PointsQuestion, server: TheServer, session: TheSession) -> models.JobInfo:
    """The same from measured points, without a table."""
    from incrowd.web.work.forecast import points_forecast

    work = points_forecast(question)
    return _start(server, session, "points", None, work, equivalents.points_forecast(question))


@router.post("/tables/{table_id:key}/leaks", status_code=202, responses=refusals(404, 409))
def start_leak(
    table: TheTable, server: TheServer, session: TheSession, question: models.LeakQuestion | None = None
) -> models.JobInfo:
    """How likely a leak of part of the table names the people somebody looks for."""
    from incrowd.web.work.leak import leak

    asked = question or models.LeakQuestion()
    _check_known(table)
    return _start(server, session, "leak", table, leak(table, asked), equivalents.leak(table, asked))


@router.post("/tables/{table_id:key}/protections", status_code=202, responses=refusals(404, 409))
def start_protection(
    table: TheTable, server: TheServer, session: TheSession, question: models.ProtectionQuestion | None = None
) -> models.JobInfo:
    """Protect the table; the result can be downloaded, or opened as a table."""
    from incrowd.web.work.protection import protection

    asked = (question.protection if question else None) or table.settings.protection
    _check_known(table)
    work = protection(table, asked, server.store.folder)
    return _start(server, session, "protection", table, work, equivalents.protection(table, asked))


@router.post("/tables/{table_id:key}/frontiers", status_code=202, responses=refusals(404, 409))
def start_frontier(
    table: TheTable, server: TheServer, session: TheSession, question: models.FrontierQuestion | None = None
) -> models.JobInfo:
    """Protect the table in every way and measure each; points carry what /protections takes to make them."""
    from incrowd.web.work.protection import every_way

    asked = question or models.FrontierQuestion()
    _check_known(table)
    return _start(server, session, "frontier", table, every_way(table, asked), equivalents.every_way(table, asked))


@router.get("/jobs", responses=refusals())
def list_jobs(server: TheServer, session: TheSession) -> list[models.JobInfo]:
    """The jobs of this session, the newest first."""
    return [job.info() for job in server.jobs.of_session(session.key)]


@router.get("/jobs/{job_id:key}", responses=refusals(404))
def read_job(job: TheJob) -> models.JobInfo:
    """How far a job is."""
    return job.info()


@router.post("/jobs/{job_id:key}/cancel", responses=refusals(404))
def cancel_job(job: TheJob, server: TheServer) -> models.JobInfo:
    """Stop a job. One that was over already stays as it is, with its result."""
    server.jobs.cancel(job)
    return job.info()


@router.delete("/jobs/{job_id:key}", status_code=204, responses=refusals(404))
def remove_job(job: TheJob, server: TheServer) -> Response:
    """Stop a job and forget what it found."""
    server.jobs.remove(job)
    return Response(status_code=204)


def _check_known(table: OpenTable) -> None:
    if not table.with_role("quasi-identifier"):
        raise InputError("no column is a quasi-identifier; say first which columns others may know")


def _start(
    server: Server,
    session: Session,
    kind: models.Kind,
    table: OpenTable | None,
    work: Work,
    equivalent: models.Equivalent,
) -> models.JobInfo:
    if table is not None and table.source.script:  # the table was made here: how comes first
        equivalent = models.Equivalent(cli=equivalent.cli, python=f"{table.source.script}\n\n{equivalent.python}")
    job = Job(session.key, kind, table.id if table else None, work, equivalent)
    if table is not None:
        job.source, job.asked = table, table.settings
    with session.going_on():
        return server.jobs.add(job).info()
