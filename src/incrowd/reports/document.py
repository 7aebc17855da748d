"""What a report says, before it is set as a page or on a terminal."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.recipients import RECIPIENTS, judge
from incrowd.reports.elements import DataTable, Figure, Section
from incrowd.reports.sections import PAGE
from incrowd.wording import chosen_percent

_STANDS = {"within": "within it", "borderline": "too close to call", "over": "above it"}


def document(found: Assessment, *, external: bool = False) -> tuple[Section, ...]:
    """The sections of a report in order.

    Args:
        found: the assessment.
        external: leave out what would help an attacker.
    """
    sections = (section(found, external) for section in PAGE)
    return tuple(section for section in sections if section is not None)


def verdict_figure(found: Assessment) -> Figure:
    """The risk on a line with the thresholds."""
    verdict = found.verdict
    limits = {**RECIPIENTS} if verdict.threshold in RECIPIENTS.values() else {**RECIPIENTS, "chosen": verdict.threshold}
    rows = tuple(
        (name, chosen_percent(limit), _STANDS[judge(verdict.risk, limit, verdict.interval)])
        for name, limit in limits.items()
    )
    return Figure(
        "verdict",
        "The risk and the thresholds",
        verdict.sentence,
        plots.against_thresholds(verdict),
        DataTable("Usual thresholds", ("recipient", "highest average risk", "this table is"), rows),
    )
