"""An assessment on the terminal: the decision, then the numbers of each section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incrowd.cli import terminal

if TYPE_CHECKING:
    from incrowd.assessment import Assessment, Statement, Verdict
    from incrowd.reports import Section


def say(found: Assessment, told: Sequence[str] = ()) -> None:
    """Everything, in the order of the report; notes that were `told` already are not repeated."""
    from incrowd.reports import document
    from incrowd.reports.fixed_text import CAVEATS
    from incrowd.wording import display_names

    shown = display_names(one.column for one in found.roles.suggested)
    terminal.heading(f"{found.provenance.table}: {found.verdict.headline.lower()}")
    _say_decision(found.verdict, shown)
    for section in document(found):
        _say_section(section, shown)
    terminal.heading("Keep in mind")
    for caveat in CAVEATS:
        terminal.line(f"  • {caveat}")
    for text in (text for text in found.notes if text not in told):
        terminal.note(_tame(text, shown))


def _tame(value: Any, shown: dict[str, str]) -> Any:
    """The same with the names of columns fit to show: one of 10 000 letters would fill the screen."""
    from incrowd.wording import with_display_names

    return with_display_names(value, shown)


def _say_decision(verdict: Verdict, shown: dict[str, str]) -> None:
    for text in (verdict.sentence, *verdict.exposures, verdict.recommendation):
        terminal.line(_tame(text, shown))
    terminal.heading("Why")
    for reason in (*verdict.reasons, *verdict.inside_reasons):
        terminal.line(f"  • {_tame(reason, shown)}")
    terminal.heading("What to do")
    for number, action in enumerate((*verdict.actions, *verdict.inside_actions), start=1):
        terminal.line(f"  {number}. {_tame(action, shown)}")


def _say_section(section: Section, shown: dict[str, str]) -> None:
    terminal.heading(section.title)
    if section.statements:
        _say_statements(section.statements, shown)
    counted = [figure.table for figure in section.figures if section.key == "facts"]  # the histogram of class sizes
    for table in (*counted, *section.tables):
        terminal.line(f"  {table.caption}")
        terminal.table(table.columns, _tame(table.rows, shown))
    for text in section.notes:
        terminal.line(f"  {_tame(text, shown)}")


def _say_statements(statements: Sequence[Statement], shown: dict[str, str]) -> None:
    """The numbers of a section; how sure they are stands in a line below where it is the same for all."""
    alike = {one.sure for one in statements}
    columns = ("what", "number", "in plain words", "how sure")[: 4 if len(alike) > 1 else 3]
    rows = [(one.name, one.shown, one.meaning, one.sure)[: len(columns)] for one in statements]
    terminal.table(columns, _tame(rows, shown))
    if len(alike) == 1:
        terminal.line(f"  How sure: {alike.pop()}.")
