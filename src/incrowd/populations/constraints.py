"""Monotonicity and range constraints between population estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.populations.combined import bound_uniqueness
from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import Sample


def limit_uniques(risk: PopulationRisk) -> PopulationRisk:
    """Limit population uniques to the number of classes, N · B, and `still_unique` and its interval to match B.

    n B is the sum of 1/F over the records. A population unique contributes 1 to it, any other record at most 1/2. So
    the number of population uniques among the n records is between n (2 B − 1) and n B.
    """
    alone, still, middle = risk.population_uniques, risk.still_unique, risk.sample_to_population
    alone = None if alone is None else min(alone, middle * risk.population)
    unique_share = risk.uniques / risk.people
    if still is not None:
        still = bound_uniqueness(risk, middle, still * unique_share) / unique_share
    risk = replace(risk, population_uniques=alone, still_unique=still)
    ends = risk.still_unique_interval
    if ends is None or still is None or risk.interval is None:
        return risk
    least, most = (2.0 * risk.interval[0] - 1.0) / unique_share, risk.interval[1] / unique_share
    return replace(risk, still_unique_interval=(min(max(ends[0], least), still), max(min(ends[1], most), still)))


def count_possible_classes(sample: Sample) -> int | None:
    """Largest possible number of classes; None if a column may have values that nobody in the sample has.

    The share of people with an unseen value is about the share of records with a value that occurs once (Good, 1953).
    So if no value of any column occurs only once, there are hardly any unseen values.
    """
    if sample.why_no_columns() is not None:
        return None
    columns = sample.columns(pairs=True)
    if any(int(np.min(columns.counts(column))) < 2 for column in range(len(columns.sizes))):
        return None
    return math.prod(columns.sizes)


def limit_classes(risk: PopulationRisk, most: int | None) -> PopulationRisk:
    """Limit N · B, whose expectation is the number of classes in the population, to `most`.

    The upper end of the interval is not limited, because it also covers errors of the model.
    """
    if most is None:
        return risk
    highest = max(most, risk.classes) / risk.population
    low, high = risk.ends
    return _replace_estimate(risk, min(low, highest), min(risk.sample_to_population, highest), high)


def make_monotone(risks: Sequence[PopulationRisk]) -> tuple[PopulationRisk, ...]:
    """Adjust estimates so that N · B never falls, and B and its upper end never rise, as N grows.

    The expectation of N · B is the number of classes; for one sample it may fall, so the lower end is not changed.
    """
    result, reached = list(risks), (0.0, 0.0)
    highest = 1.0
    for place in sorted(range(len(risks)), key=lambda place: risks[place].population):
        risk = risks[place]
        low, high = risk.ends
        people = risk.population
        reached = max(reached[0], risk.sample_to_population * people), max(reached[1], high * people)
        middle, most = (min(end / people, 1.0) for end in reached)
        highest = max(min(most, highest), middle)
        result[place] = _replace_estimate(risk, min(low, middle), middle, highest)
    return tuple(result)


def pass_through(risks: Sequence[PopulationRisk], known: PopulationRisk) -> tuple[PopulationRisk, ...]:
    """Replace the risk for the population of `known` by `known`, and limit the others to be consistent with it.

    In expectation, a smaller population has no more classes and no lower B than `known`; a larger one has no fewer
    classes and no higher B.
    """
    ends = (*known.ends, known.sample_to_population)

    def bring_in_line(risk: PopulationRisk) -> PopulationRisk:
        if risk.population == known.population:
            return known
        limits = [(end, end * known.population / risk.population) for end in ends]
        low, high, middle = (
            min(max(value, min(limit)), max(limit))
            for value, limit in zip((*risk.ends, risk.sample_to_population), limits, strict=True)
        )
        return _replace_estimate(risk, low, middle, high)

    return tuple(bring_in_line(risk) for risk in risks)


def _replace_estimate(risk: PopulationRisk, low: float, middle: float, high: float) -> PopulationRisk:
    """The risk with another B and interval; population uniques are limited to match."""
    interval = None if risk.interval is None else (low, high)
    return limit_uniques(replace(risk, sample_to_population=middle, interval=interval))
