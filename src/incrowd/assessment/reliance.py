"""What a yes rests on: how many people are found by whoever knows the columns that were declared unknown or secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.assessment.sections.evidence import MOST_ALONE
from incrowd.classes import ClassSizes
from incrowd.wording import Advice, listed, people

if TYPE_CHECKING:
    from incrowd.assessment.sections.section import AssessmentState
    from incrowd.assessment.verdict import Verdict


def note_reliance_on_declared(work: AssessmentState, verdict: Verdict) -> Verdict:
    """Say of a yes how much of it rests on what was declared: how many are found by whoever knows those columns too."""
    passed_over = {*work.table.nested, *work.roles.pseudonyms}
    declared = [name for name in verdict.declared if name not in passed_over]
    secret = [name for name in work.roles.sensitive if name not in passed_over]
    if verdict.decision != "within" or verdict.basis == "attacks":
        return verdict
    found, reason = _found_by(work, declared, verdict.limits.class_size)
    _, of_secrets = _found_by(work, secret, verdict.limits.class_size)
    rests_on = []
    if reason:
        rests_on.append(f"This yes rests on your word that nobody outside knows {', '.join(declared)}: {reason}.")
    if of_secrets:
        rests_on.append(f"This yes takes {', '.join(secret)} as secret: {of_secrets}.")
    told = (*map(Advice, rests_on), *verdict.internal_reasons)
    return replace(verdict, found_if_declared=found, internal_reasons=told)


def _found_by(work: AssessmentState, names: Sequence[str], least: int) -> tuple[int, str]:
    """Number of people unique to an attacker who also knows these columns, and the number in words if it is not 0.

    Args:
        work: the table and its roles.
        names: the columns.
        least: the size from which on classes are large enough.
    """
    if not names:
        return 0, ""

    def count(more: Sequence[str]) -> ClassSizes:
        known = [*work.roles.quasi_identifiers, *more]
        return ClassSizes.from_table(work.table, quasi_identifiers=known, person=work.roles.person)

    found = count(names)
    few = found.below(least)
    if not few:
        return found.uniques, ""
    by_column = {name: count([name]).uniques for name in names[:MOST_ALONE]} if len(names) > 1 else {}
    worst = sorted((name for name in by_column if by_column[name]), key=lambda name: -by_column[name])[:3]
    alone = f"{people(found.uniques)} alone, and " if found.uniques else ""
    most = f"; by {listed([f'{name} alone {by_column[name]:,}' for name in worst])}" if worst else ""
    them = "them" if len(names) > 1 else "it"
    return found.uniques, (f"whoever knows {them} too finds {alone}{people(few)} in classes smaller than {least}{most}")
