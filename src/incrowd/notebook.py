"""How results look in a notebook: a small table instead of a line of code."""

from __future__ import annotations

from html import escape
from typing import Any

_MOST = 40  # entries shown; the rest is counted


class Shown:
    """Gives a result with `to_dict` a table in notebooks. It has no fields of its own."""

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


def _written(value: Any) -> str:
    """A value in a cell; what is long is summed up."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, dict):
        return (
            f"{len(value):,} entries" if len(value) > 6 else ", ".join(f"{k}: {_written(v)}" for k, v in value.items())
        )
    if isinstance(value, list):
        short = len(value) <= 8 and not any(isinstance(entry, dict | list) for entry in value)
        return ", ".join(_written(entry) for entry in value) if short else f"{len(value):,} entries"
    return "–" if value is None else str(value)[:300]
