"""Pages of text and tables only: no script, no picture, nothing that is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from incrowd.reports.template_values import TEMPLATES

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def plain_page(title: str, body: str, *sheets: str, style: str = "") -> str:
    """A page with some style sheets of the reports, and further rules in `style`."""
    styles = "".join((TEMPLATES / sheet).read_text(encoding="utf-8") for sheet in sheets)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{styles}{style}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def html_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
