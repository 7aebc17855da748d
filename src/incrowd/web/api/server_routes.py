"""Routes about the server and the session."""

from __future__ import annotations

from fastapi import APIRouter, Response

from incrowd import __version__
from incrowd.tables.formats import ENDINGS
from incrowd.web import models
from incrowd.web.api.dependencies import TheServer, TheSession, refusals
from incrowd.web.server import Server

router = APIRouter(tags=["server"])


@router.get("/version", responses=refusals())
def read_version() -> models.Version:
    """Which version answers."""
    return models.Version(name="incrowd", version=__version__)


@router.get("/limits", responses=refusals())
def read_limits(server: TheServer) -> models.Limits:
    """What this server takes on."""
    settings = server.settings
    return models.Limits(
        max_bytes=settings.max_bytes,
        max_rows=settings.max_rows,
        max_columns=settings.max_columns,
        max_demo_rows=settings.max_demo_rows,
        max_tables=settings.max_tables,
        max_jobs=settings.max_jobs,
        folders=[str(folder) for folder in settings.folders],
        endings=list(ENDINGS),
        kept_in=_kept_in(server),
    )


@router.get("/session", responses=refusals())
def read_session(server: TheServer, session: TheSession) -> models.SessionInfo:
    """Whether the work of this session survives a restart."""
    return models.SessionInfo(kept_in=_kept_in(server), lost=session.lost)


def _kept_in(server: Server) -> str | None:
    return str(server.settings.keep) if server.settings.keep else None


@router.delete("/session", status_code=204, responses=refusals())
def end_session(server: TheServer, session: TheSession) -> Response:
    """Close the session: its work stops, its tables and files are deleted."""
    server.sessions.end(session)
    return Response(status_code=204)
