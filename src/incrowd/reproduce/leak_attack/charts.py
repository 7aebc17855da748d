"""Figures of the leak paper that nothing else needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import altair as alt

from incrowd.leak import LeakSimulation
from incrowd.plots.look import BLUE, HEIGHT, PALETTE, WIDTH, dressed

if TYPE_CHECKING:
    from incrowd.reproduce.leak_attack.several import Answers


def against_k(exact: Mapping[int, float], simulations: Mapping[int, LeakSimulation]) -> Any:
    """The chance of naming one person against the size of classes."""
    line = [{"k": k, "chance": chance} for k, chance in exact.items()]
    points = [
        {"k": k, "chance": found.probability, "low": low, "high": high}
        for k, found in simulations.items()
        for low, high in [found.interval or (found.probability, found.probability)]
    ]
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
    trials = max(found.trials for found in simulations.values())
    return dressed(
        chart,
        title="Larger classes, less risk",
        subtitle=f"The line is exact; points are {trials:,} simulated leaks with their 95 % interval",
    )


def recursion_error(found: list[Answers]) -> Any:
    """How far both recursions are from the exact chance, over the leak."""
    rows = [
        {"leaked": one.exact.leaked, "people": f"{one.exact.targets} people", "weights": name, "off": one.off(other)}
        for one in found
        if one.exact.targets > 1
        for name, other in (("as published", one.published), ("weighed by people", one.by_people))
    ]
    order = list(dict.fromkeys(str(row["people"]) for row in rows))
    chart = (
        alt.Chart({"values": rows}, width=WIDTH, height=HEIGHT)
        .mark_line(point=True, strokeWidth=2)
        .encode(
            x=alt.X("leaked:Q", title="People leaked", axis=alt.Axis(format=",d"), scale=alt.Scale(nice=False)),
            y=alt.Y("off:Q", title="Recursion against the exact chance", axis=alt.Axis(format="+.1%")),
            color=alt.Color("people:N", title=None, scale=alt.Scale(domain=order, range=PALETTE)),
            strokeDash=alt.StrokeDash("weights:N", title=None),
        )
    )
    return dressed(
        chart,
        title="The recursion is close, not exact",
        subtitle="It draws a new leak for every person looked for, and counts classes instead of people",
    )
