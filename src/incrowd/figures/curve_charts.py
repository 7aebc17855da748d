"""Figures of the scaling law: a curve with its fit, and the rank-size check."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from incrowd.figures.theme import BLUE, GREY, HEIGHT, WIDTH, base_chart, inline, with_titles
from incrowd.wording import chosen_percent, large_number, number, percent, percent_interval

if TYPE_CHECKING:
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import CurveFit
    from incrowd.pitman_yor.model_checks import HoldOut, RankSize

LONG_NAMES = {
    "PYC": "scaling law",
    "ENT": "entropy rule (ENT)",
    "EXP": "exponential (EXP)",
    "POL": "polynomial (POL)",
    "RND": "random guess (RND)",
}


def forecast_plot(
    curve: Curve,
    forecast: Forecast,
    *,
    headline: Forecast | None = None,
    check: HoldOut | None = None,
    baselines: Iterable[CurveFit] = (),
) -> Any:
    """Draw a curve, its forecast with the interval, and baselines; the measured range is shaded.

    Args:
        curve: the measured points.
        forecast: the line and the band, at many sizes.
        headline: the forecast whose largest population the subtitle states; `forecast` if not given.
        check: the hold-out check; the subtitle says if it failed.
        baselines: fits of other curves to draw.

    Returns:
        An Altair chart.
    """
    largest = max(float(curve.sizes[-1]), float(forecast.at.max()))
    layers = [
        _measured_range(curve),
        _band(forecast),
        _lines(forecast, list(baselines), largest),
        _points(curve),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=HEIGHT)
    lines = [f"{_largest(headline or forecast)}; measured up to {curve.sizes[-1]:,}"]
    if check is not None and check.warning:
        lines.append(check.warning)
    return with_titles(chart, title="Share of people named correctly, by number of people", subtitle=lines)


def curve_plot(curve: Curve) -> Any:
    """Draw a measured curve.

    Args:
        curve: the measured points.

    Returns:
        An Altair chart.
    """
    line = alt.Chart(inline_columns(n=curve.sizes, correctness=curve.correctness)).mark_line(color=BLUE)
    chart = (line.encode(x=people_axis(), y=share_axis()) + _points(curve)).properties(width=WIDTH, height=HEIGHT)
    end = f"{percent(curve.correctness[-1])} of people are named correctly among {curve.sizes[-1]:,}"
    return with_titles(
        chart, title=f"Correctness by gallery size, {curve.kind} matching", subtitle=f"{end}; {curve.how}"
    )


def techniques_plot(curves: Mapping[str, Curve], forecasts: Mapping[str, Forecast]) -> Any:
    """Draw several techniques: a line with its band and the measured points for each.

    Args:
        curves: the measured points of each technique, by its name.
        forecasts: the line and the band of each, at many sizes.
    """
    lines = [
        {"technique": name, "n": float(n), "correctness": v, "low": low, "high": high}
        | {"people": large_number(float(n)), "named correctly": f"{percent(v)} ({percent_interval(low, high)})"}
        for name, one in forecasts.items()
        for n, (v, low, high) in zip(one.at, one.correctness.rows, strict=True)
    ]
    points = [
        {"technique": name, "n": float(n), "correctness": float(v)}
        | {"people": large_number(float(n)), "named correctly": f"{percent(v)}, measured"}
        for name, curve in curves.items()
        for n, v in zip(curve.sizes, curve.correctness, strict=True)
    ]
    color = alt.Color("technique:N", title=None, sort=list(curves))
    shown = [alt.Tooltip(f"{field}:N") for field in ("technique", "people", "named correctly")]
    base = base_chart(lines).encode(x=people_axis(), color=color, tooltip=shown)
    band = base.mark_area(opacity=0.15).encode(y=share_axis("low"), y2=alt.Y2("high:Q"))
    line = base.mark_line().encode(y=share_axis())
    measured = base_chart(points).mark_circle(size=30, opacity=1)
    measured = measured.encode(x=people_axis(), y=share_axis(), color=color, tooltip=shown)
    return with_titles(band + line + measured, title="Share of people that each technique names, by number of people")


def rank_size_plot(check: RankSize) -> Any:
    """Draw the shares of the classes by rank: the data against the 95% band of the fitted process.

    Args:
        check: the rank-size check of a fit to class sizes.

    Returns:
        An Altair chart.
    """
    rows = [
        {"rank": int(rank), "observed": float(seen), "low": max(float(low), 1e-12), "high": float(high)}
        for rank, seen, low, high in zip(check.ranks, check.observed, check.low, check.high, strict=True)
        if high > 0
    ]
    floor = min(row["observed"] for row in rows) / 3
    for row in rows:
        row["low"] = max(row["low"], floor)
    base = base_chart(rows)
    rank = alt.X("rank:Q", title="rank of the class", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s"))
    share = alt.Scale(type="log", domainMin=floor)
    low = alt.Y("low:Q", scale=share, title="share of people")
    band = base.mark_area(color=BLUE, opacity=0.25).encode(x=rank, y=low, y2=alt.Y2("high:Q"))
    line = base.mark_line(color="black").encode(x=rank, y=alt.Y("observed:Q", scale=share))
    return with_titles(
        band + line,
        title="Do the classes look like the fitted process?",
        subtitle=f"data (line) within the 95% band at {percent(check.inside)} of ranks; divergence "
        f"{number(check.divergence_bits)} bits",
    )


def _measured_range(curve: Curve) -> Any:
    data = inline([{"from": float(curve.sizes[0]), "to": float(curve.sizes[-1])}])
    return (
        alt.Chart(data).mark_rect(color=GREY, opacity=0.12).encode(x=alt.X("from:Q", scale=_log()), x2=alt.X2("to:Q"))
    )


def _band(forecast: Forecast) -> Any:
    estimate = forecast.correctness
    data = inline_columns(n=forecast.at, low=estimate.low, high=estimate.high)
    return (
        alt.Chart(data)
        .mark_area(color=BLUE, opacity=0.2)
        .encode(x=people_axis(), y=share_axis("low"), y2=alt.Y2("high:Q"))
    )


def _lines(forecast: Forecast, baselines: list[CurveFit], largest: float) -> Any:
    size = np.geomspace(1.0, largest, 200)
    value = np.interp(np.log(size), np.log(forecast.at), forecast.correctness.value)
    start = float(forecast.at.min())
    rows = [
        {"n": float(n), "correctness": float(v), "model": LONG_NAMES["PYC"]}
        for n, v in zip(size, value, strict=True)
        if n >= start
    ]
    for fit in baselines:
        # polynomials leave [0, 1]; a share outside it is not drawn
        rows += [
            {"n": float(n), "correctness": float(v), "model": LONG_NAMES[fit.name]}
            for n, v in zip(size, np.asarray(fit.model.correctness(size)), strict=True)
            if 0 <= v <= 1
        ]
    names = [LONG_NAMES["PYC"], *(LONG_NAMES[fit.name] for fit in baselines)]
    color = alt.Color("model:N", title=None, sort=names) if baselines else alt.ColorValue(BLUE)
    return alt.Chart(inline(rows)).mark_line().encode(x=people_axis(), y=share_axis(), color=color)


def _points(curve: Curve) -> Any:
    data = inline_columns(n=curve.sizes, correctness=curve.correctness)
    return alt.Chart(data).mark_circle(color="black", size=22, opacity=1).encode(x=people_axis(), y=share_axis())


def _largest(forecast: Forecast) -> str:
    """The forecast for the largest population, in words."""
    index = int(np.argmax(forecast.at))
    name, size, share = forecast.names[index], large_number(forecast.at[index]), forecast.correctness
    called = "" if name.replace(",", "").isdigit() else f" ({name})"
    interval = percent_interval(share.low[index], share.high[index])
    return (
        f"{percent(share.value[index])} of {size} people{called}, {chosen_percent(forecast.level)} interval {interval}"
    )


def inline_columns(**columns: Any) -> Any:
    """Columns of numbers as a chart's data."""
    names = list(columns)
    values = [np.asarray(columns[name], dtype=float).tolist() for name in names]
    return inline([dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)])


def _log() -> Any:
    return alt.Scale(type="log")


def people_axis(largest: float | None = None) -> Any:
    """A log axis of gallery sizes, with words for large ones; with `largest`, powers of ten only, for small panels."""
    words = in_words("format(datum.value, '~s')")
    spacing: dict[str, Any] = {"labelOverlap": "greedy", "labelSeparation": 6}
    title = "people"
    if largest is None:
        return alt.X("n:Q", title=title, scale=_log(), axis=alt.Axis(labelExpr=words, **spacing))
    decades = int(np.log10(largest))
    ticks = [10.0**power for power in range(0, decades + 1, 1 if decades < 7 else 3)]
    scale = alt.Scale(type="log", domain=[1, largest], nice=False)
    return alt.X("n:Q", title=title, scale=scale, axis=alt.Axis(labelExpr=words, values=ticks, **spacing))


def in_words(expression: str) -> str:
    """Replace the letters for a million, a billion and a trillion in an expression by words."""
    for letter, word in (("M", "million"), ("G", "billion"), ("T", "trillion")):
        expression = f"replace({expression}, '{letter}', ' {word}')"
    return expression


def share_axis(field: str = "correctness") -> Any:
    """Correctness from 0 to 1, in percent."""
    title = "named correctly (κ)"
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
