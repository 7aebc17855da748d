"""Routes of projects: saving and loading them, decisions, the audit trail and the decision record."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from incrowd.errors import InputError
from incrowd.web import project_models as models
from incrowd.web.api.dependencies import TheServer, TheSession, TheTable, refusals
from incrowd.web.api.result_routes import HTML_PAGE
from incrowd.web.decisions import decide, is_about, record_page
from incrowd.web.downloads import as_attachment, file_name
from incrowd.web.jobs import Job
from incrowd.web.projects import describe_saved_work, load_project, save_project, saved_reading
from incrowd.web.refusals import Refusal, not_found
from incrowd.web.server import Server
from incrowd.web.session_table import OpenTable
from incrowd.web.sessions import Session
from incrowd.wording import listed

router = APIRouter(tags=["projects"])


@router.get("/tables/{table_id:key}/project", responses=refusals(404, 409), response_model=models.Project)
def download_project(
    table: TheTable,
    server: TheServer,
    session: TheSession,
    cells: Annotated[bool, Query(description="Also save values that were named, such as secrets.")] = False,
) -> JSONResponse:
    """The project of a table as a file: question, roles, runs and decisions, no cells unless they are asked for."""
    project = save_project(table, _jobs(table, server, session), cells=cells)
    name = file_name(table.name, "project", "incrowd")
    return JSONResponse(project.model_dump(mode="json"), headers=as_attachment(name))


@router.post("/tables/{table_id:key}/project", responses=refusals(404, 409))
def upload_project(project: models.Project, table: TheTable, server: TheServer, session: TheSession) -> models.Loaded:
    """Go on with a saved project on this table: settings, scales and decisions are taken over, differences are told."""
    wanted = saved_reading(table, project)
    if wanted.options() == table.source.how:
        return load_project(table, project)
    try:
        again = server.read_again(session, table, wanted)
    except InputError as error:
        found = load_project(table, project)
        return found.model_copy(update={"changed": [*found.changed, f"its scales are not taken over: {error}"]})
    return load_project(again, project)


@router.get("/tables/{table_id:key}/project/saved", responses=refusals(404, 409))
def read_saved_work(table: TheTable, server: TheServer, session: TheSession) -> models.SavedWork | None:
    """Saved content of the project that this table continues: its verdict, and its candidates not made again yet."""
    return describe_saved_work(table, _jobs(table, server, session), session.tables)


@router.delete("/tables/{table_id:key}/project/saved", status_code=204, responses=refusals(404, 409))
def forget_saved_work(table: TheTable) -> Response:
    """Forget what the reopened project held that is not made again; settings and decisions stay."""
    table.history.reopened = None
    return Response(status_code=204)


@router.get("/tables/{table_id:key}/decisions", responses=refusals(404, 409))
def list_decisions(table: TheTable) -> list[models.ListedDecision]:
    """The decisions about a table and those of its project about other tables, the oldest first."""
    return [models.ListedDecision(**dict(one), on_this_table=is_about(one, table)) for one in table.history.decisions]


@router.post("/tables/{table_id:key}/decisions", status_code=201, responses=refusals(404, 409))
def add_decision(
    new: models.NewDecision, table: TheTable, server: TheServer, session: TheSession
) -> models.RecordedDecision:
    """Write down a decision, with the numbers that it rests on."""
    if len(table.history.decisions) >= models.MOST_DECISIONS:
        raise Refusal(
            409,
            f"{models.MOST_DECISIONS:,} decisions were written down already; save the project and open the table anew",
        )
    candidate = server.jobs.get(session.key, new.candidate) if new.candidate else None
    decision = decide(new, table, candidate, _jobs(table, server, session))
    table.history.decisions.append(decision)
    table.history.note(f"decided: {new.decision}", by=new.by, candidate=decision.candidate)
    return decision


@router.get("/tables/{table_id:key}/trail", responses=refusals(404, 409))
def read_trail(table: TheTable) -> list[models.TrailEntry]:
    """Audit trail of a table, the oldest entry first."""
    return list(table.history.trail)


@router.get(
    "/tables/{table_id:key}/record.html", responses={**refusals(404, 409), **HTML_PAGE}, response_class=Response
)
def download_record(
    table: TheTable, number: Annotated[int | None, Query(ge=0, le=10_000, description="Which decision.")] = None
) -> Response:
    """The record of a decision as one page to sign: the last one about this table, unless another is asked for."""
    decisions = table.history.decisions
    here = [place for place, one in enumerate(decisions) if is_about(one, table)]
    if number is None and not here:
        elsewhere = f"; its project has decisions about {listed({one.table.name for one in decisions})}"
        raise Refusal(409, f"nothing was decided yet about {table.name}{elsewhere if decisions else ''}")
    place = here[-1] if number is None else number
    if place >= len(decisions):
        raise not_found("decision")
    decision = decisions[place]
    name = file_name(decision.table.name, f"decision-{decision.at[:10]}", "html")
    return Response(record_page(decision), media_type="text/html", headers=as_attachment(name))


def _jobs(table: OpenTable, server: Server, session: Session) -> list[Job]:
    return [job for job in server.jobs.of_session(session.key) if job.table == table.id]
