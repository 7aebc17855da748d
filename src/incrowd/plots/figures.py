"""Which figure shows which result: the one list that notebooks go by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def _from(module: str, function: str, *path: str) -> Callable[[Any], Any]:
    """A function that draws the result, or the part of it that `path` leads to; imported when it is first needed."""

    def draw(result: Any) -> Any:
        for name in path:
            result = getattr(result, name)
        return getattr(import_module(f"incrowd.plots.{module}"), function)(result)

    return draw


def _planned_leaks(table: Any) -> Any:
    lines = {f"k = {k}": series for k, series in zip(table.ks, table.risks, strict=True)}
    return import_module("incrowd.plots.leak").against_leak(lines)


FIGURES: Mapping[str, Callable[[Any], Any]] = {
    "Assessment": _from("assess", "overview"),
    "ClassSizes": _from("assess", "class_sizes"),
    "Contributions": _from("assess", "contributions"),
    "Curve": _from("curves", "curve_plot"),
    "Forecast": _from("assess", "forecast"),
    "Frontier": _from("protect", "frontier_chart"),
    "Knowledge": _from("assess", "by_attributes_known"),
    "LeakTable": _planned_leaks,
    "Leaks": _from("assess", "leaks"),
    "Measurement": _from("assess", "class_sizes", "sizes"),
    "Protection": _from("assess", "protection"),
    "RankSize": _from("curves", "rank_size_plot"),
    "Sensitivity": _from("population", "plot_sensitivity"),
    "Verdict": _from("assess", "against_thresholds"),
}
"""By the name of the result's class, so that no room has to be imported to know whether there is one."""


def figure_of(result: Any) -> Any | None:
    """The chart of a result, or None where it has none.

    >>> from incrowd import ClassSizes
    >>> figure_of(ClassSizes.from_sizes([3, 2, 1])).to_dict()["title"]["text"]
    'How large the crowds are'
    """
    draw = FIGURES.get(type(result).__name__)
    return None if draw is None else draw(result)
