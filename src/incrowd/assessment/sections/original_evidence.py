"""Evidence from the original of a release: columns that give back coarsened ones, values that were changed at random.

The original is the table from which the release was made. The mark that `protect` writes beside a file holds the same
facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd._support.progress import Progress
from incrowd.assessment.roles import Roles
from incrowd.assessment.sections.section import AssessmentState
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import count_with_auxiliary
from incrowd.measures.kept_columns import released_column_facts
from incrowd.measures.missing_cells import count_with_missing_cells
from incrowd.measures.recovering_columns import FollowingColumn, FollowingMissingCells, RecoveringColumn, RegainedSecret
from incrowd.populations.fixed_coding import describe_overlap, overlapping_columns
from incrowd.protection.marks import OriginalFacts, is_shuffled, read_mark
from incrowd.protection.original_facts import facts_of_tables, unite_facts
from incrowd.recipients import judge
from incrowd.tables import RowKind
from incrowd.wording import Advice, listed

if TYPE_CHECKING:
    from incrowd.assessment.question import Question

ORIGINAL = ("original",)
"""The hint of advice that only the original can settle."""


def settle_row_kind(seen: RowKind, original: OriginalFacts | None) -> RowKind:
    """The kind of row, from the release and from its original, which has more columns to recognise it by.

    If the original shows that rows are not people, that decides. If it shows people with some confidence, it overrides
    a finding of low confidence on the release: such a finding rests on the form of one column, and the column that
    differed in every row may have been removed.
    """
    if original is None:
        return seen
    known = original.rows.kind != "people" or (original.rows.confidence != "low" and seen.confidence == "low")
    return original.rows if known else seen


def _kept(work: AssessmentState) -> list[str]:
    """The columns that are released unchanged, without nested ones, which are not examined, and without pseudonyms."""
    roles = work.roles
    kept = [name for name in roles.stated if roles.role(name) in ("other", "sensitive", "weight")]
    excluded = {*work.table.nested, *roles.pseudonyms}
    return [name for name in kept if name not in excluded]


def ask_original(work: AssessmentState, unanswered: list[Advice], progress: Progress) -> OriginalFacts | None:
    """Facts that only the original shows: from the original itself, and from the mark that `protect` wrote.

    The mark can add reasons for a no and settle open points; it never overrides what is counted on the release. The
    mark is read even if the original is given, because only the mark says that values were changed at random.

    Args:
        work: the assessment.
        unanswered: advice on what could not be counted, added to here.
        progress: callback that receives the current step and the share done.
    """
    facts = work.original if isinstance(work.original, OriginalFacts) else None
    if work.original is not None and facts is None:
        roles = work.roles
        facts = facts_of_tables(
            *(work.original, work.table, roles.quasi_identifiers, _kept(work), roles.person),
            shuffled=is_shuffled(work.table),
            secrets=roles.sensitive,
            progress=progress,
        )
    try:
        return unite_facts(facts, read_mark(work.table))
    except InputError as reason:
        hint = ORIGINAL if work.original is None else ()
        unanswered.append(Advice(f"What protect wrote down about this table does not count: {reason}.", hint))
        return facts


def find_recovering_columns(
    work: AssessmentState, original: OriginalFacts | None, unanswered: list[Advice], progress: Progress
) -> tuple[RecoveringColumn, ...]:
    """Find kept columns that disclose coarsened quasi-identifiers, or follow from them, and so make classes smaller."""
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
    by_columns = {one.key: one for one in facts}
    undoing = {one.column for one in by_columns.values() if one.undoes}
    for one in original.given_back if original is not None else ():
        is_undoing = any(fact.undoes and fact.column == one.column for fact in by_columns.values())
        if is_undoing and isinstance(one, FollowingMissingCells):
            continue
        if one.key not in by_columns and undoing.isdisjoint(one.columns) and {*one.columns} <= {*kept, *names}:
            by_columns[one.key] = _count_on_release(work, one, kept)
    not_compared = kept if original is None else [name for name in kept if name not in original.kept]
    if work.original is None and original is not None:  # facts that were counted by other quasi-identifiers
        added = [name for name in names if name in original.kept]
        if added and not coarse:
            unanswered.append(_counted_without(added, kept))
        not_compared = kept if added else not_compared
        k = work.answers["facts"].k
        others = [one.column for one in original.given_back if one.narrows and one.k_without != k]
        not_compared = [*not_compared, *others]
    if coarse and not_compared:
        unanswered.append(_needs_original(coarse, not_compared))
    return tuple(one for one in by_columns.values() if one.undoes and not _is_tolerated(one, work.question))


def _is_tolerated(fact: RecoveringColumn, question: Question) -> bool:
    """True if a left out secret is given back for no more people than may be known."""
    return isinstance(fact, RegainedSecret) and judge(fact.news_share, question.tolerated) == "within"


def _count_on_release(work: AssessmentState, fact: RecoveringColumn, kept: Sequence[str]) -> RecoveringColumn:
    """A fact of the original, with the class sizes counted on this release.

    If several columns recover the quasi-identifier, the class sizes of the guesses were counted with the original, and
    are used if they are smaller than those of the release. Otherwise the columns themselves are counted as known.
    """
    k, roles = work.answers["facts"].k, work.roles
    if isinstance(fact, RegainedSecret):
        return replace(fact, k_without=k)
    removable = [name for name in fact.columns if name in kept]
    if removable and removable[0] != fact.column:  # the named column is now a quasi-identifier: name another one
        others = tuple(name for name in fact.columns if name != removable[0])
        fact = replace(fact, column=removable[0], others=others)
    is_guessed = fact.others or isinstance(fact, FollowingColumn | FollowingMissingCells)
    if fact.narrows or (removable and is_guessed and fact.k < k):
        return replace(fact, k_without=k)
    if removable and isinstance(fact, FollowingMissingCells):
        counted = count_with_missing_cells(work.table, roles.quasi_identifiers, fact.column, roles.person)
        return replace(fact, k=counted[0], uniques=counted[1], k_without=k)
    with_it = count_with_auxiliary(work.table, roles.quasi_identifiers, removable, person=roles.person)
    return replace(fact, k=with_it.k, uniques=with_it.uniques, k_without=k)


def _counted_without(added: Sequence[str], kept: Sequence[str]) -> Advice:
    """Advice on quasi-identifiers that were none when the facts of the original were counted."""
    return Advice(
        f"What {listed(kept)} {'gives' if len(kept) == 1 else 'give'} back was counted without {listed(added)}; only "
        "the table that this one was made from tells it for an attacker who knows more columns.",
        ORIGINAL,
    )


def why_no_sample(work: AssessmentState, original: OriginalFacts | None) -> Advice | None:
    """Why classes of the table are no sample of classes in the population; None if they are.

    Estimates assume that every record was coded in the same way and that none is missing because of its class.
    """
    roles = work.roles
    try:
        overlapping = overlapping_columns(work.table, roles.quasi_identifiers)
    except UnsupportedError as reason:
        return Advice(f"whether ranges of quasi-identifiers overlap was not counted: {reason}")
    if overlapping:
        return Advice(describe_overlap(overlapping))
    coarse = roles.generalised_quasi_identifiers
    if original is None:
        return _coding_not_known(coarse) if coarse else None
    if original.coding == "rows left out":
        return Advice("records of small classes were left out, so that this is no random sample any more")
    if original.coding == "by class":
        return Advice(
            "values were made coarser around the people of each class, and fewer people of the population fit them "
            "than the size of a class tells"
        )
    return _coding_not_known(coarse) if original.coding == "unknown" else None


def _coding_not_known(coarse: Sequence[str]) -> Advice:
    """Advice on values that were made coarser nobody knows how: perhaps class by class, or without the rare ones."""
    which = f"of {listed(coarse)} " if coarse else ""
    return Advice(
        f"nothing beside the file says whether the values {which}were made coarser in the same way for everybody, and "
        "whether rows were left out; a table that was collected so is its own original",
        ORIGINAL,
    )


def perturbation_advice(original: OriginalFacts, roles: Roles) -> Iterator[Advice]:
    """Reasons why classes do not show the risk: values were changed at random, or the mark that says so is damaged."""
    secret = [name for name in original.perturbed if roles.role(name) == "sensitive"]
    declared = [name for name in roles.stated if roles.role(name) in ("other", "weight")]
    known = [name for name in original.perturbed if name not in (*secret, *declared)]
    if known:
        yield _not_shown_by_classes(known)
    if secret:
        yield Advice(
            f"{listed(secret)} {'was' if len(secret) == 1 else 'were'} changed by chance, so classes do not show which "
            "secrets are certain; an attacker who knows how values were changed can tell more than was counted."
        )
    if original.is_damaged:
        yield Advice(
            "What protect wrote down about the table that this one was made from could not be read; protect the "
            "original itself."
        )


def _not_shown_by_classes(perturbed: Sequence[str]) -> Advice:
    """Advice on values that were changed at random: people in one class need not have the same original values."""
    return Advice(
        f"{listed(perturbed)} {'was' if len(perturbed) == 1 else 'were'} changed by chance, so classes do not show the "
        "risk; attack the release with the table that it was made from."
    )


def _needs_original(coarse: Sequence[str], kept: Sequence[str]) -> Advice:
    """Advice on ranges beside kept columns: only the original shows whether the columns disclose the values."""
    return Advice(
        f"{listed(coarse)} {'holds' if len(coarse) == 1 else 'hold'} ranges, and only the table that this one was made "
        f"from tells whether {listed(kept)} {'gives' if len(kept) == 1 else 'give'} back what is behind them.",
        ORIGINAL,
    )
