"""`assess`: every section of a question in turn, each answered or refused with a reason."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd.assessment.actions import next_actions
from incrowd.assessment.column_fingerprints import forget_outdated, outdated_in_words
from incrowd.assessment.provenance import note_provenance
from incrowd.assessment.question import OPTIONS, Question
from incrowd.assessment.reliance import note_reliance
from incrowd.assessment.result import SECTIONS, Assessment
from incrowd.assessment.roles import Roles, settle_roles
from incrowd.assessment.sections import evidence, facts
from incrowd.assessment.sections import population as population_section
from incrowd.assessment.sections.section import PENDING, SEARCH, WRITING, AssessmentState, share_progress
from incrowd.assessment.verdict import Verdict, decide, list_exposures
from incrowd.errors import InputError
from incrowd.measures import Measurement
from incrowd.protection.marks import OriginalFacts
from incrowd.tables import Table, TableLike, describe_rows, read_table, suggest_roles
from incrowd.wording import Advice, percent

_MOST_PEOPLE = 10**10  # largest population; the world has fewer people
_ASKED = {option.name for option in OPTIONS} - {"original", "groups", "released", "holdout", "kept_rows"}
_NOTHING: Mapping[str, Any] = MappingProxyType({})
_DECISIVE = (facts.SECTION, evidence.SECTION, population_section.SECTION)  # the sections that a decision rests on


def assess(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    person: str | None = None,
    weights: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    identifiers: Sequence[str] = (),
    drop: Sequence[str] = (),
    other: Sequence[str] = (),
    need: Sequence[str] = (),
    population: int | None = None,
    recipient: str = "public",
    threshold: float | None = None,
    highest: float | None = None,
    secrets: Sequence[str] = (),
    certain: float | None = None,
    tolerate: float | None = None,
    rows_are_people: bool = False,
    original: TableLike | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    released: TableLike | None = None,
    holdout: TableLike | None = None,
    kept_rows: Sequence[int] | str | os.PathLike[str] | None = None,
    synthetic: bool = False,
    protection: bool = True,
    seed: int = 0,
    progress: Progress = silent,
    partial: Callable[[Assessment], None] | None = None,
) -> Assessment:
    """Assess a table: facts, attackers' knowledge, population, forecasts, leaks, cost of protection, and a decision.

    A section that the data cannot support is None, with the reason in `skipped`.

    Args:
        data: whatever `read_table` reads.
        quasi_identifiers: columns that others may know about a person. None: the roles that names and values suggest
            are used, and the result says that nobody confirmed them.
        sensitive: columns that would harm somebody if they were learned. A column may be among both.
        person: the column that identifies the person of each record.
        weights: a column of survey weights; its sum is the population if `population` is not given.
        strata: the column of the stratum in which each record was drawn; needs `weights`.
        cluster: the column of the cluster (household, village) with which each record was drawn.
        identifiers: direct identifiers, in addition to those that are recognised.
        drop: columns to leave out of the release; while the table holds them the answer is no.
        other: columns that nobody outside can know and that harm nobody, whatever they look like.
        need: columns that an advised release must keep: larger classes are tried instead of leaving them out.
        population: the number of people that the table was drawn from.
        recipient: who is to get the table, one of `incrowd.recipients.RECIPIENTS`; sets the limits.
        threshold: a limit on the average risk, in place of the recipient's.
        highest: a limit on the risk of the person at highest risk, in place of the recipient's.
        secrets: values of sensitive columns that are secret, such as "illness=HIV,AIDS" or "income>100000".
        certain: the share of a class with one value, from which that secret counts as known. None: 0.95.
        tolerate: the share of records whose secret may be known.
        rows_are_people: declares that every row is another person, whatever the table looks like.
        original: the table that this one was made from; shows what kept columns give back. None: the mark that
            `protect` wrote beside the file is used; a table of ranges without either is undecided at best. A table that
            was collected in ranges is its own original.
        groups: attributes that attackers know together, by a label.
        released: a table made from this one that is to be released; it is judged instead, and attacked.
        holdout: people of the same population who are not in the table, for the attacks.
        kept_rows: the row of the table from which each row of the release was made; see `attack`.
        synthetic: declares that no row of the release was made from one person, so attacks decide and not classes.
        protection: whether to measure the cost of protection, which is the slowest part.
        seed: seed of every random choice.
        progress: callback that receives the current step and the share done.
        partial: callback that receives each partial result; its missing sections are explained in `skipped`.

    Returns:
        The assessment: `verdict`, one field for each section, `statements`, `to_dict()` and `to_html()`.

    Raises:
        InputError: a column does not exist, a column has two roles other than known and sensitive, or the recipient,
            threshold or population makes no sense.

    >>> from incrowd import demo_table
    >>> found = assess(demo_table(2_000), quasi_identifiers=["age_yrs", "sex", "patcnty"], recipient="trusted")
    >>> found.verdict.decision, found.facts.people
    ('over', 2000)
    """
    asked: dict[str, Any] = {name: value for name, value in locals().items() if name in _ASKED}
    given = {"released": released, "holdout": holdout, "kept_rows": kept_rows}
    asked |= {name: _place(one, name.upper()) for name, one in given.items()}
    question = Question(**asked, original=original if isinstance(original, str) else None, groups=groups or {})
    return assess_question(data, question, original=original, given=given, progress=progress, partial=partial)


def assess_question(
    data: TableLike,
    question: Question,
    *,
    original: TableLike | OriginalFacts | None = None,
    given: Mapping[str, Any] = _NOTHING,
    question_file: str | None = None,
    progress: Progress = silent,
    partial: Callable[[Assessment], None] | None = None,
) -> Assessment:
    """Answer a `Question` about a table; `assess` builds the question from its keywords.

    Args:
        data: whatever `read_table` reads.
        question: the question.
        original: the table that this one was made from, if the question does not name its file.
        given: tables and rows that the question names and that are not files: `released`, `holdout`, `kept_rows`.
        question_file: the file of the question, which the next actions name.
        progress: callback that receives the current step and the share done.
        partial: callback that receives each partial result.

    Raises:
        InputError: as `assess`.

    >>> table = {"age": [30, 30, 41, 41]}
    >>> assess_question(table, Question(quasi_identifiers=("age",), protection=False)).facts.k
    2
    """
    table = read_table(data)
    drawn_by = [name for name in (question.strata, question.cluster) if name is not None]
    if drawn_by:
        table.require(drawn_by, "stratum and cluster columns")
    if question.need:
        table.require(question.need, "columns that must stay")
    work = _begin(table, question, progress, original, given)
    work.question_file = question_file
    work.pending = {section.name for section in SECTIONS if section.is_asked is not None and section.is_asked(work)}
    # the population section keeps its weight: the forecast uses its estimate even if the section is not requested
    idle = {"attacks", "protection"} - work.pending
    timed = [replace(section, weight=0) if section.name in idle else section for section in SECTIONS]
    work.spans = share_progress(timed, SEARCH) if question.protection else share_progress(timed)
    for section in (one for one in SECTIONS if one.is_first):
        work.answer(section, section.answer)
    if partial is not None:
        _show_first_look(work, partial)
    for section in (one for one in SECTIONS if not one.is_first):
        work.answer(section, section.answer)
        work.pending.discard(section.name)
        if partial is not None and section.is_slow and work.pending:
            partial(_assessment(work))
    assessment = _assessment(work)
    progress("writing it down", SEARCH if question.protection else WRITING)
    verdict = note_reliance(work, assessment.verdict)
    return replace(assessment, verdict=replace(verdict, actions=tuple(next_actions(work, verdict))))


def judge_release(
    data: TableLike,
    question: Question,
    *,
    original: TableLike | OriginalFacts | None = None,
    only_if_yes: bool = False,
    progress: Progress = silent,
) -> Verdict:
    """The verdict of `assess`, without the sections that the decision does not use.

    Args:
        data: whatever `read_table` reads.
        question: the question; a yes needs a role for every column.
        original: the table that this one was made from, or its facts (`OriginalFacts`), if the question does not name
            its file.
        only_if_yes: skip the estimate for the population if exposures already make it a no. The verdict then lists the
            same exposures first, but its risks are those in the table.
        progress: callback that receives the current step and the share done.

    Raises:
        InputError: as `assess`.

    >>> table = {"age": [30, 30, 41, 41]}
    >>> judge_release(table, Question(quasi_identifiers=("age",), highest=0.5)).decision
    'within'
    """
    work = _begin(read_table(data), question.without_release(), progress, original)
    work.spans = share_progress(_DECISIVE)
    return _judge_alone(work, question, only_if_yes=only_if_yes)


def advise(
    data: TableLike, question: Question, *, seconds: float | None = None, progress: Progress = silent
) -> Verdict:
    """The verdict of `assess` with the next actions, without the sections that neither uses.

    Args:
        data: whatever `read_table` reads.
        question: the question.
        seconds: time after which no further protection is tried. None: no limit.
        progress: callback that receives the current step and the share done.

    Raises:
        InputError: as `assess`.

    >>> table = {"age": [30, 30, 41, 42, 43] * 12}
    >>> question = Question(quasi_identifiers=("age",), highest=1 / 20)
    >>> [action.protection for action in advise(table, question).actions]
    [{'k': 20}]
    """
    until = None if seconds is None else time.monotonic() + seconds
    work = _begin(read_table(data), question, progress, None)
    work.until = until
    work.spans = share_progress(_DECISIVE, SEARCH)
    verdict = _judge_alone(work, question)
    return replace(verdict, actions=tuple(next_actions(work, verdict)))


def _judge_alone(work: AssessmentState, question: Question, *, only_if_yes: bool = False) -> Verdict:
    """Answer the sections that a decision uses, and decide."""
    work.answers["population"] = None
    for section in (facts.SECTION, evidence.SECTION):
        work.answer(section, section.answer)
    is_no = only_if_yes and bool(list_exposures(work.question, work.roles, **work.answers))
    if work.answers["evidence"].linkage is None and not is_no and population_section.population_is_known(work):
        work.answer(population_section.SECTION, population_section.estimate_alone)
    # attacks that the question requests are not run here, so they count as not run
    asked = replace(work.question, released=question.released)
    return note_reliance(work, decide(asked, work.roles, **work.answers))


def _place(data: Any, unnamed: str) -> str | None:
    """Name of a table in a question: its file, or a word if there is no file."""
    return None if data is None else str(data) if isinstance(data, str | os.PathLike) else unnamed


def _begin(
    table: Table, question: Question, progress: Progress, original: Any, given: Mapping[str, Any] = _NOTHING
) -> AssessmentState:
    """Settle the roles; refuse limits and secrets that make no sense before any other work."""
    progress("looking at the columns", 0.0)
    started = time.perf_counter()
    if question.released is None and question != question.without_release():
        raise InputError("a holdout, kept rows and synthetic are about a release; name it", hint="released")
    files = {name: getattr(question, name) for name in ("released", "holdout", "kept_rows")}
    files |= {name: one for name, one in given.items() if one is not None}
    judged = table if question.released is None else read_table(files["released"])
    if question.contents:
        question = forget_outdated(question, suggest_roles(judged))
    roles = settle_roles(judged, question, original if judged is table else table)
    settled = question.about(table).settled(roles)
    _ = settled.limits, settled.named_secrets, settled.tolerated, settled.certain_from
    if (settled.population or 0) > _MOST_PEOPLE:
        raise InputError(f"a population of {settled.population:,} is more people than there are; give their number")
    spans = share_progress(SECTIONS)
    work = AssessmentState(
        judged, settled, roles, progress, spans, judge_release, original=question.original or original
    )
    if judged is not table:
        # rows of a synthetic table have no original rows to be compared with
        work.original = OriginalFacts(None, describe_rows(table)) if settled.synthetic else table
        work.release_of, work.kept_rows = table, files["kept_rows"]
        work.holdout = None if files["holdout"] is None else read_table(files["holdout"])
    work.seconds["roles"] = time.perf_counter() - started
    return work


def _show_first_look(work: AssessmentState, partial: Callable[[Assessment], None]) -> None:
    """Show the quick answers while the slow sections are in progress, if knowledge has a quick answer."""
    for section in SECTIONS:
        if section.first_look is not None:
            work.answer(section, section.first_look)
    if work.answers["knowledge"] is not None:
        partial(_assessment(work))


def _assessment(work: AssessmentState) -> Assessment:
    """The assessment so far; a section that is not answered yet is marked as pending."""
    answers: dict[str, Any] = {section.name: work.answers.get(section.name) for section in SECTIONS}
    skipped = {**{name: Advice(PENDING) for name in sorted(work.pending)}, **work.skipped}
    return Assessment(
        verdict=decide(work.question, work.roles, **answers, pending="population" in work.pending),
        roles=work.roles,
        **answers,
        skipped={name: reason for name, reason in skipped.items() if answers[name] is None},
        notes=tuple(_notes(work.question, work.roles, answers["facts"])),
        provenance=note_provenance(work.table, work.question, work.seconds, hashed=not work.pending),
    )


def _notes(question: Question, roles: Roles, facts: Measurement) -> list[Advice]:
    """Notes that a reader needs to interpret the numbers."""
    notes = [Advice(note) for note in facts.notes]
    if question.released is not None:
        notes.append(Advice(f"everything is about {question.released}, which was made from {question.source}"))
    if question.contents:
        notes.append(
            Advice(
                f"{outdated_in_words(question.contents)}: such answers do not count; read the columns and judge them "
                "again",
                ("other", "sensitive"),
            )
        )
    if question.synthetic:
        notes.append(
            Advice("the rows of the release are nobody's, as you said; sections on classes describe rows, not people")
        )
    if question.population is None and roles.unused_weight is not None:
        notes.append(
            Advice(
                f"{roles.unused_weight} looks like a sampling weight; name it as the weight to take its sum as the "
                "population",
                ("weights",),
            )
        )
    if question.threshold is not None and question.highest is None:
        notes.append(
            Advice(
                f"the threshold of {percent(question.threshold)} is a limit on the average risk; the person at highest "
                f"risk is held against the recipient's limit, 1/{question.limits.class_size}",
                ("highest",),
            )
        )
    if not roles.confirmed:
        notes.append(Advice("what the columns are was guessed from names and values, and nobody has judged them"))
    return notes
