"""Questions on a terminal: what each column is, the size of the population, the recipient."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from incrowd.cli import options, terminal
from incrowd.cli.hints import null_flags, with_flags
from incrowd.errors import InputError
from incrowd.recipients import choices, limits_of
from incrowd.wording import counted, listed

if TYPE_CHECKING:
    from incrowd.assessment import Question
    from incrowd.assessment.open_columns import UndecidedColumn
    from incrowd.tables import SuggestedRole, Table

_YES, _NO = ("y", "yes", "ok"), ("n", "no")
KEYS: Mapping[str, str] = {
    "k": "known",
    "s": "sensitive",
    "b": "both",
    "n": "neither",
    "i": "identifier",
    "d": "drop",
    "p": "person",
    "w": "weight",
}
"""The key of each answer."""
_SKIP, _UNDO, _STOP = ("\r", "\n", " "), "u", "q"
_MOST_NAMED = 6  # columns of a family that are named


def is_terminal() -> bool:
    """True if somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def note_missing_codes(table: Table, columns: Iterable[str]) -> None:
    """Print a note on numbers that may mean a missing value; as values they would be ends of ranges, or secrets."""
    from incrowd.tables.suggest_reading import suspect_missing_codes

    codes = suspect_missing_codes(table, [*dict.fromkeys(columns)])
    if codes:
        terminal.note(
            f"numbers in {listed(list(codes))} may stand for missing values, and count as values until you say so: "
            f"{null_flags(codes, table.place)}"
        )


def ask_columns(table: Table, question: Question) -> Question:
    """Ask what each open column is, one key each; columns of a family are asked about together."""
    from incrowd.assessment.open_columns import group_families
    from incrowd.assessment.settings_file import with_answers
    from incrowd.cli.question_file import open_columns

    with terminal.show_progress("looking at the columns") as progress:
        columns = open_columns(table, question)
        undecided = count_effects(table, question, columns, progress)
    families = group_families(columns)
    if not families:
        return question
    terminal.heading(f"{table.name}: {counted(len(columns), 'column', 'columns')} to judge")
    terminal.line("Can somebody outside know it about a person? Would it harm somebody if it were learned?")
    answers: dict[str, str] = {}
    place = 0
    while place < len(families):
        names = [one.column for one in families[place]]
        _show_family(families[place], [undecided[name] for name in names if name in undecided], place, len(families))
        key = _read_key(several=len(names) > 1)
        if key == _STOP:
            break
        if key == _UNDO:
            place = max(place - 1, 0)
            answers = {name: answer for name, answer in answers.items() if name not in _names(families[place])}
            continue
        if key in KEYS:
            answers |= dict.fromkeys(names, KEYS[key])
        place += 1
    contents = {name: held for name, held in question.contents.items() if name not in answers}
    return with_answers(replace(question, contents=contents), answers)


def _names(family: Sequence[SuggestedRole]) -> set[str]:
    return {one.column for one in family}


def count_effects(
    table: Table, question: Question, columns: Sequence[SuggestedRole], progress: Any
) -> dict[str, UndecidedColumn]:
    """What each open column would do, by the answers so far; what is not counted is left out."""
    from incrowd.assessment.open_columns import count_undecided
    from incrowd.assessment.roles import settle_roles

    nested = {*table.nested}
    names = [one.column for one in columns if one.column not in nested]
    with suppress(InputError):  # such as nothing left that is known: the assessment will say so
        roles = settle_roles(table, question)
        names = [name for name in names if name not in (*roles.identifiers, roles.person)]
        counts = count_undecided(table, roles, names, question.certain_from, progress)
        return {one.column: one for one in counts}
    return {}


def _show_family(
    family: Sequence[SuggestedRole], undecided: Sequence[UndecidedColumn], place: int, families: int
) -> None:
    """Print the columns that are asked about, the guess with its reason, and what the columns would do."""
    from incrowd.assessment.open_columns import describe_family

    first = family[0]
    names = ", ".join(one.column for one in family[:_MOST_NAMED])
    if len(family) > _MOST_NAMED:
        names += f", … {family[-1].column} ({len(family)} columns)"
    values = f"{max(one.distinct for one in family):,} values" if first.distinct >= 0 else "values not counted"
    terminal.heading(f"{place + 1} of {families}  {names}")
    terminal.paragraph(f"{first.kind}, {values}. {_guess_in_words(first)}", "  ")
    if undecided:
        terminal.paragraph(f"{describe_family(undecided)}.", "  ")


def _guess_in_words(one: SuggestedRole) -> str:
    guess = f"Guess: {one.guess}" if one.guess else "No guess"
    return f"{guess}, because {one.reason}." if one.guess else f"{guess}: {one.reason}."


def _read_key(*, several: bool) -> str:
    """The key of an answer, of undo or of stop, or one that skips; other keys are explained."""
    import click

    keys = {key: answer for key, answer in KEYS.items() if not (several and answer in ("person", "weight"))}
    shown = "  ".join(f"{key} {answer}" for key, answer in keys.items())
    terminal.line(f"  {shown}  Enter skip  u undo  q stop")
    while True:
        sys.stdout.write("  judge> ")
        sys.stdout.flush()
        try:
            key = click.getchar().lower()
        except EOFError:
            key = _STOP
        except KeyboardInterrupt:
            terminal.line()
            key = _STOP
        key = _STOP if key in ("\x04", "\x03") else key
        if key in (*keys, *_SKIP, _UNDO, _STOP):
            terminal.line({**keys, _UNDO: "undo", _STOP: "stop"}.get(key, "skipped"))
            return key
        terminal.line("that key is no answer")


def ask_open_points(table: Table, question: Question) -> Question:
    """Ask for the size of the population and the recipient, if options and file do not have them."""
    answers: dict[str, Any] = {}
    if question.population is None and question.weights is None:
        terminal.line("How many people was the table drawn from? Such as 60000000 or 6e7; Enter if you do not know.")
        answers["population"] = _ask(_people, "population> ")
    if question.recipient is None:
        terminal.line(f"Who is to get it? {choices()}; Enter: public.")
        answers["recipient"] = _ask(_recipient, "recipient> ")
    return replace(question, **answers)


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
    """One line from the terminal; the end of input (Ctrl-D) is an empty answer, Ctrl-C stops."""
    with suppress(ImportError):
        import readline  # noqa: F401  (arrow keys and history, on systems that have them)
    try:
        return input(prompt).strip()
    except EOFError:
        terminal.line()
        return ""
