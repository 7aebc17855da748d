"""Which figure shows which result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from incrowd.assessment import Assessment, Knowledge, Leaks, Protection, Verdict
from incrowd.classes import ClassSizes
from incrowd.curves import Curve
from incrowd.evaluation.frontier import Frontier
from incrowd.figures import assess, curves, leak, population, protect
from incrowd.forecasts import Forecast
from incrowd.leaks import LeakTable
from incrowd.measures import Measurement
from incrowd.measures.contribution import Contributions
from incrowd.pitman_yor.model_checks import RankSize
from incrowd.populations import Sensitivity
from incrowd.results import Result


def _planned_leaks(table: LeakTable) -> Any:
    lines = {f"k = {k}": series for k, series in zip(table.ks, table.risks, strict=True)}
    return leak.against_leak(lines)


FIGURES: Mapping[type[Result], Callable[[Any], Any]] = {
    Assessment: assess.overview,
    ClassSizes: assess.class_sizes,
    Contributions: assess.contributions,
    Curve: curves.curve_plot,
    Forecast: assess.forecast,
    Frontier: protect.frontier_chart,
    Knowledge: assess.by_attributes_known,
    LeakTable: _planned_leaks,
    Leaks: assess.leaks,
    Measurement: lambda found: assess.class_sizes(found.sizes),
    Protection: assess.protection,
    RankSize: curves.rank_size_plot,
    Sensitivity: population.plot_sensitivity,
    Verdict: assess.against_thresholds,
}
"""The function that draws each type of result."""


def figure_of(result: Result) -> Any | None:
    """The chart of a result, or None where it has none.

    >>> from incrowd import ClassSizes
    >>> figure_of(ClassSizes.from_sizes([3, 2, 1])).to_dict()["title"]["text"]
    'How large the crowds are'
    """
    draw = FIGURES.get(type(result))
    return None if draw is None else draw(result)
