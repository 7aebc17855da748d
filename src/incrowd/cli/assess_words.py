"""An assessment on the terminal: the decision, then the numbers of each section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.cli import show

if TYPE_CHECKING:
    from incrowd.assess import Assessment, Statement, Verdict
    from incrowd.report import Section


def say(found: Assessment) -> None:
    """Everything, in the order of the report."""
    from incrowd.report import document
    from incrowd.report.words import CAVEATS

    show.heading(f"{found.provenance.table}: {found.verdict.headline.lower()}")
    _say_decision(found.verdict)
    for section in document(found):
        _say_section(section)
    show.heading("Keep in mind")
    for caveat in CAVEATS:
        show.line(f"  • {caveat}")
    for text in found.notes:
        show.note(text)


def _say_decision(verdict: Verdict) -> None:
    for text in (verdict.sentence, *verdict.exposures, verdict.recommendation):
        show.line(text)
    show.heading("Why")
    for reason in (*verdict.reasons, *verdict.inside_reasons):
        show.line(f"  • {reason}")
    show.heading("What to do")
    for number, action in enumerate((*verdict.actions, *verdict.inside_actions), start=1):
        show.line(f"  {number}. {action}")


def _say_section(section: Section) -> None:
    show.heading(section.title)
    if section.statements:
        _say_statements(section.statements)
    counted = [figure.table for figure in section.figures if section.key == "facts"]  # the histogram of class sizes
    for table in (*counted, *section.tables):
        show.line(f"  {table.caption}")
        show.table(table.columns, table.rows)
    for text in section.notes:
        show.line(f"  {text}")


def _say_statements(statements: Sequence[Statement]) -> None:
    """The numbers of a section; how sure they are stands in a line below where it is the same for all."""
    alike = {one.sure for one in statements}
    if len(alike) > 1:
        rows = [(one.name, one.shown, one.meaning, one.sure) for one in statements]
        show.table(("what", "number", "in plain words", "how sure"), rows)
        return
    show.table(("what", "number", "in plain words"), [(one.name, one.shown, one.meaning) for one in statements])
    show.line(f"  How sure: {alike.pop()}.")
