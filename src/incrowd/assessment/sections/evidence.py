"""Section "evidence": what the verdict rests on besides the risk: columns nobody judged, secrets, what rows are.

A column that nobody gave a role counts as known to the attacker until somebody judges it, unless it has one value only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from incrowd._support.progress import Progress, part
from incrowd.assessment.roles import Roles
from incrowd.assessment.sections.section import COUNTED, AssessmentState, Section, Statement
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import DisclosedSecrets, count_disclosed_secrets, count_with_auxiliary, followed_columns
from incrowd.measures.kept_columns import released_column_facts
from incrowd.measures.missing_cells import count_with_missing_cells
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.protection.marks import Linkage, OriginalFacts, is_shuffled, read_mark
from incrowd.protection.original_facts import facts_of_tables, unite_facts
from incrowd.results import Result
from incrowd.tables import RowKind, SuggestedRole, Table, describe_rows
from incrowd.tables.roles.linked_rows import groups_agree
from incrowd.wording import Advice, listed, percent

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.result import Assessment

ORIGINAL = ("original",)
"""The hint of what only the original can answer."""

_LINKING = 0.98  # values for each person, below which a column puts people together
MOST_ALONE = 400
"""Columns that are counted one by one; of more, only all together."""


@dataclass(frozen=True, slots=True)
class UndecidedColumn(Result):
    """A column that nobody gave a role, and what whoever knows it as well could do.

    Attributes:
        column: its name.
        suggested: the role that its name and values suggest.
        reason: why.
        k: the smallest class for somebody who knows it and the quasi-identifiers.
        uniques: how many people are then alone.
        correctness: the average risk then.
    """

    column: str
    suggested: str
    reason: str
    k: int
    uniques: int
    correctness: float


@dataclass(frozen=True, slots=True)
class Evidence(Result):
    """Counts about a table besides its classes.

    Attributes:
        undecided: columns that nobody judged and that tell people apart, the most harmful first.
        sizes_if_known: classes for somebody who knows all undecided columns as well; None where there are none.
        harmless: columns that nobody judged and that cannot matter, because they have one value.
        secrets: what classes give away about the sensitive columns; None where there are none.
        given_back: kept columns that give back a coarsened quasi-identifier.
        expected: kept columns whose values others may expect from what they know, though they count as unknown.
        rows: what a row is: a person, a person in a wave, a household member, or no person at all.
        unanswered: what could not be counted; the verdict is then undecided at best.
        row_order: columns that the order of the rows follows, so that neighbours tell more than their cells do.
        is_release: whether the table was made coarser, so that its order undoes that.
        not_counted: what the file holds, or tells apart, and the rows that were counted do not.
        linking: kept columns that link the people of a household, where each person is counted.
        linkage: of a table whose quasi-identifiers were changed by chance, the attack that stands for its classes; None
            where there is none by these quasi-identifiers.
    """

    undecided: tuple[UndecidedColumn, ...]
    sizes_if_known: ClassSizes | None
    harmless: tuple[str, ...]
    secrets: DisclosedSecrets | None
    given_back: tuple[RecoveringColumn, ...]
    rows: RowKind
    unanswered: tuple[Advice, ...] = ()
    row_order: tuple[str, ...] = ()
    is_release: bool = False
    not_counted: tuple[str, ...] = ()
    expected: tuple[RecoveringColumn, ...] = ()
    linking: tuple[str, ...] = ()
    linkage: Linkage | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"sizes_if_known", "not_counted", "linking", "linkage"})
    _derived: ClassVar[tuple[str, ...]] = ("if_known",)

    @property
    def if_known(self) -> dict[str, float] | None:
        """The smallest class, uniques and average risk for somebody who knows all undecided columns as well."""
        sizes = self.sizes_if_known
        if sizes is None:
            return None
        return {"k": sizes.smallest, "uniques": sizes.uniques, "correctness": sizes.correctness}


def gather_evidence(work: AssessmentState) -> Evidence:
    """Count what the verdict rests on besides the classes by the quasi-identifiers."""
    table, roles, tell = work.table, work.roles, work.part(SECTION)
    names, person = list(roles.quasi_identifiers), roles.person
    suggested = {one.column: one for one in roles.suggested}
    candidates = undecided_columns(roles)
    harmless = tuple(name for name in candidates if _has_one_value(suggested[name]))
    is_nested = set(table.nested)
    nested = [name for name in candidates if name in is_nested]
    passed_over = {*harmless, *nested}
    candidates = [name for name in candidates if name not in passed_over]
    together = None
    alone: list[UndecidedColumn] = []
    if candidates:
        together = ClassSizes.from_table(table, quasi_identifiers=[*names, *candidates], person=person)
        for place, name in enumerate(candidates):
            tell("counting by columns that nobody judged", 0.2 * place / len(candidates))
            known = together
            if place < MOST_ALONE:
                known = ClassSizes.from_table(table, quasi_identifiers=[*names, name], person=person)
            one = suggested[name]
            alone.append(UndecidedColumn(name, one.role, one.reason, known.smallest, known.uniques, known.correctness))
    unanswered = [_not_looked_into(nested)] if nested else []
    unanswered += unread_dates(roles)
    original = _ask_original(work, unanswered)
    if original is not None:
        unanswered += _left_to_chance(original, roles)
    linkage = None if original is None else original.linkage
    tell("looking at what rows are", 0.4)
    rows = _what_rows_are(describe_rows(table, roles.suggested or None), original)
    followed = followed_columns(table, person=person)
    order = [one.column for one in followed if one.column not in roles.pseudonyms]  # equal random numbers tell no more
    order += original.row_order if original is not None else ()
    given_back = _find_recovering_columns(work, original, unanswered, part(tell, 0.4, 0.8))
    return Evidence(
        tuple(sorted(alone, key=lambda one: (-one.uniques, one.k, -one.correctness))),
        together,
        harmless,
        _secrets(work, unanswered, part(tell, 0.8, 1.0)),
        tuple(one for one in given_back if not one.is_only_told(roles.sensitive)),
        rows,
        tuple(unanswered),
        () if work.question.synthetic else tuple(dict.fromkeys(order)),
        original is not None or bool(roles.generalised_quasi_identifiers),
        table.not_counted,
        tuple(one for one in given_back if one.is_only_told(roles.sensitive)),
        linking_columns(table, work.question, roles, rows),
        linkage if linkage is not None and {*linkage.known} == {*names} else None,
    )


def linking_columns(table: Table, question: Question, roles: Roles, rows: RowKind) -> tuple[str, ...]:
    """Columns that are kept and link the people of a household, where each person is counted and not the household.

    They are recognised by name, or by what the rows that share a value have in common. Random numbers that `protect`
    drew are no such columns where enough whole households look alike.

    Args:
        table: the table.
        question: what is asked.
        roles: its columns by role.
        rows: what a row is.
    """
    if not question.rows_are_people and roles.person is None:
        return ()  # what a row is has to be settled first
    kept = [name for name in roles.stated if roles.role(name) in ("other", "sensitive")]
    distinct = {one.column: one.distinct for one in roles.suggested}
    people = distinct.get(roles.person, table.rows) if roles.person is not None else table.rows
    found = [one.column for one in roles.suggested if one.topic == "household number"]
    found += [] if rows.household is None else [rows.household]
    if rows.person in kept and groups_agree(table, rows.person, roles.suggested):
        found.append(rows.person)
    names = [name for name in dict.fromkeys(found) if name in kept and name not in roles.identifiers_kept]
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


def _what_rows_are(seen: RowKind, original: OriginalFacts | None) -> RowKind:
    """Kind of row by the release and by its original, which has more columns to recognise it.

    The original is believed where it says that rows are no people; where it says that they are, it outweighs what
    looks otherwise by the form of one column alone, now that the column which differed in every row is gone.
    """
    if original is None:
        return seen
    known = original.rows.kind != "people" or (original.rows.confidence != "low" and seen.confidence == "low")
    return original.rows if known else seen


def unread_dates(roles: Roles) -> list[Advice]:
    """Quasi-identifiers that hold dates which are read as text: no range of them is what it seems."""
    suggested = {one.column: one.unread for one in roles.suggested}
    found = (suggested.get(name) for name in roles.quasi_identifiers)
    return [one.advice for one in found if one is not None and one.are_dates]


def _has_one_value(one: SuggestedRole) -> bool:
    """True if all rows are alike; a missing value is a value too, and columns that were not counted have -1."""
    return one.distinct >= 0 and one.distinct + (one.nulls > 0) <= 1


def _not_looked_into(nested: Sequence[str]) -> Advice:
    """Columns of lists or records that nobody judged: nothing is counted about them, so a person must."""
    return Advice(
        f"What {listed(nested)} would tell was not counted: lists and records are not looked into; leave them out, or "
        "name them as columns that nobody outside can know",
        ("drop", "other"),
    )


def _secrets(work: AssessmentState, unanswered: list[Advice], progress: Progress) -> DisclosedSecrets | None:
    """Disclosure of the sensitive columns by classes, with a note if it cannot be counted."""
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


def _kept(work: AssessmentState) -> list[str]:
    """The columns that are released as they are; neither lists, which are not looked into, nor drawn numbers."""
    roles = work.roles
    kept = [name for name in roles.stated if roles.role(name) in ("other", "sensitive", "weight")]
    passed_over = {*work.table.nested, *roles.pseudonyms}
    return [name for name in kept if name not in passed_over]


def _ask_original(work: AssessmentState, unanswered: list[Advice]) -> OriginalFacts | None:
    """Facts that only the original shows: from the original itself, and from the mark that `protect` wrote.

    A mark adds reasons for a no, and answers what would otherwise be open; what is counted here holds without it. An
    original does not replace it: that values were changed by chance is told by the mark alone.
    """
    facts = work.original if isinstance(work.original, OriginalFacts) else None
    if work.original is not None and facts is None:
        roles = work.roles
        shuffled = is_shuffled(work.table)
        facts = facts_of_tables(
            *(work.original, work.table, roles.quasi_identifiers, _kept(work), roles.person),
            shuffled=shuffled,
            secrets=roles.sensitive,
            progress=part(work.part(SECTION), 0.2, 0.4),
        )
    try:
        return unite_facts(facts, read_mark(work.table))
    except InputError as reason:
        hint = ORIGINAL if work.original is None else ()
        unanswered.append(Advice(f"What protect wrote down about this table does not count: {reason}.", hint))
        return facts


def _find_recovering_columns(
    work: AssessmentState, original: OriginalFacts | None, unanswered: list[Advice], progress: Progress
) -> tuple[RecoveringColumn, ...]:
    """Find kept columns that disclose generalised quasi-identifiers, or follow from them, and so split classes."""
    table, roles, kept = work.table, work.roles, _kept(work)
    coarse = roles.generalised_quasi_identifiers
    names, person = roles.quasi_identifiers, roles.person
    if not kept:
        return ()
    if not table.backend.rows_are_local:
        not_counted = Advice("Whether kept columns give back coarsened ones was not counted: rows are elsewhere.")
        unanswered.extend([not_counted] if coarse else [])
        return ()
    facts = released_column_facts(table, names, kept, person, coarse=coarse, progress=progress)
    seen = {(one.columns, False): one for one in facts}
    alone = {one.column for one in seen.values() if one.undoes}
    for one in original.given_back if original is not None else ():
        if one.missing and any(fact.undoes and fact.column == one.column for fact in seen.values()):
            continue
        key = (one.columns, one.missing)
        if key not in seen and alone.isdisjoint(one.columns) and {*one.columns} <= {*kept, *names}:
            seen[key] = _counted_here(work, one, kept)
    unasked = kept if original is None else [name for name in kept if name not in original.kept]
    if coarse and unasked:
        unanswered.append(_not_asked(coarse, unasked))
    return tuple(one for one in seen.values() if one.undoes)


def _counted_here(work: AssessmentState, fact: RecoveringColumn, kept: Sequence[str]) -> RecoveringColumn:
    """A fact of the original, with the class sizes counted on this table.

    Guesses from several columns were counted with the original at hand; where that does not show that they undo
    something here, as there are other quasi-identifiers now, the columns themselves are counted as known.
    """
    k, roles = work.answers["facts"].k, work.roles
    to_go = [name for name in fact.columns if name in kept]
    if to_go and to_go[0] != fact.column:  # it is known now, and another may go
        others = tuple(name for name in fact.columns if name != to_go[0])
        fact = replace(fact, column=to_go[0], others=others)
    if to_go and (fact.others or fact.follows) and fact.k < k:
        return replace(fact, k_without=k)
    if to_go and fact.missing:
        counted = count_with_missing_cells(work.table, roles.quasi_identifiers, fact.column, roles.person)
        return replace(fact, k=counted[0], uniques=counted[1], k_without=k)
    with_it = count_with_auxiliary(work.table, roles.quasi_identifiers, to_go, person=roles.person)
    return replace(fact, k=with_it.k, uniques=with_it.uniques, k_without=k)


def _left_to_chance(original: OriginalFacts, roles: Roles) -> Iterator[Advice]:
    """Reasons why classes do not show the risk: values were changed at random, or nobody can tell if they were."""
    secret = [name for name in original.perturbed if roles.role(name) == "sensitive"]
    declared = [name for name in roles.stated if roles.role(name) in ("other", "weight")]
    known = [name for name in original.perturbed if name not in (*secret, *declared)]
    if known:
        yield _not_shown_by_classes(known)
    if secret:
        yield Advice(
            f"{listed(secret)} {'was' if len(secret) == 1 else 'were'} changed by chance, so classes do not show which "
            "secrets are certain; whoever knows how values were changed can tell more than was counted."
        )
    if original.is_damaged:
        yield Advice(
            "What protect wrote down about the table that this one was made from could not be read; protect the "
            "original itself."
        )


def _not_shown_by_classes(perturbed: Sequence[str]) -> Advice:
    """Values that were changed by chance: classes of them are not made of people who are alike."""
    return Advice(
        f"{listed(perturbed)} {'was' if len(perturbed) == 1 else 'were'} changed by chance, so classes do not show the "
        "risk; attack the release with the table that it was made from."
    )


def _not_asked(coarse: Sequence[str], kept: Sequence[str]) -> Advice:
    """Ranges beside kept columns, where the values behind the ranges are not known."""
    return Advice(
        f"{listed(coarse)} {'holds' if len(coarse) == 1 else 'hold'} ranges, and only the table that this one was made "
        f"from tells whether {listed(kept)} {'gives' if len(kept) == 1 else 'give'} back what is behind them.",
        ORIGINAL,
    )


def undecided_columns(roles: Roles) -> list[str]:
    """The columns that no person gave a role; where roles were only guessed, all but what is counted as known."""
    counted = {*roles.quasi_identifiers, *roles.identifiers, roles.person}  # what counting already rests on
    return [one.column for one in roles.suggested if one.column not in roles.stated and one.column not in counted]


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


SECTION = Section("evidence", gather_evidence, _statements, weight=10, is_first=True)
