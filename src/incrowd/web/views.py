"""What a job found, as a part of a page: the report's own templates, so that there is one look."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incrowd.assess import RECIPIENTS
from incrowd.report.names import renamed, shown_names
from incrowd.report.parts import chart_spec, plain_document, plain_figure, safe_json

if TYPE_CHECKING:
    import jinja2

    from incrowd.web.jobs import Job
    from incrowd.web.sessions import Session

_SLIDER = {"name": "chosen", "values": []}  # where the population slider stands; the page fills it


def view(environment: jinja2.Environment, session: Session, job: Job, form: str = "") -> str:
    """The answer of a job as HTML. `form` is "release" for what can be taken away of an assessment."""
    outcome = job.answer()
    if job.kind == "assessment":
        plain = plain_document(outcome.found)
        context = {**plain, "specs": safe_json(plain["specs"]), "whole": job.state == "done"}
        name = "release" if form == "release" else "assessment"
    else:
        context, name = _of_figures(session, job), "forecast" if job.kind == "points" else job.kind
    context |= {"job": job, "equivalent": job.equivalent, "thresholds": RECIPIENTS}
    return environment.get_template(f"views/{name}.html").render(context)


def _of_figures(session: Session, job: Job) -> dict[str, Any]:
    """Figures, and the result as data for the page's script."""
    outcome = job.answer()
    table = session.tables.get(job.table or "")
    shown = shown_names([one.column for one in table.columns]) if table else {}
    found = outcome.result()
    figures = outcome.figures()
    specs = {figure.name: renamed(chart_spec(figure), shown) for figure in figures}
    if "forecast" in specs:
        specs["forecast"] = _with_slider(specs["forecast"])
    return {
        "result": found,
        "plain": renamed(found, shown),
        "data": safe_json(found),
        "figures": [plain_figure(figure, shown) for figure in figures],
        "specs": safe_json(specs),
    }


def _with_slider(spec: dict[str, Any]) -> dict[str, Any]:
    """The forecast with a line where the slider stands."""
    rule = {
        "data": _SLIDER,
        "mark": {"type": "rule", "color": "#d9822b", "strokeWidth": 2},
        "encoding": {"x": {"field": "people", "type": "quantitative"}},
    }
    return {**spec, "layer": [*spec["layer"], rule]}
