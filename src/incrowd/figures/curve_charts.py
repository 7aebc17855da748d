"""Figures of the scaling law: a curve with its fit, the regimes of the model, and the rank-size check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from incrowd.figures.theme import BLUE, GREY, HEIGHT, WIDTH, dressed
from incrowd.wording import chosen_percent, large_number, number, percent, percent_interval

if TYPE_CHECKING:
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import CurveFit
    from incrowd.pitman_yor.model_checks import HoldOut, RankSize

_WORLD = 7.53e9
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
    asked: Forecast | None = None,
    check: HoldOut | None = None,
    baselines: Iterable[CurveFit] = (),
) -> Any:
    """Draw a curve, its forecast with the interval, and baselines; the measured range is shaded.

    Args:
        curve: the measured points.
        forecast: the line and the band, at many sizes.
        asked: the forecast whose largest population the subtitle states; `forecast` if not given.
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
    lines = [f"{_largest(asked or forecast)}; measured up to {curve.sizes[-1]:,}"]
    if check is not None and check.warning:
        lines.append(check.warning)
    return dressed(chart, title="How many people are named correctly as the crowd grows", subtitle=lines)


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
    return dressed(chart, title=f"Correctness by gallery size, {curve.kind} matching", subtitle=f"{end}; {curve.how}")


def tail_plot(*, n: float = _WORLD, bits: Sequence[float] = (10, 20, 30, 33, 40, 50, 60)) -> Any:
    """Draw correctness against the tail complexity γ at fixed entropies (the paper's Fig. 5a).

    Args:
        n: people in the population.
        bits: entropies, a line for each.

    Returns:
        An Altair chart.
    """
    gamma = np.linspace(-1.0, 1.0, 201)
    rows = [
        {"gamma": float(g), "correctness": value, "entropy": f"{b:g} bits"}
        for b in bits
        for g, value in zip(gamma, _correctness(b, gamma, n), strict=True)
    ]
    return _law_plot(
        rows,
        alt.X("gamma:Q", title="tail complexity γ"),
        alt.Color("entropy:N", title="entropy", sort=[f"{b:g} bits" for b in bits]),
        title="The same information can identify all or hardly anybody",
        subtitle=f"correctness among {n:,.0f} people, by how heavy the tail is",
    )


def entropy_plot(*, n: float = _WORLD, gammas: Sequence[float] = (-1, 0, 0.5, 1)) -> Any:
    """Draw correctness against the entropy at fixed tail complexities (the paper's Fig. 5b).

    Args:
        n: people in the population.
        gammas: tail complexities, a line for each.

    Returns:
        An Altair chart.
    """
    bits = np.linspace(5.0, 80.0, 301)
    rows = [
        {"bits": float(b), "correctness": float(_correctness(b, np.array([g]), n)[0]), "tail": f"γ = {g:g}"}
        for g in gammas
        for b in bits
    ]
    return _law_plot(
        rows,
        alt.X("bits:Q", title="entropy in bits", scale=alt.Scale(zero=False, nice=False)),
        alt.Color("tail:N", title="tail", sort=[f"γ = {g:g}" for g in gammas]),
        title="Light tails tip over, heavy tails slide",
        subtitle=f"correctness among {n:,.0f} people, by how much is known",
    )


def unique_people_plot(*, bits: float = 10.0, gammas: Sequence[float] = (-1, 0, 1), largest: float = 8e9) -> Any:
    """Draw the expected number of unique people against the population (the paper's Fig. 4).

    Args:
        bits: the entropy.
        gammas: tail complexities, a line for each.
        largest: the largest population.

    Returns:
        An Altair chart.
    """
    from incrowd.pitman_yor.model import PitmanYor

    names: dict[float, str] = {-1: "γ = −1: finite, uniform", 0: "γ = 0: geometric tail", 1: "γ = 1: heavy tail"}
    size = np.unique(np.rint(np.geomspace(1, largest, 200)))
    rows = []
    for gamma in gammas:
        people = size * PitmanYor.from_entropy(h=bits, gamma=gamma, unit="bits").uniqueness(size)
        # below a thousandth of a person the line has ended for every purpose
        rows += [
            {"n": float(n), "unique": float(u), "tail": names.get(gamma, f"γ = {gamma:g}")}
            for n, u in zip(size, people, strict=True)
            if u >= 1e-3
        ]
    number = "datum.value < 1 ? format(datum.value, '~g') : format(datum.value, '~s')"
    axis = alt.Axis(labelExpr=_in_words(number), values=[10.0**power for power in range(-3, 10, 3)])
    return _law_plot(
        rows,
        people_axis(largest),
        alt.Color("tail:N", title="tail", sort=[names.get(gamma, f"γ = {gamma:g}") for gamma in gammas]),
        alt.Y("unique:Q", title="unique people", scale=alt.Scale(type="log"), axis=axis),
        title="Only a heavy tail keeps producing unique people",
        subtitle=f"expected unique people at an entropy of {bits:g} bits",
    )


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
    data = inline(rows)
    rank = alt.X("rank:Q", title="rank of the class", scale=alt.Scale(type="log"), axis=alt.Axis(format="~s"))
    share = alt.Scale(type="log", domainMin=floor)
    band = (
        alt.Chart(data)
        .mark_area(color=BLUE, opacity=0.25)
        .encode(x=rank, y=alt.Y("low:Q", scale=share, title="share of people"), y2="high:Q")
    )
    line = alt.Chart(data).mark_line(color="black").encode(x=rank, y=alt.Y("observed:Q", scale=share))
    return dressed(
        (band + line).properties(width=WIDTH, height=HEIGHT),
        title="Do the classes look like the fitted process?",
        subtitle=f"data (line) within the 95% band at {percent(check.inside)} of ranks; divergence "
        f"{number(check.divergence_bits)} bits",
    )


def _law_plot(rows: list[Any], x: Any, color: Any, y: Any = None, *, title: str, subtitle: str) -> Any:
    """Draw a line of the law for each colour, by default of correctness."""
    lines = alt.Chart(inline(rows)).mark_line().encode(x=x, y=share_axis() if y is None else y, color=color)
    return dressed(lines.properties(width=WIDTH, height=HEIGHT), title=title, subtitle=subtitle)


def _correctness(bits: float, gamma: Any, n: float) -> Any:
    from incrowd.pitman_yor.model import discount_and_concentration, expected_correctness

    d, alpha = discount_and_concentration(bits * np.log(2.0), gamma)
    return expected_correctness(d, alpha, n).astype(float)


def _measured_range(curve: Curve) -> Any:
    data = inline([{"from": float(curve.sizes[0]), "to": float(curve.sizes[-1])}])
    return alt.Chart(data).mark_rect(color=GREY, opacity=0.12).encode(x=alt.X("from:Q", scale=_log()), x2="to:Q")


def _band(forecast: Forecast) -> Any:
    estimate = forecast.correctness
    data = inline_columns(n=forecast.at, low=estimate.low, high=estimate.high)
    return alt.Chart(data).mark_area(color=BLUE, opacity=0.2).encode(x=people_axis(), y=share_axis("low"), y2="high:Q")


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
    color = alt.Color("model:N", title=None, sort=names) if baselines else alt.value(BLUE)
    return alt.Chart(inline(rows)).mark_line().encode(x=people_axis(), y=share_axis(), color=color)


def _points(curve: Curve) -> Any:
    data = inline_columns(n=curve.sizes, correctness=curve.correctness)
    return alt.Chart(data).mark_circle(color="black", size=22, opacity=1).encode(x=people_axis(), y=share_axis())


def _largest(forecast: Forecast) -> str:
    """What is forecast for the largest population, in words."""
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


def inline(rows: list[Any]) -> Any:
    """Rows as a chart's data; a tuple of them, which altair does not copy with every chart it puts into another."""
    return alt.Data(values=tuple(rows))  # type: ignore[no-untyped-call]


def _log() -> Any:
    return alt.Scale(type="log")


def people_axis(largest: float | None = None) -> Any:
    """Gallery sizes on a log scale, large ones in words; up to `largest` with powers of ten only, for small panels."""
    words = _in_words("format(datum.value, '~s')")
    apart: dict[str, Any] = {"labelOverlap": "greedy", "labelSeparation": 6}
    title = "people"
    if largest is None:
        return alt.X("n:Q", title=title, scale=_log(), axis=alt.Axis(labelExpr=words, **apart))
    decades = int(np.log10(largest))
    ticks = [10.0**power for power in range(0, decades + 1, 1 if decades < 7 else 3)]
    scale = alt.Scale(type="log", domain=[1, largest], nice=False)
    return alt.X("n:Q", title=title, scale=scale, axis=alt.Axis(labelExpr=words, values=ticks, **apart))


def _in_words(expression: str) -> str:
    """The letters for a million, a billion and a trillion in what an expression gives, as words."""
    for letter, word in (("M", "million"), ("G", "billion"), ("T", "trillion")):
        expression = f"replace({expression}, '{letter}', ' {word}')"
    return expression


def share_axis(field: str = "correctness") -> Any:
    """Correctness from 0 to 1, in percent."""
    title = "named correctly (κ)"
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%"))
