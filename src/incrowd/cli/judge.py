"""`incrowd judge`: ask column by column what others can know and what would harm, and keep the answers in a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd.assessment.settings_file import answers_of
from incrowd.cli import options, terminal
from incrowd.cli.command_files import Output
from incrowd.cli.declared_options import ASSESS, question_from, with_question_options
from incrowd.cli.open_tables import opens_table
from incrowd.cli.prompts import ask_columns, ask_open_points, count_effects, is_terminal
from incrowd.cli.question_file import open_columns, read_file, tell_what_is_open, write_file
from incrowd.wording import counted

if TYPE_CHECKING:
    from incrowd.tables import Table


@opens_table
@with_question_options(*(name for name in ASSESS if name != "protection"))
def judge_columns_of_table(
    table: options.TablePath,
    question: Annotated[
        Path,
        Option(help="File of the answers; it is read if it exists."),
        Output("question file", (".toml",), replaces=True),
    ],
    force: options.Force = False,
    **typed: Any,
) -> None:
    """What is each column? One key each: known to others, sensitive, both, neither; the answers go to a file.

    [bold]incrowd judge patients.csv --question patients.toml[/bold]

    Answers that are typed as options are not asked for. Exit 0 if every column is judged, 1 if some are open.
    """
    asked = question_from(typed, table.columns, read_file(table, question))
    if is_terminal():
        asked = ask_columns(table, asked)
        if not open_columns(table, asked):
            asked = ask_open_points(table, asked)
    _write(table, asked, question, force)


def _write(table: Table, asked: Any, path: Path, force: bool) -> None:
    """Write the answers, and say what is open."""
    left = open_columns(table, asked)
    with terminal.show_progress("counting what open columns would do") as progress:
        effects = count_effects(table, asked, left, progress)
    write_file(table, replace(asked, source=None), path, list(effects.values()), force=force)
    terminal.line(f"{counted(len(answers_of(asked)), 'column is', 'columns are')} judged, {len(left)} open")
    if left:
        tell_what_is_open([one.column for one in left], path)
        raise typer.Exit(1)
