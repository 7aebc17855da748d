"""The report's section "drivers": which attribute drives the risk."""

from __future__ import annotations

from incrowd.assessment import Assessment
from incrowd.figures import assessment_charts as plots
from incrowd.reports.elements import DataTable, Figure, HowComputed, ReportSection, statements_of
from incrowd.wording import percent, percentage_points

AFTER = "knowledge"
_METHODS = (
    HowComputed(
        "Which attribute drives the risk",
        "The Shapley value of each attribute for the average risk: its contribution, averaged over all orders (over "
        "random orders for more than 12 attributes).",
        "Shapley 1953, a value for n-person games.",
    ),
)
_MEANS = (
    "If you can change only one column, change the one with the longest bar: generalise or remove it. The parts add "
    "up to the whole risk, so they can be compared."
)


def show(assessment: Assessment, external: bool) -> ReportSection | None:
    if external:
        return None
    parts = assessment.knowledge.contributions
    how = (
        "over every order in which they may become known"
        if parts.orders is None
        else f"over {parts.orders:,} random orders"
    )
    rows = tuple(
        (
            part.column,
            percentage_points(part.correctness),
            percent(parts.share(part)),
            percentage_points(part.uniqueness),
        )
        for part in parts.ranked
    )
    most = parts.ranked[0]
    figure = Figure(
        "drivers",
        f"{most.column} adds most: {percent(parts.share(most))} of what all attributes add to the average risk.",
        plots.contributions_chart(parts),
        DataTable(
            "What each attribute adds", ("attribute", "points of average risk", "share", "points of uniqueness"), rows
        ),
        means=_MEANS,
    )
    return ReportSection(
        "drivers",
        "Which attribute drives the risk",
        f"What each attribute adds to the risk, averaged {how}. The parts add up to the whole.",
        statements=statements_of(assessment, "drivers"),
        figures=(figure,),
        methods=_METHODS,
    )
