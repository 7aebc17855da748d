"""Routes about the server and the session, and the event stream that keeps several pages of a session up to date."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse

from incrowd.tables.formats import ENDINGS
from incrowd.version import __version__
from incrowd.web import models
from incrowd.web.api.dependencies import TheServer, TheSession, refusals
from incrowd.web.fields import Id
from incrowd.web.refusals import Refusal
from incrowd.web.server import Server
from incrowd.web.sessions import Session

router = APIRouter(tags=["server"])


_POLL_EVERY = 0.3  # seconds
_KEEP_ALIVE = 15.0  # seconds without an event after which a comment is sent, so that a broken connection is noticed
_MAX_WATCHERS = 20  # pages of a session with an event stream


@router.get("/version", responses=refusals())
def read_version() -> models.Version:
    """Version of the server."""
    return models.Version(name="incrowd", version=__version__)


@router.get("/limits", responses=refusals())
def read_limits(server: TheServer) -> models.ServerLimits:
    """Limits of this server."""
    settings = server.settings
    limits = {name: getattr(settings, name) for name in models.ServerLimits.model_fields if name.startswith("max_")}
    folders = [str(folder) for folder in settings.folders]
    return models.ServerLimits(**limits, folders=folders, endings=list(ENDINGS), kept_in=_kept_in(server))


@router.get("/session", responses=refusals())
def read_session(server: TheServer, session: TheSession) -> models.SessionInfo:
    """Where the session is kept over a restart, and tables that could not be loaded again."""
    return models.SessionInfo(kept_in=_kept_in(server), lost=session.lost)


def _kept_in(server: Server) -> str | None:
    return str(server.settings.keep) if server.settings.keep else None


@router.delete("/session", status_code=204, responses=refusals())
def end_session(server: TheServer, session: TheSession) -> Response:
    """Close the session: its jobs stop, its tables and files are deleted."""
    server.sessions.end(session)
    return Response(status_code=204)


@router.get("/sessions", responses=refusals())
def list_other_sessions(server: TheServer, session: TheSession) -> list[models.KeptSession]:
    """Sessions of other browsers and scripts in the folder that keeps work: dates and sizes, no contents."""
    return server.other_sessions(session)


@router.delete("/sessions/{name}", status_code=204, responses=refusals(404, 409))
def delete_other_session(name: Id, server: TheServer, session: TheSession) -> Response:
    """Delete a kept session of another browser or script, with all its files."""
    server.delete_other(session, name)
    return Response(status_code=204)


@router.get("/events", include_in_schema=False)  # an endless response does not fit the document
def watch_session(server: TheServer, session: TheSession) -> StreamingResponse:
    """Events for a page: `table` with the version of its settings, `job` with its state, `gone` and `ended`."""
    if session.watchers >= _MAX_WATCHERS:
        raise Refusal(429, f"{session.watchers} pages of this session are open already; close some")
    return StreamingResponse(_events(server, session), media_type="text/event-stream")


async def _events(server: Server, session: Session) -> AsyncIterator[str]:
    sent: dict[str, dict[str, Any]] = {}
    quiet_seconds = 0.0
    session.watchers += 1
    try:
        yield "retry: 2000\n\n"
        while not session.ended:
            now = {entry["id"]: entry for entry in _entries(server, session)}
            changed = [entry for key, entry in now.items() if sent.get(key) != entry]
            gone = [{"kind": "gone", "id": key} for key in sent if key not in now]
            sent, quiet_seconds = now, 0.0 if changed or gone else quiet_seconds + _POLL_EVERY
            for entry in (*changed, *gone):
                yield f"event: {entry['kind']}\ndata: {json.dumps(entry)}\n\n"
            if quiet_seconds >= _KEEP_ALIVE:
                quiet_seconds = 0.0
                yield ": still here\n\n"
            await asyncio.sleep(_POLL_EVERY)
        yield "event: ended\ndata: {}\n\n"
    finally:
        session.watchers -= 1


def _entries(server: Server, session: Session) -> Iterator[dict[str, Any]]:
    """The state of every table and job that pages follow."""
    for table in list(session.tables.values()):
        yield {"kind": "table", "id": table.id, "version": table.history.version}
    for job in server.jobs.of_session(session.key):
        yield {
            "kind": "job",
            "id": job.id,
            "of": job.kind,
            "table": job.table,
            "state": job.state,
            "stages": job.stages,
            "progress": None if job.progress is None else round(job.progress, 2),
            "stage": job.stage,
        }
