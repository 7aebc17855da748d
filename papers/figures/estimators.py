"""Figures of the study of population estimators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from incrowd.figures.theme import BLUE, GREEN, GREY, HEIGHT, ORANGE, RED, WIDTH, inline, with_titles

_OWN = (BLUE, GREEN, "#4aa3b5")
_PAPER = (RED, ORANGE, "#c2709b")
_REST = ("#5b6470", "#8a8f98", "#b0b4bb", "#8c6d4f")


def error_figure(rows: Sequence[Mapping[str, Any]], methods: Sequence[str], paper: Sequence[str], limit: float) -> Any:
    """Median error of each estimator by `fraction` or by `risk`, on a log scale; the paper's limit is dashed."""
    by_risk = "risk" in rows[0]
    across = (
        alt.X("risk:N", title="true risk B", sort=None, axis=alt.Axis(labelAngle=0))
        if by_risk
        else alt.X("fraction:Q", title="share of the population in the sample", axis=alt.Axis(format="%"))
    )
    ticks = alt.Axis(format="~g", values=[10.0**power for power in range(-6, 1)])
    up = alt.Y("error:Q", title="median |estimate − truth|", scale=alt.Scale(type="log"), axis=ticks)
    kept = [row for row in rows if row["error"] > 0]  # an error of 0 has no place on a log scale
    lines = (
        alt.Chart(inline(kept))
        .mark_line(point=alt.OverlayMarkDef(size=26, aria=False), clip=True)
        .encode(
            x=across,
            y=up,
            color=alt.Color("method:N", title=None, scale=_colors(methods, paper)),
            strokeDash=alt.StrokeDash("kind:N", title=None, legend=None, scale=_dashes()),
        )
        .transform_calculate(kind=f"indexof({list(paper)!r}, datum.method) >= 0 ? 'paper' : 'other'")
    )
    rule = alt.Chart(inline([{"error": limit}])).mark_rule(color=GREY, strokeDash=[2, 3]).encode(y=up)
    title = "Error by true risk" if by_risk else "Error by sampling fraction"
    return with_titles(
        alt.layer(rule, lines).properties(width=WIDTH, height=HEIGHT),
        title=title,
        subtitle="long dashes: the paper's estimators; dotted line: the paper's 0.05",
    )


def estimates_figure(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Estimate against truth, a panel an estimator."""
    scale = alt.Scale(domain=[0, 1])
    panels = []
    for method in dict.fromkeys(row["method"] for row in rows):
        chosen = [row for row in rows if row["method"] == method]
        dots = (
            alt.Chart(inline(chosen))
            .mark_circle(color=BLUE, size=22, opacity=0.6, aria=False)
            .encode(
                x=alt.X("truth:Q", title="true B", scale=scale), y=alt.Y("estimate:Q", title="estimate", scale=scale)
            )
        )
        ends = inline([{"truth": 0, "estimate": 0}, {"truth": 1, "estimate": 1}])
        line = alt.Chart(ends).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="truth:Q", y="estimate:Q")
        panels.append(
            alt.layer(line, dots).properties(
                width=230, height=210, title=alt.TitleParams(method, fontSize=13, anchor="start")
            )
        )
    pairs = [alt.hconcat(*panels[start : start + 2]) for start in range(0, len(panels), 2)]
    return with_titles(alt.vconcat(*pairs), title="Estimates against the truth", subtitle="each dot is one sample")


def wrong_population_figure(rows: Sequence[Mapping[str, Any]], methods: Sequence[str]) -> Any:
    """Change of the estimate by the factor N is wrong by: median, and the middle 80 % of cases."""
    factors = sorted({float(row["factor"]) for row in rows})
    scale = alt.Scale(type="log", domain=[factors[0], factors[-1]], nice=False)
    base = alt.Chart(inline(list(rows))).encode(
        x=alt.X("factor:Q", title="N assumed / true N", scale=scale, axis=alt.Axis(values=factors)),
        color=alt.Color(
            "method:N",
            title=None,
            scale=alt.Scale(domain=list(methods), range=[BLUE, RED, GREEN]),
            legend=alt.Legend(symbolOpacity=1),
        ),
    )
    percent = alt.Axis(format="+%")
    band = base.mark_area(opacity=0.12).encode(
        y=alt.Y("low:Q", title="change of the estimate", axis=percent), y2="high:Q"
    )
    line = base.mark_line(point=True).encode(y=alt.Y("change:Q", title="change of the estimate", axis=percent))
    return with_titles(
        alt.layer(band, line).properties(width=WIDTH, height=HEIGHT),
        title="A population assumed too large hides risk",
        subtitle="median change of the estimate and the middle 80 % of cases",
    )


def _colors(methods: Sequence[str], paper: Sequence[str]) -> Any:
    """Ours in blue and green, the paper's in red and orange, the classical ones in greys."""
    own, theirs, rest = iter(_OWN), iter(_PAPER), iter(_REST)
    first = [*methods[:3]]
    colors = [next(theirs) if one in paper else next(own) if one in first else next(rest) for one in methods]
    return alt.Scale(domain=list(methods), range=colors)


def _dashes() -> Any:
    return alt.Scale(domain=["other", "paper"], range=[[1, 0], [7, 4]])
