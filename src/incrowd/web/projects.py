"""Projects: saving the settings, decisions and runs of a table without its cells, and loading them again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from incrowd.tables.missing_codes import MissingCodes
from incrowd.version import __version__
from incrowd.web import project_models as models
from incrowd.web.candidate_jobs import asked_by, is_candidate, without_rows
from incrowd.web.candidates import name_candidates
from incrowd.web.conditions import judge_candidate
from incrowd.web.jobs import Job
from incrowd.web.models import Reading, TableSettings
from incrowd.web.session_table import OpenTable
from incrowd.web.table_history import utc_now
from incrowd.wording import counted, listed

_REPLAYED = ("assessment", "protection", "solution", "forecast")
_QUICK = 20.0  # seconds in which all candidates of a reopened project that are made again without asking must be done


def save_project(table: OpenTable, jobs: list[Job], *, cells: bool) -> models.Project:
    """The project of a table; `cells` includes values that the settings name, such as secrets."""
    settings, left_out = (table.settings, []) if cells else without_cells(table.settings)
    name_candidates(jobs)
    done = [job for job in sorted(jobs, key=lambda job: job.created) if job.state == "done" and job.kind != "leak"]
    runs = [_save_run(job, cells=cells) for job in done]
    return models.Project(
        format=models.FORMAT,
        version=2,
        made_with=__version__,
        saved=utc_now(),
        table=describe_table(table),
        settings=settings,
        runs=runs[-1_000:],
        decisions=table.history.decisions[-models.MOST_DECISIONS :],
        trail=table.history.trail[-10_000:],
        left_out=left_out,
    )


def _save_run(job: Job, *, cells: bool) -> models.ProjectRun:
    made_by, summary = (asked_by(job) if is_candidate(job) else None), job.answer().summary
    if is_candidate(job):  # with the attacks on it, which are judged apart
        summary = summary | {name: judge_candidate(job)[name] for name in ("decision", "headline", "recommendation")}
    protection = without_rows(made_by) if made_by and not cells else made_by
    return models.ProjectRun(
        kind=job.kind,
        job=job.id,
        at=job.created.isoformat(timespec="seconds"),
        name=job.name,
        question=job.question if cells else _question_without_rows(job.question),
        summary=summary,
        seconds=job.info().seconds,
        protection=protection,
        lacks_values=protection != made_by,
        outdated=job.question_changed,
    )


def describe_table(table: OpenTable) -> models.ProjectTable:
    """The name, size, reading options and columns of a table, for a project or a decision; no cells."""
    info, described = table.info(), {*models.ProjectColumn.model_fields}
    columns = [models.ProjectColumn(**column.model_dump(include=described)) for column in info.columns]
    return models.ProjectTable(name=info.name, rows=info.rows, reading=info.reading, columns=columns)


def without_cells(settings: TableSettings) -> tuple[TableSettings, list[str]]:
    """Settings without the cell values that they name, and what was left out, in words."""
    changes: dict[str, Any] = {}
    left_out = []
    if settings.secrets:
        left_out.append(f"{counted(len(settings.secrets), 'secret value', 'secret values')}: name them again")
        changes["secrets"] = []
    protection = without_rows(settings.protection)
    by_rows = [name for name in settings.protection.hierarchies if name not in protection.hierarchies]
    if by_rows:
        left_out.append(f"hierarchies that list values, of {listed(by_rows)}: load them again")
        changes["protection"] = protection
    return settings.model_copy(update=changes), left_out


def _question_without_rows(question: dict[str, Any]) -> dict[str, Any]:
    """A question without hierarchies that list values, at any depth."""
    found = dict(question)
    for key, value in question.items():
        if key == "hierarchies":
            found[key] = {name: given for name, given in value.items() if isinstance(given, str)}
        elif isinstance(value, dict):
            found[key] = _question_without_rows(value)
    return found


def saved_reading(table: OpenTable, project: models.Project) -> Reading:
    """The table's reading options with the scales and missing codes of a project in place of its own."""
    saved, columns = project.table.reading, {*table.table.columns}
    if saved is None:
        return Reading(**table.source.how)
    scales = {name: scale for name, scale in saved.scales.items() if name in columns}
    missing = MissingCodes.parse(saved.null)
    codes = {name: stated for name, stated in missing.by_column.items() if name in columns}
    null = str(replace(missing, by_column=codes)) or None
    return Reading(**{**table.source.how, "null": null, "scales": scales})


def load_project(table: OpenTable, project: models.Project) -> models.Loaded:
    """Apply the settings and decisions of a project to a table, and list differences from the saved table.

    A column that is new, or has another kind of values, is not decided, nor are roles of version 1 that answer one
    question of two.
    """
    was = {one.name: one for one in project.table.columns}
    kinds = {one.column: one.kind for one in table.columns}
    settled = [name for name, kind in kinds.items() if name in was and was[name].type == kind]
    of_one_role = _names_of_one_role(project)
    decided = [name for name in project.settings.decided if name not in of_one_role]
    table.history.change_to_saved(project.settings.model_copy(update={"decided": decided}), settled)
    table.history.add_earlier_records(project.decisions, project.trail)
    changed = list(_changes(table, project, kinds))
    table.history.note("project loaded", saved=project.saved, of=project.table.name, changed=changed[:100])
    replay = [run for run in project.runs if run.kind in _REPLAYED]
    table.history.reopened = models.ReopenedProject(
        saved=project.saved, of=project.table.name, rows=project.table.rows, changed=changed, runs=replay
    )
    return models.Loaded(settings=table.history.state, changed=changed, replay=replay)


def _names_of_one_role(project: models.Project) -> list[str]:
    """The decided columns of a project of version 1 whose role answers one question of two."""
    if project.version > 1:
        return []
    roles = project.settings.roles
    return [name for name in project.settings.decided if roles.get(name) in ("quasi-identifier", "sensitive", "other")]


def describe_saved_work(table: OpenTable, jobs: list[Job], tables: Collection[str]) -> models.SavedWork | None:
    """The project that a table continues, and its candidates that were not made again yet; None without a project.

    Args:
        table: the table.
        jobs: the jobs of the table.
        tables: the ids of the tables of the session.
    """
    reopened = table.history.reopened
    if reopened is None:
        return None
    made = [asked_by(job) for job in jobs if job.state in ("waiting", "running", "done")]
    made += [without_rows(one) for one in made if one is not None]
    verdicts = [run.summary for run in reopened.runs if run.kind == "assessment" and not run.outdated]
    growth, seconds = table.table.rows / max(1, reopened.rows), 0.0
    candidates = []
    for run in reopened.runs:
        if (asked := run.protection) is None or asked in made:
            continue
        made.append(asked)
        gone = [name for name in asked.named(table.table.columns) if name not in table.table.columns]
        reasons = {
            "roles, scales or limits were changed after it was made": run.outdated,
            "its hierarchies list values, which were not saved": run.lacks_values,
            "the table of everybody that it counted in is not open": asked.population_table not in {None, *tables},
            f"it names columns that are gone: {listed(gone)}": gone,
        }
        cannot = next((reason for reason, holds in reasons.items() if holds), None)
        seconds += 0.0 if cannot else run.seconds * growth
        is_quick = cannot is None and seconds <= _QUICK
        candidates.append(models.SavedCandidate(**dict(run), is_quick=is_quick, cannot=cannot))
    described = reopened.model_dump(include={"saved", "of", "changed"})
    return models.SavedWork(**described, assessment=verdicts[-1] if verdicts else None, candidates=candidates)


def _changes(table: OpenTable, project: models.Project, kinds: dict[str, str]) -> Iterator[str]:
    """Differences between a table and the saved one, in words; `kinds` are the kinds of values by column."""
    was = {one.name: one for one in project.table.columns}
    if table.table.rows != project.table.rows:
        yield f"there were {project.table.rows:,} rows and are {table.table.rows:,}"
    if gone := [name for name in was if name not in kinds]:
        yield f"gone: {listed(gone)}"
    asked = project.settings.protection
    if dropped := [name for name in asked.secrets if name not in kinds]:
        yield f"no longer kept secret, because the column is gone: {listed(dropped)}; see “Keep secret”"
    if others := {*asked.named(kinds)} - {*kinds, *asked.secrets}:
        yield f"the protection asks nothing more of columns that are gone: {listed(sorted(others))}"
    if new := [name for name in kinds if name not in was]:
        yield f"new, and not decided: {listed(new)}"
    if other := [name for name, kind in kinds.items() if name in was and was[name].type != kind]:
        yield f"other kinds of values, and not decided: {listed(other)}"
    if of_one_role := [name for name in _names_of_one_role(project) if name in kinds]:
        yield f"decided by one role in an earlier version, which is no answer to both questions: {listed(of_one_role)}"
    yield from project.left_out
