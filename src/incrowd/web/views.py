"""What a job found, as a part of a page: the report's own templates, so that there is one look."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from incrowd.report import DataTable, Figure, renamed, shown_names
from incrowd.report.parts import plain_document, plain_figure, safe_json

if TYPE_CHECKING:
    import jinja2

    from incrowd.web.jobs import Job
    from incrowd.web.sessions import Session

_OPTION = re.compile(r" \(--[a-z-]+\)")  # hints at the command line, where there is none


def view(environment: jinja2.Environment, session: Session, job: Job, form: str = "") -> str:
    """The answer of a job as HTML. `form` is "release" for what can be taken away of an assessment."""
    outcome = job.answer()
    if job.kind == "assessment":
        plain = plain_document(outcome.found)
        context = {**plain, "specs": safe_json(plain["specs"]), "whole": job.state == "done"}
        name = "release" if form == "release" else "assessment"
    else:
        context, name = _of_figures(session, job), "forecast" if job.kind == "points" else job.kind
    page = environment.get_template(f"views/{name}.html").render(context, job=job, equivalent=job.equivalent)
    return _OPTION.sub("", page)


def _of_figures(session: Session, job: Job) -> dict[str, Any]:
    """Figures, and the result: as it is for the page's script, fit to show for the template."""
    outcome = job.answer()
    table = session.tables.get(job.table or "")
    shown = shown_names([one.column for one in table.columns]) if table else {}
    result, figures = outcome.result(), outcome.figures()
    specs = {name: figure["spec"] for name, figure in figures.items()}
    if "forecast" in specs:
        specs["forecast"] = _with_slider(specs["forecast"], result["forecast"]["measured"])
    return {
        "result": renamed(result, shown),
        "data": safe_json(result),
        "figures": [_plain(name, figure) for name, figure in figures.items()],
        "specs": safe_json(specs),
    }


def _plain(name: str, figure: dict[str, Any]) -> dict[str, Any]:
    table = figure["table"]
    rows = DataTable(table["caption"], tuple(table["columns"]), tuple(tuple(row) for row in table["rows"]))
    return plain_figure(Figure(name, figure["title"], figure["sentence"], None, rows), {})


def _with_slider(spec: dict[str, Any], people: int) -> dict[str, Any]:
    """The forecast with a line where the slider stands; the page's script says where."""
    rule = {
        "data": {"name": "chosen", "values": [{"n": people}]},
        "mark": {"type": "rule", "color": "#d9822b", "strokeWidth": 2},
        "encoding": {"x": {"field": "n", "type": "quantitative", "title": "people in the gallery"}},
    }
    return {**spec, "layer": [*spec["layer"], rule]}
