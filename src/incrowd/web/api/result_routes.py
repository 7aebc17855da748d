"""Routes of results: figures, reports, downloads, the actions that an assessment advises, reports of candidates."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from starlette.background import BackgroundTask

from incrowd.assessment import Assessment
from incrowd.assessment.command_line import to_call, to_command
from incrowd.reports import to_html
from incrowd.tables.formats import format_of
from incrowd.tables.text_dialect import TextDialect
from incrowd.tables.write import is_text_file
from incrowd.web import models
from incrowd.web.action_buttons import ActionDone, ActionQuestion, ActionView, list_actions
from incrowd.web.api.dependencies import TheJob, TheServer, TheSession, refusals
from incrowd.web.api.job_routes import queue_job, start_protection_of
from incrowd.web.candidate_reports import origin_of
from incrowd.web.candidates import describe_candidate
from incrowd.web.downloads import Format, as_attachment, csv_of, file_name, upload_ending, write_as
from incrowd.web.jobs import Job
from incrowd.web.refusals import Refusal, not_found
from incrowd.web.script_writer import UNTYPABLE
from incrowd.web.tasks.assess_task import notes_on_protection, report_task
from incrowd.wording import counted

router = APIRouter(tags=["results"])

_TEXT, _BYTES = {"schema": {"type": "string"}}, {"schema": {"type": "string", "format": "binary"}}
HTML_PAGE: dict[int | str, dict[str, Any]] = {200: {"content": {"text/html": _TEXT}}}
_TEXTS, _BINARIES = ("csv", "tab-separated-values"), ("vnd.apache.parquet", "octet-stream")
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {f"text/{kind}": _TEXT for kind in _TEXTS} | {f"application/{kind}": _BYTES for kind in _BINARIES}}
}
_CODEBOOK: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/json": {"schema": {"type": "object"}}, "text/markdown": _TEXT}}
}


@router.get("/jobs/{job_id:key}/result", responses=refusals(404, 409), response_model=dict[str, Any])
def read_result(job: TheJob) -> JSONResponse:
    """Result of a job, as the library's own JSON; of a running assessment, the sections so far."""
    return JSONResponse(job.answer().to_json())


@router.get("/jobs/{job_id:key}/figures", responses=refusals(404, 409), response_model=dict[str, models.FigureInfo])
def read_figures(job: TheJob) -> JSONResponse:
    """The figures as Vega-Lite, each with its numbers and a sentence."""
    return JSONResponse(job.answer().to_figures())


@router.get("/jobs/{job_id:key}/equivalent", responses=refusals(404))
def read_equivalent(job: TheJob) -> models.Equivalent:
    """The command and the Python script that do the same."""
    return job.equivalent


@router.get("/jobs/{job_id:key}/report.html", responses={**refusals(404, 409), **HTML_PAGE}, response_class=Response)
def download_report(job: TheJob, server: TheServer, session: TheSession) -> Response:
    """The report of an assessment, or of a candidate beside its original: one page and an appendix."""
    page = to_html(whole_assessment(job), origin=origin_of(job, server))
    return _attachment(page, "text/html", _file_name(job, session.tables, "report.html"))


@router.get(
    "/jobs/{job_id:key}/report-external.html", responses={**refusals(404, 409), **HTML_PAGE}, response_class=Response
)
def download_external_report(job: TheJob, server: TheServer, session: TheSession) -> Response:
    """The short report for outsiders, without what would help an attacker; of a table that is judged."""
    found = whole_assessment(job)
    if found.evidence.undecided:
        columns = counted(len(found.evidence.undecided), "column", "columns")
        raise Refusal(409, f"nobody has judged {columns} yet: answer them before anything is told to others")
    page = to_html(found, external=True, origin=origin_of(job, server))
    return _attachment(page, "text/html", _file_name(job, session.tables, "report-external.html"))


@router.get("/jobs/{job_id:key}/report.json", responses=refusals(404, 409), response_model=dict[str, Any])
def download_json(job: TheJob, session: TheSession) -> JSONResponse:
    """The assessment by its published schema, as `incrowd compare` reads it."""
    name = _file_name(job, session.tables, "assessment.json")
    return JSONResponse(whole_assessment(job).to_dict(), headers=as_attachment(name))


@router.get("/jobs/{job_id:key}/table", responses={**refusals(404, 409), **_FILE}, response_class=Response)
def download_table(
    job: TheJob,
    server: TheServer,
    session: TheSession,
    format: Annotated[Format | Literal["upload"], Query(description="upload: as the table came.")] = "csv",
) -> Response:
    """The table that a job made. In CSV, text that a spreadsheet would run as a formula is escaped."""
    file, release = job.answer().file, job.answer().release
    if file is None:
        raise Refusal(409, "only a protection has a table to download")
    if release is not None and job.question_changed:
        raise Refusal(409, "roles, scales or the recipient have changed since; protect again")
    table = session.table(job.table or "")
    kind = upload_ending(table) if format == "upload" else format
    as_stored = format_of(f"table.{kind}") is format_of(file)
    if release is None and not as_stored:
        kind = "csv"
    name = file_name(table.name, job.name or ("filled" if job.kind == "regeneration" else "protected"), kind)
    if as_stored:
        return FileResponse(file, media_type="application/vnd.apache.parquet", headers=as_attachment(name))
    if is_text_file(Path(name)):
        dialect = table.table.codebook.dialect if format == "upload" else TextDialect()
        media = "text/csv" if kind == "csv" else "text/tab-separated-values"
        return StreamingResponse(csv_of(file, dialect, kind), media_type=media, headers=as_attachment(name))
    assert release is not None
    server.check_room(session)
    with server.limit_concurrency():
        written = write_as(release, server.store.new_folder() / f"table.{kind}", table)
    cleanup = BackgroundTask(shutil.rmtree, written.parent, ignore_errors=True)
    return FileResponse(written, media_type="application/octet-stream", headers=as_attachment(name), background=cleanup)


@router.get("/jobs/{job_id:key}/codebook", responses={**refusals(404, 409), **_CODEBOOK}, response_class=Response)
def download_codebook(job: TheJob, session: TheSession, format: Literal["json", "md"] = "json") -> Response:
    """How each column of a protected table was changed, without cells: JSON with DDI's element names, or Markdown."""
    codebook = job.answer().to_json().get("codebook")
    if codebook is None:
        raise Refusal(409, "only a protection has a codebook")
    table = session.table(job.table or "")
    name = file_name(table.name, f"{job.name or 'protected'} codebook", format)
    if format == "json":
        return JSONResponse(codebook["json"], headers=as_attachment(name))
    return _attachment(codebook["md"], "text/markdown", name)


@router.post("/jobs/{job_id:key}/apply", status_code=201, responses=refusals(404, 409))
def apply_protection(job: TheJob, server: TheServer, session: TheSession) -> models.TableInfo:
    """Open the protected table as a table of the session."""
    return server.open_protected(session, job).info()


def whole_assessment(job: Job) -> Assessment:
    """The assessment of a finished job, or a refusal."""
    found = job.answer().value
    if not isinstance(found, Assessment):
        raise Refusal(409, "only an assessment has a report")
    if job.state != "done":  # an incomplete assessment is shown on the page, but cannot be downloaded
        ended = {"cancelled": "was cancelled; start it again", "failed": "failed; start it again"}
        raise Refusal(409, f"a report is made of a whole assessment; this one {ended.get(job.state, 'still runs')}")
    return found


def _file_name(job: Job, tables: Any, ending: str) -> str:
    """A file name for a download, with the name of the table and, for the report of a candidate, its name."""
    table = tables.get(job.table)
    what, _, kind = ending.rpartition(".")
    called = [job.question["name"]] if job.kind == "release" and "name" in job.question else []
    return file_name(table.name if table else "table", " ".join([*called, what]), kind)


def _attachment(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers=as_attachment(name))


@router.get("/jobs/{job_id:key}/actions", responses=refusals(404, 409))
def read_actions(job: TheJob, session: TheSession) -> list[ActionView]:
    """The actions that an assessment advises, with the settings each changes or the protection it starts."""
    return list_actions(whole_assessment(job), session.table(job.table or ""))


@router.post("/jobs/{job_id:key}/actions/{number}", responses=refusals(404, 409))
def take_action(
    job: TheJob, number: int, server: TheServer, session: TheSession, question: ActionQuestion | None = None
) -> ActionDone:
    """Take an action that an assessment advises: change settings, or start a protection."""
    table = session.table(job.table or "")
    table.check_file()
    actions = list_actions(whole_assessment(job), table)
    if job.stale:
        raise Refusal(409, "the settings have changed since this assessment; assess the table again first")
    choices = actions[number].choices if 0 <= number < len(actions) else []
    wanted = (question or ActionQuestion()).choice
    if not 0 <= wanted < len(choices):
        raise not_found("action")
    choice = choices[wanted]
    if choice.settings is not None:
        table.history.update(choice.settings)
    if choice.reading is not None:
        table = server.read_again(session, table, choice.reading.applied_to(table.source.how))
    if choice.protection is None:
        return ActionDone(settings=table.history.state)
    table.history.update(models.TableSettings(protection=choice.protection))  # so that the form shows it
    return ActionDone(job=start_protection_of(table, server, session, choice.protection).id)


@router.post("/jobs/{job_id:key}/reports", status_code=202, responses=refusals(404, 409))
def start_report(job: TheJob, server: TheServer, session: TheSession) -> models.JobInfo:
    """Assess a protected table; the result has the reports of an assessment."""
    release = job.answer().release
    if release is None or release.question is None or job.source is None:
        raise Refusal(409, "only a protection has a table to report on")
    name, called = job.source.source.protected_file, describe_candidate(job, job.source).name
    asked = replace(release.question, source=name)
    command = to_command(asked) or f"# {UNTYPABLE}; use the Python script"
    script = [job.equivalent.python, "from incrowd import assess, read_table", f"table = read_table({name!r})"]
    equivalent = models.Equivalent(cli=f"{job.equivalent.cli}\n{command}", python="\n".join([*script, to_call(asked)]))
    notes = notes_on_protection(job.answer().to_json(), job.source, job.reading or {})
    new = Job(
        session.key,
        "release",
        job.table,
        report_task(release, file_name(job.source.name, called, "parquet"), name, notes),
        equivalent,
        source=job.source,
        settings=job.settings,
        question={"candidate": job.id, "name": called},
    )
    return queue_job(server, session, new)
