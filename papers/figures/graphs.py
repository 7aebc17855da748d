"""Drawings of small graphs: trees of a recursion, the trees of a vine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from incrowd.figures.theme import BLUE, GREY, WIDTH, inline, with_titles

Place = tuple[float, float]


def graph_figure(
    nodes: Mapping[str, Place],
    edges: Sequence[tuple[Place, Place, str]],
    *,
    title: str,
    subtitle: str = "",
    height: int = 260,
) -> Any:
    """Nodes with their names, joined by lines that may have names too; x goes right, y goes up."""
    ends = [{"x": a, "y": b, "x2": c, "y2": d} for (a, b), (c, d), _ in edges]
    names = [{"x": (a + c) / 2, "y": (b + d) / 2, "name": name} for (a, b), (c, d), name in edges if name]
    named = alt.Chart(inline([{"x": x, "y": y, "name": name} for name, (x, y) in nodes.items()]))
    across, up = (alt.X("x:Q", axis=None, scale=_scale(0, nodes)), alt.Y("y:Q", axis=None, scale=_scale(1, nodes)))
    chart = alt.layer(
        alt.Chart(inline(ends)).mark_rule(color=GREY).encode(x=across, y=up, x2="x2:Q", y2="y2:Q"),
        alt.Chart(inline(names)).mark_text(color=BLUE, dy=-8, fontSize=12).encode(x=across, y=up, text="name:N"),
        named.mark_square(color="white", size=1_600, opacity=1).encode(x=across, y=up),
        named.mark_text(fontSize=13, fontWeight="bold", lineBreak="\n", baseline="middle").encode(
            x=across, y=up, text="name:N"
        ),
    )
    return with_titles(chart.properties(width=WIDTH, height=height), title=title, subtitle=subtitle)


def _scale(axis: int, nodes: Mapping[str, Place]) -> Any:
    """All nodes, with half a step around them for their names."""
    places = [place[axis] for place in nodes.values()]
    return alt.Scale(domain=[min(places) - 0.5, max(places) + 0.5], nice=False)
