"""Larger populations: one estimate from the table to the world, so that the risk there has one answer in a report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.classes import ClassSizes
from incrowd.forecasts.api import POPULATIONS, Estimate, Forecast, forecast
from incrowd.pitman_yor import fit_class_sizes
from incrowd.populations import PopulationRisk
from incrowd.populations.copula import PATENT


def populations_ahead(people: int, asked: int | None) -> list[int]:
    """The sizes that are forecast, in order: the table's, those with a name, 1 and 3 of every power of ten, and N."""
    largest = max(POPULATIONS["world"], people, asked or 0)
    steps = {step * 10**power for power in range(13) for step in (1, 3)}
    wanted = {people, *POPULATIONS.values(), *steps} | ({asked} if asked is not None else set())
    return sorted(size for size in wanted if people <= size <= largest)


def outlook(sizes: ClassSizes, risks: Sequence[PopulationRisk], seed: int) -> Forecast:
    """The forecast for the populations of `risks`, which are estimates for one sample.

    For a random sample the expected B is κ(N): the risk in a population and the forecast for a population of that size
    are one number, and so are their intervals. The fitted law gives h and γ, not the curve: it knows the class sizes
    only, and its interval holds only if the population follows it.
    """
    named = {size: name for name, size in POPULATIONS.items()}
    law = forecast(fit_class_sizes(sizes), at=sizes.people, seed=seed)  # h and γ are the same wherever it looks
    open_end = -math.expm1(math.log(0.05) / sizes.people)  # nobody unique among n: at most about 3/n are
    ends = [risk.still_unique_interval or (0.0, 0.0) for risk in risks]
    unique = [(risk.population_uniques or 0.0) / risk.population for risk in risks]
    least, most = ([end[side] * sizes.uniqueness for end in ends] for side in (0, 1))
    lowest, highest = zip(*(risk.interval or (risk.B, risk.B) for risk in risks), strict=True)
    return replace(
        law,
        at=np.array([float(risk.population) for risk in risks]),
        names=tuple(named.get(risk.population, f"{risk.population:,}") for risk in risks),
        correctness=_estimate([risk.B for risk in risks], lowest, highest),
        uniqueness=_estimate(unique, least, most if sizes.uniques else [min(open_end, end) for end in highest]),
        method="combined",
        notes=_beyond_draw(risks),
    )


def _estimate(value: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Estimate:
    return Estimate(np.array(value), np.array(low), np.array(high))


def _beyond_draw(risks: Sequence[PopulationRisk]) -> tuple[str, ...]:
    """From where on the curve is carried on, and whatever else only the farthest populations have to say."""
    near, far = risks[0].notes, risks[-1].notes
    return tuple(note for note in far if note not in near and note != PATENT)
