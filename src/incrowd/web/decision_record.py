"""The decision record: one page with the question, the numbers before and after, the decision, and lines to sign."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from incrowd.recipients import in_words, smallest_class
from incrowd.reports.template_values import TEMPLATES
from incrowd.web.candidates import name_of
from incrowd.web.project_models import DecidedNumbers, Decision
from incrowd.wording import counted, listed, percent

_DECIDED = {"release": "May go out", "refuse": "Must not go out", "later": "Not decided yet"}
_AGAINST = "Goes out although the verdict is not yes"
_NUMBERS = {
    "headline": "verdict",
    "people": "people",
    "k": "smallest class (k)",
    "uniqueness": "alone in their class",
    "correctness": "average risk within the table",
    "risk": "average risk by the verdict",
    "highest": "person at highest risk",
    "detail": "detail kept",
}
_PLAIN = ("headline", "people", "k")
_BASES = {"table": "in the table", "population": "in the population", "attacks": "by attacks"}


def record_page(decision: Decision) -> str:
    """The page as HTML: what the decision was made on, whatever was changed since. It holds no cells."""
    settings, table, average = decision.settings, decision.table, decision.accepted.average
    when = decision.at[:16].replace("T", ", ")
    about = f"the protected table “{decision.candidate}”" if decision.candidate else "the table as it is"
    question = [
        ("table", f"{table.name}, {counted(table.rows, 'row', 'rows')}, {len(table.columns):,} columns"),
        ("recipient", in_words(settings.recipient)),
        (
            "accepted",
            f"highest risk 1/{smallest_class(decision.accepted.highest)}, "
            f"average risk {'no limit' if average is None else percent(average)}",
        ),
        ("population", _population(decision)),
    ]
    if decision.protection is not None:
        kept_secret = decision.protection.secrets
        question += [("protected by", name_of(decision.protection))]
        question += [("kept secret", listed(kept_secret))] if kept_secret else []
    roles = [
        (one.name, settings.roles.get(one.name, "–"), "yes" if one.name in settings.decided else "no", one.reason)
        for one in table.columns
    ]
    numbers = [
        (words, _shown(decision.before, key), _shown(decision.after, key))
        for key, words in _NUMBERS.items()
        if any(getattr(side, key, None) is not None for side in (decision.before, decision.after))
    ]
    body = (
        f"<h1>{escape(_AGAINST if decision.is_against_verdict else _DECIDED[decision.decision])}: {escape(about)}</h1>"
        f"<p><strong>{escape(decision.by)}</strong>, {escape(when)} UTC</p>"
        + (f"<p>{escape(decision.note)}</p>" if decision.note else "")
        + f"<h2>Question</h2>{_table(('', ''), question)}"
        f"<h2>Before and after</h2>{_table(('', 'before', 'after'), numbers)}"
        f"<h2>Columns</h2>{_table(('column', 'role', 'decided', 'what speaks for its suggestion'), roles)}"
        "<h2>Signatures</h2><p>Name, date: ______________________________</p>"
        "<p>Name, date: ______________________________</p>"
    )
    style = (TEMPLATES / "report.css").read_text(encoding="utf-8")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Decision on {escape(table.name)}</title><style>{style} main {{ padding: 2rem 1.5rem; }}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def _population(decision: Decision) -> str:
    """How many people the table could have been about, as far as that was said."""
    settings = decision.settings
    if settings.population is not None:
        return f"{settings.population:,} people"
    weights = [name for name, role in settings.roles.items() if role == "weight"]
    return f"as many people as the weights in {listed(weights)} add up to" if weights else "the table itself"


def _shown(numbers: DecidedNumbers | None, key: str) -> str:
    value = getattr(numbers, key, None)
    if value is None:
        return "–"
    if key in _PLAIN:
        return f"{value:,}" if isinstance(value, int) else str(value)
    place = _BASES.get(getattr(numbers, "basis", None) or "", "") if key in ("risk", "highest") else ""
    return f"{percent(value)} {place}".strip()


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
