"""How results look in a notebook and printed: a small table, and a figure where there is one, not a line of code."""

from __future__ import annotations

import base64
import json
from collections.abc import Container
from html import escape
from importlib import import_module
from typing import Any

from incrowd.errors import IncrowdError

_MOST = 40  # entries shown; the rest is counted


class Shown:
    """Gives a result with `to_dict` a table in notebooks, and its figure. It has no fields of its own."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; every result has its own."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        rows = [
            f'<tr><th style="text-align:left">{escape(name.replace("_", " "))}</th>'
            f'<td style="text-align:left">{escape(_written(value))}</td></tr>'
            for name, value in self.to_dict().items()
        ]
        name = escape(type(self).__name__)
        return f'<table><caption style="text-align:left">{name}</caption>{"".join(rows[:_MOST])}</table>'

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, Any]:
        """The same result as text, as HTML and, where it has a figure, as Vega-Lite for viewers that draw it."""
        bundle: dict[str, Any] = {"text/plain": str(self), "text/html": self._repr_html_()}
        chart = _figure(self)
        if chart is not None:
            spec = chart.to_dict()
            bundle["text/html"] += _picture(spec)
            bundle[_vega_lite(spec)] = spec
        return {
            kind: shown
            for kind, shown in bundle.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }

    def __str__(self) -> str:
        """The same table as text; `repr` has the fields as they are."""
        entries = list(self.to_dict().items())[:_MOST]
        width = max((len(name) for name, _ in entries), default=0)
        lines = [f"  {name.replace('_', ' '):<{width}}  {_written(value)}" for name, value in entries]
        return "\n".join([type(self).__name__, *lines])


def _figure(result: Shown) -> Any | None:
    """The chart of a result; none where it has none, or where it is too small to draw."""
    figures = import_module("incrowd.plots.figures")  # its room is below this one
    try:
        return figures.figure_of(result)
    except IncrowdError:
        return None


def _picture(spec: dict[str, Any]) -> str:
    """The chart as a picture within the page, for every viewer."""
    import vl_convert

    drawn = base64.b64encode(vl_convert.vegalite_to_svg(json.dumps(spec)).encode()).decode()
    title = escape(str(spec.get("title", {}).get("text", "figure")), quote=True)
    return f'<img alt="{title}" src="data:image/svg+xml;base64,{drawn}">'


def _vega_lite(spec: dict[str, Any]) -> str:
    """The MIME type of the spec's own version of Vega-Lite."""
    version = spec["$schema"].rsplit("/v", 1)[1].split(".")[0]
    return f"application/vnd.vegalite.v{version}+json"


def as_people_write(number: float) -> str:
    """Four digits of a small number, thousands apart of a large one.

    >>> as_people_write(13_650.0), as_people_write(0.03121)
    ('13,650', '0.03121')
    """
    return f"{number:,.0f}" if abs(number) >= 1e4 else f"{number:.4g}"


def _written(value: Any) -> str:
    """A value in a cell; what is long is summed up."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return as_people_write(value)
    if isinstance(value, dict):
        return (
            f"{len(value):,} entries" if len(value) > 6 else ", ".join(f"{k}: {_written(v)}" for k, v in value.items())
        )
    if isinstance(value, list):
        short = len(value) <= 8 and not any(isinstance(entry, dict | list) for entry in value)
        return ", ".join(_written(entry) for entry in value) if short else f"{len(value):,} entries"
    return "–" if value is None else str(value)[:300]
