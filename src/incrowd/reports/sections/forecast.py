"""The report's section "forecast": in larger populations."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.reports.elements import Figure, HowComputed, ReportSection, statements_of, unanswered_section
from incrowd.reports.sections.population import explain_estimate

_ESTIMATOR = "combined"  # of risks along populations, for any estimator
_METHODS = (
    HowComputed(
        "Larger populations",
        "One estimate for all populations: for a random sample, the risk in a population of N equals the average risk "
        "among N people. If people have several records, the estimate uses the class sizes alone.",
        "The scaling law: Rocher, Hendrickx & de Montjoye 2025; the prior of class sizes: Archer, Park & Pillow 2014.",
    ),
)
FORECAST = (
    "In a village, age and sex may be enough to find somebody; in a country they are not. The line shows the risk "
    "that remains among more people. The band is its interval, if the table is a random sample."
)
"""Explanation of the forecast for a first-time reader."""


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    if external:
        return None
    law = assessment.forecast
    lead = (
        "Among more people, the same attributes single out fewer. This is the risk if the table were a random sample "
        "of this many people, by the same estimate as for a given population."
    )
    if law is None:
        return unanswered_section(assessment, "forecast", "In larger populations", lead)
    figure = Figure(
        "forecast",
        f"From {law.measured:,} people to the world, if the table is a random sample of them.",
        plots.forecast_chart(law, assessment.verdict.threshold),
        law.data_tables[0],
        means=FORECAST,
    )
    return ReportSection(
        "forecast",
        "In larger populations",
        lead,
        statements=statements_of(assessment, "forecast"),
        figures=(figure,),
        notes=law.notes,
        methods=(explain_estimate(_ESTIMATOR), *_METHODS),
    )
