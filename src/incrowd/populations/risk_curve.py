"""One sample, many populations: the same estimate along the way from the table to the world, fitted once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from incrowd._support.progress import Progress, part, silent
from incrowd.errors import InputError
from incrowd.populations import anchored, combined, posterior
from incrowd.populations.api import (
    Answer,
    answer,
    as_result,
    by_both,
    by_posterior,
    whole_population,
    why_posterior_alone,
)
from incrowd.populations.constraints import at_most, combinations_seen, never_fewer, through
from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import Sample, read_sample, settle_population

FEWEST_DRAWN = 1_000_000
"""Synthetic people behind a curve, which is about populations far larger than the sample."""


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
    """The same for a sample already read; at its own population the answer is that of `population_risk`."""
    if not at:
        raise InputError("an empty list of populations; give at least one number")
    people = sample.sizes.people
    samples = [replace(sample, population=settle_population(people, population=one)) for one in at]
    farthest = max(one.population for one in samples)
    wanted = min(max(farthest if drawn is None else drawn, FEWEST_DRAWN), anchored.MOST_DRAWN)
    answered = _along(sample, seed, wanted, part(progress, 0.0, 0.9))
    answers = [whole_population(one) if one.population == people else answered(one) for one in samples]
    most = combinations_seen(sample)
    risks = never_fewer(
        [at_most(as_result(one, found, "combined", seed), most) for one, found in zip(samples, answers, strict=True)]
    )
    if sample.population in {one.population for one in samples} and sample.population > people:
        if anchored.people_drawn(people, sample.population) == max(wanted, people):
            known = at_most(as_result(sample, answered(sample), "combined", seed), most)  # it would draw the same again
        else:
            known = answer(sample, "combined", seed=seed, progress=part(progress, 0.9, 1.0))
        risks = through(risks, known)
    progress("along the populations", 1.0)
    return risks


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
        max(drawn, sample.population),
        seed=[seed],
        drawn=drawn,
        progress=part(progress, 0.0, 0.8),
    )
    trials = combined.fit_trials(fitted, seed=[seed])
    return lambda one: by_both(one, fitted.at(one.population), known, trials)
