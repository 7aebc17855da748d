"""`incrowd assess`: assess a table, and show the decision on the terminal, as JSON or as one page."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd.assessment.column_fingerprints import with_contents
from incrowd.assessment.question import OPTIONS, Question
from incrowd.assessment.settings_file import FILE_NAME, file_of, read_question, save_question
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
    config: Annotated[
        Path | None,
        Option(help="Settings file. Default: incrowd.toml beside the table, if it is about this table."),
        Input(address=False),
    ] = None,
    save: Annotated[
        bool,
        Option("--save", help="Write the roles and the question to incrowd.toml beside the table."),
        Output("settings file", next_to_table="incrowd.toml", replaces=True),
    ] = False,
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
    if save:
        _check_save(table, force)
    question = question_from(typed, table.columns, _saved_question(table, config))
    if not question.quasi_identifiers:
        words = words_typed(other_options, inspect.signature(assess_table).parameters)
        question = confirm_roles(table, question, *words, yes=yes, quiet=json)
    with terminal.show_progress("assessing") as progress:
        from incrowd.assessment import assess_question

        assessment = assess_question(table, question, progress=progress)
        _write(assessment, html, external, plot, force, progress)
    if json:
        terminal.print_json(assessment.to_dict())
    else:
        show_assessment(assessment, already_shown=table.notes, full=full)
    note_missing_codes(table, [*assessment.roles.quasi_identifiers, *assessment.roles.sensitive])
    saved = _save(table, assessment, question) if save else None
    for what, path in (("report", html), ("figure", plot), ("settings", saved)):
        if path is not None:
            terminal.note(f"{what} written to {path}")
    if not assessment.passed:
        raise typer.Exit(1)


def _saved_question(table: Table, config: Path | None) -> Question:
    """The question of the named settings file, of the one beside the table, or an empty one."""
    if config is not None:
        return _in_folder(read_question(config), config.parent)
    if not (beside := _folder(table) / FILE_NAME).is_file():
        return Question()
    saved = read_question(beside)
    if file_of(saved) not in (None, file_of(Question().about(table))):
        terminal.note(f"{beside} is about {file_of(saved)}, so it was not used; --config {beside} uses it")
        return Question()
    terminal.note(f"settings taken from {beside}")
    return _in_folder(saved, beside.parent)


def _in_folder(question: Question, folder: Path) -> Question:
    """The question of a settings file, whose file names are relative to its folder."""
    files: dict[str, Any] = {}
    for one in OPTIONS:
        place = getattr(question, one.name)
        if one.kind == "file" and place is not None and "://" not in place:
            files[one.name] = str(folder / place)
    return replace(question, **files)


def _check_save(table: Table, force: bool) -> None:
    """Refuse to replace settings of another table, before any work is done."""
    if force or not (beside := _folder(table) / FILE_NAME).exists():
        return
    if file_of(read_question(beside)) != file_of(Question().about(table)):
        raise InputError(f"{beside} exists already and is not about this table; --force replaces it")


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


def _save(table: Table, assessment: Assessment, question: Question) -> Path:
    """Write the question with the roles that were used beside the table, in place of earlier settings of this table.

    Identifiers that the user did not name are left out, since they are recognised again.
    """
    answered = replace(assessment.provenance.question, identifiers=question.identifiers)
    answered = with_contents(answered, assessment.roles.suggested)
    return save_question(answered, _folder(table) / FILE_NAME, force=True)


def _folder(table: Table) -> Path:
    """The folder of a table's settings: that of its file, or the current one for a table that is no file."""
    return Path() if table.source is None or "://" in table.source else Path(table.source).parent
