"""`incrowd assess`: assess a table, and show the decision on the terminal, as JSON or as one page."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd._support.addresses import is_address, masked
from incrowd.assessment.column_fingerprints import with_contents
from incrowd.assessment.question import OPTIONS, Question
from incrowd.assessment.settings_file import file_of, read_question, save_question
from incrowd.cli import options, terminal
from incrowd.cli.assess_text import show_assessment
from incrowd.cli.command_files import Input, Output
from incrowd.cli.declared_options import ASSESS, question_from, with_question_options
from incrowd.cli.hints import words_typed
from incrowd.cli.open_tables import opens_table
from incrowd.cli.prompts import confirm_roles, note_missing_codes
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.assessment import Assessment
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
        Option(help="File of the roles and the question, as --save writes it. No file is read that is not named."),
        Input(address=False),
    ] = None,
    save: Annotated[
        Path | None,
        Option(help="Write the roles and the question to this file, for --question and --policy."),
        Output("question file", (".toml",), replaces=True),
    ] = None,
    full: Annotated[bool, Option("--full", help="Show every section of the report, not only the decision.")] = False,
    yes: Annotated[
        bool, Option("--yes", help="Take the suggested roles without asking; they can say no or undecided, never yes.")
    ] = False,
    json: options.Json = False,
    force: options.Force = False,
    **typed: Any,
) -> None:
    """May this table go out? Everything from the facts to a decision, in plain words.

    [bold]incrowd assess patients.csv --html report.html[/bold]

    [bold]incrowd assess patients.csv --qi age,sex,zip --population 60e6 --recipient restricted[/bold]

    Exit 0 only if the answer is yes: every column judged, the person at highest risk and the average within the
    limits, no secret given away. Exit 1 if it is no, undecided or too close to call.
    """
    other_options = {name: value for name, value in locals().items() if name not in ("table", "typed")}
    if save is not None:
        _check_save(table, save, force)
    asked = question_from(typed, table.columns, _saved_question(table, question))
    if not asked.quasi_identifiers:
        words = words_typed(other_options, inspect.signature(assess_table).parameters)
        asked = confirm_roles(table, asked, *words, yes=yes, quiet=json)
    with terminal.show_progress("assessing") as progress:
        from incrowd.assessment import assess_question

        assessment = assess_question(table, asked, progress=progress)
        _write(assessment, html, external, plot, force, progress)
    if json:
        terminal.print_json(assessment.to_dict())
    else:
        show_assessment(assessment, already_shown=table.notes, full=full)
    note_missing_codes(table, [*assessment.roles.quasi_identifiers, *assessment.roles.sensitive])
    if save is not None:
        _save(assessment, asked, save)
    for what, path in (("report", html), ("figure", plot), ("question", save)):
        if path is not None:
            terminal.note(f"{what} written to {path}")
    if not assessment.passed:
        raise typer.Exit(1)


def _saved_question(table: Table, path: Path | None) -> Question:
    """The question of the named file, or an empty one.

    Raises:
        InputError: the file names an address, and nobody allowed to connect to one.
    """
    if path is None:
        return Question()
    saved = read_question(path)
    files: dict[str, Any] = {}
    for option in OPTIONS:
        place = getattr(saved, option.name)
        if option.kind != "file" or place is None:
            continue
        if not is_address(place):
            files[option.name] = str(path.parent / place)
        elif not Question().about(table).allow_network:
            raise InputError(
                f"{path.name} names the address {masked(place)} as {option.key}; a connection to an address of a file "
                "must be allowed, or typed in place of it",
                hint="allow_network",
            )
    return replace(saved, **files)


def _check_save(table: Table, path: Path, force: bool) -> None:
    """Refuse to replace the question of another table, before any work is done."""
    if force or not path.exists():
        return
    if file_of(read_question(path)) != file_of(Question().about(table)):
        raise InputError(f"{path} exists already and is not about this table; --force replaces it")


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


def _save(assessment: Assessment, question: Question, path: Path) -> None:
    """Write the question with the roles that were used, in place of an earlier question about this table.

    Identifiers that the user did not name are left out, since they are recognised again.
    """
    answered = replace(assessment.provenance.question, identifiers=question.identifiers)
    save_question(with_contents(answered, assessment.roles.suggested), path, force=True)
