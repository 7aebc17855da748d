"""What if N is wrong? The same samples with a population assumed too small or too large."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from incrowd.populations.api import FACTORS
from incrowd.populations.estimators import EstimatorName, estimate_risk
from papers.figures.estimators import wrong_population_figure
from papers.parts import Comparison, Context, PartResult, Picture, Row
from papers.synthetic_estimator.cases import SMALLEST_SAMPLE, samples
from papers.synthetic_estimator.simulation import each, population, population_names
from papers.workers import map_in_processes

_METHODS: tuple[EstimatorName, ...] = ("combined", "average")


def reproduce_wrong_population(context: Context) -> PartResult:
    """Small and middling fractions: above one half a wrong N by a factor of two would be below the sample."""
    changes: dict[tuple[str, float], list[float]] = {}
    errors: dict[tuple[str, float], list[float]] = {}
    for found in map_in_processes(_answers, population_names(context), context):
        for truth, method, answers in found:
            for factor, B in answers.items():
                changes.setdefault((method, factor), []).append(B / answers[1.0] - 1.0)
                errors.setdefault((method, factor), []).append(abs(B - truth))
    return PartResult((_table(changes, errors),), (_figure(changes),), (_fractions_note(context), *_NOTES))


def _answers(name: str, context: Context) -> list[tuple[float, str, dict[float, float]]]:
    """The true B, the method and its estimate for each factor, of samples of one population."""
    whole = population(name, context.data, context.quick, context.seed)
    found: list[tuple[float, str, dict[float, float]]] = []
    for fraction in _fractions(context):
        for truth, sample in samples(whole, fraction, each(context), context.seed + 1):
            for method in _METHODS:
                wrong = {factor: replace(sample, population=round(factor * truth.population)) for factor in FACTORS}
                answers = {
                    factor: estimate_risk(one, method, seed=context.seed).sample_to_population
                    for factor, one in wrong.items()
                }
                found.append((truth.B, method, answers))
    return found


def _fractions(context: Context) -> tuple[float, ...]:
    return (0.1,) if context.quick else (0.05, 0.3)


def _fractions_note(context: Context) -> str:
    shown = " and ".join(f"{fraction:.0%}" for fraction in _fractions(context))
    return (
        f"Samples of {shown} only: above one half, N × 0.5 would be fewer people than the sample has. Samples of fewer "
        f"than {SMALLEST_SAMPLE} people are left out."
    )


_NOTES = (
    "The paper's sensitivity analysis is a set of plots in a separate archive, without numbers, so none stand beside "
    "ours.",
)


def _table(changes: dict[tuple[str, float], list[float]], errors: dict[tuple[str, float], list[float]]) -> Comparison:
    rows = [
        Row(
            f"{method}, N × {factor:g}",
            f"{np.median(found):+.0%}",
            None,
            f"Median error {np.median(errors[method, factor]):.3f} "
            f"(with the true N {np.median(errors[method, 1.0]):.3f}).",
        )
        for (method, factor), found in sorted(changes.items())
        if factor != 1.0
    ]
    count = len(next(iter(changes.values())))
    return Comparison(f"Median change of the estimate if N is wrong, {count} samples", tuple(rows))


def _figure(changes: dict[tuple[str, float], list[float]]) -> Picture:
    rows = [
        {
            "method": method,
            "factor": factor,
            "change": float(np.median(found)),
            "low": float(np.quantile(found, 0.1)),
            "high": float(np.quantile(found, 0.9)),
        }
        for (method, factor), found in changes.items()
    ]
    return Picture("wrong-n", "Change of the estimate if N is wrong", wrong_population_figure(rows, _METHODS))
