"""Figs. 4 and 5 and the numbers the text quotes from the model alone: no data is needed."""

from __future__ import annotations

import numpy as np

from incrowd.pitmanyor.fit import fit_curve
from incrowd.pitmanyor.model import PitmanYor
from incrowd.plots.curves import entropy_plot, tail_plot, unique_people_plot
from incrowd.reproduce.parts import Comparison, Context, PartResult, Picture, Row

WORLD = 7.53e9


def regimes(context: Context) -> PartResult:
    """Nothing here is random or long: quick and full are the same."""
    return PartResult(
        tables=(Comparison("Numbers of the text", tuple(_quoted() + _unique_people())),),
        figures=(
            Picture("unique", "Fig. 4: expected unique people by regime", unique_people_plot()),
            Picture("tail", "Fig. 5a: correctness by tail complexity", tail_plot()),
            Picture(
                "entropy", "Fig. 5b: correctness by entropy", entropy_plot(gammas=(0, 0.5, 1)),
                "The step at γ = 0 and the slope at γ = 1 are the paper's criticality.",
            ),
        ),
    )  # fmt: skip


def _quoted() -> list[Row]:
    world = [PitmanYor.from_entropy(h=40, gamma=gamma, unit="bits").correctness(WORLD) for gamma in (0.0, 1.0)]
    browsers = PitmanYor.from_entropy(h=41.54, gamma=0.68).correctness(4e9)
    example = fit_curve([100, 1000], correctness=[0.99, 0.80]).model.correctness(10_000)
    return [
        Row("κ of the world at 40 bits, γ = 0", float(world[0]), 0.99, "The same to the digits given."),
        Row("κ of the world at 40 bits, γ = 1", float(world[1]), 0.45, "The same to the digits given."),
        Row(
            "κ of 4 billion browsers, h = 41.54, γ = 0.68", float(browsers), 0.75,
            "The formula gives 0.744 at the rounded h and γ; the entropy is in nats here though Fig. 5 uses bits.",
        ),
        Row(
            "κ(10 000) from κ(100) = 0.99 and κ(1000) = 0.80", float(example), 0.21,
            "The same; it needs γ < 0, which the authors' package does not allow (it answers 0.35).",
        ),
    ]  # fmt: skip


def _unique_people() -> list[Row]:
    """Fig. 4 in numbers: what becomes of the unique people as a thousand grow to eight billion."""
    said = {-1.0: "falls to zero", 0.0: "stabilises", 1.0: "continues to grow"}
    rows = []
    for gamma, paper in said.items():
        model = PitmanYor.from_entropy(h=10, gamma=gamma, unit="bits")
        sizes = np.array([1e3, 1e6, 8e9])
        shown = ", ".join(f"{people:,.0f}" for people in sizes * model.uniqueness(sizes))
        rows.append(Row(f"unique people among a thousand, a million, 8 billion; 10 bits, γ = {gamma:g}", shown, paper))
    return rows
