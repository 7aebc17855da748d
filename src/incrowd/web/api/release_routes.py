"""Routes of what follows from results: actions of an assessment, reports of protected tables."""

from __future__ import annotations

from dataclasses import replace

from fastapi import APIRouter

from incrowd.assessment.repeat import to_call, to_command
from incrowd.web import models
from incrowd.web.action_buttons import ActionDone, ActionQuestion, ActionView, list_actions
from incrowd.web.api.dependencies import TheJob, TheServer, TheSession, refusals
from incrowd.web.api.job_routes import queue_job, start_protection_of
from incrowd.web.api.result_routes import whole_assessment
from incrowd.web.jobs import Job
from incrowd.web.refusals import Refusal, not_found

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
    table.history.update(models.TableSettings(protection=choice.protection))  # the form shows what was asked for
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
