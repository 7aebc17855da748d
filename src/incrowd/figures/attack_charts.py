"""Figures of attacks on a release: the risk of each with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from incrowd.figures.theme import BLUE, GREY, WIDTH, inline, with_titles
from incrowd.wording import percent, percent_interval

if TYPE_CHECKING:
    from incrowd.attacks import ReleaseAttacks

_ROW = 26  # height of an attack's row in pixels


def attack_plot(found: ReleaseAttacks, limit: float | None = None) -> Any:
    """Draw the risk of every attack with its 95% interval, in the order in which they were run.

    Args:
        found: the attacks on a release.
        limit: the highest accepted risk, drawn as a dashed line.

    Returns:
        An Altair chart.
    """
    rows = [
        {
            "attack": name,
            "risk": one.risk.value,
            "low": one.risk.low,
            "high": one.risk.high,
            "succeeds": success,
            "without the release": control,
            "risk, 95% interval": f"{risk} ({interval})",
        }
        for one, (name, success, control, risk, interval) in zip(found.attacks, found.as_text(), strict=True)
    ]
    names = [name for name, *_ in found.as_text()]
    base = alt.Chart(inline(rows), width=WIDTH, height=_ROW * max(len(rows), 2)).encode(
        y=alt.Y("attack:N", title=None, sort=names, axis=alt.Axis(labelLimit=260, labelOverlap=False)),
        tooltip=[
            alt.Tooltip(f"{field}:N") for field in ("attack", "succeeds", "without the release", "risk, 95% interval")
        ],
    )
    risk = alt.X("risk:Q", title="risk", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
    lines = base.mark_rule(color=GREY, strokeWidth=3).encode(x=alt.X("low:Q", title="risk"), x2=alt.X2("high:Q"))
    points = base.mark_circle(color=BLUE, size=90, opacity=1).encode(x=risk)
    drawn = lines + points
    if limit is not None:
        drawn += alt.Chart(inline([{"limit": limit}])).mark_rule(color=GREY, strokeDash=[5, 4]).encode(x="limit:Q")
    worst = found.worst
    subtitle = (
        "no attack could be run"
        if worst is None
        else f"highest: {worst.about}, {percent(worst.risk.value)} "
        f"({percent_interval(worst.risk.low, worst.risk.high)})"
    )
    return with_titles(drawn, title="Risk of the release, by attack", subtitle=subtitle)
