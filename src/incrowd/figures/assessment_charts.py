"""Figures of an assessment, one for each section; notebooks, the report and files use the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from incrowd.errors import InputError
from incrowd.figures.theme import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALETTE,
    RED,
    at_height,
    base_chart,
    inline,
    limit_line,
    percent_tooltips,
    with_titles,
)
from incrowd.recipients import RECIPIENTS, Limits
from incrowd.wording import chosen_percent, percent

if TYPE_CHECKING:
    from incrowd.assessment import Assessment, Knowledge, Leaks, Protection, Verdict
    from incrowd.classes import ClassSizes
    from incrowd.forecasts import Forecast
    from incrowd.measures.contribution import Contributions

_BINS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1_000, None))
_UPRIGHT = alt.Axis(labelAngle=0, labelOverlap="greedy")
_PERCENT = alt.Axis(format="~%")
_POWERS = alt.Axis(
    grid=False, values=[10**power for power in range(13)], labelExpr="replace(format(datum.value, '~s'), 'G', 'B')"
)
_SHOWN = 12


def class_size_bins(sizes: ClassSizes, least: int | None = None) -> list[dict[str, Any]]:
    """Count people and classes by class size, in a few bins; one begins at `least`, the smallest accepted class."""
    rows = []
    for low, high in _bins_from(least):
        inside = (sizes.sizes >= low) & (sizes.sizes <= (high or sizes.sizes[-1]))
        people = int(sizes.sizes[inside] @ sizes.counts[inside])
        label = f"{low:,}" if low == high else f"{low:,}+" if high is None else f"{low:,}–{high:,}"
        classes = int(sizes.counts[inside].sum())
        rows.append({"size": label, "people": people, "share": people / sizes.people, "classes": classes, "low": low})
    return rows


def _bins_from(least: int | None) -> list[tuple[int, int | None]]:
    """The bins, with the one that holds `least` cut in two, so that none is partly accepted."""
    bins: list[tuple[int, int | None]] = []
    for low, high in _BINS:
        if least is not None and low < least and (high is None or least <= high):
            bins += [(low, least - 1), (least, high)]
        else:
            bins.append((low, high))
    return bins


def filled_bins(*tables: ClassSizes, least: int | None = None) -> list[list[dict[str, Any]]]:
    """The bins of several tables, up to the last non-empty one."""
    bins = [class_size_bins(sizes, least) for sizes in tables]
    last = max(place for rows in bins for place, row in enumerate(rows) if row["people"])
    return [rows[: last + 1] for rows in bins]


def class_sizes_chart(sizes: ClassSizes, least: int = 5) -> Any:
    """Draw the number of people by class size, coloured by `least`, the smallest class that is accepted."""
    kinds = ("nobody else", f"fewer than {least}", f"{least} or more")
    scale = alt.Scale(domain=list(kinds), range=[RED, ORANGE, BLUE])
    (rows,) = filled_bins(sizes, least=least)
    for row in rows:
        row["crowd"] = kinds[2] if row["low"] >= least else kinds[0] if row["low"] == 1 else kinds[1]
    chart = (
        base_chart(rows)
        .mark_bar(cornerRadiusTopLeft=2, cornerRadiusTopRight=2)
        .encode(
            x=alt.X("size:N", sort=None, title="people who look alike", axis=_UPRIGHT),
            y=alt.Y("share:Q", title="share of people", axis=_PERCENT),
            color=alt.Color("crowd:N", title="class of", scale=scale),
            tooltip=[
                alt.Tooltip("size:N"),
                alt.Tooltip("people:Q", format=","),
                *percent_tooltips("share"),
                alt.Tooltip("classes:Q"),
            ],
        )
    )
    alone = sizes.uniqueness
    return with_titles(chart, title="People by class size", subtitle=f"{percent(alone)} of the people are unique")


def risk_against_limits_chart(verdict: Verdict) -> Any:
    """The person at highest risk and the average, each with its interval, on one line with the limits."""
    marks = [
        {
            "name": f"{name} 1/{limits.class_size}",
            "bound": limits.highest,
            "side": "right" if 0.03 < limits.highest < 0.08 else "left",
        }
        for name, limits in limits_shown(verdict)
    ]
    axis = alt.Axis(format="~%", values=[0, 0.02, 0.05, 0.1, 0.2, 0.33, 0.5, 0.75, 1], grid=False)
    x = alt.X("bound:Q", title="chance of being named", axis=axis, scale=alt.Scale(type="sqrt", domain=[0, 1]))
    y = alt.Y("name:N", axis=None, sort=None, scale=alt.Scale(range=[0, 66]))
    base = base_chart(marks, 150)
    rules = base.mark_rule(color=GREY, strokeDash=[5, 4], strokeWidth=1.5).encode(x=x)
    chart: Any = rules
    for side, dx in (("left", 6), ("right", -6)):  # on the side that is away from the next line
        words = base.transform_filter(alt.datum.side == side).mark_text(align=side, dx=dx, fontSize=12)
        chart += words.encode(x=x, y=y, text=alt.Text("name:N"))
    if verdict.limits.average is not None:
        limit = alt.Chart(inline([{"bound": verdict.limits.average}]))
        chart += limit.mark_tick(color=GREY, thickness=3, size=26).encode(x=alt.X("bound:Q"), y=at_height(130))
    for place, name, risk, interval in (
        (92, "person at highest risk", verdict.highest, verdict.highest_interval),
        (130, "average", verdict.risk, verdict.interval),
    ):
        for mark in _risk_marks(verdict, place, name, risk, interval or (risk, risk)):
            chart += mark
    return with_titles(chart, title="The risk and the limits", subtitle=verdict.sentence)


_DECISION_COLOURS = {"within": GREEN, "undecided": ORANGE, "exposed": RED, "borderline": ORANGE, "over": RED}


def _risk_marks(verdict: Verdict, place: int, name: str, risk: float, interval: tuple[float, float]) -> tuple[Any, ...]:
    """One risk as a diamond with its name, and its interval as a bar."""
    colour = _DECISION_COLOURS[verdict.decision]
    base = alt.Chart(inline([{"name": name, "risk": risk, "low": interval[0], "high": interval[1]}]))
    tooltip = ["name:N", *percent_tooltips("risk", "low", "high")]
    bar = base.mark_rule(color=colour, strokeWidth=5, opacity=0.5).encode(
        x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=at_height(place)
    )
    dot = base.mark_point(color=colour, filled=True, size=240, opacity=1, shape="diamond").encode(
        x=alt.X("risk:Q"), y=at_height(place), tooltip=tooltip
    )
    label_left = risk > 0.5
    words = base.mark_text(fontSize=12, align="right" if label_left else "left", dx=8 if label_left else -8)
    return bar, dot, words.encode(x=alt.X("risk:Q"), y=at_height(place - 17), text=alt.Text("name:N"))


def limits_shown(verdict: Verdict) -> list[tuple[str, Limits]]:
    """The limits of every recipient, and the chosen limits if they belong to no recipient."""
    usual = [(kind.name, kind.limits) for kind in RECIPIENTS]
    return usual if verdict.limits in [limits for _, limits in usual] else [*usual, ("chosen", verdict.limits)]


def risk_by_attributes_known_chart(knowledge: Knowledge) -> Any:
    """Draw the risk against the number of known attributes, for the most identifying set of each size."""
    rows = [
        {"known": len(risk.columns), "set": ", ".join(risk.columns), "share": value, "kind": kind}
        for risk in knowledge.worst_by_size
        for kind, value in (("named correctly", risk.correctness), ("unique", risk.uniqueness))
    ]
    chart = (
        base_chart(rows)
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=60), strokeWidth=2)
        .encode(
            x=alt.X(
                "known:Q", title="attributes the attacker knows", axis=_counts(len(knowledge.worst_by_size[-1].columns))
            ),
            y=alt.Y("share:Q", title="share of people", axis=_PERCENT, scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(range=[BLUE, ORANGE])),
            strokeDash=alt.StrokeDash("kind:N", title=None),
            tooltip=[alt.Tooltip("known:Q"), alt.Tooltip("kind:N"), *percent_tooltips("share"), alt.Tooltip("set:N")],
        )
    )
    return with_titles(chart, title="Risk by what the attacker knows", subtitle="The most telling set of each size")


def _counts(largest: int) -> Any:
    """An axis with whole numbers only, for small counts too."""
    return alt.Axis(values=list(range(1, largest + 1)), format="d")


def most_telling_sets_chart(knowledge: Knowledge) -> Any:
    """Draw the small sets of attributes by which most people are named."""
    rows = [
        {"set": ", ".join(risk.columns), "share": risk.correctness, "uniques": risk.uniques, "size": len(risk.columns)}
        for risk in knowledge.most_telling[:_SHOWN]
    ]
    chart = _bars(
        rows,
        "set",
        "share",
        "named correctly",
        ["set:N", *percent_tooltips("share"), alt.Tooltip("uniques:Q", format=",")],
    )
    return with_titles(chart, title="The most telling small sets", subtitle="Sets of at most three attributes")


def contributions_chart(parts: Contributions) -> Any:
    """Draw the contribution of each attribute to the average risk."""
    rows = [
        {
            "column": part.column,
            "added": part.correctness,
            "low": part.interval[0],
            "high": part.interval[1],
            "share": parts.share(part),
        }
        for part in parts.ranked[: 2 * _SHOWN]
    ]
    chart = _bars(
        rows, "column", "added", "added to the average risk", ["column:N", *percent_tooltips("added", "share")]
    )
    if parts.orders is not None:
        error = alt.Chart(inline(rows)).mark_rule(color=GREY, strokeWidth=2)
        chart += error.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=alt.Y("column:N", sort=None))
    how = "all orders averaged" if parts.orders is None else f"{parts.orders:,} random orders averaged"
    return with_titles(chart, title="What each attribute adds", subtitle=f"Average over orders of learning: {how}")


def _bars(rows: list[dict[str, Any]], name: str, value: str, words: str, tooltip: list[Any]) -> Any:
    return (
        base_chart(rows, 24 * len(rows))
        .mark_bar(color=BLUE, cornerRadiusTopRight=2, cornerRadiusBottomRight=2)
        .encode(
            x=alt.X(f"{value}:Q", title=words, axis=alt.Axis(format="~%", tickCount=8)),
            y=alt.Y(f"{name}:N", sort=None, title=None, axis=alt.Axis(labelLimit=240)),
            tooltip=tooltip,
        )
    )


def population_chart(result: Assessment) -> Any:
    """The average risk in the table and in the population, with the interval."""
    risk = result.population
    if risk is None:
        raise InputError("the assessment was made without a population; give population= to assess()")
    low, high = risk.ends
    table, to_table = result.facts.correctness, risk.population_to_sample
    rows = [
        {"where": "known to be in the table", "risk": table, "low": table, "high": table},
        {"where": "record, in the population", "risk": risk.sample_to_population, "low": low, "high": high},
        {"where": "anybody, in the table", "risk": to_table, "low": to_table, "high": to_table},
    ]
    y = alt.Y("where:N", sort=None, title=None, axis=alt.Axis(labelLimit=300, grid=True))
    base = base_chart(rows, 40 * len(rows))
    x = alt.X("low:Q", title="average risk", axis=alt.Axis(format="~%", tickCount=8), scale=alt.Scale(domainMin=0))
    tooltip = ["where:N", *percent_tooltips("risk", "low", "high")]
    chart: Any = base.mark_rule(color=BLUE, strokeWidth=5, opacity=0.4).encode(x=x, x2=alt.X2("high:Q"), y=y)
    chart += base.mark_point(color=BLUE, filled=True, size=130, opacity=1).encode(
        x=alt.X("risk:Q"), y=y, tooltip=tooltip
    )
    chart += limit_line(result.verdict.threshold, "x")
    return with_titles(chart, title="In the table and in the population", subtitle="Bar: 95%. Dashed: the threshold.")


def forecast_chart(result: Forecast, threshold: float | None = None) -> Any:
    """Correctness from the table's size to the world's, with its interval."""
    rows = sorted(
        (
            {"people": float(people), "risk": risk, "low": low, "high": high}
            for people, (risk, low, high) in zip(result.at, result.correctness.rows, strict=True)
        ),
        key=lambda row: row["people"],
    )
    x = alt.X("people:Q", title="people in the population", scale=alt.Scale(type="log", nice=False), axis=_POWERS)
    base = base_chart(rows)
    tooltip = [alt.Tooltip("people:Q", format=",.0f"), *percent_tooltips("risk", "low", "high")]
    y = alt.Y("risk:Q", title="named correctly", axis=_PERCENT, scale=alt.Scale(domainMin=0))
    chart: Any = base.mark_area(color=BLUE, opacity=0.2).encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    chart += base.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y)
    chart += base.mark_point(color=BLUE, filled=True, size=40, opacity=1).encode(x=x, y=y, tooltip=tooltip)
    if threshold is not None:
        chart += limit_line(threshold)
    line_is = "the law fitted to the table" if result.method == "law" else "the estimate from the table"
    subtitle = f"Line: {line_is}. Band: {chosen_percent(result.level)} interval. Dashed: the threshold."
    return with_titles(chart, title="From the table to the world", subtitle=subtitle)


def leaks_chart(result: Leaks, protection: Protection | None = None) -> Any:
    """Draw the chance that one person is named against the leaked share, for the table and for its protected versions.

    If no protection was tried, the lines are for tables in which every class has exactly k people.
    """
    rows = [
        {"leaked": risk.share_leaked, "chance": risk.probability, "table": "as it is"}
        for risk in result.risks
        if risk.targets == 1
    ]
    if protection is not None and protection.costs:
        rows += [
            {"leaked": share, "chance": chance, "table": f"protected, k = {cost.k}"}
            for cost in protection.costs[:3]
            for share, chance in cost.leaks
        ]
    elif result.planned is not None:
        rows += [
            {"leaked": risk.share_leaked, "chance": risk.probability, "table": f"if all classes had {k}"}
            for k, series in zip(result.planned.ks, result.planned.risks, strict=True)
            for risk in series
        ]
    order = list(dict.fromkeys(str(row["table"]) for row in rows))
    chart = (
        base_chart(rows)
        .mark_line(point=alt.OverlayMarkDef(filled=True, size=50), strokeWidth=2)
        .encode(
            x=alt.X("leaked:Q", title="share of the table that leaks", axis=_PERCENT, scale=alt.Scale(type="log")),
            y=alt.Y("chance:Q", title="chance that a person is named", axis=_PERCENT),
            color=alt.Color("table:N", title="the table", sort=order, scale=alt.Scale(range=[RED, *PALETTE[:3]])),
            tooltip=[alt.Tooltip("table:N"), alt.Tooltip("leaked:Q", format=".0%"), *percent_tooltips("chance")],
        )
    )
    title = "Chance of being named by the size of the leak"
    return with_titles(chart, title=title, subtitle="Exact; every part of that size equally likely")


def protection_chart(result: Protection, threshold: float | None = None) -> Any:
    """Draw the remaining risk against the detail kept, for each k."""
    rows = [
        {"k": f"k = {cost.k}", "kept": cost.granularity, "risk": cost.risk, "order": cost.k} for cost in result.costs
    ]
    base = base_chart(rows)
    x = alt.X("kept:Q", title="detail kept", axis=_PERCENT, scale=alt.Scale(zero=False, padding=30))
    y = alt.Y("risk:Q", title="average risk left", axis=_PERCENT, scale=alt.Scale(domainMin=0))
    tooltip = ["k:N", alt.Tooltip("kept:Q", format=".1%"), *percent_tooltips("risk")]
    chart: Any = base.mark_line(color=BLUE, strokeWidth=2).encode(x=x, y=y, order=alt.Order("order:Q"))
    chart += base.mark_point(color=BLUE, filled=True, size=90, opacity=1).encode(x=x, y=y, tooltip=tooltip)
    chart += base.mark_text(align="right", dx=-9, dy=-7, fontSize=12).encode(x=x, y=y, text=alt.Text("k:N"))
    subtitle = "Dashed: the threshold"
    if threshold is not None and threshold > 4 * max((cost.risk for cost in result.costs), default=1.0):
        # an axis that includes the threshold would make the points one flat row
        subtitle = f"The threshold of {chosen_percent(threshold)} is far above"
    elif threshold is not None:
        chart += limit_line(threshold)
    return with_titles(chart, title="Risk left and detail kept", subtitle=subtitle)


def verdict_chart(result: Assessment) -> Any:
    """The figure of a whole assessment: highest and average risk on the line of limits."""
    return risk_against_limits_chart(result.verdict)
