"""Routes of tables: opening, preview, settings, live counts, and the crowd with its records."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from incrowd.tables.formats import described_formats
from incrowd.web import crowd_models as crowd
from incrowd.web import models
from incrowd.web.api.dependencies import TheServer, TheSession, TheTable, refusals
from incrowd.web.crowd import crowd_of_release, describe_crowd, riskiest_records, view_person
from incrowd.web.fields import Encoding, MissingCodes, Separator, Short
from incrowd.web.settings_changes import SettingsChanges
from incrowd.web.uploads import receive_upload

router = APIRouter(tags=["tables"])

_FILE = {"type": "object", "required": ["file"], "properties": {"file": {"type": "string", "format": "binary"}}}
_FORM = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FILE}}}}


def _reading(
    separator: Annotated[Separator | None, Query(description="Of a text file.")] = None,
    encoding: Annotated[Encoding | None, Query(description="Of a text file, such as cp1252.")] = None,
    null: Annotated[MissingCodes | None, Query(description="Texts that mean a missing value: NA,-9;age=97-99.")] = None,
    sheet: Annotated[Short | None, Query(description="Of a workbook.")] = None,
    skip_bad_lines: Annotated[bool, Query(description="Leave out lines that do not fit.")] = False,
) -> models.Reading:
    return models.Reading(separator=separator, encoding=encoding, null=null, sheet=sheet, skip_bad_lines=skip_bad_lines)


@router.get("/tables", responses=refusals())
def list_tables(session: TheSession) -> list[models.TableInfo]:
    """The tables of this session."""
    return [table.info() for table in list(session.tables.values())]


@router.post(
    "/tables",
    status_code=201,
    responses=refusals(409, 415),
    openapi_extra=_FORM,
    description=f"Upload a file, also a compressed one, in the form field `file`: {described_formats()}.",
)
async def upload_table(
    request: Request, server: TheServer, session: TheSession, reading: Annotated[models.Reading, Depends(_reading)]
) -> models.TableInfo:
    """Upload a file in the form field `file`."""
    content_length = request.headers.get("content-length")
    with server.reserve_place(session, int(content_length) if content_length else server.settings.max_bytes) as most:
        folder = server.store.new_folder()
        name = await receive_upload(request.headers.get("content-type", ""), request.stream(), folder, most)
        table = await run_in_threadpool(server.open_upload, session, folder, name, reading)
    return table.info()


@router.post("/tables/open", status_code=201, responses=refusals(404, 409, 415))
def open_path(path: models.OpenPath, server: TheServer, session: TheSession) -> models.TableInfo:
    """Open a file on the server's machine, in one of the allowed folders."""
    return server.open_path(session, path.path, path.reading).info()


@router.post("/tables/demo", status_code=201, responses=refusals(409))
def open_demo(server: TheServer, session: TheSession, demo: models.Demo | None = None) -> models.TableInfo:
    """Open a table of invented hospital stays."""
    wanted = demo or models.Demo()
    return server.open_demo(session, wanted.rows, wanted.seed).info()


@router.get("/tables/{table_id:key}", responses=refusals(404, 409))
def read_table(table: TheTable) -> models.TableInfo:
    """A table's columns, roles and notes."""
    return table.info()


@router.delete("/tables/{table_id:key}", status_code=204, responses=refusals(404, 409))
def close_table(table: TheTable, server: TheServer, session: TheSession) -> Response:
    """Close a table: its jobs stop, its results and files are deleted."""
    server.close_table(session, table)
    return Response(status_code=204)


@router.get("/tables/{table_id:key}/preview", responses=refusals(404, 409))
def preview_table(
    table: TheTable,
    show: Annotated[bool, Query(description="Show values; otherwise only their kind.")] = False,
    rows: Annotated[int, Query(ge=0, le=100)] = 10,
) -> models.Preview:
    """The first rows, masked unless values are asked for."""
    return table.preview(rows, show)


@router.get("/tables/{table_id:key}/settings", responses=refusals(404, 409))
def read_settings(table: TheTable) -> models.SettingsState:
    """The roles of the columns and the question."""
    return table.history.state


@router.put("/tables/{table_id:key}/settings", responses=refusals(404, 409))
def change_settings(settings: models.TableSettings, table: TheTable) -> models.SettingsState:
    """Replace all settings: those that are not sent get their defaults. Undo restores the old ones."""
    table.history.replace(settings)
    return table.history.state


@router.patch("/tables/{table_id:key}/settings", responses=refusals(404, 409))
def change_some_settings(changes: SettingsChanges, table: TheTable) -> models.SettingsState:
    """Change the settings that are sent; others stay, also roles of other columns and other options of `protection`."""
    table.history.update(changes)
    return table.history.state


@router.post("/tables/{table_id:key}/settings/undo", responses=refusals(404, 409))
def undo_settings(table: TheTable) -> models.SettingsState:
    """Undo the last change of the settings."""
    table.history.step(-1)
    return table.history.state


@router.post("/tables/{table_id:key}/settings/redo", responses=refusals(404, 409))
def redo_settings(table: TheTable) -> models.SettingsState:
    """Redo the change that was undone last."""
    table.history.step(1)
    return table.history.state


@router.post("/tables/{table_id:key}/live", responses=refusals(404, 409))
def count_live(question: models.LiveQuestion, table: TheTable, server: TheServer) -> models.Live:
    """Count classes by the given columns, without a job."""
    with server.limit_concurrency():
        return table.live(question)


@router.post("/tables/{table_id:key}/crowd", responses=refusals(404, 409))
def count_crowd(
    table: TheTable, server: TheServer, session: TheSession, question: crowd.CrowdOfQuestion | None = None
) -> crowd.Crowd:
    """Classes by size and marks to draw, for a choice of columns, or of a protected table."""
    asked = question or crowd.CrowdOfQuestion()
    with server.limit_concurrency():
        if asked.candidate is not None:
            return crowd_of_release(table, server.release(session, asked.candidate, table))
        return describe_crowd(table, asked)


@router.post("/tables/{table_id:key}/riskiest", responses=refusals(404, 409))
def list_riskiest(table: TheTable, server: TheServer, question: crowd.RiskiestQuestion | None = None) -> crowd.Riskiest:
    """The records that are easiest to find, masked unless values are asked for."""
    with server.limit_concurrency():
        return riskiest_records(table, question or crowd.RiskiestQuestion())


@router.post("/tables/{table_id:key}/person-view", responses=refusals(404, 409))
def see_person(
    question: crowd.PersonQuestion, table: TheTable, server: TheServer, session: TheSession
) -> crowd.PersonView:
    """One record: how an attacker finds it, and what protections change in it."""
    with server.limit_concurrency():
        releases = [(key, server.release(session, key, table)) for key in question.candidates]
        return view_person(table, question, releases)
