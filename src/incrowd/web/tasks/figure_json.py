"""Figures as JSON: Vega-Lite, the numbers and a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from incrowd.reports import Figure, chart_spec
from incrowd.wording import display_names, with_display_names


def as_figures(figures: Iterable[Figure], columns: Sequence[str] = ()) -> dict[str, Any]:
    """The figures by name, with display names in place of column names that are not fit to show."""
    shown = display_names(columns)
    return {
        figure.name: with_display_names(
            {
                "title": figure.title,
                "sentence": figure.says,
                "means": figure.means,
                "spec": chart_spec(figure),
                "table": {
                    "caption": figure.table.caption,
                    "columns": list(figure.table.columns),
                    "rows": [list(row) for row in figure.table.rows],
                },
            },
            shown,
        )
        for figure in figures
    }
