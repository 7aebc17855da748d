"""`incrowd assess`: assess a table, and show the decision on the terminal, as JSON or as one page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd.assessment.settings_file import answers_of
from incrowd.cli import options, terminal
from incrowd.cli.assess_text import show_assessment
from incrowd.cli.command_files import Output
from incrowd.cli.declared_options import ASSESS, question_from, with_question_options
from incrowd.cli.open_tables import opens_table
from incrowd.cli.prompts import ask_columns, ask_open_points, is_terminal, note_missing_codes
from incrowd.cli.question_file import note_how_to_judge, open_columns, read_file, tell_what_is_open, write_file

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.assessment import Assessment, Question
    from incrowd.tables import Table


@opens_table
@with_question_options(*ASSESS)
def assess_table(
    table: options.TablePath,
    html: Annotated[Path | None, Option(help="Write the report as one self-contained page."), Output("report")] = None,
    external: Annotated[
        bool, Option("--external", help="Write the short page for outsiders, without what would help an attacker.")
    ] = False,
    plot: options.Plot = None,
    question: Annotated[
        Path | None,
        Option(
            help="File of the question: read if it exists, and written with a form for columns that nobody judged. "
            "No file is read that is not named."
        ),
        Output("question file", (".toml",), replaces=True),
    ] = None,
    full: Annotated[bool, Option("--full", help="Show every section of the report, not only the decision.")] = False,
    yes: Annotated[
        bool, Option("--yes", help="A first look by guesses, without asking; it can say no or undecided, never yes.")
    ] = False,
    json: options.Json = False,
    force: options.Force = False,
    **typed: Any,
) -> None:
    """May this table go out? Everything from the facts to a decision, in plain words.

    [bold]incrowd assess patients.csv --html report.html[/bold]

    [bold]incrowd assess patients.csv --qi age,sex,zip --population 60e6 --recipient restricted[/bold]

    Exit 0 only if the answer is yes: every column judged, the person at highest risk and the average within the
    limits, no secret given away. Exit 1 if it is no, undecided or too close to call, or nobody judged the columns.
    """
    saved = read_file(table, question)
    asked = question_from(typed, table.columns, saved)
    if not asked.quasi_identifiers and not yes:
        if is_terminal() and not json:
            asked = ask_open_points(table, ask_columns(table, asked))
        elif question is None:
            raise typer.Exit(_ask_for_answers(table, asked))
    with terminal.show_progress("assessing") as progress:
        from incrowd.assessment import assess_question

        name = None if question is None else str(question)
        assessment = assess_question(table, asked, question_file=name, progress=progress)
        _write(assessment, html, external, plot, force, progress)
    if json:
        terminal.print_json(assessment.to_dict())
    else:
        show_assessment(assessment, already_shown=table.notes, full=full)
    note_missing_codes(table, [*assessment.roles.quasi_identifiers, *assessment.roles.sensitive])
    for what, path in (("report", html), ("figure", plot)):
        if path is not None:
            terminal.note(f"{what} written to {path}")
    if question is not None:
        _keep_answers(table, question, saved, asked, assessment, force=force)
    if not assessment.passed:
        raise typer.Exit(1)


def _keep_answers(
    table: Table, path: Path, saved: Question, asked: Question, assessment: Assessment, *, force: bool
) -> None:
    """Write the answers and what is open to the file; one that has all answers stays as it is."""
    left = open_columns(table, asked)
    if left or answers_of(asked) != answers_of(saved) or not path.exists():
        write_file(table, asked, path, assessment.evidence.undecided, force=force)
    if left:
        tell_what_is_open([column.column for column in left], path)


def _ask_for_answers(table: Table, asked: Question) -> int:
    """Print how the columns are judged, where nobody can be asked and no file is named; the exit code."""
    file = note_how_to_judge(table, asked)
    terminal.problem(
        f"nobody has said what the columns are: name a file of the answers, which is written as a form to fill in "
        f"(--question {shlex.quote(file)}), or take a first look by guesses, which never says yes (--yes)"
    )
    return 1


def _write(
    assessment: Assessment, html: Path | None, external: bool, plot: Path | None, force: bool, progress: Progress
) -> None:
    """Write the page and the figure, if they are asked for."""
    if html is not None:
        from incrowd.reports import write_html

        progress("writing the report", 1.0)
        write_html(assessment, html, external=external, force=force)
    if plot is not None:
        from incrowd.figures.assessment_charts import verdict_chart
        from incrowd.figures.theme import save as save_figure

        save_figure(verdict_chart(assessment), plot, force=force)
