"""Questions on a terminal: the roles of columns, the size of the population, the recipient."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from incrowd.cli import options, terminal
from incrowd.cli.hints import null_flags, with_flags
from incrowd.errors import InputError
from incrowd.recipients import choices, limits_of
from incrowd.wording import listed

if TYPE_CHECKING:
    from incrowd.assessment import Question, Roles
    from incrowd.tables import Table

_YES, _NO = ("y", "yes", "ok"), ("n", "no")
_SHORT = {"qi": "quasi-identifier", "id": "identifier"}
_FIELDS = {
    "quasi-identifier": "quasi_identifiers",
    "sensitive": "sensitive",
    "identifier": "identifiers",
    "drop": "dropped",
}


def confirm_roles(table: Table, question: Question, *typed: str, yes: bool, quiet: bool) -> Question:
    """The question with roles that the user has confirmed; with `yes` it is unchanged, and `assess` suggests roles.

    `typed` are the words of the command that are not part of the question.
    """
    from incrowd.assessment import propose_roles

    with terminal.show_progress("looking at the columns"):
        roles = propose_roles(table)
    if not roles.quasi_identifiers and (yes or quiet or not _is_terminal()):
        raise InputError(
            "no column looks like something others know about a person; name them with --qi; "
            f"the table has: {', '.join(table.columns[:30])}"
        )
    if yes:
        return question
    if quiet or not _is_terminal():
        note_suggested_command(table, question, roles, *typed)
        raise InputError(
            "say what each column is, or add --yes to take these suggestions for a first look, which can say no or "
            "undecided, never yes"
        )
    roles = _ask_roles(table, _with_given_roles(table, question, roles))
    question = replace(question, **_ask_open_points(question, roles))
    terminal.note("these answers are kept for the next run by --save and a file")
    others = tuple(one.column for one in roles.suggested if roles.role(one.column) == "other")
    return replace(question.with_roles(roles), drop=roles.dropped, other=others)


def note_missing_codes(table: Table, columns: Iterable[str]) -> None:
    """Print a note on numbers that may mean a missing value; as values they would be ends of ranges, or secrets."""
    from incrowd.tables.suggest_reading import suspect_missing_codes

    codes = suspect_missing_codes(table, [*columns])
    if codes:
        terminal.note(
            f"numbers in {listed(list(codes))} may stand for missing values, and count as values until you say so: "
            f"{null_flags(codes, table.place)}"
        )


def note_suggested_command(table: Table, question: Question, roles: Roles, *more: str, verb: str = "assess") -> None:
    """Print the command of the suggested roles, to correct; columns without a suggestion are dropped in it."""
    from incrowd.assessment.command_line import to_command

    roles = _with_given_roles(table, question, roles)
    undecided = [one.column for one in roles.suggested if roles.role(one.column) == "other"]
    undecided = [name for name in undecided if name not in roles.stated]
    if verb == "protect" and roles.weight is not None:  # protect has no option for weights
        undecided, roles = [*undecided, roles.weight], replace(roles, weight=None)
    settled = replace(question.about(table), source=table.place).with_roles(roles)
    settled = replace(settled, drop=(*roles.dropped, *undecided))
    command = to_command(settled, *more, verb=verb)
    if command is None:
        terminal.note("names of columns cannot be typed; give the roles in a file (--question)")
        return
    left_out = " --drop has the columns for which nothing else is suggested." if undecided else ""
    terminal.note("this is suggested by names and values, and nobody has judged it:")
    terminal.command(command, as_note=True)
    terminal.note(f"read it, move each name to where it belongs, and run it.{left_out}")


def _with_given_roles(table: Table, question: Question, roles: Roles) -> Roles:
    """The suggested roles, with those of the command line or the settings file in place of them."""
    given = {
        "sensitive": question.sensitive,
        "identifier": question.identifiers,
        "drop": question.drop,
        "other": question.other,
        "person": (question.person,),
        "weight": (question.weights,),
    }
    for role, names in given.items():
        for name in (name for name in names or () if name is not None):
            table.require([name], f"{role} columns")
            roles = _with_role(roles, name, role)
    return roles


def _roles() -> tuple[str, ...]:
    """Every role that a column can have: the suggested ones, and drop."""
    from incrowd.tables.roles import ROLES

    return (*ROLES, "drop")


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_roles(table: Table, roles: Roles) -> Roles:
    """Print the roles and read changes until the user accepts them."""
    _show(table, roles)
    terminal.line(
        "Quasi-identifiers are what others may know about a person. You know your data: change what is wrong."
    )
    terminal.line("Press Enter (or y) if all is right, or change roles like this: age=other, charge=qi. q stops.")
    terminal.line(f"Roles: {', '.join(_roles())}; qi and id for short.")
    while True:
        answer = _read_line("roles> ")
        if answer.lower() in _NO:
            terminal.line("Then say what is wrong: a column, = and its role, such as age=other; q stops.")
            continue
        answer = "" if answer.lower() in _YES else answer
        if not answer and roles.quasi_identifiers:
            return roles
        try:
            roles = change_roles(roles, answer, table.columns)
        except InputError as error:
            terminal.problem(with_flags(str(error), error.hint))
            continue
        _show(table, roles)


def _ask_open_points(question: Question, roles: Roles) -> dict[str, Any]:
    """Ask for the size of the population and the recipient, if options and settings do not have them."""
    answers: dict[str, Any] = {}
    if question.population is None and roles.weight is None:
        terminal.line("How many people was the table drawn from? Such as 60000000 or 6e7; Enter if you do not know.")
        answers["population"] = _ask(_people, "population> ")
    if question.recipient is None:
        terminal.line(f"Who is to get it? {choices()}; Enter: public.")
        answers["recipient"] = _ask(_recipient, "recipient> ")
    return answers


def _ask(parse: Callable[[str], Any], prompt: str) -> Any:
    """Ask until the answer can be parsed."""
    while True:
        answer = _read_line(prompt)
        try:
            return parse(answer)
        except InputError as error:
            terminal.problem(with_flags(str(error), error.hint))


def _people(text: str) -> int | None:
    return options.parse_count(text, "population") if text and text.lower() not in _NO else None


def _recipient(text: str) -> str:
    wanted = "public" if text.lower() in ("", *_YES) else text.lower()
    limits_of(wanted)
    return wanted


def _read_line(prompt: str) -> str:
    """One line from the terminal; q and the end of input (Ctrl-D) raise an error, Ctrl-C exits."""
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and history, on systems that have them)
    try:
        answer = input(prompt).strip()
    except EOFError:
        terminal.line()
        answer = "q"
    except KeyboardInterrupt:
        terminal.line()
        terminal.problem("stopped: nothing was assessed")
        sys.exit(130)
    if answer in ("q", "quit"):
        raise InputError("stopped: nothing was assessed, because the questions were not answered")
    return answer


def _show(table: Table, roles: Roles) -> None:
    terminal.heading(f"{table.name}: what the columns seem to be")
    rows = [(one.column, one.kind, roles.role(one.column), roles.reason(one.column)) for one in roles.suggested]
    terminal.table(("column", "type", "role", "why"), rows)
    terminal.line("Every record is a person." if roles.person is None else f"{roles.person} says whose record it is.")
    if roles.weight is not None:
        terminal.line(f"{roles.weight} says how many people a record stands for.")


def change_roles(roles: Roles, text: str, columns: tuple[str, ...] | list[str]) -> Roles:
    """Roles with the changes of a line such as `age=other, charge=qi`; names of columns may have commas."""
    known = "|".join([*_roles(), *_SHORT])
    changes = re.findall(rf"\s*(.+?)\s*=\s*({known})\s*(?:,|$)", text, flags=re.IGNORECASE)
    left = re.sub(rf"\s*(.+?)\s*=\s*({known})\s*(?:,|$)", "", text, flags=re.IGNORECASE).strip()
    if left or not changes:
        raise InputError(
            f"{left or text!r} is not understood; write column=role, the roles being {', '.join(_roles())}"
            if text
            else "no column is a quasi-identifier, so there is nothing to assess; name one, such as age=qi"
        )
    for name, role in changes:
        if name not in columns:
            raise InputError(f"there is no column {name!r}; there are: {', '.join(columns[:30])}")
        roles = _with_role(roles, name, _SHORT.get(role.lower(), role.lower()))
    return roles


def _with_role(roles: Roles, column: str, role: str) -> Roles:
    """The roles with another role of one column, in place of the one it had."""
    lists = {
        field: tuple(name for name in getattr(roles, field) if name != column) + ((column,) if kind == role else ())
        for kind, field in _FIELDS.items()
    }
    single = {
        kind: column if kind == role else None if getattr(roles, kind) == column else getattr(roles, kind)
        for kind in ("person", "weight")
    }
    stated = (*(name for name in roles.stated if name != column), column)
    return replace(roles, confirmed=True, stated=stated, person=single["person"], weight=single["weight"], **lists)
