"""A paper's page from its finished parts: Markdown for the documentation, and one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from incrowd._support.files import written_whole
from papers.parts import Comparison, Grid, Paper, Value
from papers.runner import KeptPart, output_name

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1d2430;
  background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-size: .9rem; display: block; overflow-x: auto }
caption { text-align: left; font-weight: 600; padding: .3rem 0 }
th, td { text-align: left; vertical-align: top; padding: .25rem .7rem .25rem 0; border-bottom: 1px solid #e6e8eb }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
figure { margin: 1.5rem 0; overflow-x: auto } figcaption { color: #555b66; font-size: .9rem }
svg { max-width: 100%; height: auto; overflow: visible }
"""


def write_pages(out: Path, paper: Paper, parts: Sequence[KeptPart]) -> list[Path]:
    """Write `out`/<paper>.md and .html; those of a quick run are <paper>-quick."""
    name = output_name(paper, quick=parts[0].made_with["quick"])
    texts = {".md": markdown(paper, parts, pictures=f"{name}/"), ".html": html(out / name, paper, parts)}
    written = []
    for ending, text in texts.items():
        target = out / f"{name}{ending}"
        with written_whole(target, force=True) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        written.append(target)
    return written


def markdown(paper: Paper, parts: Sequence[KeptPart], *, pictures: str) -> str:
    """The page as Markdown; `pictures` is the prefix of the figures' file names."""
    lines = [f"# {paper.title}", "", paper.about, "", paper.citation, "", _provenance(paper, parts), ""]
    for part in parts:
        lines += [f"## {part.title}", ""]
        for table in part.tables:
            lines += [f"### {table.title}", "", *_markdown_table(table), ""]
            lines += [table.remark, ""] if table.remark else []
        for figure in part.figures:
            lines += [f"![{_plain(figure.title)}]({pictures}{figure.file})", ""]
            lines += [f"*{figure.title}.* {figure.remark}".rstrip(), ""]
        lines += [line for note in part.notes for line in (f"- {note}",)] + ([""] if part.notes else [])
    return "\n".join(lines).rstrip() + "\n"


def _provenance(paper: Paper, parts: Sequence[KeptPart]) -> str:
    """The command and the code that made the page, which data it read, and which parts were made otherwise."""
    made = parts[0].made_with
    held = dict.fromkeys(name.removesuffix(".parquet") for part in parts for name in part.made_with["data"])
    options = (" --data DATA" if held else "") + (" --quick" if made["quick"] else "")
    options += f" --seed {made['seed']}" if made["seed"] else ""
    commits = ", ".join(dict.fromkeys(part.commit for part in parts if part.commit))
    code = f" (commit {commits})" if commits else ""
    read = f" Read of DATA: {', '.join(held)}." if held else ""
    others = [f"{part.title} ({', '.join(other)})" for part in parts if (other := _made_otherwise(part, made, parts))]
    mixed = f" Made otherwise: {'; '.join(others)}." if others else ""
    return (
        f"Made with incrowd {made['version']}{code} by `python -m papers {paper.name}{options} --out DIR`.{read}{mixed}"
    )


def _made_otherwise(part: KeptPart, made: dict[str, Any], parts: Sequence[KeptPart]) -> list[str]:
    """Options and data of a part that differ from those of the first part (data: of any other part)."""
    mine = part.made_with
    found = []
    if mine["quick"] != made["quick"]:
        found.append("with --quick" if mine["quick"] else "in full")
    if mine["seed"] != made["seed"]:
        found.append(f"with --seed {mine['seed']}")
    if mine["version"] != made["version"]:
        found.append(f"with incrowd {mine['version']}")
    reading = [other.made_with["data"] for other in parts if other.made_with["data"]]
    shared = {name: content for data in reversed(reading) for name, content in data.items()}
    if any(shared[name] != content for name, content in mine["data"].items()):
        found.append("with other contents of DATA")
    return found


def _markdown_table(table: Comparison | Grid) -> list[str]:
    numeric = _numeric(table)
    head = "| " + " | ".join(_cell(name) for name in table.columns) + " |"
    rule = "|" + "|".join("--:" if right else "---" for right in numeric) + "|"
    return [head, rule, *("| " + " | ".join(_cell(shown(value)) for value in row) + " |" for row in table.cells)]


def _numeric(table: Comparison | Grid) -> list[bool]:
    columns = range(len(table.columns))
    return [all(isinstance(row[i], int | float | None) for row in table.cells) and bool(table.cells) for i in columns]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    return text.replace("[", "(").replace("]", ")")


def shown(value: Value) -> str:
    """A cell as text.

    >>> [shown(value) for value in (3985166, 0.12345, None, "0.2")]
    ['3,985,166', '0.123', '–', '0.2']
    """
    if value is None:
        return "–"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.3g}"


def html(folder: Path, paper: Paper, parts: Sequence[KeptPart]) -> str:
    """The page as one HTML file that includes its figures, which are read from `folder`."""
    body = [f"<h1>{escape(paper.title)}</h1>", *_paragraphs(paper.about, paper.citation, _provenance(paper, parts))]
    for part in parts:
        body.append(f"<h2>{escape(part.title)}</h2>")
        for table in part.tables:
            body += [_html_table(table), *_paragraphs(table.remark)]
        for figure in part.figures:
            drawn = (folder / figure.file).read_text(encoding="utf-8")
            label = f'<svg role="img" aria-label="{escape(figure.title, quote=True)}" '
            caption = f"<b>{escape(figure.title)}.</b> {escape(figure.remark)}"
            body.append(f"<figure>{drawn.replace('<svg ', label, 1)}<figcaption>{caption}</figcaption></figure>")
        if part.notes:
            body.append("<ul>" + "".join(f"<li>{escape(note)}</li>" for note in part.notes) + "</ul>")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(paper.title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head>\n<body><main>\n" + "\n".join(body) + "\n</main></body></html>\n"
    )


def _paragraphs(*texts: str) -> list[str]:
    return [f"<p>{escape(text).replace('`', '')}</p>" for text in texts if text]


def _html_table(table: Comparison | Grid) -> str:
    numeric = _numeric(table)
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in table.columns)
    rows = [
        "".join(
            f"<td{' class=number' if right else ''}>{escape(shown(value))}</td>"
            for value, right in zip(row, numeric, strict=True)
        )
        for row in table.cells
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
