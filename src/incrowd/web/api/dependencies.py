"""Dependencies of the routes: server, session, table, job, and the documented refusals."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Path, Request
from starlette.convertors import Convertor, register_url_convertor

from incrowd.web import models
from incrowd.web.jobs import Job
from incrowd.web.server import Server
from incrowd.web.session_table import OpenTable
from incrowd.web.sessions import Session

_DESCRIPTIONS = {
    400: "The request cannot be used as it is; the sentence says what to change.",
    401: "The token is missing or not right.",
    403: "The request comes from another site, or asks for what is not allowed.",
    404: "There is no such thing in this session.",
    409: "Not now: the sentence says what has to happen first.",
    413: "Too large.",
    415: "Not a kind of file that tables are read from.",
    422: "A field is missing or out of range, or the data cannot support an answer.",
    429: "Too many at once.",
}


class _Key(Convertor[str]):
    """The converter of ids of tables and jobs in addresses; /tables/open does not match."""

    regex = "[0-9a-f]{16}"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("key", _Key())


def refusals(*more: int) -> dict[int | str, dict[str, Any]]:
    """The refusals of a route for the OpenAPI document: those of every route, and `more`."""
    statuses = sorted({400, 401, 403, 413, 422, 429, *more})
    return {status: {"model": models.ErrorAnswer, "description": _DESCRIPTIONS[status]} for status in statuses}


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def _session(request: Request) -> Session:
    session: Session = request.state.session
    return session


TheServer = Annotated[Server, Depends(_server)]
TheSession = Annotated[Session, Depends(_session)]
_Id = Annotated[str, Path(pattern="^[0-9a-f]{16}$", description="As given when it was made.")]


def _table(table_id: _Id, session: TheSession, request: Request) -> OpenTable:
    table = session.table(table_id)
    if request.method != "DELETE":
        table.check_file()
    return table


def _job(job_id: _Id, session: TheSession, server: TheServer) -> Job:
    return server.jobs.get(session.key, job_id)


TheTable = Annotated[OpenTable, Depends(_table)]
TheJob = Annotated[Job, Depends(_job)]
