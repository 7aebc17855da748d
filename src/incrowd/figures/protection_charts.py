"""Figures of protection: the remaining risk and the cost of every method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.evaluation import ColumnDistribution, Frontier
from incrowd.evaluation.method_frontier import FRONTIER_METHODS
from incrowd.figures import theme
from incrowd.figures.assessment_charts import filled_bins
from incrowd.wording import percent

NAMES = {name: compared.label for name, compared in FRONTIER_METHODS.items()}
"""The methods in words."""

_ORDER = ["before", "after"]
_RISKS = {
    "correctness": "chance of naming the right record",
    "uniqueness": "records that are unique",
    "disclosure": "holders for whom the secret is certain",
}


ANSWERS = {"no": "#b3291e", "not yet, or with conditions": "#c48400", "yes": "#1a7f8c"}
"""The answers to whether a protected table may go out, each with the colour that it has on every page."""


def frontier_chart(result: Frontier, risk: str = "correctness", answers: Sequence[str] | None = None) -> Any:
    """Draw risk against loss: lower left is better; a cross still has unique records.

    `risk` is correctness, uniqueness, or disclosure of the secret in the frontier. With `answers`, one of `ANSWERS` for
    each point, the points have the colours of the answers: a no is hollow.
    """
    if risk not in _RISKS:
        raise InputError(f"there is no risk {risk!r} to draw; use {', '.join(_RISKS)}")
    if any(getattr(point, risk) is None for point in result.points):
        raise InputError("the frontier was made without a secret; give sensitive= and secret= to frontier()")
    rows = [
        {
            "method": NAMES[point.method],
            "setting": point.setting,
            "lost": result.lost(point),
            "risk": getattr(point, risk),
            "order": order,
            "uniques": "some records still unique" if point.uniqueness else "nobody unique",
            "answer": answers[order] if answers else "",
        }
        for order, point in enumerate(result.points)
    ]
    by_detail = result.loss == "granularity"
    loss_name = "detail lost" if by_detail else "pMSE"
    top = min(1.0, max(getattr(point, risk) for point in result.points) * 1.15) or 0.01
    base = theme.base_chart(rows).encode(
        x=alt.X(
            "lost:Q", title=loss_name, axis=alt.Axis(format="%" if by_detail else "~g"), scale=alt.Scale(zero=True)
        ),
        y=alt.Y("risk:Q", title=_RISKS[risk], axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, top])),
        color=alt.Color("method:N", title=None, sort=list(NAMES.values())),
    )
    lines = base.mark_line(strokeWidth=2).encode(order=alt.Order("order:Q"))
    if answers:
        lines = lines.mark_line(strokeWidth=1, color=theme.GREY).encode(color=alt.value(theme.GREY), detail="method:N")
        scale = alt.Scale(domain=list(ANSWERS), range=list(ANSWERS.values()))
        base = base.encode(color=alt.Color("answer:N", title=None, scale=scale))
    dots = base.mark_point(size=90, filled=True, opacity=1).encode(
        shape=alt.Shape(
            "uniques:N",
            title=None,
            scale=alt.Scale(domain=["nobody unique", "some records still unique"], range=["circle", "cross"]),
            legend=alt.Legend(symbolFillColor=theme.GREY, symbolStrokeColor=theme.GREY),
        ),
        tooltip=[
            alt.Tooltip("method:N"),
            alt.Tooltip("setting:N"),
            *theme.percent_tooltips("risk", *(["lost"] if by_detail else [])),
        ],
    )
    if answers:
        dots = dots.mark_point(size=90, filled=False, strokeWidth=1.5, opacity=1).encode(
            color=alt.Color("answer:N", scale=scale, legend=None),
            fill=alt.Fill("answer:N", title=None, scale=scale),
            fillOpacity=alt.condition(alt.datum.answer == "no", alt.value(0), alt.value(1)),
        )
    # S4 costs about as much as S2: its names go below the points, so that they do not cover each other
    below = alt.datum.method == NAMES["tcloseness"]
    names = [
        base.transform_filter(~below)
        .mark_text(align="left", dx=8, dy=-6, fontSize=11)
        .encode(text=alt.Text("setting:N"), **_plain_words(answers))
    ]
    if any(point.method == "tcloseness" for point in result.points):
        lower = base.transform_filter(below).mark_text(align="right", dx=-6, dy=10, fontSize=11)
        names.append(lower.encode(text=alt.Text("setting:N"), **_plain_words(answers)))
    return theme.with_titles(
        alt.layer(lines, dots, *names),
        title="What protection leaves and costs",
        subtitle=f"Down and to the left is better: less risk, less {loss_name}.",
    )


def _plain_words(answers: Sequence[str] | None) -> dict[str, Any]:
    """The encoding of names beside points whose colour is an answer: words have none."""
    return {"color": alt.value(theme.GREY)} if answers else {}


def before_and_after(before: ClassSizes, after: ClassSizes) -> Any:
    """Draw the number of people by class size, before and after protection, side by side."""
    rows = [
        {**row, "table": table} for table, bins in zip(_ORDER, filled_bins(before, after), strict=True) for row in bins
    ]
    x = alt.X("size:N", sort=None, title="people who look alike", axis=alt.Axis(labelAngle=0))
    y = alt.Y("share:Q", title="share of people", axis=alt.Axis(format="~%"))
    chart = _paired_bars(rows, x, y, theme.HEIGHT, ["size:N", alt.Tooltip("people:Q", format=",")])
    subtitle = f"{percent(before.uniqueness)} of the people stood alone before, {percent(after.uniqueness)} after"
    return theme.with_titles(chart, title="People by class size, before and after", subtitle=subtitle)


def distribution_chart(result: ColumnDistribution) -> Any:
    """The values of one column before protection and after it, side by side."""
    rows = [
        {"values": group, "share": share, "table": table}
        for table, shares in zip(_ORDER, (result.before, result.after), strict=True)
        for group, share in zip(result.groups, shares, strict=True)
    ]
    x = alt.X("values:N", sort=None, title=None, axis=alt.Axis(labelAngle=-40, labelLimit=110))
    y = alt.Y("share:Q", title="share of rows", axis=alt.Axis(format="~%", tickCount=4))
    subtitle = f"{percent(result.distance)} of the rows would have to move to make both alike"
    return theme.with_titles(_paired_bars(rows, x, y, 220, ["values:N"]), title=result.column, subtitle=subtitle)


def _paired_bars(rows: list[dict[str, Any]], x: alt.X, y: alt.Y, height: int, tooltip: list[Any]) -> Any:
    """Two bars side by side at each place: before and after."""
    scale = alt.Scale(domain=_ORDER, range=[theme.ORANGE, theme.BLUE])
    return (
        theme.base_chart(rows, height)
        .mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        .encode(
            x=x,
            xOffset=alt.XOffset("table:N", sort=_ORDER),
            y=y,
            color=alt.Color("table:N", title=None, sort=_ORDER, scale=scale),
            tooltip=[alt.Tooltip("table:N"), *tooltip, *theme.percent_tooltips("share")],
        )
    )
