"""The figure of each type of result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from incrowd.assessment import Assessment, Knowledge, Leaks, Protection, Verdict
from incrowd.classes import ClassSizes
from incrowd.curves import Curve
from incrowd.evaluation.method_frontier import Frontier
from incrowd.figures import assessment_charts, curve_charts, leak_charts, population_charts, protection_charts
from incrowd.forecasts import Forecast
from incrowd.leaks import LeakTable
from incrowd.measures import Measurement
from incrowd.measures.contribution import Contributions
from incrowd.pitman_yor.model_checks import RankSize
from incrowd.populations import Sensitivity
from incrowd.results import Result


def _planned_leaks(table: LeakTable) -> Any:
    lines = {f"k = {k}": series for k, series in zip(table.ks, table.risks, strict=True)}
    return leak_charts.against_leak(lines)


FIGURES: Mapping[type[Result], Callable[[Any], Any]] = {
    Assessment: assessment_charts.verdict_chart,
    ClassSizes: assessment_charts.class_sizes_chart,
    Contributions: assessment_charts.contributions_chart,
    Curve: curve_charts.curve_plot,
    Forecast: assessment_charts.forecast_chart,
    Frontier: protection_charts.frontier_chart,
    Knowledge: assessment_charts.risk_by_attributes_known_chart,
    LeakTable: _planned_leaks,
    Leaks: assessment_charts.leaks_chart,
    Measurement: lambda result: assessment_charts.class_sizes_chart(result.sizes),
    Protection: assessment_charts.protection_chart,
    RankSize: curve_charts.rank_size_plot,
    Sensitivity: population_charts.plot_sensitivity,
    Verdict: assessment_charts.risk_against_limits_chart,
}
"""The function that draws each type of result."""


def figure_of(result: Result) -> Any | None:
    """Draw a result.

    Args:
        result: any result of this package.

    Returns:
        An Altair chart, or None if there is no figure for this type of result.

    >>> from incrowd import ClassSizes
    >>> figure_of(ClassSizes.from_sizes([3, 2, 1])).to_dict()["title"]["text"]
    'People by class size'
    """
    draw = FIGURES.get(type(result))
    return None if draw is None else draw(result)
