"""The attacks on a release as one self-contained page: no script, no network, aggregates only."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path

from incrowd._support.files import written_whole
from incrowd.attacks import AttackRisk, GroupRisk, ReleaseAttacks
from incrowd.reports.plain_page import html_table, plain_page
from incrowd.wording import counted, number, percent, percent_interval


def write_attacks(
    found: ReleaseAttacks, path: str | os.PathLike[str], *, groups: Sequence[GroupRisk] = (), force: bool = False
) -> Path:
    """Write the results of attacks on a release as one page.

    Args:
        groups: success rates by group, if they are to be shown.

    Raises:
        InputError: the file exists and may not be replaced.
    """
    with written_whole(Path(path), force=force) as temporary:
        temporary.write_text(attacks_page(found, groups), encoding="utf-8", newline="\n")
    return Path(path)


def attacks_page(found: ReleaseAttacks, groups: Sequence[GroupRisk] = ()) -> str:
    """The page as HTML; row numbers of people are left out, because pages are passed on."""
    heads = ("attack", "success", "without the release", "risk", "95% interval")
    results = html_table(heads, found.as_text()) if found.attacks else ""
    details = "".join(
        f"<h3>{escape(one.name)}</h3><p>{escape(one.sentence)}</p>{_measures(one)}" for one in found.attacks
    )
    by_group = ""
    if groups:
        rows = (
            (one.group, f"{one.attacks:,}", percent(one.success.value), percent_interval(*one.success[1:]))
            for one in groups
        )
        table = html_table(("group", "attacks", "success", "interval"), rows)
        by_group = f"<h2>By {escape(groups[0].column)}</h2>{table}"
    title = f"Attacks on {found.released}"
    body = (
        f"<h1>{escape(title)}</h1><p><strong>{escape(found.sentence)}</strong></p>"
        f"<p>{counted(found.rows, 'row', 'rows')} in {escape(found.original)}, {found.released_rows:,} released; "
        f"seed {found.seed}.</p>{results}{by_group}<h2>Each attack</h2>{details}"
        f"<h2>Notes</h2><ul>{''.join(f'<li>{escape(note)}</li>' for note in found.notes)}</ul>"
    )
    return plain_page(title, body, "report.css", "dark.css")


def _measures(one: AttackRisk) -> str:
    """The further numbers of an attack, if it has any."""
    rows = [(name, "–" if value is None else number(value)) for name, value in one.measures.items()]
    return html_table(("", ""), rows) if rows else ""
