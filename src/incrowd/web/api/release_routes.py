"""Routes of what follows from results: actions of an assessment, reports of protected tables, attacks on them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Response

from incrowd.assessment.repeat import to_call, to_command
from incrowd.attacks import ReleaseAttacks
from incrowd.reports.attacks import attacks_page
from incrowd.web import models
from incrowd.web.actions import ActionDone, ActionQuestion, ActionView, list_actions
from incrowd.web.api.dependencies import TheJob, TheServer, TheSession, refusals
from incrowd.web.api.job_routes import TableJob, queue_job, start_protection_of
from incrowd.web.api.result_routes import HTML_PAGE, whole_assessment
from incrowd.web.downloads import as_attachment, file_name
from incrowd.web.equivalents import ScriptName, both_ways, with_import
from incrowd.web.jobs import Job
from incrowd.web.refusals import Refusal, not_found
from incrowd.web.releases import Release
from incrowd.web.server import Server
from incrowd.web.session_table import OpenTable
from incrowd.web.sessions import Session

router = APIRouter(tags=["results"])


@router.get("/jobs/{job_id:key}/actions", responses=refusals(404, 409))
def read_actions(job: TheJob, session: TheSession) -> list[ActionView]:
    """What an assessment advises to do next, with what a click on it changes or starts."""
    return list_actions(whole_assessment(job), session.table(job.table or ""))


@router.post("/jobs/{job_id:key}/actions/{number}", responses=refusals(404, 409))
def take_action(
    job: TheJob, number: int, server: TheServer, session: TheSession, question: ActionQuestion | None = None
) -> ActionDone:
    """Do what an assessment advises: change settings, or start a protection."""
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
    if choice.protection is None:
        return ActionDone(settings=table.history.state)
    return ActionDone(job=start_protection_of(table, server, session, choice.protection).id)


@router.post("/jobs/{job_id:key}/reports", status_code=202, responses=refusals(404, 409))
def start_report(job: TheJob, server: TheServer, session: TheSession) -> models.JobInfo:
    """Assess a protected table; the result has the reports of an assessment."""
    from incrowd.web.tasks.release_tasks import report_task

    release = job.answer().release
    if release is None or release.question is None or job.source is None:
        raise Refusal(409, "only a protection has a table to report on")
    name = job.source.source.protected_file
    asked = replace(release.question, source=name)
    command = to_command(asked) or "# a name has a letter that the command line reads otherwise; use the Python script"
    script = [job.equivalent.python, "from incrowd import assess, read_table", f"table = read_table({name!r})"]
    equivalent = models.Equivalent(cli=f"{job.equivalent.cli}\n{command}", python="\n".join([*script, to_call(asked)]))
    new = Job(
        session.key,
        "release",
        job.table,
        report_task(release, name),
        equivalent,
        source=job.source,
        settings=job.settings,
        question={"candidate": job.id},
    )
    return queue_job(server, session, new)


@router.post("/tables/{table_id:key}/attacks", status_code=202, responses=refusals(404, 409))
def start_attack(
    question: models.AttackQuestion, start: TableJob, server: TheServer, session: TheSession
) -> models.JobInfo:
    """Attack a release of the table: one of its candidates, or another table of the session."""
    from incrowd.web.tasks.release_tasks import attack_task

    table = start.table
    named = [*([question.known] if isinstance(question.known, list) else (question.known or {}).values())]
    table.check_names([name for names in named for name in names])
    table.check_names([question.secret] if question.secret else [])
    released, kept = _released(question.released, table.id, server, session)
    holdout = session.table(question.holdout).table if question.holdout else None
    return start(
        "attack",
        lambda table, asked: attack_task(table, asked, released, kept, holdout),
        _attack_equivalent,
        question,
    )


def _attack_equivalent(table: OpenTable, question: models.AttackQuestion) -> models.Equivalent:
    """`attack_release` on a file of the release."""
    known: Any = question.known or table.settings.groups or table.with_role("quasi-identifier")
    options = {
        "known": known,
        "secret": question.secret,
        "holdout": ScriptName("read_table('holdout.parquet')") if question.holdout else None,
        "targets": question.targets,
        "seed": question.seed,
        "kinds": question.kinds,
    }
    given = [f"    {name}={value!r}," for name, value in options.items() if value is not None]
    lines = [
        "found = attack_release(",
        "    table,",
        "    read_table('released.parquet'),",
        *given,
        ")",
        "print(found.sentence)",
    ]
    python = both_ways(table.source, "attack", [], [], lines).python
    command = "# attackers and files of the session have no names on the command line; use the Python script"
    return models.Equivalent(cli=command, python=with_import(python, "from incrowd.attacks import attack_release"))


def _released(key: str, table: str, server: Server, session: Session) -> tuple[Any, Any]:
    """A release by its id, and which rows of the original it has, if that is known."""
    if key in session.tables:
        return session.table(key).table, None
    job = server.jobs.get(session.key, key)
    found: Release | None = job.answer().release
    if found is None or job.table != table:
        raise Refusal(409, "only a protection of this table, or another table, can be attacked with it")
    return found.table, found.kept_rows


@router.get("/jobs/{job_id:key}/attacks.html", responses={**refusals(404, 409), **HTML_PAGE}, response_class=Response)
def download_attacks(job: TheJob, session: TheSession) -> Response:
    """Attacks on a release as one self-contained page."""
    found = job.answer().value
    if not isinstance(found, ReleaseAttacks):
        raise Refusal(409, "only attacks have such a page")
    table = session.tables.get(job.table or "")
    name = file_name(table.name if table else "table", "attacks", "html")
    return Response(attacks_page(found), media_type="text/html", headers=as_attachment(name))
