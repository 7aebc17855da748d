"""Charts as SVG inside a page: they need no script, so that a report is small and prints as it is shown."""

from __future__ import annotations

import re
from typing import Any

from incrowd.reports.elements import Figure
from incrowd.reports.template_values import chart_spec
from incrowd.wording import with_display_names

_WIDTH = 640
_CONFIG: dict[str, Any] = {
    "font": "system-ui, sans-serif",
    "background": "transparent",
    "view": {"stroke": None},
    "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500, "labelLimit": 240, "labelOverlap": True},
    "legend": {"labelFontSize": 12, "titleFontSize": 12, "orient": "top", "labelLimit": 300, "columns": 2},
    "range": {"category": ["#2f6db5", "#d9822b", "#3c8d5a", "#c23b3b", "#7a5ea8", "#8c6d4f", "#8a8f98"]},
}
_NUMBERS = re.compile(r"(\d+\.\d{2})\d+")
_IDS = re.compile(r'(id="|url\(#)([\w-]+)')


def static_chart(figure: Figure, shown: dict[str, str]) -> str:
    """The chart of a figure as SVG, which the style sheet of the page colours.

    Args:
        figure: the figure.
        shown: display names of columns whose own names are not fit to show.
    """
    import vl_convert

    spec = with_display_names(chart_spec(figure), shown)
    spec = {name: part for name, part in spec.items() if name != "autosize"} | {"width": _WIDTH, "config": _CONFIG}
    for part in spec.get("layer", ()):
        part.pop("width", None)
    drawn: str = vl_convert.vegalite_to_svg(spec)
    drawn = _NUMBERS.sub(r"\1", drawn)
    places: dict[str, str] = {}  # the ids count all drawings of the process, and those of a page must differ

    def renamed(match: re.Match[str]) -> str:
        return match[1] + places.setdefault(match[2], f"{figure.name}-{len(places)}")

    return _IDS.sub(renamed, drawn)
