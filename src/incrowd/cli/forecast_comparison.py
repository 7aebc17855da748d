"""`incrowd forecast a.csv b.csv`: several identification techniques side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from incrowd.cli import terminal
from incrowd.wording import number, percent, percent_interval, population

if TYPE_CHECKING:
    from incrowd.curves import Curve
    from incrowd.forecasts import Forecast
    from incrowd.pitman_yor import ClassSizeFit, CurveFit
    from incrowd.pitman_yor.model_checks import HoldOut, RankSize


class Technique(NamedTuple):
    """One technique: its name, what was measured of it, the fitted law and its forecast."""

    name: str
    curve: Curve
    fit: ClassSizeFit | CurveFit
    answer: Forecast
    check: HoldOut | None


def label_techniques(names: list[str]) -> list[str]:
    """File names without folder and ending; whole where two would be alike.

    >>> label_techniques(["faces/vit.csv", "faces/cnn.csv"]), label_techniques(["a/x.csv", "b/x.csv"])
    (['vit', 'cnn'], ['a/x.csv', 'b/x.csv'])
    """
    short = [Path(name).stem for name in names]
    return short if len(set(short)) == len(short) else names


def plain(techniques: list[Technique]) -> dict[str, Any]:
    """Plain JSON types."""
    return {
        "techniques": [
            {
                "name": one.name,
                "fit": one.fit.to_dict(),
                "forecast": one.answer.to_dict(),
                "hold_out": one.check.to_dict() if one.check else None,
            }
            for one in techniques
        ]
    }


def show_side_by_side(techniques: list[Technique]) -> None:
    """A row for each technique: what was measured, the law, and the share named in each population."""
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
                *(_share(one.answer, at) for at in range(len(labels))),
            ]
            for one in techniques
        ],
    )
    terminal.table(
        ["technique", "h, nats", "γ", "forecast of its own largest size"],
        [[one.name, number(one.answer.h[0]), number(one.answer.gamma[0]), _checked(one.check)] for one in techniques],
    )
    for at, label in enumerate(labels):
        order = sorted(techniques, key=lambda one: -float(one.answer.correctness.value[at]))
        best, next_best = order[0], order[1]
        sure = float(best.answer.correctness.low[at]) > float(next_best.answer.correctness.high[at])
        terminal.line(
            f"{label}: {best.name} names the most, {'' if sure else 'though '}its interval "
            f"{'lies above' if sure else 'overlaps'} that of {next_best.name}."
        )
    for one in techniques:
        for text in one.answer.notes:
            terminal.note(f"{one.name}: {text}")


def show_predictive_check(found: RankSize, published: RankSize) -> None:
    """Whether class sizes of the table are such as the fitted law gives, in a sentence."""
    terminal.line(
        f"Predictive check: at {percent(found.inside)} of ranks the class sizes lie inside the band that holds 95% of "
        "samples from the fitted law, where about 95% would if the law were right; by stick-breaking, as published, "
        f"at {percent(published.inside)}. Divergence {number(found.divergence_bits)} bits."
    )


def _share(answer: Forecast, at: int) -> str:
    shares = answer.correctness
    return f"{percent(shares.value[at])} ({percent_interval(shares.low[at], shares.high[at])})"


def _checked(check: HoldOut | None) -> str | None:
    if check is None:
        return None
    return f"{percent(check.forecast)}, measured {percent(check.measured)}" + ("" if check.inside else ": OUTSIDE")
