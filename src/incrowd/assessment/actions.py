"""Next actions: columns to judge, what a row is, and the way to a yes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.assessment.command_line import to_command, to_words
from incrowd.assessment.question import Question, command_words
from incrowd.assessment.search import Plan
from incrowd.assessment.sections.attacks import advise_on_release, judge_attacks
from incrowd.assessment.sections.evidence import unread_dates
from incrowd.assessment.sections.original_evidence import ORIGINAL
from incrowd.assessment.verdict import Action, Verdict, asks_about_rows
from incrowd.assessment.way_to_yes import columns_to_remove, protect_settings, protection_commands, way_to_yes
from incrowd.protection.marks import mark_of
from incrowd.tables import RowKind
from incrowd.wording import counted, listed

if TYPE_CHECKING:
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.section import AssessmentState

_ASK_ORIGINAL = "Give the table that this one was made from; a table that was collected in ranges is its own original."
_NOT_TRIED = (
    "Protect the table and assess the result. No protection was tried here, so it may need more than this: larger "
    "classes, or fewer columns."
)
_PROTECT_BY_CLASSES = (
    "Values of this table were changed by chance, so no further protection of it is tried: protect the table that it "
    "was made from by a method that makes classes. The command below runs every attack on this one."
)


def next_actions(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Yield the next actions, the most useful first."""
    roles, question, evidence = work.roles, work.question, work.answers["evidence"]
    if verdict.decision == "within":
        yield Action("Write down who gets it and on what terms; assess again when rows or columns are added.")
        return
    rows_are_open = asks_about_rows(question, roles, evidence)
    person = roles.person
    in_households = False
    if rows_are_open:
        person = roles.unused_person or evidence.rows.person
        in_households = person is None and evidence.rows.household is not None
        gaps = next((one.nulls for one in roles.suggested if one.column == person), 0)
        settle = _settle_rows(evidence.rows, person, gaps)
        person = None if gaps else person  # a person column with missing cells is refused
    open_columns = [one.column for one in evidence.undecided]
    if rows_are_open:
        alone = not open_columns and roles.confirmed  # otherwise the command for the columns' roles includes this
        is_known = person is not None or in_households
        asked = replace(question, source=work.table.place)
        yield _with_command(settle, asked, person) if alone and is_known else settle
    if open_columns or not roles.confirmed:
        asked = replace(
            question,
            source=(work.release_of or work.table).place,
            rows_are_people=question.rows_are_people or in_households,
        )
        yield _settle_columns(asked, roles, open_columns, person)
    if rows_are_open or not roles.confirmed:
        return  # a protection for guessed roles, or for an unknown unit of rows, would turn a guess into a yes
    if question.released is not None:
        judgement = judge_attacks(question, work.answers["attacks"])
        yield from (Action(one.sentence, one.hint) for one in advise_on_release(work, judgement))
        return
    if verdict.decision == "undecided" and not open_columns and (asks := verdict.unanswered):
        hints = {_ASK_ORIGINAL if one.hint == ORIGINAL else one.sentence: one.hint for one in asks}
        yield from (Action(sentence, hint) for sentence, hint in hints.items())
        return
    if unread := unread_dates(roles):
        yield from (Action(f"{one.sentence}; then assess it again.", one.hint) for one in unread)
        return
    spelt = [one.column for one in evidence.secrets.columns if one.spellings] if evidence.secrets else []
    spelt = [name for name in spelt if name in verdict.disclosed]
    if spelt and not question.fold:
        command = to_command(replace(question, fold=True, source=work.table.place))
        yield Action(
            f"Values of {listed(spelt)} are written in several ways, and people read them as one: join spellings that "
            "differ only in case or blanks, write others alike in the file, and assess it again.",
            ("fold",),
            (command,) if command is not None else (),
        )
        return
    if evidence.linkage is not None:
        known = to_words({"known": evidence.linkage.known})
        attack = shlex.join(["incrowd", "attack", "ORIGINAL", *command_words(work.table), *known])
        yield Action(_PROTECT_BY_CLASSES, commands=(attack,))
        return
    tried = way_to_yes(work) if question.protection and work.table.backend.rows_are_local else None
    if tried is not None:
        yield tried
    elif verdict.decision in ("exposed", "over", "borderline"):
        only_order = bool(evidence.row_order) and evidence.is_release and len(verdict.exposures) == 1
        if not only_order and work.table.source is not None and mark_of(Path(work.table.source)).is_file():
            yield _protect_original(verdict, dict.fromkeys((*columns_to_remove(work), *verdict.giving_back)))
            return
        plan = Plan(question.limits.class_size, columns_to_remove(work), 2, verdict.disclosed)
        settings = protect_settings(work, plan)
        what = "Protect it again, which writes the rows in random order and changes no class that is large enough."
        what = what if only_order else _NOT_TRIED
        yield Action(what, commands=protection_commands(work, settings), protection=settings)


def _protect_original(verdict: Verdict, removed: Iterable[str]) -> Action:
    """Action to protect the original of a release in another way, without the columns that make the release a no."""
    without = listed(removed)
    columns_are_all = verdict.decision == "exposed" and len(verdict.exposures) == len(verdict.given_back)
    how = [f"without {without}"] if without else []
    how += [] if columns_are_all else ["with larger classes or fewer columns"]
    return Action(
        f"This table was protected already: protect the table that it was made from, {', '.join(how)}, and assess the "
        "result."
    )


def _settle_rows(rows: RowKind, person: str | None, gaps: int) -> Action:
    """Action to state what a row is, with the finding about the rows."""
    if rows.household is not None and person is None:
        return Action(
            f"Say what a row is. If {rows.household} groups people by household, say that every row is another person; "
            f"{rows.household} is then left out. To keep it, name it as the person, so that households are counted, "
            "and protect by household. If people have several rows, name the column that tells whose they are.",
            ("rows_are_people", "person", "household"),
        )
    who = f"name {person} as the person" if person else "name the column that tells whose record it is"
    if gaps:
        who = f"fill {person} in the {counted(gaps, 'row', 'rows')} that have no value, name it as the person"
    return Action(
        f"Say what a row is: {who} and assess again, or say that every row is another person.",
        ("person", "rows_are_people"),
    )


def _with_command(settle: Action, question: Question, person: str | None) -> Action:
    """Add the command that states what a row is: a record of the person in a column, or another person."""

    def others(names: Sequence[str] | None) -> tuple[str, ...]:
        return tuple(name for name in names or () if name != person)

    statement = "that every row is another person" if person is None else f"that {person} tells whose record it is"
    asked = replace(
        question,
        quasi_identifiers=others(question.quasi_identifiers),
        sensitive=others(question.sensitive),
        identifiers=others(question.identifiers),
        drop=others(question.drop),
        other=others(question.other),
        person=person,
        rows_are_people=person is None,
    )
    command = to_command(asked)
    if command is None:
        return settle
    return replace(settle, sentence=f"{settle.sentence} The command below says {statement}.", commands=(command,))


def _settle_columns(question: Question, roles: Roles, open_columns: Sequence[str], person: str | None) -> Action:
    """Action with a command that gives every column a role; a person must check the command.

    A column gets the role that its name and values suggest. Without a suggestion it is dropped, not declared unknown to
    others, so that a user who copies the command unread declares nothing.
    """
    looks = {one.column: one.role for one in roles.suggested} | dict.fromkeys(roles.known_anyway, "quasi-identifier")
    weights = question.weights or (roles.unused_weight if question.population is None else None)

    def with_open(settled: Sequence[str], *suggested: str) -> tuple[str, ...]:
        names = [*settled, *(name for name in open_columns if looks.get(name) in suggested)]
        return tuple(name for name in dict.fromkeys(names) if name not in (person, weights))

    settled = replace(
        question,
        quasi_identifiers=with_open(roles.quasi_identifiers, "quasi-identifier"),
        sensitive=with_open(roles.sensitive, "sensitive"),
        identifiers=with_open(roles.identifiers, "identifier"),
        person=person,
        weights=weights,
        drop=with_open(question.drop, "other", "weight", "person"),
    )
    command = to_command(settled)
    what = (
        f"Judge {counted(len(open_columns), 'column', 'columns')}: {listed(open_columns)}."
        if open_columns
        else "Confirm the roles of the columns: they were guessed."
    )
    return Action(
        f"{what} The command below suggests a role for each, and leaves out columns for which it has none: move every "
        "name to where it belongs, then run it. A column is known to others, is secret, names people, is to be left "
        "out or is known to nobody outside: an option each, in this order.",
        ("quasi_identifiers", "sensitive", "identifiers", "drop", "other"),
        (command,) if command is not None else (),
    )
