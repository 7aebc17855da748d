"""The file of a question: read where a user names it, and written as a form while columns are open."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.addresses import is_address, masked
from incrowd._support.files import read_small
from incrowd.assessment.command_line import to_command
from incrowd.assessment.question import OPTIONS, Question
from incrowd.assessment.settings_file import (
    OpenLine,
    answers_of,
    file_of,
    free_name,
    read_question,
    save_question,
    to_toml,
)
from incrowd.cli import terminal
from incrowd.errors import InputError
from incrowd.wording import counted

if TYPE_CHECKING:
    from incrowd.assessment.open_columns import UndecidedColumn
    from incrowd.tables import SuggestedRole, Table


def read_file(table: Table, path: Path | None) -> Question:
    """The question of the named file; an empty one if none is named, or if there is no such file yet.

    Raises:
        InputError: the file names an address, and nobody allowed to connect to one.
    """
    if path is None or not path.exists():
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


def read_answers(table: Table, path: Path | None) -> Question:
    """The question of the named file, without answers for columns whose contents changed; empty if none is named."""
    if path is None:
        return Question()
    from incrowd.assessment.column_fingerprints import forget_outdated, outdated_in_words
    from incrowd.tables import suggest_roles

    if not path.exists():
        read_question(path)  # refuses a file that does not exist
    answered = forget_outdated(read_file(table, path), suggest_roles(table))
    if answered.contents:
        terminal.note(f"{outdated_in_words(answered.contents)}; judge again:")
        again = replace(Question(source=table.place), **table.reading)
        if (command := to_command(again, "--question", str(path), verb="judge")) is not None:
            terminal.command(command, as_note=True)
    return replace(answered, contents={})


def note_how_to_judge(table: Table, asked: Question | None = None, *, as_note: bool = True) -> str:
    """Print the commands that ask what the columns are and assess by the answers; the name of the file of answers."""
    file = free_name(table.place)
    about = replace(Question(), **table.reading, source=table.place)
    stated = about
    if asked is not None:
        stated = replace(asked, **table.reading, source=table.place, seed=None, protection=True)
    for verb, question in (("judge", stated), ("assess", about)):
        if (command := to_command(question, "--question", file, verb=verb)) is not None:
            terminal.command(command, as_note=as_note)
    return file


def open_columns(table: Table, question: Question) -> list[SuggestedRole]:
    """The columns that have no answer, or an answer for other contents; those with one value need none."""
    from incrowd.assessment.column_fingerprints import forget_outdated
    from incrowd.assessment.open_columns import has_one_value
    from incrowd.tables import suggest_roles

    suggested = suggest_roles(table)
    answers = answers_of(forget_outdated(question, suggested))
    return [one for one in suggested if one.column not in answers and not has_one_value(one)]


def write_file(
    table: Table, question: Question, path: Path, undecided: Sequence[UndecidedColumn] = (), *, force: bool = False
) -> None:
    """Write the question with a line for each open column; a file that says all this already stays as it is.

    Args:
        table: the table.
        question: the question, as far as it is answered.
        path: the file.
        undecided: what open columns would do, as far as it was counted.
        force: whether a question about another table is replaced.
    """
    from incrowd.assessment.column_fingerprints import forget_outdated, with_contents
    from incrowd.tables import suggest_roles

    suggested = suggest_roles(table)
    answered = forget_outdated(question, suggested)
    outdated, still = answered.contents, question.contents
    answered = replace(answered, contents={name: held for name, held in still.items() if name not in outdated})
    before = {name: answer for name, answer in answers_of(question).items() if name in outdated}
    lines = _form(open_columns(table, question), before, undecided)
    about = Question().about(table)
    places = {option.name: getattr(question, option.name) for option in OPTIONS if option.kind == "file"}
    reading = {option.name: getattr(about, option.name) for option in OPTIONS if option.reading}
    written = with_contents(replace(answered, source=about.source, **reading, **places), suggested)
    if _says_the_same(path, to_toml(written, lines)):
        return
    if path.exists() and not force and file_of(read_question(path)) not in (None, file_of(about)):
        terminal.note(f"{path} is about another table, so nothing is written to it; --force does")
        return
    save_question(written, path, open_lines=lines, force=True)
    terminal.note(f"question written to {path}")


def _form(
    columns: Sequence[SuggestedRole], before: Mapping[str, str], undecided: Sequence[UndecidedColumn]
) -> list[OpenLine]:
    """A line for each open column; an answer that does not count any more is its guess."""
    effects = {column.column: [column.effect] for column in undecided}
    lines = []
    for column in columns:
        name = column.column
        reason = "as it was judged before" if name in before else column.reason
        remark = "; ".join([reason, *effects.get(name, [])])
        lines.append(OpenLine(name, before.get(name, column.guess), remark))
    return lines


def _says_the_same(path: Path, text: str) -> bool:
    """True if a file exists and has the entries of a text; remarks do not count."""
    return path.exists() and tomllib.loads(read_small(path).decode()) == tomllib.loads(text)


def tell_what_is_open(names: Sequence[str], path: Path) -> None:
    """Print what to do with the form."""
    terminal.note(
        f"{counted(len(names), 'column is', 'columns are')} open: answer in {path}, or by incrowd judge, and run this "
        "again"
    )
