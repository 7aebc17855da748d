"""Dependence of a yes on declarations and on missing values.

Attackers who know columns that were declared unknown or secret find people. Attackers who know that somebody has a
value learn it where only missing values hide it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.assessment.open_columns import MOST_ALONE
from incrowd.classes import ClassSizes
from incrowd.wording import Advice, chosen_percent, counted, listed, people, percent

if TYPE_CHECKING:
    from incrowd.assessment.sections.section import AssessmentState
    from incrowd.assessment.verdict import Verdict


def note_reliance(work: AssessmentState, verdict: Verdict) -> Verdict:
    """Add to a yes how many people an attacker finds who knows more columns, and what only missing values hide."""
    excluded = {*work.table.nested, *work.roles.pseudonyms}
    declared = [name for name in verdict.declared if name not in excluded]
    secret = [name for name in work.roles.sensitive if name not in {*excluded, *work.roles.quasi_identifiers}]
    if verdict.decision != "within" or verdict.basis == "attacks":
        return verdict
    uniques, if_declared_known = _count_unique(work, declared, verdict.limits.class_size)
    _, if_secrets_known = _count_unique(work, secret, verdict.limits.class_size)
    reasons = []
    if if_declared_known:
        reasons.append(
            f"This yes rests on your word that nobody outside knows {', '.join(declared)}: {if_declared_known}."
        )
    if if_secrets_known:
        stay = "stays" if len(secret) == 1 else "stay"
        reasons.append(f"This yes holds while {listed(secret)} {stay} secret: {if_secrets_known}.")
    disclosed = work.answers["evidence"].secrets
    behind = [
        f"{one.column} in {counted(one.classes_behind_missing, 'class', 'classes')} "
        f"({counted(one.behind_missing, 'record', 'records')})"
        for one in (disclosed.columns if disclosed is not None else ())
        if one.behind_missing
    ]
    if behind:
        reasons.append(
            f"Nothing but missing values hides {listed(behind)}: all people there who have a value have the same one, "
            "so an attacker who knows that somebody has a value knows which."
        )
    likely = [
        f"{one.column} (up to {percent(one.likely_share)} of a class; {counted(one.likely, 'record', 'records')})"
        for one in (disclosed.columns if disclosed is not None else ())
        if one.likely
    ]
    advice = [Advice(reason) for reason in reasons]
    if likely:
        advice.append(
            Advice(
                f"Not certain, but likely: in some classes most people share one value of {listed(likely)} that far "
                "fewer people of the table have, or that you named. It counts as known from "
                f"{chosen_percent(work.question.certain_from)} of a class; set another share.",
                ("certain",),
            )
        )
    internal_reasons = (*advice, *verdict.internal_reasons)
    return replace(verdict, found_if_declared=uniques, internal_reasons=internal_reasons)


def _count_unique(work: AssessmentState, names: Sequence[str], least: int) -> tuple[int, str]:
    """Number of people unique to an attacker who also knows these columns, and a sentence on people in small classes.

    The sentence is empty if there are no small classes.

    Args:
        work: the table and its roles.
        names: the columns.
        least: the size from which classes are large enough.
    """
    if not names:
        return 0, ""

    def count(more: Sequence[str]) -> ClassSizes:
        known = [*work.roles.quasi_identifiers, *more]
        return ClassSizes.from_table(work.table, quasi_identifiers=known, person=work.roles.person)

    sizes = count(names)
    in_small = sizes.below(least)
    if not in_small:
        return sizes.uniques, ""
    by_column = {name: count([name]).uniques for name in names[:MOST_ALONE]} if len(names) > 1 else {}
    worst = sorted((name for name in by_column if by_column[name]), key=lambda name: -by_column[name])[:3]
    alone = f"{people(sizes.uniques)} alone, and " if sizes.uniques else ""
    most = f"; by {listed([f'{name} alone {by_column[name]:,}' for name in worst])}" if worst else ""
    them = "them" if len(names) > 1 else "it"
    return (
        sizes.uniques,
        f"an attacker who knows {them} too finds {alone}{people(in_small)} in classes smaller than {least}{most}",
    )
