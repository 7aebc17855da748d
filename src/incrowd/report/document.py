"""What a report says, before it is set as a page or on a terminal."""

from __future__ import annotations

from incrowd.assess import Assessment, Verdict
from incrowd.plots import assess as plots
from incrowd.recipients import RECIPIENTS
from incrowd.report import beyond, counted
from incrowd.report.pieces import DataTable, Figure, Section

__all__ = ["DataTable", "Figure", "Section", "document", "verdict_figure"]


def document(found: Assessment, *, external: bool = False) -> tuple[Section, ...]:
    """The sections of a report in order; the external one leaves out what would help an attacker."""
    if external:
        asked = [found.population and beyond.population, found.protection and beyond.protection]
        return (counted.facts(found, external), *(section(found, external) for section in asked if section))
    return (
        counted.facts(found, external),
        counted.knowledge(found),
        counted.drivers(found),
        beyond.population(found, external),
        beyond.forecast(found),
        beyond.leaks(found),
        beyond.protection(found, external),
        counted.columns(found),
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
