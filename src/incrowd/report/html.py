"""One self-contained page: no network, no other file, aggregates only."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from incrowd.assess import Assessment
from incrowd.files import written_whole
from incrowd.report.document import document, verdict_figure
from incrowd.report.names import renamed, shown_names
from incrowd.report.pieces import DataTable, Figure, Section
from incrowd.report.words import CAVEATS, GLOSSARY, METHODS

_TEMPLATES = Path(__file__).parent / "templates"
_NUMBER = re.compile(r"[+−-]?[\d.,]+(e-?\d+)?%?|–")
_PALE = ("config", "title", "background", "$schema")  # the page has its own look and its own titles


def write_html(found: Assessment, path: str | Path, *, external: bool = False, force: bool = False) -> Path:
    """Write the report; an existing file is replaced only if told so."""
    with written_whole(path, force=force) as temporary:
        temporary.write_text(to_html(found, external=external), encoding="utf-8", newline="\n")
    return Path(path)


def to_html(found: Assessment, *, external: bool = False) -> str:
    """The report as HTML. The external one is short and leaves out what would help an attacker."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    environment.filters["number"] = _number
    shown = shown_names([one.column for one in found.roles.suggested] or found.roles.quasi_identifiers)
    sections = document(found, external=external)
    figures = [verdict_figure(found), *(figure for section in sections for figure in section.figures)]
    engine = chart_engine()
    script = (_TEMPLATES / "charts.js").read_text(encoding="utf-8")
    return environment.get_template("report.html").render(
        found=found,
        verdict=renamed(found.verdict.to_dict(), shown),
        notes=renamed(list(found.notes), shown),
        sections=[_plain_section(section, shown) for section in sections],
        verdict_figure=_plain_figure(figures[0], shown),
        cards=renamed([_card(found, name) for name in _CARDS], shown),
        external=external,
        glossary=GLOSSARY,
        methods=METHODS,
        caveats=CAVEATS,
        options=renamed(_options(found), shown),
        specs=_json({figure.name: renamed(_spec(figure), shown) for figure in figures}),
        engine=engine,
        script=script,
        style=(_TEMPLATES / "report.css").read_text(encoding="utf-8"),
        hashes=[_script_hash(text) for text in (engine, script)],
    )


def chart_engine() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, as the installed vl-convert bundles them.

    Bundling takes seconds, so the script is kept in the user's cache folder, one for each version.
    """
    kept = _cache() / f"vega-{version('vl-convert-python')}.js"
    if kept.is_file():
        return kept.read_text(encoding="utf-8")
    import vl_convert

    bundle: Any = vl_convert.javascript_bundle
    script: str = bundle().replace("\r\n", "\n").replace("</script", "<\\/script")
    try:
        with written_whole(kept, force=True) as temporary:
            temporary.write_text(script, encoding="utf-8", newline="\n")
    except ValueError:
        return script  # a machine without a place to keep it bundles it anew
    return script


def _cache() -> Path:
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "incrowd"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "incrowd"


def _script_hash(script: str) -> str:
    """What the page's policy allows to run: this script and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def _spec(figure: Figure) -> dict[str, Any]:
    """The chart undressed: the page's style sheet gives it colours, so that one serves dark, light and print."""
    spec: dict[str, Any] = {name: part for name, part in figure.chart.to_dict().items() if name not in _PALE}
    spec["description"] = f"{figure.title}. {figure.says}"
    for part in (spec, *spec.get("layer", ())):
        if "width" in part:
            part["width"] = "container"
    spec.setdefault("width", "container")
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    return spec


def _plain_figure(figure: Figure, shown: dict[str, str]) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": renamed(figure.title, shown),
        "says": renamed(figure.says, shown),
        "table": _plain_table(figure.table, shown),
    }


def _plain_table(table: DataTable, shown: dict[str, str]) -> dict[str, Any]:
    numeric = [
        bool(table.rows) and all(_is_number(row[index]) for row in table.rows) for index in range(len(table.columns))
    ]
    return {
        "caption": renamed(table.caption, shown),
        "columns": list(zip(table.columns, numeric, strict=True)),
        "rows": [list(zip(renamed(list(row), shown), numeric, strict=True)) for row in table.rows],
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) or bool(_NUMBER.fullmatch(str(value)))


def _plain_section(section: Section, shown: dict[str, str]) -> dict[str, Any]:
    return {
        "key": section.key,
        "title": section.title,
        "lead": renamed(section.lead, shown),
        "statements": [renamed(statement.to_dict(), shown) for statement in section.statements],
        "all_sure": _common(statement.sure for statement in section.statements),
        "all_assumed": _common(renamed(statement.assumed, shown) for statement in section.statements),
        "figures": [_plain_figure(figure, shown) for figure in section.figures],
        "tables": [_plain_table(table, shown) for table in section.tables],
        "notes": renamed(list(section.notes), shown),
    }


def _common(texts: Iterable[str]) -> str | None:
    """The text, if it is the same everywhere: then it is said once and not in every row."""
    distinct = set(texts)
    return distinct.pop() if len(distinct) == 1 else None


_CARDS = ("average risk (κ)", "unique", "smallest class (k)", "risk in the population")


def _card(found: Assessment, name: str) -> dict[str, Any]:
    for statement in found.statements:
        if statement.name == name:
            return statement.to_dict()
    reason = found.skipped.get("population", "not asked for")
    return {"name": name, "shown": "–", "meaning": f"Not known: {reason}.", "sure": ""}


def _options(found: Assessment) -> list[tuple[str, str]]:
    """What was asked, as rows; lists as words."""
    return [(name.replace("_", " "), text) for name, text in _said(found)]


def _said(found: Assessment) -> Iterator[tuple[str, str]]:
    for name, value in found.provenance.options.items():
        if isinstance(value, dict):
            yield name, "; ".join(f"{label}: {', '.join(members)}" for label, members in value.items()) or "none"
        elif isinstance(value, list):
            yield name, ", ".join(value) or "none"
        else:
            yield name, "none" if value is None else _number(value)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
