"""Output of `incrowd forecast`: one technique, several side by side, and checks of the fit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd.cli import terminal
from incrowd.results import as_json
from incrowd.wording import number, percent

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
    labels = first.populations
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
    for shown in answer.data_tables:
        terminal.rows(shown)
    for sentence in answer.sentences:
        terminal.line(sentence)
    if others:
        terminal.heading("Forecasts by other curves")
        values = {name: one.correctness_at(answer.at) for name, one in others.items()}
        terminal.table(
            ["population", *values],
            [[name, *(percent(column[i]) for column in values.values())] for i, name in enumerate(answer.populations)],
        )
    if not from_curve and answer.method == "law":
        terminal.line(
            "These numbers follow the scaling law, which uses only how many people look alike, not the columns: "
            "without --ml the columns are used too, and that forecast is the one to believe."
        )
    for text in answer.notes:
        terminal.note(text)
