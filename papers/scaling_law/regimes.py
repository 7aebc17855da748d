"""Figs. 4 and 5 and the numbers the text quotes from the model alone: no data is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.pitman_yor import fit_curve
from incrowd.pitman_yor.model import PitmanYor
from papers.figures.regimes import entropy_plot, tail_plot, unique_people_plot
from papers.parts import Comparison, Context, PartResult, Picture, Row
from papers.scaling_law.published import WORLD


def reproduce_regimes(context: Context) -> PartResult:
    """Nothing here is random or long: quick and full are the same."""
    return PartResult(
        tables=(Comparison("Numbers of the text", tuple(_quoted_numbers() + _unique_people())),),
        figures=(
            Picture("unique", "Fig. 4: expected unique people by regime", unique_people_plot()),
            Picture("tail", "Fig. 5a: correctness by tail complexity", tail_plot()),
            Picture(
                "entropy", "Fig. 5b: correctness by entropy", entropy_plot(gammas=(0, 0.5, 1)),
                _criticality(),
            ),
        ),
    )  # fmt: skip


def _quoted_numbers() -> list[Row]:
    world = [PitmanYor.from_entropy(h=40, gamma=gamma, unit="bits").correctness(WORLD) for gamma in (0.0, 1.0)]
    browsers = PitmanYor.from_entropy(h=41.54, gamma=0.68).correctness(4e9)
    example = fit_curve([100, 1000], correctness=[0.99, 0.80])
    ten_thousand = float(example.model.correctness(10_000))
    return [
        Row("κ of the world at 40 bits, γ = 0", float(world[0]), 0.99, _difference_to_paper(float(world[0]), 0.99)),
        Row("κ of the world at 40 bits, γ = 1", float(world[1]), 0.45, _difference_to_paper(float(world[1]), 0.45)),
        Row(
            "κ of 4 billion browsers, h = 41.54, γ = 0.68", float(browsers), 0.75,
            f"{_difference_to_paper(float(browsers), 0.75)} The paper gives h and γ rounded; the entropy is in nats "
            "here though Fig. 5 uses bits.",
        ),
        Row(
            "κ(10 000) from κ(100) = 0.99 and κ(1000) = 0.80", ten_thousand, 0.21,
            f"{_difference_to_paper(ten_thousand, 0.21)} The two points need γ = {example.gamma:.2f}; the authors' "
            "package does not go below 0 (it answers 0.35).",
        ),
    ]  # fmt: skip


def _difference_to_paper(ours: float, paper: float) -> str:
    """Whether a number is the paper's to the two digits it gives."""
    if f"{ours:.2f}" == f"{paper:.2f}":
        return "The same to the digits given."
    return f"{abs(ours - paper):.3f} {'above' if ours > paper else 'below'} the paper's."


def _criticality() -> str:
    """How many bits lie between hardly anybody and nearly everybody, by tail."""
    from scipy.optimize import brentq

    def bits_for(correctness: float, gamma: float) -> float:
        def above(bits: float) -> float:
            model = PitmanYor.from_entropy(h=bits, gamma=gamma, unit="bits")
            return float(model.correctness(WORLD)) - correctness

        return float(brentq(above, 5.0, 430.0))

    spans = {gamma: bits_for(0.9, gamma) - bits_for(0.1, gamma) for gamma in (0.0, 0.5, 1.0)}
    return (
        f"From κ = 10 % to 90 % it takes {spans[0.0]:.0f} bits more at γ = 0, {spans[0.5]:.0f} at γ = 0.5 and "
        f"{spans[1.0]:.0f} at γ = 1. The paper calls the first a critical behaviour, and finds none in heavy tails "
        "(γ = 0.5 and 1)."
    )


def _unique_people() -> list[Row]:
    """Fig. 4 in numbers: what becomes of the unique people as a thousand grow to eight billion."""
    said = {-1.0: "falls to zero", 0.0: "stabilises", 1.0: "continues to grow"}
    rows = []
    for gamma, paper in said.items():
        model = PitmanYor.from_entropy(h=10, gamma=gamma, unit="bits")
        sizes = np.array([1e3, 1e6, 8e9])
        unique = sizes * model.uniqueness(sizes)
        shown, what = ", ".join(f"{people:,.0f}" for people in unique), "unique people among a thousand, a million, "
        rows.append(
            Row(
                f"{what}8 billion; 10 bits, γ = {gamma:g}",
                shown,
                paper,
                _agreement_in_words(_trend_in_words(unique) == paper),
            )
        )
    return rows


def _trend_in_words(unique: NDArray[np.float64]) -> str:
    """What becomes of the unique people from the second population to the third, in the paper's words."""
    if unique[2] < 0.5:
        return "falls to zero"
    if abs(unique[2] / unique[1] - 1) < 0.01:
        return "stabilises"
    return "continues to grow" if unique[2] > unique[1] else "falls"


def _agreement_in_words(agrees: bool) -> str:
    return "So here." if agrees else "Not so here."
