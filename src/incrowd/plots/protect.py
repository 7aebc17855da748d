"""Figures of protection: what every method leaves and costs."""

from __future__ import annotations

from typing import Any

import altair as alt

from incrowd.evaluate import Frontier
from incrowd.plots import look

_NAMES = {
    "partition": "partition",
    "sorted": "sorted (S2)",
    "t-close partition": "partition, t-close",
    "tcloseness": "t-closeness (S4)",
    "coarsen": "coarsening (S3)",
    "generalise": "full-domain generalisation",
}


def frontier_chart(found: Frontier) -> Any:
    """Risk against loss: down and to the left is better; a hollow point still has unique records."""
    rows = [
        {
            "method": _NAMES[point.method],
            "setting": point.setting,
            "lost": 1.0 - point.granularity,
            "risk": point.correctness,
            "order": order,
            "uniques": "some records still unique" if point.uniqueness else "nobody unique",
        }
        for order, point in enumerate(found.points)
    ]
    top = max(point.correctness for point in found.points) * 1.15
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("lost:Q", title="detail lost (1 − granularity)", axis=alt.Axis(format="%")),
        y=alt.Y(
            "risk:Q",
            title="chance of naming the right record",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, top]),
        ),
        color=alt.Color("method:N", title=None, sort=list(_NAMES.values())),
    )
    lines = base.mark_line(strokeWidth=2).encode(order="order:Q")
    dots = base.mark_point(size=80, strokeWidth=2).encode(
        shape=alt.Shape(
            "uniques:N",
            title=None,
            scale=alt.Scale(domain=["nobody unique", "some records still unique"], range=["circle", "cross"]),
        ),
        fill=alt.condition("datum.uniques == 'nobody unique'", alt.Color("method:N", legend=None), alt.value("white")),
        tooltip=["method:N", "setting:N", alt.Tooltip("risk:Q", format=".2%"), alt.Tooltip("lost:Q", format=".2%")],
    )
    names = base.mark_text(align="left", dx=8, dy=-6, fontSize=11).encode(text="setting:N")
    return look.dressed(
        (lines + dots + names).properties(width=look.WIDTH, height=look.HEIGHT),
        title="What protection leaves and costs",
        subtitle="Down and to the left is better: less risk, less detail lost.",
    )
