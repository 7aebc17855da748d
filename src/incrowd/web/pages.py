"""The pages: shells that small scripts fill from the API, and answers set with the parts of the report."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from incrowd.assessment import RECIPIENTS
from incrowd.protection import METHODS
from incrowd.reports.html import chart_engine
from incrowd.reports.template_values import TEMPLATES, templates
from incrowd.tables.read import FORMATS
from incrowd.web.problems import Refusal
from incrowd.web.views import view
from incrowd.wording import share

if TYPE_CHECKING:
    import jinja2

    from incrowd.web.sessions import Session

_HERE = Path(__file__).parent
STEPS = (
    ("data", "Data", "Open a table."),
    ("roles", "Roles", "Say what the columns are."),
    ("risk", "Risk", "See who stands out."),
    ("forecast", "Forecast", "Look at larger populations."),
    ("leak", "Leak", "See what a theft would mean."),
    ("protect", "Protect", "Make the table safe."),
    ("report", "Report", "Take the answers with you."),
)
_RECIPIENTS = {"trusted": "A trusted partner", "restricted": "A closed circle", "public": "The public"}
_METHODS = tuple(  # the hierarchies of generalise are files, which the form does not take
    (name, method.label.capitalize()) for name, method in METHODS.items() if name != "generalise"
)

router = APIRouter(include_in_schema=False)


def add_pages(app: FastAPI) -> None:
    """Give the app its pages, its style sheets and its scripts."""
    app.include_router(router)
    app.mount("/static", StaticFiles(directory=_HERE / "static"), name="static")


def prepare() -> None:
    """Make ready what the first visitor would wait for: the templates and the chart engine."""
    _environment().get_template("pages/data.html")
    _engine()


@cache
def _environment() -> jinja2.Environment:
    environment = templates(_HERE / "templates")
    environment.filters["share"] = share
    environment.globals.update(steps=STEPS, version=version("incrowd"))
    return environment


def refusal(status: int, sentence: str) -> HTMLResponse:
    """Why there is no such page, as a page."""
    title = {401: "The key is missing", 404: "Not here"}.get(status, "That did not work")
    sentence = sentence[:1].upper() + sentence[1:] + ("" if sentence.endswith(".") else ".")
    page = _environment().get_template("pages/refusal.html").render(title=title, sentence=sentence, home=status != 401)
    return HTMLResponse(page, status_code=status)


@router.get("/static/vega.js")
def vega(request: Request) -> Response:
    """The chart engine of the installed vl-convert: no network, no copy in this package."""
    return _text(request, _engine(), "text/javascript")


@router.get("/static/report.css")
@router.get("/static/dark.css")
@router.get("/static/charts.js")
def from_report(request: Request) -> Response:
    """What the app has in common with the report."""
    name = request.url.path.rpartition("/")[2]
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return _text(request, (TEMPLATES / name).read_text(encoding="utf-8"), kind)


@router.get("/")
def data_page(request: Request) -> HTMLResponse:
    """Open a table, or go on with one."""
    settings = request.app.state.server.settings
    size = f"{settings.max_bytes / 1e9:,.0f} GB" if settings.max_bytes >= 1e9 else f"{settings.max_bytes / 1e6:,.0f} MB"
    folders = [str(folder) for folder in settings.folders]
    return _page(request, "data", limits={"size": size, "folders": folders, "endings": ",".join(FORMATS)})


@router.get("/points")
def points_page(request: Request) -> HTMLResponse:
    """A forecast from measured points, without a table."""
    return _page(request, "points")


@router.get("/tables/{table}")
def first_page(table: str) -> RedirectResponse:
    """The first step of a table."""
    return RedirectResponse(f"/tables/{quote(table)}/roles", status_code=303)


@router.get("/tables/{table}/{name}")
def table_page(request: Request, table: str, name: str) -> HTMLResponse:
    """One step of the way of a table."""
    if name not in {step for step, _, _ in STEPS[1:]}:
        return refusal(404, "there is no such page")
    try:
        found = _session(request).table(table)
    except Refusal as problem:
        return refusal(problem.status, str(problem))
    recipients = [(key, words, RECIPIENTS[key]) for key, words in _RECIPIENTS.items()]
    return _page(request, name, found, recipients=recipients, methods=_METHODS)


@router.get("/jobs/{job}/view")
def job_view(request: Request, job: str, form: str = "") -> HTMLResponse:
    """What a job found, as a part of a page."""
    session = _session(request)
    try:
        found = request.app.state.server.jobs.get(session.key, job)
        return HTMLResponse(view(_environment(), session, found, form))
    except Refusal as problem:
        return refusal(problem.status, str(problem))


def _page(request: Request, name: str, table: Any = None, **more: Any) -> HTMLResponse:
    tables = [
        {"id": one.id, "name": one.name, "rows": one.table.rows, "columns": len(one.columns)}
        for one in list(_session(request).tables.values())
    ]
    own = _environment().get_template("pages/parts.html").module
    context: Mapping[str, Any] = {"page": name, "table": table, "tables": tables, "own": own, **more}
    return HTMLResponse(_environment().get_template(f"pages/{name}.html").render(context))


def _session(request: Request) -> Session:
    session: Session = request.state.session
    return session


@cache
def _engine() -> str:
    return chart_engine()


def _text(request: Request, text: str, kind: str) -> Response:
    """A text that the browser may keep as long as it has not changed."""
    tag = f'"{hashlib.sha256(text.encode()).hexdigest()[:32]}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    return Response(text, media_type=kind, headers={"etag": tag})
