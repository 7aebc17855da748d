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
from incrowd.web.projects import describe_saved_work, load_project, save_project, saved_reading
from incrowd.web.refusals import Refusal, not_found
from incrowd.wording import listed

router = APIRouter(tags=["projects"])


@router.get("/tables/{table_id:key}/project", responses=refusals(404, 409), response_model=models.Project)
def download_project(
    table: TheTable,
    server: TheServer,
    session: TheSession,
    cells: Annotated[bool, Query(description="Also save values that were named, such as secrets.")] = False,
) -> JSONResponse:
    """The project of a table as a file: settings, runs and decisions, without cells unless they are asked for."""
    project = save_project(table, server.jobs.of_session(session.key, table.id), cells=cells)
    name = file_name(table.name, "project", "incrowd")
    return JSONResponse(project.model_dump(mode="json"), headers=as_attachment(name))


@router.post("/tables/{table_id:key}/project", responses=refusals(404, 409))
def upload_project(project: models.Project, table: TheTable, server: TheServer, session: TheSession) -> models.Loaded:
    """Apply a saved project to this table: its settings, scales and decisions; the response lists differences."""
    wanted = saved_reading(table, project)
    if wanted.options() == table.source.how:
        return load_project(table, project)
    try:
        again = server.read_again(session, table, wanted)
    except InputError as error:
        loaded = load_project(table, project)
        return loaded.model_copy(update={"changed": [*loaded.changed, f"its scales are not taken over: {error}"]})
    return load_project(again, project)


@router.get("/tables/{table_id:key}/project/saved", responses=refusals(404, 409))
def read_saved_work(table: TheTable, server: TheServer, session: TheSession) -> models.SavedWork | None:
    """The project that this table continues: its verdict, and candidates that were not made again yet."""
    return describe_saved_work(table, server.jobs.of_session(session.key, table.id), session.tables)


@router.delete("/tables/{table_id:key}/project/saved", status_code=204, responses=refusals(404, 409))
def forget_saved_work(table: TheTable) -> Response:
    """Discard the verdict and the candidates of the reopened project; settings and decisions stay."""
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
    """Record a decision with the numbers that it rests on."""
    if len(table.history.decisions) >= models.MOST_DECISIONS:
        raise Refusal(
            409,
            f"{models.MOST_DECISIONS:,} decisions were written down already; save the project and open the table anew",
        )
    candidate = server.jobs.get(session.key, new.candidate) if new.candidate else None
    decision = decide(new, table, candidate, server.jobs.of_session(session.key, table.id))
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
    """The record of a decision as one page to sign; without a `number`, of the last one about this table."""
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
