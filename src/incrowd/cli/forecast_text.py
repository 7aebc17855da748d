"""Output of `incrowd forecast`: one technique, several side by side, and checks of the fit."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd.cli import terminal
from incrowd.results import as_json
from incrowd.wording import large_number, number, number_interval, percent, percent_interval, population

if TYPE_CHECKING:
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import ClassSizeFit, CurveFit
    from incrowd.pitman_yor.model_checks import RankSize


class FittedTechnique(NamedTuple):
    """One technique: its name, its measured curve, the fitted law and its forecast."""

    name: str
    curve: Curve
    fit: ClassSizeFit | CurveFit
    answer: Forecast
    smooth: Forecast | None = None

    def to_dict(self) -> dict[str, Any]:
        """The law, its forecast and the check of the forecast in plain JSON types."""
        answer = self.answer
        return {"fit": self.fit.to_dict(), "forecast": answer.to_dict(), "hold_out": as_json(answer.hold_out)}


def label_techniques(names: list[str]) -> list[str]:
    """File names without folder and ending; unchanged if two would be the same.

    >>> label_techniques(["faces/vit.csv", "faces/cnn.csv"]), label_techniques(["a/x.csv", "b/x.csv"])
    (['vit', 'cnn'], ['a/x.csv', 'b/x.csv'])
    """
    short = [Path(name).stem for name in names]
    return short if len(set(short)) == len(short) else names


def show_side_by_side(techniques: list[FittedTechnique]) -> None:
    """Print a row for each technique: what was measured, the law, and the share named in each population."""
    from incrowd.forecasts.side_by_side import name_leaders

    first = techniques[0].answer
    labels = [population(name, size) for name, size in zip(first.names, first.at, strict=True)]
    terminal.heading("Techniques side by side: who would be named correctly (95% interval)")
    terminal.table(
        ["technique", "measured up to", "named there", *labels],
        [
            [
                one.name,
                int(one.curve.sizes[-1]),
                percent(float(one.curve.correctness[-1])),
                *(one.answer.correctness.in_words(at) for at in range(len(labels))),
            ]
            for one in techniques
        ],
    )
    terminal.table(
        ["technique", "h, nats", "γ", "forecast of its own largest size"],
        [[one.name, number(one.answer.h[0]), number(one.answer.gamma[0]), _checked(one.answer)] for one in techniques],
    )
    for line in name_leaders({one.name: one.answer for one in techniques}):
        terminal.line(line)
    for one in techniques:
        for text in one.answer.notes:
            terminal.note(f"{one.name}: {text}")


def show_predictive_check(sampled: RankSize, published: RankSize) -> None:
    """Print a sentence on the fit of the law to the class sizes of the table."""
    terminal.line(
        f"Predictive check: at {percent(sampled.inside)} of ranks the class sizes lie inside the band that holds 95% "
        "of samples from the fitted law, where about 95% would if the law were right; by stick-breaking, as published, "
        f"at {percent(published.inside)}. Divergence {number(sampled.divergence_bits)} bits."
    )


def _checked(answer: Forecast) -> str | None:
    check = answer.hold_out
    if check is None:
        return None
    return f"{percent(check.forecast)}, measured {percent(check.measured)}" + ("" if check.inside else ": OUTSIDE")


def show_forecast(answer: Forecast, others: dict[Any, CurveFit], *, from_curve: bool) -> None:
    """Print the forecast of one technique, with its check and forecasts by other curves."""
    terminal.heading("Who would be named correctly")
    labels = [population(name, size) for name, size in zip(answer.names, answer.at, strict=True)]
    _show_shares(answer, labels)
    if answer.violations:
        terminal.heading("In classes smaller than k: violations of k-anonymity")
        rows = [[label] for label in labels]
        for estimate in answer.violations.values():
            for i, (value, low, high) in enumerate(estimate.rows):
                rows[i].append(f"{percent(value, answer.at[i])} ({percent_interval(low, high)})")
        terminal.table(["population", *(f"k = {k} (95% interval)" for k in answer.violations)], rows)
    h, gamma = answer.h, answer.gamma
    terminal.line(
        f"Entropy h = {number(h[0])} nats ({number_interval(h[1], h[2])}), {number(h[0] / math.log(2))} bits of "
        "information."
    )
    terminal.line(f"Tail complexity γ = {number(gamma[0])} ({number_interval(gamma[1], gamma[2])}): {_tail(gamma[0])}.")
    check = answer.hold_out
    if check is not None:
        left_out = "all points at larger sizes left out" if from_curve else "nine people in ten left out at random"
        verdict = "inside" if check.inside else "OUTSIDE"
        terminal.line(
            f"Check: from up to {check.seen:,} people ({left_out}) the law forecasts {percent(check.forecast)} at "
            f"{check.size:,}; {percent(check.measured)} was measured, {verdict} its interval "
            f"{percent_interval(check.low, check.high)}."
        )
    if others:
        terminal.heading("Forecasts by other curves")
        values = {name: one.correctness_at(answer.at) for name, one in others.items()}
        terminal.table(
            ["population", *values],
            [[label, *(percent(column[i]) for column in values.values())] for i, label in enumerate(labels)],
        )
    if not from_curve and answer.method == "law":
        terminal.line(
            "These numbers follow the scaling law, which uses only how many people look alike, not the columns: "
            "without --ml the columns are used too, and that forecast is the one to believe."
        )
    for text in answer.notes:
        terminal.note(text)


def _show_shares(answer: Forecast, labels: list[str]) -> None:
    shares = answer.correctness
    columns = [
        labels,
        [percent(value) for value in shares.value],
        [percent_interval(low, high) for _, low, high in shares.rows],
        [large_number(people) for people in answer.people_named],
    ]
    heads = ["population", "named", "95% interval", "people named"]
    if answer.uniqueness is not None:
        heads.append("unique")
        columns.append([percent(value, size) for value, size in zip(answer.uniqueness.value, answer.at, strict=True)])
    terminal.table(heads, list(zip(*columns, strict=True)))


def _tail(gamma: float) -> str:
    if gamma < -0.02:
        return "a finite number of kinds of people; in a large enough crowd nobody is unique"
    if gamma < 0.1:
        return "a light tail; above some size hardly anybody is named"
    return "a heavy tail; even in large crowds some people stay unique"
