"""The report's section "attacks": what attackers achieve on a release."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.reports.elements import DataTable, HowComputed, ReportSection, statements_of, unanswered_section

_METHODS = (
    HowComputed(
        "Attacks on the release",
        "Each attack is run on people drawn from the table, and once more without the release: on people who are not "
        "in the table, or by guessing (the control). The risk is (success − control) ÷ (1 − control), with intervals "
        "for two rates.",
        "Wilson 1927 and Newcombe 1998 (intervals); Article 29 Working Party, opinion 05/2014 (singling out, "
        "linkability, inference).",
    ),
)


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    """The results of attacks, if a release was given; outsiders do not see the details."""
    if assessment.provenance.question.released is None:
        return None
    lead = (
        "The release was attacked by somebody who knows the quasi-identifiers. The risk is the share of people, among "
        "those safe without the release, whom the release exposes. An attack that could not be run is not known to "
        "fail."
    )
    attacks = assessment.attacks
    if attacks is None:
        return unanswered_section(assessment, "attacks", "If it is attacked", lead)
    table = DataTable(
        "Attacks on the release",
        ("attack", "success", "without the release", "risk", "95% interval"),
        tuple(attacks.as_text()),
    )
    return ReportSection(
        "attacks",
        "If it is attacked",
        lead,
        statements=() if external else statements_of(assessment, "attacks"),
        tables=(table,),
        notes=() if external else attacks.notes,
        methods=_METHODS,
    )
