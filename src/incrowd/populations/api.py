"""`population_risk`: one question, several ways to answer it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.errors import InputError, UnsupportedError
from incrowd.pitman_yor import ClassSizeFit
from incrowd.populations import anchored, combined, copula, posterior
from incrowd.populations.constraints import agreeing, at_most, combinations_seen
from incrowd.populations.correlation import nearest_correlation
from incrowd.populations.dvine import fit_dvine
from incrowd.populations.gaussian import pair_correlations
from incrowd.populations.marginals import Columns
from incrowd.populations.model_error import interval_around, interval_of_uniques
from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import Sample, read_sample
from incrowd.populations.synthetic import Copula


@dataclass(frozen=True, slots=True)
class Answer:
    """What a method finds; the rest of a `PopulationRisk` is the same for all."""

    B: float
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


def population_risk(
    data: Any,
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    method: str = "combined",
    seed: int = 0,
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
    draws: int = 1,
    reference: bool = False,
    progress: Progress = silent,
) -> PopulationRisk:
    """How often a record of this sample, matched against a population of `population` people, is named correctly.

    `data` is a file, a frame or `ClassSizes` (then only "posterior" can answer). Say how many people there are with
    `population`, or with the sampling `fraction`, or with a column of survey `weights`. Methods: "combined" (default),
    "posterior", "anchored", "gaussian", "dvine", "average". `draws` synthetic populations are drawn; `reference` fits
    the two published copulas by their published Monte Carlo, which is slow and meant for comparison.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> risk = population_risk(sample, population=8400, method="posterior")
    >>> 0.1 < risk.B < 0.3
    True
    """
    started = time.perf_counter()
    if method not in METHODS:
        raise InputError(
            f"no method {method!r}; there are: {', '.join(METHODS)} (classical_risk has the classical ones)"
        )
    if draws < 1:
        raise InputError(f"at least one synthetic population must be drawn; draws={draws} was given")
    sample = read_sample(
        data,
        population=population,
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
    )
    return answer(sample, method, seed=seed, draws=draws, reference=reference, progress=progress, started=started)


def answer(
    sample: Sample,
    method: str,
    *,
    seed: int = 0,
    draws: int = 1,
    reference: bool = False,
    progress: Progress = silent,
    started: float | None = None,
) -> PopulationRisk:
    """The answer of a method for a sample already read."""
    started = time.perf_counter() if started is None else started
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"the seed must be a whole number of 0 or more; {seed!r} was given")
    sizes = sample.sizes
    if sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    if sizes.people == sample.population:
        found = whole_population(sample)
    else:
        found = METHODS[method](sample, _Options(seed, draws, reference, progress))
    risk = as_result(sample, found, method, seed, time.perf_counter() - started)
    return at_most(risk, combinations_seen(sample)) if method == "combined" else risk


def as_result(sample: Sample, found: Answer, method: str, seed: int, seconds: float = 0.0) -> PopulationRisk:
    """What a method found, with what is the same for all."""
    sizes = sample.sizes
    return agreeing(
        PopulationRisk(
            people=sizes.people,
            classes=sizes.classes,
            uniques=sizes.uniques,
            population=sample.population,
            B=found.B,
            interval=found.interval,
            population_uniques=found.population_uniques,
            still_unique=found.still_unique if sizes.uniques else None,
            method=method,
            assumptions=found.assumptions,
            notes=(*sample.notes, *found.notes),
            parts=dict(found.parts),
            still_unique_interval=found.still_unique_interval if sizes.uniques else None,
            seed=seed,
            seconds=seconds,
        )
    )


def whole_population(sample: Sample) -> Answer:
    """The answer where everybody is in the table."""
    sizes = sample.sizes
    note = "the table is the whole population: the answer is counted, not estimated"
    return Answer(
        sizes.correctness, (sizes.correctness,) * 2, float(sizes.uniques), 1.0, (), (note,), (), (1.0, 1.0)
    )  # fmt: skip


def _posterior(sample: Sample, options: _Options) -> Answer:
    options.progress("fitting the class sizes", 0.0)
    return by_posterior(sample, posterior.model_sizes(sample.sizes))


def by_posterior(sample: Sample, known: posterior.SizesModel) -> Answer:
    """The answer of the class sizes alone."""
    found = posterior.posterior_at(known, sample.population)
    spread = combined.log_spread(found.interval)
    return Answer(
        found.B,
        interval_around("posterior", found.B, sample, scatter=found.scatter, spread=spread),
        found.population_uniques,
        found.still_unique,
        posterior.ASSUMPTIONS,
        found.notes,
        still_unique_interval=interval_of_uniques("posterior", found.still_unique, found.B, sample, spread=spread),
    )


def _scatter(sample: Sample) -> float:
    """How much 1/F differs among the records; the class sizes say so for every method."""
    return posterior.estimate_posterior(sample.sizes, sample.population).scatter


def _columns(sample: Sample, *, pairs: bool) -> Columns:
    reason = sample.why_no_columns()
    if reason is not None:
        raise UnsupportedError(f"a copula needs the columns of the table, but {reason}; use method='posterior'")
    return sample.columns(pairs=pairs)


def _copula(sample: Sample, options: _Options, kinds: Sequence[str]) -> Answer:
    """The published estimators: one copula, or the average of two."""
    whole = options.reference or "dvine" in kinds
    columns, population = _columns(sample, pairs=not whole), sample.population
    if options.reference:
        from incrowd.populations.monte_carlo import reference_correlations

        fits = reference_correlations(columns, kinds, seed=options.seed, progress=part(options.progress, 0.0, 0.5))
    else:
        pairs = pair_correlations(columns, progress=part(options.progress, 0.0, 0.2))
        fits = [
            (columns, nearest_correlation(pairs))
            if kind == "gaussian"
            else fit_dvine(columns, pairs, progress=part(options.progress, 0.2, 0.5))
            for kind in kinds
        ]
    drawn = [
        copula.draw(
            Copula(ordered.chances(), correlation),
            population,
            seed=[options.seed, number],
            draws=options.draws,
            progress=part(options.progress, 0.5 + 0.5 * number / len(fits), 0.5 + 0.5 * (number + 1) / len(fits)),
        )
        for number, (ordered, correlation) in enumerate(fits)
    ]
    B = float(np.mean([one.B for one in drawn]))
    name = "average" if len(kinds) > 1 else kinds[0]
    uniques = float(np.mean([one.population_uniques for one in drawn]))
    parts = [(kind, one.B) for kind, one in zip(kinds, drawn, strict=True)] if len(kinds) > 1 else []
    if options.draws > 1:
        parts += [(f"draw {k + 1}", float(np.mean([one.each[k] for one in drawn]))) for k in range(options.draws)]
    still_unique = float(np.mean([one.still_unique(sample.sizes.people) for one in drawn]))
    interval = interval_around(name, B, sample, scatter=_scatter(sample))
    return Answer(B, interval, uniques, still_unique, copula.ASSUMPTIONS, (copula.PATENT,), tuple(parts))


def _fit_anchored(sample: Sample, options: _Options) -> anchored.Anchored:
    return anchored.fit_anchored(
        _columns(sample, pairs=True),
        sample.sizes,
        sample.population,
        seed=[options.seed],
        draws=options.draws,
        progress=part(options.progress, 0.0, 0.9),
    )


def _anchored(sample: Sample, options: _Options) -> Answer:
    found = _fit_anchored(sample, options)
    interval = interval_around("anchored", found.B, sample, scatter=_scatter(sample))
    notes = (*found.notes, copula.PATENT)
    unique = interval_of_uniques("anchored", found.uniques_ratio, found.B, sample)
    return Answer(
        found.B,
        interval,
        found.population_uniques,
        found.uniques_ratio,
        anchored.ASSUMPTIONS,
        notes,
        still_unique_interval=unique,
    )


def _why_no_copula(sample: Sample) -> str | None:
    """Why a copula adds nothing to the class sizes, or none where it does."""
    if sample.sizes.uniques == sample.sizes.people:
        return "all records are unique, so a copula has nothing to start from"
    if len(copula.informative(sample.columns(pairs=True)).sizes) < 2:
        return "one column alone tells the records apart, and a copula is about several"
    return None


def why_posterior_alone(sample: Sample) -> str | None:
    """Why the class sizes answer alone, or none where a copula joins them."""
    return sample.why_no_columns() or _why_no_copula(sample)


def _combined(sample: Sample, options: _Options) -> Answer:
    reason = why_posterior_alone(sample)
    if reason is not None:
        found = _posterior(sample, options)
        return replace(found, notes=(*found.notes, f"the posterior estimator alone: {reason}"))
    fitted = _fit_anchored(sample, options)
    options.progress("joining it with the class sizes", 0.95)
    trials = combined.fit_trials(fitted, seed=[options.seed])
    return by_both(sample, fitted, posterior.model_sizes(sample.sizes), trials)


def by_both(
    sample: Sample, fitted: anchored.Anchored, known: posterior.SizesModel, trials: Sequence[ClassSizeFit]
) -> Answer:
    """The answer of the copula and the class sizes together."""
    sizes = posterior.posterior_at(known, sample.population)
    both = combined.combine(fitted, sizes, trials)
    parts = [("anchored", both.anchored), ("posterior", both.posterior), ("weight of class sizes", both.weight)]
    if both.corrected is not None:
        parts.insert(2, ("posterior, corrected", both.corrected))
    return Answer(
        both.B,
        interval_around("combined", both.B, sample, scatter=sizes.scatter, spread=both.spread),
        both.population_uniques,
        both.still_unique,
        combined.ASSUMPTIONS,
        (*sizes.notes, *fitted.notes, copula.PATENT),
        tuple(parts),
        interval_of_uniques("combined", both.still_unique, both.B, sample, spread=both.spread),
    )


METHODS: dict[str, Callable[[Sample, _Options], Answer]] = {
    "combined": _combined,
    "posterior": _posterior,
    "anchored": _anchored,
    "gaussian": lambda sample, options: _copula(sample, options, ("gaussian",)),
    "dvine": lambda sample, options: _copula(sample, options, ("dvine",)),
    "average": lambda sample, options: _copula(sample, options, ("gaussian", "dvine")),
}
"""Every way to answer, by name."""
