"""Terminal output of an assessment: the decision on one screen, and every section with `--full`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.cli import terminal
from incrowd.cli.hints import with_flags
from incrowd.wording import Advice, display_names, percent, with_display_names

if TYPE_CHECKING:
    from incrowd.assessment import Assessment, Verdict
    from incrowd.assessment.verdict import Action
    from incrowd.reports import ReportSection


_MAX_UNDECIDED = 12  # columns that are listed


def show_assessment(assessment: Assessment, already_shown: Sequence[str] = (), *, full: bool = False) -> None:
    """Print the decision on one screen and, with `full`, every section of the report; without notes `already_shown`."""
    shown = display_names(one.column for one in assessment.roles.suggested)
    terminal.heading(f"{assessment.provenance.table}: {assessment.verdict.headline}")
    _show_decision(assessment, shown)
    if full:
        _show_sections(assessment, shown)
    else:
        terminal.line()
        terminal.line("--full shows every number; --html report.html writes the report.")
    for note in assessment.notes:
        if note.sentence not in already_shown:
            terminal.note(_text(note, shown))


def _show_sections(assessment: Assessment, shown: dict[str, str]) -> None:
    """Print every section of the report, and the caveats."""
    from incrowd.reports import document
    from incrowd.reports.fixed_text import CAVEATS

    for section in document(assessment):
        _show_section(section, shown)
    terminal.heading("Keep in mind")
    for caveat in CAVEATS:
        terminal.paragraph(caveat, "  • ")


def _text(sentence: str | Advice | Action, shown: dict[str, str]) -> str:
    """A sentence with the flags of its hint; `shown` has display names of unprintable column names."""
    plain: str = with_display_names(str(sentence), shown)
    return plain if isinstance(sentence, str) else with_flags(plain, sentence.hint)


def _show_decision(assessment: Assessment, shown: dict[str, str]) -> None:
    """Print the verdict, four numbers, the reasons, the undecided columns, and what to do."""
    from incrowd.reports import key_numbers

    verdict = assessment.verdict
    terminal.paragraph(_text(verdict.recommendation, shown))
    terminal.line()
    numbers = key_numbers(assessment)
    name_width, number_width = (
        max(map(len, texts)) for texts in zip(*((n.name, n.shown) for n in numbers), strict=True)
    )
    for one in numbers:
        terminal.paragraph(one.meaning, f"  {one.name:<{name_width}}  {one.shown:>{number_width}}  ")
    terminal.heading("Why")
    reasons: list[str | Advice] = [*verdict.why, *verdict.reasons, *verdict.internal_reasons]
    for reason in reasons:
        terminal.paragraph(_text(reason, shown), "  • ")
    _show_undecided(verdict, shown)
    _show_actions(verdict.actions, shown)


def show_verdict(verdict: Verdict) -> None:
    """Print the verdict on a written file: the answer, who is found, the conditions of a yes, and what to do."""
    for text in (verdict.recommendation, *verdict.why):
        terminal.line(text)
    for condition in verdict.conditions:
        terminal.line(_text(condition, {}))
    _show_actions(verdict.actions, {})


def _show_actions(actions: Sequence[Action], shown: dict[str, str]) -> None:
    """Print the next actions with their commands; `shown` has display names of unprintable column names."""
    if not actions:
        return
    terminal.heading("What to do")
    for number, action in enumerate(actions, start=1):
        terminal.paragraph(_text(action, shown), f"  {number}. ")
        for command in action.commands:
            if command.isprintable():  # a control character in a name cannot be typed
                terminal.command(command)


def _show_undecided(verdict: Verdict, shown: dict[str, str]) -> None:
    """Print the undecided columns, those that add most risk first."""
    if not verdict.undecided:
        return
    terminal.heading("Columns that nobody judged: what each adds if others know it")
    rows = [
        (one.column, one.suggested, one.k, one.uniques, percent(one.correctness))
        for one in verdict.undecided[:_MAX_UNDECIDED]
    ]
    terminal.table(
        ("column", "looks like", "smallest class", "unique people", "average risk"), with_display_names(rows, shown)
    )
    if len(verdict.undecided) > _MAX_UNDECIDED:
        terminal.line(f"  … and {len(verdict.undecided) - _MAX_UNDECIDED} more; --json has them all")


def _show_section(section: ReportSection, shown: dict[str, str]) -> None:
    terminal.heading(section.title)
    if section.statements:
        terminal.statements(section.statements, shown)
    counted = [figure.table for figure in section.figures if section.key == "facts"]  # the histogram of class sizes
    for table in (*counted, *section.tables):
        terminal.line(f"  {table.caption}")
        terminal.table(table.columns, with_display_names(table.rows, shown))
    for text in section.notes:
        terminal.paragraph(_text(text, shown), "  ")
