"""Figures of the leak study: the risk by class size, and how far the published recursion is off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import altair as alt

from incrowd.figures.leak_charts import interval_of, with_trials
from incrowd.figures.theme import BLUE, HEIGHT, PALETTE, WIDTH, with_titles
from incrowd.leaks import LeakSimulation


def against_k(
    exact: Mapping[int, float], simulations: Mapping[int, LeakSimulation], *, title: str = "Larger classes, less risk"
) -> Any:
    """Chance of naming one person against the size of classes (the paper's Fig. 3a, left)."""
    line = [{"k": k, "chance": chance} for k, chance in exact.items()]
    points = [{"k": k, "chance": found.probability, **interval_of(found)} for k, found in simulations.items()]
    x = alt.X(
        "k:Q", title="People in a class, k", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False, zero=False)
    )
    y = alt.Y("chance:Q", title="Chance that the person is named", scale=alt.Scale(zero=True))
    base = alt.Chart({"values": points})
    chart = (
        alt.Chart({"values": line}, width=WIDTH, height=HEIGHT).mark_line(strokeWidth=2, color=BLUE).encode(x=x, y=y)
        + base.mark_rule(color=BLUE).encode(x=x, y="low:Q", y2="high:Q")
        + base.mark_circle(size=55, opacity=1, color=BLUE).encode(x=x, y=y)
    )
    return with_titles(chart, title=title, subtitle=with_trials("The line is exact", {"": list(simulations.values())}))


def error_against_leak(
    errors: Iterable[tuple[int, str, str, float]],
    *,
    title: str = "The recursion is close, not exact",
    subtitle: str = "It draws a new leak for every person looked for, and counts classes instead of people",
) -> Any:
    """Relative errors against the people leaked: a colour for each second, a kind of line for each third entry."""
    rows = [{"leaked": leaked, "label": label, "kind": kind, "off": off} for leaked, label, kind, off in errors]
    order = list(dict.fromkeys(str(row["label"]) for row in rows))
    apart = alt.Axis(format=",d", labelOverlap="greedy", labelSeparation=8)
    x = alt.X("leaked:Q", title="People leaked", axis=apart, scale=alt.Scale(nice=False))
    base = alt.Chart({"values": rows}, width=WIDTH, height=HEIGHT).encode(
        x=x,
        y=alt.Y("off:Q", title="Recursion against the exact chance", axis=alt.Axis(format="+.1%")),
        color=alt.Color("label:N", title=None, scale=alt.Scale(domain=order, range=PALETTE)),
    )
    dashes = alt.StrokeDash("kind:N", title=None, legend=alt.Legend(symbolType="stroke"))
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dashes)
    return with_titles(lines + base.mark_circle(size=30, opacity=1), title=title, subtitle=subtitle)
