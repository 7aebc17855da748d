"""The methods that estimate the risk in the population, for one population and for several at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.errors import InputError, UnsupportedError
from incrowd.pitman_yor import ClassSizeFit
from incrowd.populations import anchored, combined, copula, posterior_estimator
from incrowd.populations.constraints import (
    bound_uniques_interval,
    count_possible_classes,
    limit_classes,
    make_monotone,
    pass_through,
)
from incrowd.populations.copula_fit import fit_dvine, nearest_correlation, pair_correlations
from incrowd.populations.intervals import bound_estimate, interval_around, interval_of_uniques
from incrowd.populations.marginals import Columns
from incrowd.populations.monte_carlo import fit_by_monte_carlo
from incrowd.populations.posterior_estimator import estimate_by_posterior
from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import Sample, settle_population
from incrowd.wording import percent

Method = Literal["combined", "posterior", "anchored", "gaussian", "dvine", "average"]
METHODS: tuple[Method, ...] = get_args(Method)
"""Names of the methods."""

FEWEST_DRAWN = 1_000_000
"""Synthetic people behind estimates for several populations, some of which are far larger than the sample."""


@dataclass(frozen=True, slots=True)
class MethodEstimate:
    """What a method estimates; the other fields of a `PopulationRisk` are the same for all methods."""

    sample_to_population: float
    interval: tuple[float, float]
    population_uniques: float
    still_unique: float | None
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    still_unique_interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class _Options:
    seed: int
    draws: int
    reference: bool
    progress: Progress


def check_method(method: str) -> None:
    """Refuse a method that does not exist."""
    if method not in METHODS:
        raise InputError(
            f"no method {method!r}; there are: {', '.join(METHODS)} (classical_risk has the classical ones)"
        )


def estimate_risk(
    sample: Sample,
    method: Method,
    *,
    seed: int = 0,
    draws: int = 1,
    reference: bool = False,
    progress: Progress = silent,
    started: float | None = None,
) -> PopulationRisk:
    """The estimate of a method for a sample already read."""
    started = time.perf_counter() if started is None else started
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed must be a whole number of 0 or more; {seed!r} was given")
    if sample.sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    if sample.sizes.people == sample.population:
        estimate = _count_whole_population(sample)
    else:
        estimate = _ESTIMATORS[method](sample, _Options(seed, draws, reference, progress))
    risk = _as_result(sample, estimate, method, seed, time.perf_counter() - started)
    return limit_classes(risk, count_possible_classes(sample)) if method == "combined" else risk


def estimate_risks(
    sample: Sample, at: Sequence[float], *, seed: int = 0, drawn: int | None = None, progress: Progress = silent
) -> tuple[PopulationRisk, ...]:
    """The combined estimate for each of the populations `at`, fitted once.

    One synthetic population is read at every N. It has `drawn` people, between a million and five; by default as many
    as the largest population. At the sample's own population the estimate is that of `estimate_risk`.
    """
    if not at:
        raise InputError("an empty list of populations; give at least one number")
    people = sample.sizes.people
    samples = [replace(sample, population=settle_population(people, population=one)) for one in at]
    largest = max(one.population for one in samples)
    wanted = min(max(largest if drawn is None else drawn, FEWEST_DRAWN), anchored.MOST_DRAWN)
    estimate = _fit_once(sample, seed, wanted, part(progress, 0.0, 0.9))
    most = count_possible_classes(sample)

    def estimate_one(one: Sample) -> PopulationRisk:
        found = _count_whole_population(one) if one.population == people else estimate(one)
        return limit_classes(_as_result(one, found, "combined", seed), most)

    risks = make_monotone([estimate_one(one) for one in samples])
    if sample.population in {one.population for one in samples} and sample.population > people:
        if anchored.people_drawn(people, sample.population) == max(wanted, people):
            known = estimate_one(sample)  # `estimate_risk` draws the same synthetic people
        else:
            known = estimate_risk(sample, "combined", seed=seed, progress=part(progress, 0.9, 1.0))
        risks = pass_through(risks, known)
    progress("along the populations", 1.0)
    return risks


def _as_result(
    sample: Sample, estimate: MethodEstimate, method: str, seed: int, seconds: float = 0.0
) -> PopulationRisk:
    """The estimate as a result, within the certain limits and inside its own interval."""
    sizes = sample.sizes
    value = bound_estimate(sizes, sample.population, estimate.sample_to_population)
    notes, parts = [*sample.notes, *estimate.notes], dict(estimate.parts)
    if abs(value - estimate.sample_to_population) > 1e-9:
        parts[f"{method}, unlimited"] = estimate.sample_to_population
        notes.append(
            f"the {method} estimator alone says {percent(estimate.sample_to_population)}, which the sample rules out; "
            "the limit that is certain was taken"
        )
    return bound_uniques_interval(
        PopulationRisk(
            people=sizes.people,
            classes=sizes.classes,
            uniques=sizes.uniques,
            population=sample.population,
            sample_to_population=value,
            interval=(min(estimate.interval[0], value), max(estimate.interval[1], value)),
            population_uniques=estimate.population_uniques,
            still_unique=estimate.still_unique if sizes.uniques else None,
            method=method,
            assumptions=estimate.assumptions,
            notes=tuple(notes),
            parts=parts,
            still_unique_interval=estimate.still_unique_interval if sizes.uniques else None,
            seed=seed,
            seconds=seconds,
        )
    )


def _count_whole_population(sample: Sample) -> MethodEstimate:
    """The risk where everybody is in the table."""
    note = "the table is the whole population: the answer is counted, not estimated"
    correctness, uniques = sample.sizes.correctness, float(sample.sizes.uniques)
    return MethodEstimate(
        correctness, (correctness, correctness), uniques, 1.0, (), (note,), still_unique_interval=(1.0, 1.0)
    )


def _by_posterior(sample: Sample, options: _Options) -> MethodEstimate:
    options.progress("fitting the class sizes", 0.0)
    return _from_class_sizes(sample)


def _from_class_sizes(sample: Sample) -> MethodEstimate:
    """The estimate of the class sizes alone."""
    found = estimate_by_posterior(sample.class_size_model, sample.population)
    estimate, still_unique = found.sample_to_population, found.still_unique
    deviation = combined.log_deviation(found.interval)
    return MethodEstimate(
        estimate,
        interval_around("posterior", estimate, sample, scatter=found.scatter, deviation=deviation),
        found.population_uniques,
        still_unique,
        posterior_estimator.ASSUMPTIONS,
        found.notes,
        still_unique_interval=interval_of_uniques("posterior", still_unique, estimate, sample, deviation=deviation),
    )


def _scatter(sample: Sample) -> float:
    """How much 1/F differs among the records; for every method it is taken from the class sizes."""
    return estimate_by_posterior(sample.class_size_model, sample.population).scatter


def _columns(sample: Sample, *, pairs: bool) -> Columns:
    reason = sample.why_no_columns()
    if reason is not None:
        raise UnsupportedError(f"a copula needs the columns of the table, but {reason}; use method='posterior'")
    return sample.columns(pairs=pairs)


def _by_copulas(sample: Sample, options: _Options, kinds: Sequence[str]) -> MethodEstimate:
    """The published estimators: one copula, or the average of two."""
    columns = _columns(sample, pairs=not (options.reference or "dvine" in kinds))
    if options.reference:
        fits = fit_by_monte_carlo(columns, kinds, seed=options.seed, progress=part(options.progress, 0.0, 0.5))
    else:
        pairs = pair_correlations(columns, progress=part(options.progress, 0.0, 0.2))
        fits = [
            (columns, nearest_correlation(pairs))
            if kind == "gaussian"
            else fit_dvine(columns, pairs, progress=part(options.progress, 0.2, 0.5))
            for kind in kinds
        ]
    drawn = [
        copula.draw_populations(
            copula.Copula(ordered.chances(), correlation),
            sample.population,
            seed=[options.seed, number],
            draws=options.draws,
            progress=part(options.progress, 0.5 + 0.5 * number / len(fits), 0.5 + 0.5 * (number + 1) / len(fits)),
        )
        for number, (ordered, correlation) in enumerate(fits)
    ]
    estimate = float(np.mean([one.correctness for one in drawn]))
    name = "average" if len(kinds) > 1 else kinds[0]
    parts = [(kind, one.correctness) for kind, one in zip(kinds, drawn, strict=True)] if len(kinds) > 1 else []
    if options.draws > 1:
        parts += [(f"draw {k + 1}", float(np.mean([one.each[k] for one in drawn]))) for k in range(options.draws)]
    return MethodEstimate(
        estimate,
        interval_around(name, estimate, sample, scatter=_scatter(sample)),
        float(np.mean([one.population_uniques for one in drawn])),
        float(np.mean([one.still_unique(sample.sizes.people) for one in drawn])),
        copula.ASSUMPTIONS,
        (copula.PATENT,),
        tuple(parts),
    )


def _fit_anchored(sample: Sample, options: _Options) -> anchored.AnchoredEstimate:
    return anchored.fit_anchored(
        _columns(sample, pairs=True),
        sample.sizes,
        sample.population,
        seed=[options.seed],
        draws=options.draws,
        progress=part(options.progress, 0.0, 0.9),
    )


def _by_anchored(sample: Sample, options: _Options) -> MethodEstimate:
    found = _fit_anchored(sample, options)
    estimate = found.sample_to_population
    return MethodEstimate(
        estimate,
        interval_around("anchored", estimate, sample, scatter=_scatter(sample)),
        found.population_uniques,
        found.uniques_ratio,
        anchored.ASSUMPTIONS,
        (*found.notes, copula.PATENT),
        still_unique_interval=interval_of_uniques("anchored", found.uniques_ratio, estimate, sample),
    )


def _why_class_sizes_alone(sample: Sample) -> str | None:
    """Why the class sizes answer alone, or None where a copula joins them."""
    reason = sample.why_no_columns()
    if reason is not None:
        return reason
    if sample.sizes.uniques == sample.sizes.people:
        return "all records are unique, so a copula has nothing to start from"
    if len(copula.informative(sample.columns(pairs=True)).sizes) < 2:
        return "one column alone tells the records apart, and a copula is about several"
    return None


def _note_alone(estimate: MethodEstimate, reason: str) -> MethodEstimate:
    return replace(estimate, notes=(*estimate.notes, f"the posterior estimator alone: {reason}"))


def _by_combined(sample: Sample, options: _Options) -> MethodEstimate:
    reason = _why_class_sizes_alone(sample)
    if reason is not None:
        return _note_alone(_by_posterior(sample, options), reason)
    fitted = _fit_anchored(sample, options)
    options.progress("joining it with the class sizes", 0.95)
    return _combine(sample, fitted, combined.fit_trials(fitted, seed=[options.seed]))


def _combine(sample: Sample, fitted: anchored.AnchoredEstimate, trials: Sequence[ClassSizeFit]) -> MethodEstimate:
    """The estimate of the copula and the class sizes together."""
    sizes = estimate_by_posterior(sample.class_size_model, sample.population)
    both = combined.combine(fitted, sizes, trials)
    estimate, deviation = both.sample_to_population, both.deviation
    parts = [("anchored", both.anchored), ("posterior", both.posterior), ("weight of class sizes", both.weight)]
    if both.corrected is not None:
        parts.insert(2, ("posterior, corrected", both.corrected))
    return MethodEstimate(
        estimate,
        interval_around("combined", estimate, sample, scatter=sizes.scatter, deviation=deviation),
        both.population_uniques,
        both.still_unique,
        combined.ASSUMPTIONS,
        (*sizes.notes, *fitted.notes, copula.PATENT),
        tuple(parts),
        interval_of_uniques("combined", both.still_unique, estimate, sample, deviation=deviation),
    )


def _fit_once(sample: Sample, seed: int, drawn: int, progress: Progress) -> Callable[[Sample], MethodEstimate]:
    """Fit the sample once; the function returned estimates for it with any population larger than it."""
    reason = _why_class_sizes_alone(sample)
    if reason is not None:
        return lambda one: _note_alone(_from_class_sizes(one), reason)
    fitted = anchored.fit_anchored(
        sample.columns(pairs=True),
        sample.sizes,
        max(drawn, sample.population),
        seed=[seed],
        drawn=drawn,
        progress=part(progress, 0.0, 0.8),
    )
    trials = combined.fit_trials(fitted, seed=[seed])
    return lambda one: _combine(one, fitted.at(one.population), trials)


_ESTIMATORS: dict[Method, Callable[[Sample, _Options], MethodEstimate]] = {
    "combined": _by_combined,
    "posterior": _by_posterior,
    "anchored": _by_anchored,
    "gaussian": lambda sample, options: _by_copulas(sample, options, ("gaussian",)),
    "dvine": lambda sample, options: _by_copulas(sample, options, ("dvine",)),
    "average": lambda sample, options: _by_copulas(sample, options, ("gaussian", "dvine")),
}
