"""Section "evidence": facts besides the risk that a verdict needs: columns without a role, secrets, the unit of a row.

A column without a role counts as known to the attacker, and as sensitive, until a person judges it, unless it has only
one value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from incrowd._support.progress import Progress, part
from incrowd.assessment.open_columns import UndecidedColumn, count_undecided, has_one_value, undecided_columns
from incrowd.assessment.roles import Roles
from incrowd.assessment.sections.original_evidence import (
    ask_original,
    find_attack,
    kept_columns,
    perturbation_advice,
    settle_row_kind,
    why_no_sample,
)
from incrowd.assessment.sections.population import population_is_known
from incrowd.assessment.sections.section import COUNTED, AssessmentState, Section, Statement
from incrowd.attacks.learned_result import LearnedAttack
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.measures import DisclosedSecrets, count_disclosed_secrets, followed_columns
from incrowd.measures.auxiliary import Refinement, find_refinements
from incrowd.protection.marks import Linkage
from incrowd.results import Result
from incrowd.tables import RowKind, Table, describe_rows
from incrowd.tables.roles.linked_rows import groups_agree
from incrowd.tables.roles.mixed_groups import find_mixed_groups
from incrowd.tables.roles.unread_values import UnreadValues, advise_on_unread
from incrowd.wording import Advice, listed, percent

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.result import Assessment

_LINKING = 0.98  # distinct values for each person, below which a column links people to each other


@dataclass(frozen=True, slots=True)
class Evidence(Result):
    """Counts about a table besides its classes.

    Attributes:
        undecided: columns without a role that have several values, the most harmful first.
        sizes_if_known: class sizes for an attacker who also knows all undecided columns; None if there are none.
        harmless: columns without a role that cannot matter, because they have one value.
        secrets: attribute disclosure of the sensitive columns; None if there are none.
        attack: what kept columns tell an attacker who knows the exact quasi-identifiers; None if the table is no
            release, or if it could not be attacked.
        refinements: kept columns that are finer forms of quasi-identifiers, so that they count as known.
        rows: the unit of a row: a person, a person in a wave, a household member, or no person.
        unanswered: advice on what could not be counted; the verdict is then undecided at best.
        row_order: columns that the order of the rows follows, so that neighbouring rows disclose values.
        is_release: True if the table was made coarser, so that its row order may undo that.
        not_counted: contents or distinctions of the file that are not in the counted rows.
        linking: kept columns that link the people of a household, if each person is counted.
        no_sample: why the population, if one is given, says nothing about the classes; None if it does.
        linkage: the linkage attack that replaces the classes of a table whose quasi-identifiers were changed at random;
            None if there is none for these quasi-identifiers.
    """

    undecided: tuple[UndecidedColumn, ...]
    sizes_if_known: ClassSizes | None
    harmless: tuple[str, ...]
    secrets: DisclosedSecrets | None
    attack: LearnedAttack | None
    rows: RowKind
    unanswered: tuple[Advice, ...] = ()
    row_order: tuple[str, ...] = ()
    is_release: bool = False
    not_counted: tuple[str, ...] = ()
    linking: tuple[str, ...] = ()
    linkage: Linkage | None = None
    no_sample: Advice | None = None
    refinements: tuple[Refinement, ...] = ()
    _hidden: ClassVar[frozenset[str]] = frozenset({"sizes_if_known", "not_counted", "linking", "linkage", "no_sample"})
    _derived: ClassVar[tuple[str, ...]] = ("if_known",)

    @property
    def if_known(self) -> dict[str, float] | None:
        """The smallest class, uniques and average risk for an attacker who also knows all undecided columns."""
        sizes = self.sizes_if_known
        if sizes is None:
            return None
        return {"k": sizes.smallest, "uniques": sizes.uniques, "correctness": sizes.correctness}


def gather_evidence(work: AssessmentState) -> Evidence:
    """Count the facts that the verdict needs besides the classes by the quasi-identifiers."""
    table, roles, tell = work.table, work.roles, work.part(SECTION)
    names, person = list(roles.quasi_identifiers), roles.person
    suggested = {one.column: one for one in roles.suggested}
    candidates = undecided_columns(roles)
    harmless = tuple(name for name in candidates if has_one_value(suggested[name]))
    is_nested = set(table.nested)
    nested = [name for name in candidates if name in is_nested]
    excluded = {*harmless, *nested}
    candidates = [name for name in candidates if name not in excluded]
    together = None
    undecided: list[UndecidedColumn] = []
    if candidates:
        by_all = list(dict.fromkeys([*names, *candidates]))
        together = ClassSizes.from_table(table, quasi_identifiers=by_all, person=person)
        undecided += count_undecided(table, roles, candidates, work.question.certain_from, part(tell, 0.0, 0.2))
    unanswered = [_not_looked_into(nested)] if nested else []
    unanswered += advise_on_unread(unread_dates(roles))
    unanswered += _doubt_person(work)
    original = ask_original(work, unanswered, part(tell, 0.2, 0.4))
    if original is not None:
        unanswered += perturbation_advice(original, roles)
    linkage = None if original is None else original.linkage
    tell("looking at what rows are", 0.4)
    rows = settle_row_kind(describe_rows(table, roles.suggested or None), original)
    followed = followed_columns(table, person=person)
    order = [one.column for one in followed if one.column not in roles.pseudonyms]  # pseudonyms are visible anyway
    order += original.row_order if original is not None else ()
    attack = None if work.question.synthetic else find_attack(work, original, unanswered)
    refinements = _refinements(work, unanswered)
    secrets = _secrets(work, unanswered, part(tell, 0.8, 1.0))
    return Evidence(
        tuple(sorted(undecided, key=lambda one: (-one.added, -(one.learned or 0), one.k, -one.correctness))),
        together,
        harmless,
        secrets,
        attack,
        rows,
        tuple(unanswered),
        () if work.question.synthetic else tuple(dict.fromkeys(order)),
        original is not None or bool(roles.generalised_quasi_identifiers),
        table.contents_not_counted(),
        linking_columns(table, work.question, roles, rows),
        linkage if linkage is not None and {*linkage.known} == {*names} else None,
        why_no_sample(work, original) if population_is_known(work) else None,
        refinements,
    )


def _refinements(work: AssessmentState, unanswered: list[Advice]) -> tuple[Refinement, ...]:
    """The kept columns that are finer forms of quasi-identifiers; advice in `unanswered` if that is not counted."""
    table, roles = work.table, work.roles
    kept = kept_columns(work)
    if not kept or work.question.synthetic:
        return ()
    try:
        return find_refinements(table, roles.quasi_identifiers, kept, person=roles.person)
    except UnsupportedError as reason:
        if roles.generalised_quasi_identifiers or table.backend.rows_are_local:
            unanswered.append(
                Advice(
                    f"Whether kept columns are finer forms of quasi-identifiers was not counted: {reason}", reason.hint
                )
            )
        return ()


def linking_columns(table: Table, question: Question, roles: Roles, rows: RowKind) -> tuple[str, ...]:
    """Kept columns that link the people of a household, if each person is counted and not the household.

    They are recognised by name, or by the agreement of rows that share a value. Pseudonyms that `protect` drew are
    excluded if the classes of whole households are large enough.

    Args:
        table: the table.
        question: the question.
        roles: the columns by role.
        rows: the unit of a row.
    """
    if not question.rows_are_people and roles.person is None:
        return ()  # the unit of a row must be settled first
    kept = [name for name in roles.stated if roles.role(name) in ("other", "sensitive")]
    distinct = {one.column: one.distinct for one in roles.suggested}
    people = distinct.get(roles.person, table.rows) if roles.person is not None else table.rows
    candidates = [one.column for one in roles.suggested if one.topic == "household number"]
    candidates += [] if rows.household is None else [rows.household]
    if rows.person in kept and groups_agree(table, rows.person, roles.suggested):
        candidates.append(rows.person)
    names = [name for name in dict.fromkeys(candidates) if name in kept and name not in roles.identifiers_kept]
    least, known = question.limits.class_size, list(roles.quasi_identifiers)
    return tuple(
        name
        for name in names
        if distinct[name] < _LINKING * people
        and not (
            name in roles.pseudonyms
            and ClassSizes.from_table(table, quasi_identifiers=known, person=name).smallest >= least
        )
    )


def _doubt_person(work: AssessmentState) -> list[Advice]:
    """Advice on a person column whose rows look like several people, unless somebody said that every row is one."""
    person, roles = work.roles.person, work.roles
    mixed = None if person is None else find_mixed_groups(work.table, person, roles.suggested)
    if mixed is None or work.question.rows_are_people:
        return []
    return [
        Advice(
            f"{mixed.column} may not say whose record it is: {mixed.reason}. Say that every row is another person: "
            f"{mixed.column} is then left out, or, where it stays named as the person, whole groups are counted",
            ("rows_are_people", "person"),
        )
    ]


def unread_dates(roles: Roles) -> list[UnreadValues]:
    """The quasi-identifiers whose dates were read as text: ranges of them would not be ranges of dates."""
    unread_by_column = {one.column: one.unread for one in roles.suggested}
    unread = (unread_by_column.get(name) for name in roles.quasi_identifiers)
    return [one for one in unread if one is not None and one.are_dates]


def _not_looked_into(nested: Sequence[str]) -> Advice:
    """Advice on nested columns without a role: nothing is counted about them, so a person must judge them."""
    return Advice(
        f"What {listed(nested)} would tell was not counted: lists and records are not looked into; leave them out, or "
        "name them as columns that nobody outside can know",
        ("drop", "other"),
    )


def _secrets(work: AssessmentState, unanswered: list[Advice], progress: Progress) -> DisclosedSecrets | None:
    """Attribute disclosure of the sensitive columns; if it cannot be counted, None and advice in `unanswered`."""
    if not work.roles.sensitive:
        return None
    try:
        return count_disclosed_secrets(
            work.table,
            quasi_identifiers=list(work.roles.quasi_identifiers),
            sensitive=list(work.roles.sensitive),
            secrets=work.question.named_secrets,
            certain_from=work.question.certain_from,
            person=work.roles.person,
            progress=progress,
        )
    except UnsupportedError as reason:
        unanswered.append(Advice(f"What classes give away about secrets was not counted: {reason}", reason.hint))
        return None


def _statements(found: Assessment) -> Iterator[Statement]:
    evidence = found.evidence
    if evidence.if_known is not None:
        yield Statement(
            "evidence",
            "smallest class if undecided columns are known",
            float(evidence.if_known["k"]),
            f"{evidence.if_known['k']:,}",
            f"For somebody who also knows the {len(evidence.undecided):,} columns that nobody judged.",
            COUNTED,
            "every column without a role is known to the attacker",
        )
    for column in evidence.secrets.columns if evidence.secrets else ():
        yield Statement(
            "evidence",
            f"{column.column}: disclosed and news",
            column.news_share,
            percent(column.news_share),
            "Records whose value is (nearly) certain from their class, and neither missing nor what most people have.",
            COUNTED,
            "the attacker knows all quasi-identifiers",
        )


SECTION = Section("evidence", gather_evidence, _statements, weight=10, is_first=True, is_needed=True)
