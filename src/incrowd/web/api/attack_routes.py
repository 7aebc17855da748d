"""Routes of attacks on a release: a candidate of the table, or another table."""

from __future__ import annotations

from fastapi import APIRouter, Response

from incrowd.attacks import ReleaseAttacks
from incrowd.reports.attack_page import attacks_page
from incrowd.web import models
from incrowd.web.api.dependencies import TheJob, TheServer, TheSession, refusals
from incrowd.web.api.job_routes import TableJob
from incrowd.web.api.result_routes import HTML_PAGE
from incrowd.web.attack_equivalents import ReleasedFile, attack
from incrowd.web.candidate_jobs import settings_digest
from incrowd.web.candidates import candidate_name
from incrowd.web.downloads import as_attachment, file_name
from incrowd.web.refusals import Refusal
from incrowd.web.releases import AttackedRelease
from incrowd.web.server import Server
from incrowd.web.session_table import OpenTable
from incrowd.web.sessions import Session
from incrowd.web.tasks.attack_task import attack_task

router = APIRouter(tags=["attacks"])


@router.post("/tables/{table_id:key}/attacks", status_code=202, responses=refusals(404, 409))
def start_attack(
    question: models.AttackQuestion, start: TableJob, server: TheServer, session: TheSession
) -> models.JobInfo:
    """Attack a release of the table: one of its candidates, or another table of the session."""
    table = start.table
    named = [question.known] if isinstance(question.known, list) else list((question.known or {}).values())
    single = [name for name in (question.secret, question.by) if name]
    table.check_names([*(name for names in named for name in names), *question.noise, *single])
    released, file = _released(question.released, table, server, session)
    holdout = session.table(question.holdout) if question.holdout else None
    return start(
        "attack",
        lambda table, asked: attack_task(table, asked, released, holdout.table if holdout else None),
        lambda table, asked: attack(table, asked, file, holdout.source if holdout else None),
        question,
    )


def _released(key: str, table: OpenTable, server: Server, session: Session) -> tuple[AttackedRelease, ReleasedFile]:
    """A release by its id, and its file in commands."""
    if key in session.tables:
        other = session.table(key)
        return AttackedRelease(other.name, other.table, None), ReleasedFile.of_table(other.source)
    job = server.jobs.get(session.key, key)
    release = job.answer().release
    if release is None or job.table != table.id:
        raise Refusal(409, "only a protection of this table, or another table, can be attacked")
    attacked = AttackedRelease(candidate_name(job), release.table, release.kept_rows, release, settings_digest(job))
    return attacked, ReleasedFile.of_candidate(job, table.source)


@router.get("/jobs/{job_id:key}/attacks.html", responses={**refusals(404, 409), **HTML_PAGE}, response_class=Response)
def download_attacks(job: TheJob, session: TheSession) -> Response:
    """Attacks on a release as one self-contained page."""
    found = job.answer().value
    if not isinstance(found, ReleaseAttacks):
        raise Refusal(409, "only attacks have such a page")
    table = session.tables.get(job.table or "")
    by = job.question["by"]
    groups = found.by_group(table.table, by) if table and by is not None else ()
    name = file_name(table.name if table else "table", "attacks", "html")
    return Response(attacks_page(found, groups), media_type="text/html", headers=as_attachment(name))
