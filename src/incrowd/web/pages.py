"""The HTML pages, which scripts fill from the API, the static files, and the results of jobs as parts of pages."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from incrowd.attacks.result import SUCCESS
from incrowd.protection import PROTECTION_METHODS
from incrowd.protection.perturbation import STEPS
from incrowd.recipients import RECIPIENTS, settle_limits
from incrowd.reports.html import chart_engine
from incrowd.reports.template_values import TEMPLATES, templates
from incrowd.tables.formats import ENDINGS, described_formats
from incrowd.web.api.dependencies import TheServer, TheSession
from incrowd.web.fields import ROLE_WORDS
from incrowd.web.protection_models import ASKED, FURTHER
from incrowd.web.refusals import Refusal, method_labels
from incrowd.web.result_views import view
from incrowd.web.sessions import Session
from incrowd.wording import chosen_percent, data_size, number, percent

if TYPE_CHECKING:
    import jinja2

PLACES = {"who": "Who stands out", "safe": "Make it safe", "decide": "Decide"}
"""The steps of the workbench: the name in the address, and the label."""
SECTIONS = {  # parts of a place that have an address: they are unfolded there
    **dict.fromkeys(("crowd", "risk", "forecast", "leak", "question"), "who"),
    **dict.fromkeys(("candidates", "attack", "protect"), "safe"),
    "report": "decide",
}
_STEPS = [  # of perturbation: the kind, its class, and its named options without those that are files of the server
    (kind, step, [name for name, reader in step.reads.items() if reader is not Path][1:])
    for kind, step in STEPS.items()
]
_CHOICES = {"attacks": SUCCESS, "methods": PROTECTION_METHODS, "steps": _STEPS, "endings": ",".join(ENDINGS)}
_HELP = {name: method_labels(option.help) for name, option in FURTHER.items()}
_CHOICES |= {"role_words": ROLE_WORDS, "options": ASKED, "further": _HELP}
router = APIRouter(include_in_schema=False)


def prepare() -> None:
    """Load the templates and the static files, so that the first visitor does not wait for them."""
    _environment().get_template("pages/data.html")
    _static_files()


@cache
def _environment() -> jinja2.Environment:
    environment = templates(__package__)
    environment.filters |= {"percent": percent, "chosen_percent": chosen_percent, "decimal": number, "size": data_size}
    environment.globals.update(places=PLACES, version=version("incrowd"), static=static_folder())
    return environment


def refusal(status: int, sentence: str) -> HTMLResponse:
    """A refusal as a page."""
    title = {401: "The key is missing", 404: "Not here"}.get(status, "That did not work")
    sentence = sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else ".")
    page = _environment().get_template("pages/refusal.html").render(title=title, sentence=sentence, home=status != 401)
    return HTMLResponse(page, status_code=status)


@router.api_route("/static/{name}", methods=["GET", "HEAD"])
@router.api_route("/static/{edition}/{name}", methods=["GET", "HEAD"])
async def static_file(name: str, request: Request) -> Response:
    """A style sheet, script or picture, with an ETag, so that browsers load it again only after a change."""
    if name not in _static_files():
        raise HTTPException(404)
    content, media_type, tag = _static_files()[name]
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(content, media_type=media_type, headers={"etag": tag})


@router.get("/")
def data_page(server: TheServer, session: TheSession) -> HTMLResponse:
    """The first page, to open a table or return to one."""
    settings = server.settings
    folders = [str(folder) for folder in settings.folders]
    return _page(
        session,
        "data",
        limits={"size": data_size(settings.max_bytes), "folders": folders},
        endings=",".join(ENDINGS),
        formats=described_formats(),
        kept_in=settings.keep,
        lost=session.lost,
        others=server.other_sessions(session),
    )


@router.get("/points")
def points_page(session: TheSession) -> HTMLResponse:
    """The page of a forecast from measured points, without a table."""
    return _page(session, "points")


@router.get("/tables/{table}")
def first_page(table: str) -> RedirectResponse:
    """Redirect to the workbench."""
    return RedirectResponse(f"/tables/{quote(table)}/who", status_code=303)


@router.get("/tables/{table}/{name}")
def table_page(session: TheSession, table: str, name: str) -> Response:
    """The workbench of a table at one of its places, or its curves."""
    if name in SECTIONS:
        return RedirectResponse(f"/tables/{quote(table)}/{SECTIONS[name]}#{name}", status_code=303)
    if name not in (*PLACES, "curves"):
        return refusal(404, "there is no such page")
    try:
        found = session.table(table)
    except Refusal as problem:
        return refusal(problem.status, str(problem))
    recipients = [(kind.name, kind.words[:1].upper() + kind.words[1:], kind.limits) for kind in RECIPIENTS]
    settings = found.settings
    limits = settle_limits(settings.recipient, threshold=settings.threshold, highest=settings.highest)
    page = "curves" if name == "curves" else "workbench"
    return _page(session, page, found, place=name, recipients=recipients, limits=limits, **_CHOICES)


@router.get("/jobs/{job}/view")
def job_view(server: TheServer, session: TheSession, job: str, form: str = "") -> HTMLResponse:
    """The result of a job as a part of a page."""
    try:
        found = server.jobs.get(session.key, job)
        return HTMLResponse(view(_environment(), session, found, form))
    except Refusal as problem:
        return refusal(problem.status, str(problem))


def _page(session: Session, name: str, table: Any = None, **more: Any) -> HTMLResponse:
    tables = [
        {
            "id": one.id,
            "name": one.name,
            "rows": one.table.rows,
            "columns": len(one.columns),
            "reopened": one.history.reopened.saved[:10] if one.history.reopened else None,
        }
        for one in list(session.tables.values())
    ]
    context: Mapping[str, Any] = {"page": name, "table": table, "tables": tables, **more}
    return HTMLResponse(_environment().get_template(f"pages/{name}.html").render(context))


@cache
def static_folder() -> str:
    """Address of the static files, which changes with their content, so that browsers may keep what they loaded."""
    tags = "".join(tag for _, (_, _, tag) in sorted(_static_files().items()))
    return f"/static/{hashlib.sha256(tags.encode()).hexdigest()[:16]}"


@cache
def _static_files() -> dict[str, tuple[bytes, str | None, str]]:
    """Content, media type and ETag by name of the files that pages load; read once, since a page loads forty.

    They are those of the app, those that it shares with the report, and the chart engine of the installed vl-convert.
    """
    shared = [TEMPLATES / name for name in ("report.css", "dark.css", "charts.js")]
    found = {path.name: path.read_bytes() for path in [*files(__package__).joinpath("static").iterdir(), *shared]}
    found["vega.js"] = chart_engine().encode()
    return {
        name: (content, guess_type(name)[0], f'"{hashlib.sha256(content).hexdigest()[:32]}"')
        for name, content in found.items()
    }
