"""Figures of leak attacks: risk against the leak, risk against the targets, and the risk of single people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from incrowd.errors import InputError
from incrowd.figures.theme import GREY, PALETTE, base_chart, percent_tooltips, with_titles
from incrowd.leaks import LeakRisk, LeakSimulation
from incrowd.recipients import recipient_of
from incrowd.wording import chosen_percent

Risks = Mapping[str, Sequence[LeakRisk]]
Simulations = Mapping[str, Sequence[LeakSimulation]]


def against_leak(
    risks: Risks,
    *,
    simulations: Simulations | None = None,
    thresholds: Iterable[float] | Mapping[float, str] = (),
    leaked: int | None = None,
    subtitle: str = "Lines are exact",
) -> Any:
    """Draw the chance of naming all targets against the people leaked, a line for each label (the paper's Fig. 2, 4b).

    Simulations are points with their 95% interval (if there are enough trials), `thresholds` are dashed lines, and
    `leaked` is a vertical line. A mapping of `thresholds` gives their names; otherwise a threshold is named by its
    recipient, if all lines are for one target.
    """
    of_one = all(risk.targets == 1 for series in risks.values() for risk in series)
    chart = _lines(risks, simulations, "leaked", "People leaked")
    for bound in dict.fromkeys(thresholds):
        name = thresholds[bound] if isinstance(thresholds, Mapping) else recipient_of(bound) if of_one else None
        data = {"values": [{"bound": bound, "text": f"{_limit_in_words(bound)}: {name or 'the highest accepted'}"}]}
        rule = alt.Chart(data).mark_rule(color=GREY, strokeDash=[5, 4]).encode(y=alt.Y("bound:Q"))
        words = alt.Chart(data).mark_text(color="#555b66", align="right", dx=-4, dy=9, x="width")
        chart += rule + words.encode(y=alt.Y("bound:Q"), text=alt.Text("text:N"))
    if leaked is not None:
        chart += (
            alt.Chart({"values": [{"leaked": leaked}]})
            .mark_rule(color=GREY, strokeDash=[2, 3], strokeWidth=1.5)
            .encode(x=alt.X("leaked:Q"))
        )
    title = "How likely a leak names the people looked for"
    return with_titles(chart, title=title, subtitle=with_trials(subtitle, simulations))


def _limit_in_words(bound: float) -> str:
    """A limit as a class size if it is one, such as 1/11, otherwise in percent."""
    size = round(1 / bound)
    return f"1/{size}" if math.isclose(bound, 1 / size) else chosen_percent(bound)


def leaks_to_draw(targets: int, leaked: int, people: int) -> list[int]:
    """Sizes of leaks for a line: even steps, smaller steps near the smallest leak, and `leaked` itself.

    >>> leaks_to_draw(2, 4, 6)
    [2, 3, 4, 5, 6]
    """
    even = {round(people * step / 40) for step in range(1, 41)}
    close = {targets - 1 + round((people - targets + 1) ** (step / 40)) for step in range(41)}
    return sorted(step for step in even | close | {leaked} if targets <= step <= people)


def against_targets(
    risks: Risks,
    *,
    simulations: Simulations | None = None,
    dashed: Iterable[str] = (),
    title: str = "How likely several people are all named",
    subtitle: str = "Lines are exact",
) -> Any:
    """Draw the chance of naming all targets against their number, a line for each label (the paper's Fig. 4a and 5).

    Labels in `dashed` have dashed lines.
    """
    chart = _lines(risks, simulations, "targets", "People the attacker looks for", frozenset(dashed))
    return with_titles(chart, title=title, subtitle=with_trials(subtitle, simulations))


def single_risks(simulations: Mapping[str, LeakSimulation]) -> Any:
    """Draw the number of people by their chance of being named, a panel for each label (the paper's Fig. 3)."""
    rows = [
        {"label": label, "risk": _written(risk), "order": -risk, "share": share}
        for label, simulated in simulations.items()
        for risk, share in simulated.risks
        if share >= 5e-4  # smaller bars would be invisible
    ]
    panels = [
        alt.Chart({"values": [row for row in rows if row["label"] == label]}, title=label, width=210, height=220)
        .mark_bar(color=PALETTE[index % len(PALETTE)])
        .encode(
            x=alt.X("risk:N", sort=alt.SortField("order", order="descending"), title="Chance of being named"),
            y=alt.Y("share:Q", title="Share of people", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            tooltip=[alt.Tooltip("label:N"), alt.Tooltip("risk:N"), *percent_tooltips("share")],
        )
        for index, label in enumerate(simulations)
    ]
    return with_titles(
        alt.hconcat(*panels),
        title="How likely each person is named",
        subtitle="Share of people by their chance of being named: 0 outside the leak, 1/h with h alike in it",
    )


def _written(risk: float) -> str:
    """A risk as a fraction: 0, 1, 1/2, 1/3 …"""
    return f"{risk:.0f}" if risk in (0, 1) else f"1/{round(1 / risk)}"


def _lines(
    risks: Risks,
    simulations: Simulations | None,
    across: str,
    words: str,
    dashed: frozenset[str] = frozenset(),
) -> Any:
    """Exact lines and simulated points over one number, the probability on a log scale."""
    rows = [
        {"label": label, across: getattr(risk, across), "probability": risk.probability, "odds": risk.odds}
        for label, series in risks.items()
        for risk in series
        if risk.probability > 0  # 0 cannot be drawn on a log scale
    ]
    if not rows:
        raise InputError("every chance is 0, so there is nothing to draw; leak more people or look for fewer")
    labels = list(risks)
    strokes = [[5, 4] if label in dashed else [1, 0] for label in labels]
    colour = alt.Color("label:N", title=None, scale=alt.Scale(domain=labels, range=PALETTE))
    x = alt.X(
        f"{across}:Q",
        title=words,
        axis=alt.Axis(format=",d", labelOverlap="greedy", labelSeparation=8, tickMinStep=1),
        scale=alt.Scale(nice=False),
    )
    log = alt.Scale(type="log")
    y = alt.Y("probability:Q", title="Chance that all are named", scale=log, axis=_chance_axis(rows))
    chart: Any = base_chart(rows).mark_line(strokeWidth=2)
    chart = chart.encode(x=x, y=y, color=colour, tooltip=_tooltip(across))
    if dashed:
        scale = alt.Scale(domain=labels, range=strokes)
        chart = chart.encode(strokeDash=alt.StrokeDash("label:N", title=None, scale=scale))
    points = [
        {"label": label, across: getattr(one, across), "probability": one.probability, **interval_of(one)}
        for label, series in (simulations or {}).items()
        for one in series
        if one.probability > 0
    ]
    if points:
        drawn = alt.Chart({"values": points})
        chart += drawn.mark_rule().encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour)
        chart += drawn.mark_circle(size=55, opacity=1).encode(x=x, y=y, color=colour)
    return chart


def _chance_axis(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A log axis in percent; the smallest chances are shown as odds, which are easier to read than 0.000001%."""
    lowest = math.floor(math.log10(min(row["probability"] for row in rows)))
    ticks = [10.0**power for power in range(0, lowest - 1, -max(1, -lowest // 6))]
    words = "datum.value < 0.0001 ? '1 in ' + format(1 / datum.value, '~s') : format(datum.value, '~%')"
    return alt.Axis(values=ticks, labelExpr=words)


def interval_of(simulated: LeakSimulation) -> dict[str, float]:
    """The interval of a point; both ends are its probability if it has none."""
    low, high = simulated.interval or (simulated.probability, simulated.probability)
    return {"low": low, "high": high}


def with_trials(subtitle: str, simulations: Simulations | None) -> str:
    """The subtitle, with the number of simulated leaks."""
    trials = {one.trials for series in (simulations or {}).values() for one in series}
    if not trials:
        return subtitle
    return f"{subtitle}; points are {max(trials):,} simulated leaks with their 95% interval"


def _tooltip(across: str) -> list[alt.Tooltip]:
    """The tooltip of a point: a few digits of its chance, and its odds in words."""
    return [
        alt.Tooltip("label:N"),
        alt.Tooltip(f"{across}:Q", format=","),
        alt.Tooltip("probability:Q", title="chance", format=".3~g"),
        alt.Tooltip("odds:N"),
    ]


class LeakOfRelease(NamedTuple):
    """A release with this k: the detail it keeps (granularity), and the chances in a leak of a name and of a secret."""

    k: int
    detail: float
    named: float
    learnt: float | None = None


def against_detail(releases: Sequence[LeakOfRelease]) -> Any:
    """Draw the chances of a leak against the detail that is kept, a point for each k: where is a larger k worth it?"""
    if len(releases) < 2:
        raise InputError("one release has nothing to be compared with; give two or more k")
    rows = []
    for release in sorted(releases):
        chances = {"a person is named": release.named, "a secret is learnt": release.learnt}
        for what, chance in chances.items():
            if chance is not None:
                row = {
                    "detail": release.detail,
                    "chance": chance,
                    "what": what,
                    "k": release.k,
                    "label": f"k = {release.k}",
                }
                rows.append(row)
    base = base_chart(rows).encode(
        x=alt.X("detail:Q", title="Detail kept", axis=alt.Axis(format="%"), scale=alt.Scale(zero=False)),
        y=alt.Y("chance:Q", title="Chance in the leak", axis=alt.Axis(format="%")),
        color=alt.Color("what:N", title=None, scale=alt.Scale(range=list(PALETTE))),
        order="k:Q",
    )
    words = base.mark_text(align="left", dx=6, dy=-6).encode(text="label:N")
    chart = base.mark_line() + base.mark_point(filled=True, size=50).encode(tooltip=["label:N", "what:N"]) + words
    return with_titles(
        chart,
        title="Which k is worth it",
        subtitle="a point for each k: what a leak tells, and the detail that is kept",
    )
