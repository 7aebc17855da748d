"""What a report says, before it is set as a page or on a terminal."""

from __future__ import annotations

from incrowd.assessment import Assessment, Verdict
from incrowd.figures import assessment_charts as plots
from incrowd.recipients import RECIPIENTS
from incrowd.reports import population_sections, table_sections
from incrowd.reports.elements import DataTable, Figure, Section

__all__ = ["DataTable", "Figure", "Section", "document", "verdict_figure"]


def document(found: Assessment, *, external: bool = False) -> tuple[Section, ...]:
    """The sections of a report in order; the external one leaves out what would help an attacker."""
    if external:
        asked = [
            found.population and population_sections.population,
            found.protection and population_sections.protection,
        ]
        return (table_sections.facts(found, external), *(section(found, external) for section in asked if section))
    return (
        table_sections.facts(found, external),
        table_sections.knowledge(found),
        table_sections.drivers(found),
        population_sections.population(found, external),
        population_sections.forecast(found),
        population_sections.leaks(found),
        population_sections.protection(found, external),
        table_sections.columns(found),
    )


def verdict_figure(found: Assessment) -> Figure:
    """The risk on a line with the thresholds."""
    verdict = found.verdict
    bounds = {**RECIPIENTS} if verdict.threshold in RECIPIENTS.values() else {**RECIPIENTS, "chosen": verdict.threshold}
    rows = tuple((name, f"{100 * bound:.3g}%", _against(verdict, bound)) for name, bound in bounds.items())
    return Figure(
        "verdict",
        "The risk and the thresholds",
        verdict.sentence,
        plots.against_thresholds(verdict),
        DataTable("Usual thresholds", ("recipient", "highest average risk", "this table is"), rows),
    )


def _against(verdict: Verdict, bound: float) -> str:
    """How the risk stands to a threshold; too close to call where the threshold is inside its interval."""
    if verdict.interval is not None and verdict.interval[0] <= bound < verdict.interval[1]:
        return "too close to call"
    return "above it" if verdict.risk > bound else "within it"
