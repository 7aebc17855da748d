"""Evidence from the original of a release: what kept columns tell an attacker, values that were changed at random.

The original is the table from which the release was made. The mark that `protect` writes beside a file holds the same
facts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incrowd._support.progress import Progress
from incrowd.assessment.open_columns import has_one_value
from incrowd.assessment.roles import Roles
from incrowd.assessment.sections.section import AssessmentState
from incrowd.attacks.learned_result import LearnedAttack
from incrowd.attacks.linkage import read_kept_rows
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations.fixed_coding import describe_overlap, overlapping_columns
from incrowd.protection.marks import OriginalFacts, read_mark
from incrowd.protection.original_facts import facts_of_tables, unite_facts
from incrowd.tables import RowKind
from incrowd.tables.release_marks import is_shuffled
from incrowd.tables.released_values import bounds_of
from incrowd.wording import Advice, listed

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


def kept_columns(work: AssessmentState) -> list[str]:
    """The columns from which an attacker can learn: not nested ones, pseudonyms, and those with one value."""
    roles = work.roles
    excluded = {*work.table.nested, *roles.pseudonyms, *roles.quasi_identifiers, roles.person}
    excluded |= {suggestion.column for suggestion in roles.suggested if has_one_value(suggestion)}
    return [name for name in work.table.columns if name not in excluded]


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
    not_measured: Advice | None = None
    if work.original is not None and facts is None:
        roles = work.roles
        try:
            facts = facts_of_tables(
                *(work.original, work.table, roles.quasi_identifiers, kept_columns(work), roles.person),
                shuffled=is_shuffled(work.table),
                secrets=_sensitive(work),
                source=None if work.kept_rows is None else read_kept_rows(work.kept_rows),
                progress=progress,
            )
        except UnsupportedError as reason:
            not_measured = Advice(f"What kept columns tell was not measured: {reason}", reason.hint)
    try:
        facts = unite_facts(facts, read_mark(work.table))
    except InputError as reason:
        hint = ORIGINAL if work.original is None else ()
        unanswered.append(Advice(f"What protect wrote down about this table does not count: {reason}.", hint))
    if not_measured is not None and not _is_perturbed(facts, work.roles):  # else linkage measures the risk
        unanswered.append(not_measured)
    return facts


def _is_perturbed(facts: OriginalFacts | None, roles: Roles) -> bool:
    return facts is not None and not {*facts.perturbed}.isdisjoint(roles.quasi_identifiers)


def _sensitive(work: AssessmentState) -> tuple[str, ...]:
    """The sensitive columns, and those that the release lacks: the question about its original names them."""
    return tuple(dict.fromkeys((*work.roles.sensitive, *(work.question.sensitive or ()))))


def find_attack(
    work: AssessmentState, original: OriginalFacts | None, unanswered: list[Advice]
) -> LearnedAttack | None:
    """The attack by kept columns that holds for this release; advice in `unanswered` where none does."""
    coarse, kept = work.roles.generalised_quasi_identifiers, kept_columns(work)
    if _is_perturbed(original, work.roles):
        return None  # linkage measures the risk
    attack = None if original is None else original.attack
    if attack is None:
        if coarse and kept:
            unanswered.append(_needs_original(coarse, kept))
        return None
    known, attacked = work.roles.quasi_identifiers, {*attack.known}
    attacked |= {end for name in attack.known for end in bounds_of(name)}  # ranges that are written as two columns
    learned = {*attacked, *attack.kept}
    names = [name for name in known if name not in attacked]
    names += [name for name in kept if name not in learned]
    measured = {secret.column for secret in attack.secrets}
    names += [name for name in work.roles.sensitive if name not in measured]
    if work.roles.person not in (None, attack.person):
        names.append(work.roles.person)
    if names:
        unanswered.append(_attacked_without(list(dict.fromkeys(names))))
    return attack


def _attacked_without(names: Sequence[str]) -> Advice:
    """Advice on columns that were something else when the release was attacked."""
    return Advice(
        f"The release was attacked without {listed(names)} in this role; only the table that it was made from shows "
        "what such an attacker learns.",
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
