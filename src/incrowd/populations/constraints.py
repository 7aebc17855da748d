"""Answers that do not contradict each other: for one population, and along a way to larger ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import Sample


def agreeing(risk: PopulationRisk) -> PopulationRisk:
    """The risk with an interval of those unique in both that its interval of B allows.

    A record that is unique in the population too counts 1 in n B, the sum of 1/F over the records, and any other at
    most a half: of n records n B at most are unique there, and n (2 B − 1) at least.
    """
    ends, still = risk.still_unique_interval, risk.still_unique
    if ends is None or still is None or risk.interval is None:
        return risk
    own = risk.uniques / risk.people
    least, most = (2.0 * risk.interval[0] - 1.0) / own, risk.interval[1] / own
    return replace(risk, still_unique_interval=(min(max(ends[0], least), still), max(min(ends[1], most), still)))


def combinations_seen(sample: Sample) -> int | None:
    """How many classes there can be; None where a column may have values that nobody in the sample has.

    The share of people with a value not seen yet is about the share whose value is theirs alone (Good, 1953): where
    every value of every column is held by several people, hardly a value is missing.
    """
    if sample.why_no_columns() is not None:
        return None
    columns = sample.columns(pairs=True)
    if any(int(np.min(columns.counts(one))) < 2 for one in range(len(columns.sizes))):
        return None
    return math.prod(columns.sizes)


def at_most(risk: PopulationRisk, most: int | None) -> PopulationRisk:
    """The risk with N · B, on average over samples the number of classes, no larger than `most`.

    Of the interval's ends the upper one is not cut: it also stands for what the model does not know.
    """
    if most is None:
        return risk
    highest = max(most, risk.classes) / risk.population
    low, high = risk.interval or (risk.B, risk.B)
    return _with(risk, min(low, highest), min(risk.B, highest), high)


def never_fewer(risks: Sequence[PopulationRisk]) -> tuple[PopulationRisk, ...]:
    """The risks with N · B that does not fall as people are added, and B that does not rise, nor its upper end.

    N · B is the number of classes on average over samples; for one sample it may fall, so the lower end is left alone.
    """
    found, reached = list(risks), (0.0, 0.0)
    highest = 1.0
    for place in sorted(range(len(risks)), key=lambda place: risks[place].population):
        risk = risks[place]
        low, high = risk.interval or (risk.B, risk.B)
        people = risk.population
        reached = max(reached[0], risk.B * people), max(reached[1], high * people)
        middle, most = (min(end / people, 1.0) for end in reached)
        highest = max(min(most, highest), middle)
        found[place] = _with(risk, min(low, middle), middle, highest)
    return tuple(found)


def through(risks: Sequence[PopulationRisk], known: PopulationRisk) -> tuple[PopulationRisk, ...]:
    """The risks with the one for the population of `known` replaced by it, and the others in keeping with it.

    On average over samples, fewer people have neither more classes nor a lower B than `known`, and more people
    neither fewer nor a higher one; the answers keep to that.
    """
    ends = (*(known.interval or (known.B, known.B)), known.B)

    def kept(risk: PopulationRisk) -> PopulationRisk:
        if risk.population == known.population:
            return known
        limits = [(end, end * known.population / risk.population) for end in ends]
        low, high = risk.interval or (risk.B, risk.B)
        low, high, middle = (
            min(max(value, min(limit)), max(limit)) for value, limit in zip((low, high, risk.B), limits, strict=True)
        )
        return _with(risk, low, middle, high)

    return tuple(kept(risk) for risk in risks)


def _with(risk: PopulationRisk, low: float, middle: float, high: float) -> PopulationRisk:
    """The risk with another B and interval, and no more uniques than there are classes."""
    alone, still = risk.population_uniques, risk.still_unique
    return agreeing(
        replace(
            risk,
            B=middle,
            interval=None if risk.interval is None else (low, high),
            population_uniques=None if alone is None else min(alone, middle * risk.population),
            still_unique=None if still is None else min(still, middle * risk.people / risk.uniques),
        )
    )
