"""Fonts, colours and sizes of all figures, and writing them to files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import altair as alt

from incrowd._support.files import check_free, written_whole
from incrowd.errors import InputError

BLUE, ORANGE, GREEN, RED, GREY = "#2f6db5", "#d9822b", "#3c8d5a", "#c23b3b", "#8a8f98"
PALETTE = [BLUE, ORANGE, GREEN, RED, "#7a5ea8", "#8c6d4f", GREY]
WIDTH, HEIGHT = 560, 320

_FONT = "system-ui, sans-serif"
_WIDE = "Verdana, DejaVu Sans, sans-serif"  # fonts at least as wide as any system-ui font
_KINDS = (".html", ".svg", ".png", ".json")


def with_titles(chart: Any, *, title: str, subtitle: str | list[str] = "") -> Any:
    """Add a title, a sentence below it, and the common fonts and colours to a chart."""
    titled = alt.TitleParams(title, subtitle=subtitle, anchor="start", subtitlePadding=6)
    return chart.properties(title=titled, config=_look())  # in one call, because each call copies the whole chart


@cache
def _look() -> Any:
    """The common fonts and colours, built and validated once."""
    return alt.Config(
        font=_FONT,
        background="white",
        range=alt.RangeConfig(category=PALETTE),
        axis=alt.AxisConfig(gridColor="#e6e8eb", domainColor=GREY, tickColor=GREY, labelFontSize=12, titleFontSize=13),
        title=alt.TitleConfig(fontSize=16, subtitleFontSize=13, subtitleColor="#555b66"),
        legend=alt.LegendConfig(labelFontSize=12, titleFontSize=12, labelLimit=320),
        view=alt.ViewConfig(stroke=None),
    )


def base_chart(rows: Iterable[Mapping[str, Any]], height: int = HEIGHT) -> Any:
    """A chart of rows of data, in the common size."""
    return alt.Chart(inline(rows), width=WIDTH, height=height)


def inline(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Rows as a chart's data, in a tuple, which altair does not copy when it nests charts."""
    return alt.Data(values=tuple(rows))  # type: ignore[no-untyped-call]


def at_height(pixels: float) -> Any:
    """A place on the vertical axis, from the top of the chart."""
    return alt.YValue(pixels)  # type: ignore[no-untyped-call]


def limit_line(bound: float, across: str = "y") -> Any:
    """A dashed line at a limit."""
    return (
        alt.Chart(inline([{"bound": bound}]))
        .mark_rule(color=GREY, strokeDash=[5, 4])
        .encode(getattr(alt, across.upper())("bound:Q"))
    )


def percent_tooltips(*fields: str) -> list[Any]:
    """Tooltips with shares in percent."""
    return [alt.Tooltip(f"{field}:Q", format=".2%") for field in fields]


def check_path(path: str | Path, *, force: bool = False) -> None:
    """Refuse a path that a figure cannot be written to."""
    kind = Path(path).suffix.lower()
    if kind not in _KINDS:
        raise InputError(f"a figure cannot be written as {kind or 'a file without ending'!r}; use .html, .svg or .png")
    check_free(path, force=force)


def save(chart: Any, path: str | Path, *, force: bool = False) -> Path:
    """Write a figure to a file.

    Args:
        chart: an Altair chart.
        path: ends in .html (self-contained), .svg, .png or .json.
        force: replace a file that exists.

    Returns:
        The path.

    Raises:
        InputError: the ending is another one, or the file exists.
    """
    import vl_convert

    check_path(path, force=force)
    target = Path(path)
    spec = json.dumps(chart.to_dict())
    kind = target.suffix.lower()
    if kind == ".html":
        content: str | bytes = vl_convert.vegalite_to_html(spec, bundle=True)
    elif kind == ".svg":
        # laid out for a wide font, because the reader's font is not known and text that does not fit is cut off
        content = vl_convert.vegalite_to_svg(spec.replace(_FONT, _WIDE)).replace(_WIDE, _FONT)
    elif kind == ".png":
        content = vl_convert.vegalite_to_png(spec, scale=2)
    else:
        content = spec
    with written_whole(target, force=force) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
    return target
