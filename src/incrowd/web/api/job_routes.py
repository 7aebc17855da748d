"""Routes that start, list and cancel jobs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Response
from fastapi.responses import JSONResponse

from incrowd.web import equivalents, models
from incrowd.web.api.dependencies import TheJob, TheServer, TheSession, TheTable, refusals
from incrowd.web.fields import JobKind, Model
from incrowd.web.jobs import Job, Task
from incrowd.web.points_text import read_points
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.refusals import Refusal
from incrowd.web.server import Server
from incrowd.web.session_table import OpenTable
from incrowd.web.sessions import Session
from incrowd.web.tasks.assess_task import assess_task
from incrowd.web.tasks.forecast_task import forecast_task, points_task
from incrowd.web.tasks.frontier_task import frontier_task
from incrowd.web.tasks.leak_task import leak_at_once, leak_curve, leak_task, simulation_task
from incrowd.web.tasks.protect_task import in_population_of, protect_task

router = APIRouter(tags=["jobs"])
Question = TypeVar("Question", bound=Model)


class _TableJob:
    """Starts a job on a table. Its task and its equivalent command and script are made from one question."""

    needs_roles = True  # refused without a quasi-identifier

    def __init__(self, table: TheTable, server: TheServer, session: TheSession) -> None:
        self.table, self._server, self._session = table, server, session

    def __call__(
        self,
        kind: JobKind,
        make_task: Callable[[OpenTable, Question], Task],
        make_equivalent: Callable[[OpenTable, Question], models.Equivalent],
        question: Question,
        protection: ProtectionRequest | None = None,
    ) -> models.JobInfo:
        """Queue the job with the table's current settings, or with another `protection`."""
        table = self.table
        if self.needs_roles:
            table.check_known(table.with_role("quasi-identifier"))
        settings = table.settings
        equivalent, task = make_equivalent(table, question), make_task(table, question)
        if table.settings != settings:
            raise Refusal(409, "the settings were changed while this was asked for; ask again")
        if table.source.script:  # the table is a protected one, so the script protects first
            script = f"{table.source.script}\n\n{equivalent.python}"
            equivalent = models.Equivalent(cli=equivalent.cli, python=script)
        asked = question.model_dump(mode="json")
        if protection is not None:
            settings = settings.model_copy(update={"protection": protection})
        job = Job(self._session.key, kind, table.id, task, equivalent, source=table, settings=settings, question=asked)
        return queue_job(self._server, self._session, job)


class _AnyTableJob(_TableJob):
    """Starts a job whose question names its columns, also on a table without quasi-identifiers."""

    needs_roles = False


TableJob = Annotated[_TableJob, Depends()]
AnyTableJob = Annotated[_AnyTableJob, Depends()]


def queue_job(server: Server, session: Session, job: Job) -> models.JobInfo:
    """Queue a job while its session is open."""
    with session.while_open():
        return server.jobs.add(job).info()


@router.post("/tables/{table_id:key}/assessments", status_code=202, responses=refusals(404, 409))
def start_assessment(start: TableJob, question: models.AssessmentQuestion | None = None) -> models.JobInfo:
    """Assess the table by its settings. The result is published in stages."""
    return start("assessment", assess_task, equivalents.assessment, question or models.AssessmentQuestion())


@router.post("/tables/{table_id:key}/forecasts", status_code=202, responses=refusals(404, 409))
def start_forecast(start: TableJob, question: models.ForecastQuestion | None = None) -> models.JobInfo:
    """Forecast how many people would be named in larger populations."""
    return start("forecast", forecast_task, equivalents.table_forecast, question or models.ForecastQuestion())


@router.post("/points/read", responses=refusals())
def read_pasted_points(pasted: models.PointsText) -> list[models.Point]:
    """Read pasted points in the notation of any country; a line that can be read in two ways is refused."""
    return read_points(pasted.text)


@router.post("/forecasts", status_code=202, responses=refusals(409))
def start_points_forecast(question: models.PointsQuestion, server: TheServer, session: TheSession) -> models.JobInfo:
    """Forecast how many people would be named in larger populations, from measured points instead of a table."""
    equivalent = equivalents.points_forecast(question)
    asked = question.model_dump(mode="json")
    return queue_job(
        server, session, Job(session.key, "points", None, points_task(question), equivalent, question=asked)
    )


@router.post("/tables/{table_id:key}/leaks", status_code=202, responses=refusals(404, 409))
def start_leak(start: TableJob, server: TheServer, question: models.LeakQuestion | None = None) -> models.JobInfo:
    """Chance that an attacker names all targets from a leak of part of the table."""
    with server.limit_concurrency():  # the equivalent command has the number of people leaked, which is counted
        return start("leak", leak_task, equivalents.leak, question or models.LeakQuestion())


@router.post("/tables/{table_id:key}/leak-simulations", status_code=202, responses=refusals(404, 409))
def start_simulation(
    start: TableJob, server: TheServer, question: models.SimulationQuestion | None = None
) -> models.JobInfo:
    """Simulate leaks, also with targets known to have leaked, partial histories and wrong values."""
    with server.limit_concurrency():
        return start("simulation", simulation_task, equivalents.simulation, question or models.SimulationQuestion())


@router.post("/tables/{table_id:key}/leak-now", responses=refusals(404, 409), response_model=dict[str, Any])
def compute_leak(table: TheTable, server: TheServer, question: models.LeakQuestion | None = None) -> JSONResponse:
    """The numbers of a leak in the response, without a job; for sliders."""
    with server.limit_concurrency():
        return JSONResponse(leak_at_once(table, question or models.LeakQuestion()))


@router.post("/tables/{table_id:key}/leak-curve", responses=refusals(404, 409), response_model=dict[str, Any])
def draw_leak_curve(
    table: TheTable, server: TheServer, question: models.LeakCurveQuestion | None = None
) -> JSONResponse:
    """The chance for leaks of every size, for the chart of the slider."""
    with server.limit_concurrency():
        return JSONResponse(leak_curve(table, question or models.LeakCurveQuestion()))


@router.post("/tables/{table_id:key}/protections", status_code=202, responses=refusals(404, 409))
def start_protection(
    start: TableJob, server: TheServer, session: TheSession, question: models.ProtectionQuestion | None = None
) -> models.JobInfo:
    """Protect the table; the result can be downloaded, or opened as a table."""
    asked = (question.protection if question else None) or start.table.settings.protection
    return start_protection_of(start.table, server, session, asked)


def start_protection_of(table: OpenTable, server: Server, session: Session, asked: ProtectionRequest) -> models.JobInfo:
    """Start a protection of a table by these settings, which the job keeps."""
    server.check_room(session)
    everybody, folder = population_table_of(asked, session), server.store.folder
    start = _TableJob(table, server, session)
    return start(
        "protection",
        lambda table, asked: protect_task(table, asked, folder, everybody.table if everybody else None),
        lambda table, asked: equivalents.protection(table, asked, everybody.source if everybody else None),
        in_population_of(asked, table),
        asked,
    )


def population_table_of(asked: ProtectionRequest, session: Session) -> OpenTable | None:
    """The table of the population for k-map, if the request names one."""
    return session.table(asked.population_table) if asked.population_table else None


@router.post("/tables/{table_id:key}/frontiers", status_code=202, responses=refusals(404, 409))
def start_frontier(start: TableJob, question: models.FrontierQuestion | None = None) -> models.JobInfo:
    """Protect the table with every method and measure each; a point has the request to /protections that makes it."""
    return start("frontier", frontier_task, equivalents.frontier, question or models.FrontierQuestion())


@router.get("/jobs", responses=refusals())
def list_jobs(server: TheServer, session: TheSession) -> list[models.JobInfo]:
    """The jobs of this session, the newest first."""
    return [job.info() for job in server.jobs.of_session(session.key)]


@router.get("/tables/{table_id:key}/latest", responses=refusals(404, 409))
def read_latest(table: TheTable, server: TheServer, session: TheSession) -> models.Latest:
    """The newest finished job of each kind, also if later ones run, failed or were cancelled."""
    jobs = server.jobs.of_session(session.key, table.id)
    whole = {job.kind: job.info() for job in reversed(jobs) if job.state == "done"}
    return models.Latest(whole=whole, running=[job.info() for job in jobs if not job.finished])


@router.get("/jobs/{job_id:key}/settings", responses=refusals(404, 409))
def read_job_settings(job: TheJob) -> models.TableSettings:
    """The table's settings when the job was started, which made its result."""
    if job.settings is None:
        raise Refusal(409, "this work is about measured points, not about a table with settings")
    return job.settings


@router.get("/jobs/{job_id:key}", responses=refusals(404))
def read_job(job: TheJob) -> models.JobInfo:
    """State and progress of a job."""
    return job.info()


@router.post("/jobs/{job_id:key}/cancel", responses=refusals(404))
def cancel_job(job: TheJob, server: TheServer) -> models.JobInfo:
    """Cancel a job. A finished one stays as it is, with its result."""
    server.jobs.cancel(job)
    return job.info()


@router.delete("/jobs/{job_id:key}", status_code=204, responses=refusals(404))
def remove_job(job: TheJob, server: TheServer) -> Response:
    """Cancel a job and delete its result."""
    server.jobs.remove(job)
    return Response(status_code=204)
