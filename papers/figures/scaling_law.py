"""Figures of the scaling-law study: many collections and many fits side by side, in small panels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from incrowd.figures.curve_charts import LONG_NAMES, inline_columns, people_axis, share_axis
from incrowd.figures.theme import BLUE, GREY, PALETTE, inline, with_titles

if TYPE_CHECKING:
    from incrowd.classes import ClassSizes
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import CurveFit, PitmanYor
    from incrowd.pitman_yor.curve_fit import Name
    from incrowd.pitman_yor.model_checks import RankSize

_WIDTH, _HEIGHT, _COLUMNS = 210, 140, 3
_COLORS = [*PALETTE, "#c2709b", "#4aa3b5", "#b5b53c"]


def specification_figure(points: Sequence[Mapping[str, Any]]) -> Any:
    """Observed against expected correctness, a dot a collection."""
    corpora = list(dict.fromkeys(point["corpus"] for point in points))
    dots = (
        alt.Chart(inline(list(points)))
        .mark_circle(size=34, opacity=0.7, aria=False)
        .encode(
            x=alt.X("observed:Q", title="observed correctness", axis=alt.Axis(format="%"), scale=_whole()),
            y=alt.Y("expected:Q", title="expected by the fitted model", axis=alt.Axis(format="%"), scale=_whole()),
            color=alt.Color("corpus:N", title=None, scale=alt.Scale(domain=corpora, range=_COLORS[: len(corpora)])),
        )
    )
    ends = inline([{"observed": 0, "expected": 0}, {"observed": 1, "expected": 1}])
    line = alt.Chart(ends).mark_line(color=GREY, strokeDash=[4, 4]).encode(x="observed:Q", y="expected:Q")
    return with_titles(
        alt.layer(line, dots).properties(width=420, height=380),
        title="The model says how many are named correctly",
        subtitle=f"{len(points)} collections; on the dashed line both agree",
    )


def ranks_figure(checks: Mapping[str, RankSize]) -> Any:
    """Shares of classes by rank with the band of the fitted process, a panel a corpus."""
    panels = [_ranks(corpus, check) for corpus, check in checks.items()]
    return with_titles(
        _grid(panels),
        title="Do the classes look like the fitted process?",
        subtitle="data (line) and the 95 % band of samples as large as the data",
    )


def _ranks(corpus: str, check: RankSize) -> Any:
    floor = float(check.observed.min()) / 3
    kept = check.high > floor
    data = inline_columns(
        rank=check.ranks[kept],
        observed=check.observed[kept],
        low=np.maximum(check.low[kept], floor),
        high=check.high[kept],
    )
    rank = alt.X("rank:Q", title="rank", scale=alt.Scale(type="log"), axis=_decades(int(check.ranks[-1])))
    share = alt.Scale(type="log", domainMin=floor)
    axis = alt.Axis(format="~e", values=[10.0**power for power in range(-9, 1)])
    band = (
        alt.Chart(data)
        .mark_area(color=BLUE, opacity=0.25)
        .encode(x=rank, y=alt.Y("low:Q", scale=share, title="share of people", axis=axis), y2="high:Q")
    )
    line = alt.Chart(data).mark_line(color="black", strokeWidth=1.5).encode(x=rank, y=alt.Y("observed:Q", scale=share))
    return alt.layer(band, line).properties(width=_WIDTH, height=_HEIGHT, title=_small(corpus))


def shapes_figure(fitted: Mapping[str, tuple[ClassSizes, PitmanYor]]) -> Any:
    """Correctness by gallery size, counted and expected, a panel a corpus."""
    from incrowd.curves import correctness_curve

    panels = []
    for corpus, (sizes, model) in fitted.items():
        curve = correctness_curve(sizes)
        line = inline_columns(n=curve.sizes, correctness=np.asarray(model.correctness(curve.sizes)))
        across = people_axis(float(curve.sizes[-1]))
        layers = (
            alt.Chart(line).mark_line(color=BLUE, strokeWidth=3, opacity=0.6).encode(x=across, y=share_axis()),
            _dots(curve, across),
        )
        panels.append(alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=_small(corpus)))
    return with_titles(_grid(panels), title="One law, many shapes", subtitle="counted (dots) and expected (line)")


def extrapolation_figure(studies: Mapping[str, Mapping[float, tuple[Curve, Mapping[Name, CurveFit]]]]) -> Any:
    """Forecasts of four functional forms: a row of panels a kind of matching, a column a share measured."""
    names = [LONG_NAMES[name] for name in ("PYC", "ENT", "EXP", "POL")]
    rows = []
    for kind, shares in studies.items():
        panels = [
            _forecasts(whole, fits, names).properties(
                width=_WIDTH, height=_HEIGHT, title=_small(f"{kind}, {fraction:.0%} measured")
            )
            for fraction, (whole, fits) in shares.items()
        ]
        rows.append(alt.hconcat(*panels))
    return with_titles(
        alt.vconcat(*rows).resolve_scale(color="shared"),
        title="From a small study to everybody",
        subtitle="shaded: measured; dots: the whole population",
    )


def _forecasts(whole: Curve, fits: Mapping[Name, CurveFit], names: list[str]) -> Any:
    size = np.geomspace(1.0, float(whole.sizes[-1]), 60)
    across = people_axis(float(whole.sizes[-1]))
    lines = [
        {"n": float(n), "correctness": float(value), "model": LONG_NAMES[name]}
        for name, fit in fits.items()
        if name != "RND"
        for n, value in zip(size, np.asarray(fit.model.correctness(size)), strict=True)
        if 0 <= value <= 1
    ]
    color = alt.Color(
        "model:N", title=None, scale=alt.Scale(domain=names, range=PALETTE[:4]), legend=alt.Legend(orient="bottom")
    )
    drawn = alt.Chart(inline(lines)).mark_line().encode(x=across, y=share_axis(), color=color)
    layers = [_dots(whole, across), drawn]
    if fits:
        measured = inline([{"n": 1.0, "to": float(fits["PYC"].curve.sizes[-1])}])
        shade = alt.Chart(measured).mark_rect(color=GREY, opacity=0.18)
        layers.insert(0, shade.encode(x=across, x2="to:Q"))
    return alt.layer(*layers)


def scale_figure(forecasts: Mapping[str, tuple[Curve | None, Forecast]]) -> Any:
    """Forecasts up to the world's population with their intervals, a panel a technique."""
    panels = []
    for name, (curve, forecast) in forecasts.items():
        estimate = forecast.correctness
        data = inline_columns(n=forecast.at, correctness=estimate.value, low=estimate.low, high=estimate.high)
        across = people_axis(float(forecast.at.max()))
        base = alt.Chart(data).encode(x=across)
        layers = [
            base.mark_area(color=BLUE, opacity=0.2, clip=True).encode(y=share_axis("low"), y2="high:Q"),
            base.mark_line(color=BLUE).encode(y=share_axis()),
        ]
        if curve is not None:
            layers.append(_dots(curve, across))
        panels.append(alt.layer(*layers).properties(width=300, height=180, title=_small(name)))
    return with_titles(
        _grid(panels, 2),
        title="How identification techniques scale",
        subtitle="measured (dots), forecast (line) and its 95 % interval",
    )


def _dots(curve: Curve, across: Any) -> Any:
    """Every second point of a curve of fifty: as good to look at, and half the file."""
    step = 2 if curve.sizes.size > 30 else 1
    data = inline_columns(n=curve.sizes[::-step], correctness=curve.correctness[::-step])
    return alt.Chart(data).mark_circle(color="black", size=14, opacity=1, aria=False).encode(x=across, y=share_axis())


def _small(title: str) -> Any:
    return alt.TitleParams(title, fontSize=13, anchor="start")


def _grid(panels: list[Any], columns: int = _COLUMNS) -> Any:
    rows = [alt.hconcat(*panels[start : start + columns]) for start in range(0, len(panels), columns)]
    return alt.vconcat(*rows)


def _decades(largest: int) -> Any:
    return alt.Axis(format="~s", values=[10.0**power for power in range(len(str(largest)))])


def _whole() -> Any:
    return alt.Scale(domain=[0, 1])
