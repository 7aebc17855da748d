"""One sample, many populations: the same estimate along the way from the table to the world, fitted once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from incrowd.errors import InputError
from incrowd.population import anchored, combined, posterior
from incrowd.population.estimate import Answer, as_result, by_both, by_posterior, whole_population, why_posterior_alone
from incrowd.population.result import PopulationRisk
from incrowd.population.sample import Sample, read_sample, settle_population
from incrowd.progress import Progress, part, silent

FEWEST_DRAWN, MOST_DRAWN = 1_000_000, 5_000_000
"""Synthetic people behind a curve, seconds of work; beyond them κ is carried on, and the interval grows."""


def risk_curve(
    data: Any,
    *,
    at: Sequence[float],
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    seed: int = 0,
    drawn: int | None = None,
    progress: Progress = silent,
) -> tuple[PopulationRisk, ...]:
    """The risk if the sample were drawn from each of the populations `at`, by the combined estimator.

    For a random sample B is expected to be κ(N), the average risk among N people, so this is the forecast for every N
    too. Unlike `sensitivity`, which asks anew for each population, everything is fitted once and one synthetic
    population is read at every N, so that a dozen populations cost little more than one. It has `drawn` people, between
    a million and five; by default as many as the farthest population.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> [risk.population for risk in risk_curve(sample, at=[840, 8_400])]
    [840, 8400]
    """
    sample = read_sample(data, quasi_identifiers=quasi_identifiers, fraction=1.0, person=person)
    return curve_of(sample, at, seed=seed, drawn=drawn, progress=progress)


def curve_of(
    sample: Sample, at: Sequence[float], *, seed: int = 0, drawn: int | None = None, progress: Progress = silent
) -> tuple[PopulationRisk, ...]:
    """The same for a sample already read."""
    if not at:
        raise InputError("an empty list of populations; give at least one number")
    people = sample.sizes.people
    samples = [replace(sample, population=settle_population(people, population=one)) for one in at]
    farthest = max(one.population for one in samples)
    wanted = min(max(farthest if drawn is None else drawn, FEWEST_DRAWN), MOST_DRAWN)
    answered = _along(sample, seed, wanted, progress)
    answers = [whole_population(one) if one.population == people else answered(one) for one in samples]
    progress("along the populations", 1.0)
    risks = [as_result(one, found, "combined", seed) for one, found in zip(samples, answers, strict=True)]
    return _never_fewer(risks, combinations_seen(sample))


def combinations_seen(sample: Sample) -> int | None:
    """How many classes there can be; None where a column may have values that nobody in the sample has.

    The share of people with a value not seen yet is about the share whose value is theirs alone (Good, 1953): where
    every value of every column is held by several people, all values are there.
    """
    if sample.why_no_columns() is not None:
        return None
    columns = sample.columns(pairs=True)
    if any(int(np.min(columns.counts(one))) < 2 for one in range(len(columns.sizes))):
        return None
    return math.prod(columns.sizes)


def _never_fewer(risks: Sequence[PopulationRisk], most: int | None) -> tuple[PopulationRisk, ...]:
    """The risks with N · B, the number of classes, that does not fall as people are added, nor passes `most`.

    Of the interval's ends the upper one is not cut: it also stands for what the model does not know.
    """
    found, reached = list(risks), (0.0, 0.0, 0.0)
    highest = 1.0
    for place in sorted(range(len(risks)), key=lambda place: risks[place].population):
        risk = risks[place]
        low, high = risk.interval or (risk.B, risk.B)
        people = risk.population
        ceiling = float("inf") if most is None else max(most, risk.classes)
        named = (min(low * people, ceiling), min(risk.B * people, ceiling), high * people)
        reached = tuple(max(before, now) for before, now in zip(reached, named, strict=True))  # type: ignore[assignment]
        ends = tuple(min(end / people, 1.0) for end in reached)
        highest = max(min(ends[2], highest), ends[1])  # κ(N) does not rise, and so neither does what bounds it
        alone = None if risk.population_uniques is None else min(risk.population_uniques, reached[1])
        found[place] = replace(
            risk, B=ends[1], interval=None if risk.interval is None else (ends[0], highest), population_uniques=alone
        )
    return tuple(found)


def _along(sample: Sample, seed: int, drawn: int, progress: Progress) -> Callable[[Sample], Answer]:
    """Fit everything once; what comes back answers for the same sample with any population larger than it."""
    known, reason = posterior.model_sizes(sample.sizes), why_posterior_alone(sample)
    if reason is not None:
        note = f"the posterior estimator alone: {reason}"

        def alone(one: Sample) -> Answer:
            found = by_posterior(one, known)
            return replace(found, notes=(*found.notes, note))

        return alone
    fitted = anchored.fit_anchored(
        sample.columns(pairs=True),
        sample.sizes,
        drawn,
        seed=[seed],
        drawn=drawn,
        progress=part(progress, 0.0, 0.8),
    )
    trials = combined.fit_trials(fitted, seed=[seed])
    return lambda one: by_both(one, fitted.at(one.population), known, trials)
