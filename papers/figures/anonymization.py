"""Figures of the anonymisation paper: risk by knowledge, risk and loss by method, grids of resolutions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from incrowd.figures.theme import PALETTE, WIDTH, with_titles


def risk_bars(series: Mapping[str, Mapping[str, float]]) -> Any:
    """Shares of unique records by what the attacker knows, a bar for each table (Figures 1 and S3)."""
    rows = [
        {"table": name, "known": known, "risk": risk, "words": f"{risk:.2%}"}
        for name, risks in series.items()
        for known, risk in risks.items()
    ]
    known, names = list(next(iter(series.values()))), list(series)
    gap = alt.Scale(paddingInner=0.2, paddingOuter=0.1)
    base = alt.Chart({"values": rows}, height=alt.Step(24 if len(names) == 1 else 18)).encode(
        y=alt.Y("known:N", sort=known, title=None, axis=alt.Axis(labelLimit=260), scale=gap),
        yOffset=alt.YOffset("table:N", sort=names),
        x=alt.X("risk:Q", title="Unique records", axis=_percent(), scale=alt.Scale(domain=[0, 1])),
    )
    bars = base.mark_bar().encode(
        color=alt.Color(
            "table:N",
            title=None,
            scale=alt.Scale(domain=names, range=PALETTE),
            legend=alt.Legend(orient="top") if len(names) > 1 else None,
        )
    )
    words = base.mark_text(align="left", dx=4, fontSize=11).encode(text="words:N")
    return with_titles(
        (bars + words).properties(width=WIDTH - 80),
        title="The more is known, the more are unique",
        subtitle="Share of records that nobody else looks like",
    )


def count_bars(counts: Mapping[int, tuple[int, int]], what: str) -> Any:
    """Records and masked records for every value of a column (Figures S1 and S2)."""
    rows = [
        {"value": value, "kind": kind, "records": count}
        for value, pair in counts.items()
        for kind, count in zip(("all", "masked"), pair, strict=True)
    ]
    few = len(counts) <= 20
    chart = (
        alt.Chart({"values": rows})
        .mark_bar()
        .encode(
            x=alt.X("value:O", title=what, axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("records:Q", title="records", stack=None, axis=alt.Axis(format="~s")),
            color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=["all", "masked"], range=PALETTE)),
            **({"xOffset": alt.XOffset("kind:N")} if few else {}),
        )
    )
    return with_titles(
        chart.properties(width=WIDTH, height=240),
        title=f"Records and masked records by {what}",
        subtitle="Rare values are masked more often: they make records unique",
    )


def bar_panels(rows: Sequence[Mapping[str, Any]], measures: Mapping[str, str], *, title: str, subtitle: str) -> Any:
    """A panel of bars for each measure, a bar for each setting (Figures 2, S4 and S7).

    A row has a `setting`, a `kind` that gives its colour, and a number for every measure.
    """
    settings = list(dict.fromkeys(str(row["setting"]) for row in rows))
    kinds = list(dict.fromkeys(str(row["kind"]) for row in rows))
    charts = []
    for index, (measure, words) in enumerate(measures.items()):
        share = measure != "loss"
        shown = [
            {**row, "value": row[measure], "words": f"{row[measure]:.1%}" if share else f"{row[measure]:.3f}"}
            for row in rows
        ]
        base = alt.Chart({"values": shown}, title=words, width=230, height=alt.Step(19)).encode(
            y=alt.Y("setting:N", sort=settings, title=None, axis=alt.Axis(labels=index % 2 == 0, labelLimit=240)),
            x=alt.X("value:Q", title=None, axis=alt.Axis(format="%" if share else "~g", tickCount=4)),
        )
        bars = base.mark_bar().encode(
            color=alt.Color(
                "kind:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=PALETTE),
                legend=alt.Legend(orient="bottom", columns=3),
            )
        )
        charts.append(bars + base.mark_text(align="left", dx=3, fontSize=10).encode(text="words:N"))
    return with_titles(alt.concat(*charts, columns=2), title=title, subtitle=subtitle)


def heat_map(rows: Sequence[Mapping[str, Any]], *, title: str, subtitle: str, share: bool) -> Any:
    """A number for every resolution of the spatiotemporal and of the census columns (Figures S5 and S6)."""
    steps = list(dict.fromkeys(str(row["census"]) for row in rows))
    base = alt.Chart({"values": list(rows)}).encode(
        x=alt.X("spatiotemporal:N", sort=steps, title="Intervals of hospital, quarter and stay", axis=_flat()),
        y=alt.Y("census:N", sort=steps[::-1], title="Intervals of the census columns"),
    )
    scale = alt.Scale(scheme="blues", type="symlog", constant=1e-5) if share else alt.Scale(scheme="blues")
    cells = base.mark_rect().encode(color=alt.Color("value:Q", title=None, scale=scale, legend=None))
    middle = 0.02 if share else 0.6 * max(row["value"] for row in rows)
    words = base.mark_text(fontSize=11).encode(
        text="words:N",
        color=alt.condition(alt.datum.value > middle, alt.value("white"), alt.value("#1d2430")),
    )
    return with_titles((cells + words).properties(width=WIDTH - 60, height=300), title=title, subtitle=subtitle)


def _percent() -> alt.Axis:
    return alt.Axis(format="%", tickCount=5)


def _flat() -> alt.Axis:
    return alt.Axis(labelAngle=0)
