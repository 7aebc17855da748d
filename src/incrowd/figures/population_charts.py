"""Figures on the risk in the population."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from incrowd.figures import theme
from incrowd.recipients import RECIPIENTS
from incrowd.wording import number

if TYPE_CHECKING:
    from incrowd.populations import Sensitivity


_RISK = "sample → population (B)"


def plot_sensitivity(result: Sensitivity) -> Any:
    """B against the population assumed, with its interval and the usual limits."""
    base = theme.base_chart({**row, "label": f"×{number(row['factor'])}"} for row in result.rows)
    sizes = [row["population"] for row in result.rows]
    across = alt.X(
        "population:Q",
        title="people in the population",
        scale=alt.Scale(type="log", nice=False, domain=[0.92 * min(sizes), 1.08 * max(sizes)]),
        axis=alt.Axis(values=sizes, format=".3~s", labelOverlap=True),
    )
    up = alt.Y("B:Q", title=_RISK, scale=alt.Scale(zero=True))
    base = base.encode(x=across)
    line = base.mark_line(color=theme.BLUE, point={"size": 60, "color": theme.BLUE}).encode(
        y=up, tooltip=_tooltip("B", "low", "high")
    )
    labels = base.mark_text(dy=-14, color=theme.GREY, fontSize=12).encode(y=up, text=alt.Text("label:N"))
    return theme.with_titles(
        alt.layer(_band(base), line, labels, *_limits(result)),
        title="If the population is not what you think",
        subtitle=f"{result.assumed.people:,} people sampled, {result.assumed.population:,} assumed; band: 95% interval",
    )


def plot_by_fraction(result: Sensitivity) -> Any:
    """B against the share of the population that is in the sample."""
    across = alt.X("fraction:Q", title="share of the population in the sample", scale=alt.Scale(type="log"))
    up = alt.Y("B:Q", title=_RISK, scale=alt.Scale(domain=[0, 1]))
    base = theme.base_chart(result.rows).encode(x=across)
    line = base.mark_line(color=theme.BLUE, point=True).encode(y=up, tooltip=_tooltip("B"))
    return theme.with_titles(
        alt.layer(_band(base), line),
        title="The smaller a part of everybody the sample is, the lower the risk",
        subtitle=f"{result.assumed.people:,} people sampled; band: 95% interval",
    )


def _band(base: Any) -> Any:
    """The interval of B."""
    return base.mark_area(opacity=0.18, color=theme.BLUE).encode(y=alt.Y("low:Q", title=_RISK), y2=alt.Y2("high:Q"))


def _limits(result: Sensitivity) -> list[Any]:
    """The limits for each kind of recipient that lie within the figure, each with its name."""
    highest = max(row["high"] for row in result.rows)
    right = max(row["population"] for row in result.rows)
    by_limit: dict[float, list[str]] = {}
    for one in RECIPIENTS:
        by_limit.setdefault(one.limits.of_average, []).append(one.words)
    shown = [
        {"limit": limit, "name": f"1/{round(1 / limit)}: {' and '.join(names)}", "population": right}
        for limit, names in by_limit.items()
        if limit <= highest
    ]
    if not shown:
        return []
    data = theme.inline(shown)
    rules = alt.Chart(data).mark_rule(color=theme.RED, strokeDash=[4, 4], opacity=0.7).encode(y=alt.Y("limit:Q"))
    names = (
        alt.Chart(data)
        .mark_text(align="right", dy=-6, dx=16, color=theme.RED, fontSize=11)
        .encode(x=alt.X("population:Q"), y=alt.Y("limit:Q"), text=alt.Text("name:N"))
    )
    return [rules, names]


def _tooltip(*shares: str) -> list[alt.Tooltip]:
    """The tooltip of a point, with a few digits."""
    return [
        alt.Tooltip("population:Q", format=",.0f"),
        alt.Tooltip("fraction:Q", format=".3~g"),
        *theme.percent_tooltips(*shares),
    ]
