"""Next actions: columns to judge, what a row is, and the way to a yes."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.assessment.command_line import is_typable, to_command, to_words
from incrowd.assessment.plan import Plan
from incrowd.assessment.question import Question, command_words
from incrowd.assessment.reasons import Findings
from incrowd.assessment.sections.attacks import advise_on_release, judge_attacks
from incrowd.assessment.sections.evidence import unread_dates
from incrowd.assessment.sections.original_evidence import ORIGINAL
from incrowd.assessment.settings_file import free_name
from incrowd.assessment.verdict import Action, Verdict
from incrowd.assessment.way_to_yes import columns_to_remove, protect_settings, protection_commands, way_to_yes
from incrowd.tables import RowKind
from incrowd.tables.formats import takes_option
from incrowd.tables.infer_types import DATE_ORDERS
from incrowd.tables.release_marks import mark_of
from incrowd.tables.roles.unread_values import advise_on_unread
from incrowd.wording import counted, listed

if TYPE_CHECKING:
    from incrowd.assessment.sections.section import AssessmentState

_ASK_ORIGINAL = "Give the table that this one was made from; a table that was collected in ranges is its own original."
_NOT_TRIED = (
    "Protect the table and assess the result. No protection was tried here, so it may need more than this: larger "
    "classes, or fewer columns."
)
_WRITE_IN_RANDOM_ORDER = (
    "Protect it again, which writes the rows in random order and changes no class that is large enough."
)
_PROTECT_BY_CLASSES = (
    "Values of this table were changed by chance, so no further protection of it is tried: protect the table that it "
    "was made from by a method that makes classes."
)


def next_actions(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Yield the next actions, the most useful first."""
    if verdict.decision == "within":
        yield Action("Write down who gets it and on what terms; assess again when rows or columns are added.")
        return
    rows = _ask_about_rows(work)
    yield from _settle_open_points(work, rows)
    if rows is not None or not work.roles.confirmed:
        return  # a protection for guessed roles, or for an unknown unit of rows, would turn a guess into a yes
    if work.question.released is not None:
        judgement = judge_attacks(work.question, work.answers["attacks"])
        yield from (Action(one.sentence, one.hint) for one in advise_on_release(work, judgement))
        return
    for find_actions in (_answer_questions, _read_dates, _join_spellings, _attack_perturbed, _protect):
        if actions := [*find_actions(work, verdict)]:
            yield from actions
            return


def _ask_about_rows(work: AssessmentState) -> Action | None:
    """The action that settles what a row is, if that is open; a person column with missing cells is refused."""
    roles, evidence = work.roles, work.answers["evidence"]
    if not Findings(work.question, roles, work.answers["facts"], evidence).rows_are_open:
        return None
    person = roles.unused_person or evidence.rows.person
    gaps = next((one.nulls for one in roles.suggested if one.column == person), 0)
    return _settle_rows(evidence.rows, person, gaps)


def _settle_open_points(work: AssessmentState, rows: Action | None) -> Iterator[Action]:
    """Actions to state what a row is and what the columns are; no command states a guess as an answer."""
    open_columns = [one.column for one in work.answers["evidence"].undecided]
    if rows is not None:
        yield rows
    if open_columns or not work.roles.confirmed:
        yield _judge_columns(work, open_columns)


def _answer_questions(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Actions on what could not be counted, if nothing else leaves the table undecided."""
    if verdict.decision == "undecided" and not work.answers["evidence"].undecided:
        asks = verdict.unanswered
        hints = {_ASK_ORIGINAL if one.hint == ORIGINAL else one.sentence: one.hint for one in asks}
        yield from (Action(sentence, hint) for sentence, hint in hints.items())


def _read_dates(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Actions on quasi-identifiers that hold dates as text: one for each problem, and one command for all of them."""
    unread, place = unread_dates(work.roles), work.table.place
    words = {one.column: one.words for one in unread if one.words and one.notations == 1}
    reading: dict[str, Any] = {"dates": DATE_ORDERS[0]} if any(one.order_is_open for one in unread) else {}
    if words:
        nulls = (f"{column}={','.join(texts)}" for column, texts in words.items())
        reading["null"] = ";".join(filter(None, [work.question.null, *nulls]))
    command = None
    if reading and all(takes_option(place, name) for name in reading) and is_typable(words, ",;="):
        command = to_command(replace(work.question, source=place, **reading))
    problems = sorted(advise_on_unread(unread), key=lambda advice: bool(advice.hint))
    for number, one in enumerate(problems, start=1):
        commands = (command,) if command is not None and number == len(problems) else ()
        yield Action(f"{one.sentence}; then assess it again.", one.hint, commands)


def _join_spellings(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Action to write disclosed values alike, so that they are counted as people read them."""
    secrets = work.answers["evidence"].secrets
    spelt = [one.column for one in secrets.columns if one.spellings] if secrets else []
    spelt = [name for name in spelt if name in verdict.disclosed]
    if spelt and not work.question.fold:
        command = to_command(replace(work.question, fold=True, source=work.table.place))
        yield Action(
            f"Values of {listed(spelt)} are written in several ways, and people read them as one: join spellings that "
            "differ only in case or blanks, write others alike in the file, and assess it again.",
            ("fold",),
            (command,) if command is not None else (),
        )


def _attack_perturbed(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Action to attack a table whose values were changed by chance."""
    linkage = work.answers["evidence"].linkage
    if linkage is not None:
        known = to_words({"known": linkage.known})
        attack = shlex.join(["incrowd", "attack", "ORIGINAL", *command_words(work.table), *known])
        note = "The command below runs every attack on this one."
        yield Action(_PROTECT_BY_CLASSES, commands=(attack,), on_commands=note)


def _protect(work: AssessmentState, verdict: Verdict) -> Iterator[Action]:
    """Action to protect the table: by what was tried and leads to a yes, else by what the limits ask for."""
    tried = way_to_yes(work) if work.question.protection and work.table.backend.rows_are_local else None
    if tried is not None:
        yield tried
    elif verdict.decision in ("exposed", "over", "borderline"):
        evidence, source = work.answers["evidence"], work.table.source
        only_order = (
            bool(evidence.row_order) and evidence.is_release and not verdict.blamed and len(verdict.exposures) <= 2
        )
        if not only_order and source is not None and mark_of(Path(source)).is_file():
            yield _protect_original(verdict, dict.fromkeys((*columns_to_remove(work), *verdict.blamed)))
            return
        plan = Plan(work.question.limits.class_size, columns_to_remove(work), 2, verdict.disclosed)
        settings = protect_settings(work, plan)
        what = _WRITE_IN_RANDOM_ORDER if only_order else _NOT_TRIED
        yield Action(what, commands=protection_commands(work, settings), protection=settings)


def _protect_original(verdict: Verdict, removed: Iterable[str]) -> Action:
    """Action to protect the original of a release in another way, without the columns that make the release a no."""
    without = listed(removed)
    columns_are_all = verdict.decision == "exposed" and len(verdict.exposures) == 1 and bool(verdict.blamed)
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
            f"{rows.household} is then left out. To keep it, name it as the person: households are then counted, "
            "and protected as a whole. If people have several rows, name the column that tells whose they are.",
            ("rows_are_people", "person"),
        )
    who = f"name {person} as the person" if person else "name the column that tells whose record it is"
    if gaps:
        who = f"fill {person} in the {counted(gaps, 'row', 'rows')} that have no value, name it as the person"
    return Action(
        f"Say what a row is: {who} and assess again, or say that every row is another person.",
        ("person", "rows_are_people"),
    )


def _judge_columns(work: AssessmentState, open_columns: Sequence[str]) -> Action:
    """Action to judge the columns that nobody judged, by the commands that ask and then assess again."""
    table = work.release_of or work.table
    file = work.question_file or free_name(table.place)
    # what a person stated goes along, unless it is in the file; a guess does not
    stated = Question() if work.question_file else work.question
    asked = replace(stated, **table.reading, source=table.place, seed=None, protection=True)
    of_file = to_words({"question": file})
    judge = to_command(asked, *of_file, verb="judge")
    again = to_command(replace(Question(source=table.place), **table.reading), *of_file)
    return Action(
        f"Judge {counted(len(open_columns), 'column', 'columns')}: {listed(open_columns)}. Until then each counts as "
        "known to others and as sensitive."
        if open_columns
        else "Say what the columns are: they were guessed.",
        ("quasi_identifiers", "sensitive", "identifiers", "drop", "other"),
        tuple(command for command in (judge, again) if command is not None),
        on_commands="The first command asks column by column, and writes the answers to a file that the second takes.",
    )
