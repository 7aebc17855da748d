"""Figures of the regimes of the scaling law: what the model says by its entropy and its tail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from incrowd.figures.curve_charts import in_words, people_axis, share_axis
from incrowd.figures.theme import base_chart, with_titles
from incrowd.pitman_yor import PitmanYor
from incrowd.pitman_yor.model import discount_and_concentration, expected_correctness

_WORLD = 7.53e9


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
    axis = alt.Axis(labelExpr=in_words(number), values=[10.0**power for power in range(-3, 10, 3)])
    return _law_plot(
        rows,
        people_axis(largest),
        alt.Color("tail:N", title="tail", sort=[names.get(gamma, f"γ = {gamma:g}") for gamma in gammas]),
        alt.Y("unique:Q", title="unique people", scale=alt.Scale(type="log"), axis=axis),
        title="Only a heavy tail keeps producing unique people",
        subtitle=f"expected unique people at an entropy of {bits:g} bits",
    )


def _law_plot(rows: list[Any], x: Any, color: Any, y: Any = None, *, title: str, subtitle: str) -> Any:
    """Draw a line of the law for each colour, by default of correctness."""
    lines = base_chart(rows).mark_line().encode(x=x, y=share_axis() if y is None else y, color=color)
    return with_titles(lines, title=title, subtitle=subtitle)


def _correctness(bits: float, gamma: Any, n: float) -> Any:
    d, alpha = discount_and_concentration(bits * np.log(2.0), gamma)
    return expected_correctness(d, alpha, n).astype(float)
