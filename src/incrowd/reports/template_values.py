"""A report as plain values for the templates: display names, and charts without their own styles."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from incrowd.assessment import Assessment, Verdict
from incrowd.assessment.command_line import to_command
from incrowd.assessment.verdict import Action
from incrowd.recipients import find_recipient
from incrowd.reports.document import document, key_numbers, verdict_figure
from incrowd.reports.elements import DataTable, Figure, ReportSection
from incrowd.reports.fixed_text import CONDITION, PUBLIC_TERMS, TERMS
from incrowd.reports.standing import STAMPS, standing_of
from incrowd.wording import Advice, display_names, with_display_names

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

TEMPLATES = files(__package__) / "templates"
_NUMBER = re.compile(r"(under |over )?[+−-]?[\d.,]+(e-?\d+)?%?|–")
_OWN_LOOK = ("config", "title", "background", "$schema")  # the page has its own look and its own titles


@cache
def templates(*packages: str) -> jinja2.Environment:
    """The templates of a report, and of further packages: all values are escaped, and a missing value is an error."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(name) for name in (__package__, *packages)]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["number"] = _number
    environment.globals["stamps"] = STAMPS
    environment.filters["code"] = _code
    return environment


def plain_document(assessment: Assessment, *, external: bool = False) -> dict[str, Any]:
    """The values of an assessment for the templates.

    Args:
        assessment: the assessment.
        external: leave out what would help an attacker.

    Returns:
        Values by the names that the templates use; `specs` are the charts by the name of their figure.
    """
    shown = display_names([one.column for one in assessment.roles.suggested] or assessment.roles.quasi_identifiers)
    sections = document(assessment, external=external)
    figures = [verdict_figure(assessment), *(figure for section in sections for figure in section.figures)]
    verdict = _for_outsiders(assessment.verdict) if external else assessment.verdict
    return {
        "found": assessment,
        "external": external,
        "verdict": with_display_names(verdict.to_dict(), shown),
        "stands": standing_of(verdict.decision, verdict.conditions),
        "notes": [] if external else with_display_names([str(note) for note in assessment.notes], shown),
        "sections": [_plain_section(section, shown) for section in sections],
        "methods": list(dict.fromkeys(method for section in sections for method in section.methods)),
        "verdict_figure": plain_figure(figures[0], shown),
        "cards": [number.to_dict() for number in key_numbers(assessment)],
        "options": with_display_names(_options(assessment, external), shown),
        # a command with display names could not be typed
        "command": None if shown else to_command(assessment.provenance.question),
        "specs": {figure.name: with_display_names(chart_spec(figure), shown) for figure in figures},
    }


def _for_outsiders(verdict: Verdict) -> Verdict:
    """The decision for the recipients of the table, with the terms they accept in place of the holder's actions.

    A table that may not be released has no terms. Outsiders see that a yes has conditions, but not the columns.
    """
    texts = PUBLIC_TERMS if find_recipient(verdict.recipient).is_public else TERMS
    is_yes = verdict.decision == "within"
    terms = tuple(Action(term) for term in texts) if is_yes else ()
    on_condition = is_yes and (verdict.declared or verdict.internal_reasons)
    return replace(
        verdict,
        exposures=(),
        undecided=(),
        declared=(),
        disclosed=(),
        blamed=(),
        learnt=(),
        actions=terms,
        internal_reasons=(Advice(CONDITION),) if on_condition else (),
    )


def safe_json(value: Any) -> str:
    """JSON that cannot close the HTML element that contains it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def chart_spec(figure: Figure) -> dict[str, Any]:
    """The chart of a figure without its own styles: the page's style sheet colours it for dark, light and print.

    Args:
        figure: a figure of a report.
    """
    spec: dict[str, Any] = {
        name: part for name, part in figure.chart.to_dict(validate=False).items() if name not in _OWN_LOOK
    }
    spec["description"] = f"{figure.title}. {figure.says}"
    for part in (spec, *spec.get("layer", ())):
        if "width" in part:
            part["width"] = "container"
    spec.setdefault("width", "container")
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def plain_figure(figure: Figure, shown: dict[str, str]) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": with_display_names(figure.title, shown),
        "says": with_display_names(figure.says, shown),
        "means": figure.means,
        "table": plain_table(figure.table, shown),
    }


def plain_table(table: DataTable, shown: dict[str, str]) -> dict[str, Any]:
    numeric = [
        bool(table.rows) and all(_is_number(row[index]) for row in table.rows) for index in range(len(table.columns))
    ]
    return {
        "caption": with_display_names(table.caption, shown),
        "columns": list(zip(table.columns, numeric, strict=True)),
        "rows": [list(zip(with_display_names(list(row), shown), numeric, strict=True)) for row in table.rows],
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or bool(_NUMBER.fullmatch(str(value)))


def _plain_section(section: ReportSection, shown: dict[str, str]) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "lead": with_display_names(section.lead, shown),
        "statements": [with_display_names(statement.to_dict(), shown) for statement in section.statements],
        "all_sure": _common(statement.sure for statement in section.statements),
        "all_assumed": _common(with_display_names(statement.assumed, shown) for statement in section.statements),
        "figures": [plain_figure(figure, shown) for figure in section.figures],
        "tables": [plain_table(table, shown) for table in section.tables],
        "notes": with_display_names([str(note) for note in section.notes], shown),
    }


def _common(texts: Iterable[str]) -> str | None:
    """The text, if it is the same in every row, so that it is shown once."""
    distinct = set(texts)
    return distinct.pop() if len(distinct) == 1 else None


_OUTSIDE = ("population", "recipient", "threshold", "highest")


def _options(assessment: Assessment, external: bool) -> list[tuple[str, str]]:
    """The options of the question, as rows; outsiders do not see which columns single people out."""
    return [
        (name.replace("_", " "), text)
        for name, text in _question_in_words(assessment)
        if not external or name in _OUTSIDE
    ]


def _question_in_words(assessment: Assessment) -> Iterator[tuple[str, str]]:
    for name, value in assessment.provenance.options.items():
        if isinstance(value, dict):
            yield name, "; ".join(f"{label}: {', '.join(members)}" for label, members in value.items()) or "none"
        elif isinstance(value, list):
            yield name, ", ".join(value) or "none"
        else:
            yield name, "none" if value is None else _number(value)


def _code(text: str) -> Markup:
    """A sentence with the text between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub("`([^`<>]+)`", r"<code>\1</code>", str(escape(text))))


def _number(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
