"""Results of jobs rendered as HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from incrowd.assessment import Assessment
from incrowd.assessment.sections.section import PENDING
from incrowd.reports import DataTable
from incrowd.reports.template_values import plain_document, plain_table, safe_json
from incrowd.web.candidate_verdict import judge_candidate
from incrowd.web.candidates import candidate_name, detail_in_words, population_unused
from incrowd.wording import Advice, chosen_percent, display_names, with_display_names

if TYPE_CHECKING:
    import jinja2

    from incrowd.web.jobs import Job
    from incrowd.web.sessions import Session


_VIEWS = {  # templates of kinds of jobs that share one
    "points": "forecast",
    "curve": "forecast",
    "solution": "protection",
    "check": "figures",
    "techniques": "figures",
}


def view(environment: jinja2.Environment, session: Session, job: Job, form: str = "") -> str:
    """The result of a job as HTML; the `form` "release" of an assessment is that of its downloads."""
    outcome = job.answer()
    if isinstance(outcome.value, Assessment):
        plain = plain_document(outcome.value)
        columns = [one.column for one in outcome.value.roles.suggested]
        context = {**plain, "specs": safe_json(plain["specs"])}
        context["notes"] = [_as_sentence(note, columns) for note in context["notes"]]
        opened = session.tables.get(job.table or "")  # the page shows its notes already, above every tab
        context["notes_on_page"] = [_as_sentence(note, columns) for note in (opened.table.notes if opened else ())]
        context |= {"whole": job.state == "done", "unfinished": _unfinished(job, outcome.value.skipped)}
        name = "release" if form == "release" else "assessment"
    else:
        context, name = _figure_context(session, job), _VIEWS.get(job.kind, job.kind)
    return environment.get_template(f"views/{name}.html").render(context, job=job, equivalent=job.equivalent)


def _unfinished(job: Job, skipped: Mapping[str, Advice]) -> str:
    """The missing sections of an unfinished assessment, in words."""
    missing = ", ".join(name for name, why in skipped.items() if str(why) == PENDING) or "what comes last"
    if job.state == "cancelled":
        return f"This assessment was cancelled. Not worked out: {missing}."
    if job.state == "failed":
        return f"This assessment failed: {job.message}. Not worked out: {missing}."
    return f"Still being worked out: {missing}."


def _figure_context(session: Session, job: Job) -> dict[str, Any]:
    """The context of a template: the figures, the result with display names, and both as JSON for the page's script."""
    outcome = job.answer()
    table = session.tables.get(job.table or "")
    columns = [one.column for one in table.columns] if table else []
    shown = display_names(columns)
    result, figures = outcome.to_json(), outcome.to_figures()
    as_shown = with_display_names(result, shown)
    notes = [*result.get("notes", []), *result.get("forecast", {}).get("notes", [])]
    specs = {name: figure["spec"] for name, figure in figures.items()}
    if "forecast" in specs:
        specs["forecast"] = _with_slider(specs["forecast"], result["forecast"]["measured"])
    if "frontier" in specs:
        specs["frontier"] = _with_limit(specs["frontier"], result["limits"])
    return {
        **(_candidate_context(job, shown, len(columns)) if "evaluation" in result else {}),
        "result": as_shown,
        "data": safe_json(result),
        "notes": [_as_sentence(note, [*columns, *shown.values()]) for note in with_display_names(notes, shown)],
        "figures": [_plain_figure(name, figure) for name, figure in figures.items()],
        "specs": safe_json(specs),
    }


def _candidate_context(job: Job, shown: dict[str, str], columns: int) -> dict[str, Any]:
    """What the template of a candidate needs besides its result: the verdict with attacks, and the cost in words."""
    result, verdict = job.answer().to_json(), judge_candidate(job)
    return {
        "verdict": with_display_names(asdict(verdict), shown) | {"stands": verdict.stands},
        "detail": detail_in_words(result, columns),
        "kept_columns": _kept_columns(result["evaluation"]["columns"], shown),
        "name": candidate_name(job),
        "population_unused": with_display_names(population_unused(verdict), shown),
    }


def _kept_columns(costs: Sequence[Mapping[str, Any]], shown: Mapping[str, str]) -> list[dict[str, Any]]:
    """The columns that protection made coarser with their detail, the least kept first."""
    ordered = sorted(costs, key=lambda one: float(one["granularity"]))
    return [{**one, "shown": shown.get(one["column"], one["column"])} for one in ordered]


def _as_sentence(note: str, columns: Sequence[str]) -> str:
    """A note with a full stop and a capital letter, unless it begins with the name of a column."""
    named = any(note.startswith(f"{name} ") for name in columns)
    return (note if named else note[:1].upper() + note[1:]) + ("" if note.endswith(".") else ".")


def _plain_figure(name: str, figure: dict[str, Any]) -> dict[str, Any]:
    table = figure["table"]
    rows = DataTable(table["caption"], tuple(table["columns"]), tuple(tuple(row) for row in table["rows"]))
    return {
        "name": name,
        "title": figure["title"],
        "says": figure["sentence"],
        "means": figure.get("means", ""),
        "table": plain_table(rows, {}),
    }


def _with_slider(spec: dict[str, Any], people: int) -> dict[str, Any]:
    """The chart of a forecast with a line at the position of the slider, which the page's script moves."""
    rule = {
        "data": {"name": "chosen", "values": [{"n": people}]},
        "mark": {"type": "rule", "color": "#d9822b", "strokeWidth": 2},
        "encoding": {"x": {"field": "n", "type": "quantitative", "title": "people"}},
    }
    return {**spec, "layer": [*spec["layer"], rule]}


def _with_limit(spec: dict[str, Any], limits: Mapping[str, Any]) -> dict[str, Any]:
    """The chart of a comparison with a line at the accepted average risk, if the axis reaches that far."""
    most = limits["highest"] if limits["average"] is None else limits["average"]
    y = {"field": "limit", "type": "quantitative"}
    line = {
        "data": {"values": [{"limit": most, "words": f"limit {chosen_percent(most)}"}]},
        "transform": [{"filter": f"datum.limit <= {_highest(spec)}"}],
        "encoding": {"y": y},
        "layer": [
            {"mark": {"type": "rule", "strokeDash": [5, 4], "color": "#8a8f98"}},
            {
                "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 4},  # where few points are
                "encoding": {"x": {"value": 0}, "text": {"field": "words"}},
            },
        ],
    }
    return {**spec, "layer": [line, *spec["layer"]]}


def _highest(spec: Mapping[str, Any]) -> float:
    """The upper end of the risk axis of a comparison."""
    top: float = spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
    return top
