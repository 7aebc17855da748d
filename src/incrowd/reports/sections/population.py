"""The report's section "population": sample against population."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.populations.copula import PATENT
from incrowd.populations.estimators import explain_method
from incrowd.reports.elements import DataTable, Figure, HowComputed, ReportSection, statements_of, unanswered_section
from incrowd.wording import percent, percent_interval

_MEANS = (
    "A neighbour may know that a person is in the table; this is the higher risk. A stranger does not know it, and "
    "must find the person among everybody in the population who looks alike; this is the lower risk."
)


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    risk = assessment.population
    if external and risk is None:
        return None
    lead = (
        "The table is a sample. An attacker who does not know who is in it must find a person in the whole population."
    )
    if risk is None:
        return unanswered_section(assessment, "population", "Sample against population", lead)
    rows = [
        ("somebody known to be in the table", percent(assessment.facts.correctness), "counted"),
        (
            "a record among the population (B)",
            percent(risk.sample_to_population),
            "no interval" if risk.interval is None else percent_interval(*risk.interval),
        ),
        ("a person of the population in the table (A)", percent(risk.population_to_sample), "counted"),
    ]
    if risk.highest is not None and risk.highest_interval is not None:
        rows.append(("the record at highest risk", percent(risk.highest), percent_interval(*risk.highest_interval)))
    figure = Figure(
        "population",
        f"The table holds {percent(risk.fraction)} of {risk.population:,} people.",
        plots.population_chart(assessment),
        DataTable("Risk by what the attacker looks for", ("who", "risk", "95% interval"), tuple(rows)),
        means=_MEANS,
    )
    return ReportSection(
        "population",
        "Sample against population",
        lead,
        statements=statements_of(assessment, "population"),
        figures=(figure,),
        notes=() if external else tuple(note for note in risk.notes if note != PATENT),
        methods=(explain_estimate(risk.method),),
    )


def explain_estimate(method: str) -> HowComputed:
    """The method of the population estimate, in the words of the estimator."""
    how, source = explain_method(method)
    return HowComputed(
        "Sample against population",
        f"{how} Reported: the larger of table-to-population and population-to-table risk.",
        source,
    )
