"""The methods that estimate the risk in the population, for one population and for several at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd._support.seed import require_seed
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations import anchored, combined, copula, crowd_estimator, posterior_estimator
from incrowd.populations.constraints import (
    count_possible_classes,
    limit_classes,
    limit_uniques,
    make_monotone,
    pass_through,
)
from incrowd.populations.copula_fit import fit_by_monte_carlo, fit_dvine, nearest_correlation, pair_correlations
from incrowd.populations.crowd_estimator import CrowdEstimate, grow_sample
from incrowd.populations.crowd_records import EntryRisks, assess_class_sizes, assess_records, tell_columns
from incrowd.populations.fitted_sample import (
    FitOptions,
    FittedSample,
    MethodEstimate,
    estimate_from_class_sizes,
    estimate_from_crowd,
    note_class_sizes_only,
)
from incrowd.populations.intervals import bound_estimate, interval_around, interval_of_uniques
from incrowd.populations.marginals import CodedColumns
from incrowd.populations.posterior_estimator import estimate_by_posterior
from incrowd.populations.result import Explanation, PopulationRisk
from incrowd.populations.sample import Sample, settle_population
from incrowd.wording import percent

EstimatorName = Literal["combined", "crowd", "posterior", "anchored", "gaussian", "dvine", "average"]
FEWEST_DRAWN = 200_000
"""Smallest number of synthetic people for estimates for several populations."""


def check_method(method: str) -> None:
    """Refuse a method that does not exist."""
    if method not in ESTIMATORS:
        raise InputError(
            f"no method {method!r}; there are: {', '.join(ESTIMATORS)} (classical_risk has the classical ones)"
        )


def explain_method(method: str) -> Explanation:
    """Description of an estimation method, in words for a report.

    Raises:
        InputError: there is no such method.

    >>> explain_method("posterior").how
    'The posterior of a Pitman–Yor model of the class sizes, given those of the sample.'
    """
    check_method(method)
    return ESTIMATORS[cast(EstimatorName, method)].explanation


def estimate_risk(
    sample: Sample,
    method: EstimatorName,
    *,
    seed: int = 0,
    draws: int = 1,
    reference: bool = False,
    progress: Progress = silent,
    started: float | None = None,
) -> PopulationRisk:
    """The estimate of a method for a sample already read."""
    options = FitOptions(seed, draws, reference, progress)
    return estimate_with_records(sample, method, options=options, started=started)[0]


def estimate_with_records(
    sample: Sample, method: EstimatorName = "combined", *, options: FitOptions, started: float | None = None
) -> tuple[PopulationRisk, EntryRisks | None]:
    """The estimate of a method, and the risk of every record if the method distinguishes records by their values."""
    started = time.perf_counter() if started is None else started
    seed = require_seed(options.seed)
    if sample.sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    if sample.sizes.people == sample.population:
        estimate = _count_whole_population(sample)
    else:
        estimate = ESTIMATORS[method].estimate(sample, options)
    risk = _as_result(sample, estimate, method, seed)
    if method in ("combined", "crowd"):
        risk = limit_classes(risk, count_possible_classes(sample))
    risk, records = _add_highest(sample, risk, estimate.crowd, leave_out=options.leave_out)
    return replace(risk, seconds=time.perf_counter() - started), records


def _add_highest(
    sample: Sample, risk: PopulationRisk, crowd: CrowdEstimate | None, *, leave_out: bool = False
) -> tuple[PopulationRisk, EntryRisks | None]:
    """The estimate with the highest risk of a record, and the risk of every record by the crowd model, raked to it.

    If records are not modelled, the highest risk is that of a class size, if the method uses class sizes.
    """
    if risk.population == risk.people:
        highest = 1.0 / int(sample.sizes.sizes[0])
        return replace(risk, highest=highest, highest_interval=(highest, highest)), None
    records = None
    if crowd is not None or (risk.method == "combined" and sample.is_modelled_ungrown()):
        records = assess_records(
            sample.crowd_model,
            risk.population,
            **_averages(sample, risk),
            estimate=crowd,
            leave_out=leave_out,
        )
    elif risk.method not in ("combined", "crowd", "posterior"):
        return risk, None
    highest, interval = (records or assess_by_size(sample, risk)).highest
    return replace(risk, highest=highest, highest_interval=interval), records


def assess_by_size(sample: Sample, risk: PopulationRisk) -> EntryRisks:
    """The risk of a record of each class size, raked to the estimate."""
    growth = estimate_by_posterior(sample.class_size_model, risk.population).class_growth
    return assess_class_sizes(growth, sample.sizes.sizes * sample.sizes.counts, **_averages(sample, risk))


def _averages(sample: Sample, risk: PopulationRisk) -> dict[str, float]:
    """Targets to which records are raked: B, and the share of records that are unique in the population."""
    uniqueness = (risk.still_unique or 0.0) * sample.sizes.uniqueness
    return {"correctness": risk.sample_to_population, "uniqueness": uniqueness}


def _add_telling(sample: Sample, risk: PopulationRisk, records: EntryRisks | None) -> PopulationRisk:
    """The estimate with `telling_columns`: the columns that matter most for the records at highest risk, in order."""
    if records is None:
        return risk
    shares = dict(zip(sample.crowd_columns, tell_columns(sample.crowd_model, records).tolist(), strict=True))
    ranked = sorted(shares, key=lambda name: -shares[name])
    return replace(risk, telling_columns={name: shares[name] for name in ranked if shares[name]})


def estimate_risks(
    sample: Sample,
    at: Sequence[float],
    *,
    seed: int = 0,
    drawn: int | None = None,
    tell: bool = True,
    progress: Progress = silent,
) -> tuple[PopulationRisk, ...]:
    """The combined estimate for each of the populations `at`, fitted once.

    One growth of the sample passes through all populations, and one synthetic population is evaluated at every N. It
    has `drawn` people, between 200,000 and five million; by default the largest population, within this range. For the
    sample's own population the estimate equals that of `estimate_risk`, and `tell` adds its `telling_columns`.
    """
    if not at:
        raise InputError("an empty list of populations; give at least one number")
    people = sample.sizes.people
    samples = [replace(sample, population=settle_population(people, population=one)) for one in at]
    populations = {one.population for one in samples}
    wanted = min(max(max(populations) if drawn is None else drawn, FEWEST_DRAWN), anchored.MOST_DRAWN)
    most = count_possible_classes(sample)
    is_single = populations == {sample.population}
    options = FitOptions(seed, 1, False, part(progress, 0.0, 0.9), leave_out=tell)
    fitted = FittedSample(sample, options, populations, None if is_single else wanted)

    def estimate_one(one: Sample, *, single_population: bool = False) -> PopulationRisk:
        if one.population == people:
            estimate = _count_whole_population(one)
        else:
            estimate = fitted.estimate(one, single_population=single_population)
        risk = limit_classes(_as_result(one, estimate, "combined", seed), most)
        if not single_population and one.population > people:
            return risk
        risk, records = _add_highest(one, risk, estimate.crowd)
        return _add_telling(one, risk, records) if tell else risk

    if is_single and sample.population > people:
        risks: tuple[PopulationRisk, ...] = (estimate_one(sample, single_population=True),) * len(samples)
    else:
        risks = make_monotone([estimate_one(one) for one in samples])
        if sample.population in populations and sample.population > people:
            risks = pass_through(risks, estimate_one(sample, single_population=True))
    progress("along the populations", 1.0)
    return risks


def _as_result(sample: Sample, estimate: MethodEstimate, method: str, seed: int) -> PopulationRisk:
    """The estimate as a result, limited to its certain range and contained in its interval."""
    sizes = sample.sizes
    value = bound_estimate(sizes, sample.population, estimate.sample_to_population)
    notes, parts = [*sample.notes, *estimate.notes], dict(estimate.parts)
    if sample.design is not None:
        notes.append(sample.design.note(used=estimate.crowd is not None))
    if abs(value - estimate.sample_to_population) > 1e-9:
        parts[f"{method}, unlimited"] = estimate.sample_to_population
        notes.append(
            f"the {method} estimator alone says {percent(estimate.sample_to_population)}, which the sample rules out; "
            "the limit that is certain was taken"
        )
    common = {field.name for field in fields(PopulationRisk)} & {field.name for field in fields(estimate)}
    adjusted: dict[str, Any] = {
        "sample_to_population": value,
        "interval": (min(estimate.interval[0], value), max(estimate.interval[1], value)),
        "still_unique": estimate.still_unique if sizes.uniques else None,
        "still_unique_interval": estimate.still_unique_interval if sizes.uniques else None,
        "notes": tuple(notes),
        "parts": parts,
    }
    return limit_uniques(
        PopulationRisk(
            people=sizes.people,
            classes=sizes.classes,
            uniques=sizes.uniques,
            population=sample.population,
            method=method,
            seed=seed,
            **{name: getattr(estimate, name) for name in common} | adjusted,
        )
    )


def _count_whole_population(sample: Sample) -> MethodEstimate:
    """The counted risk of a table that is the whole population."""
    note = "the table is the whole population: the answer is counted, not estimated"
    correctness, uniques = sample.sizes.correctness, float(sample.sizes.uniques)
    return MethodEstimate(
        correctness,
        (correctness, correctness),
        uniques,
        1.0,
        (),
        (note,),
        still_unique_interval=(1.0, 1.0),
    )


def _by_posterior(sample: Sample, options: FitOptions) -> MethodEstimate:
    options.progress("fitting the class sizes", 0.0)
    return estimate_from_class_sizes(sample)


def _scatter(sample: Sample) -> float:
    """Relative variance of 1/F among the records, from the posterior of class sizes for every method."""
    return estimate_by_posterior(sample.class_size_model, sample.population).scatter


def _columns(sample: Sample, *, pairs: bool) -> CodedColumns:
    reason = sample.why_no_columns()
    if reason is not None:
        raise UnsupportedError(f"a copula needs the columns of the table, but {reason}; use method='posterior'")
    return sample.columns(pairs=pairs)


def _by_copulas(sample: Sample, options: FitOptions, kinds: Sequence[str]) -> MethodEstimate:
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


def _by_anchored(sample: Sample, options: FitOptions) -> MethodEstimate:
    fitted = anchored.fit_anchored(
        _columns(sample, pairs=True),
        sample.sizes,
        sample.population,
        seed=[options.seed],
        draws=options.draws,
        progress=part(options.progress, 0.0, 0.9),
    )
    estimate = fitted.sample_to_population
    return MethodEstimate(
        estimate,
        interval_around("anchored", estimate, sample, scatter=_scatter(sample)),
        fitted.population_uniques,
        fitted.uniques_ratio,
        anchored.ASSUMPTIONS,
        (*fitted.notes, copula.PATENT),
        still_unique_interval=interval_of_uniques("anchored", fitted.uniques_ratio, estimate, sample),
    )


def _by_combined(sample: Sample, options: FitOptions) -> MethodEstimate:
    fitted = FittedSample(sample, options, {sample.population}, None)
    return fitted.estimate(sample, single_population=True)


def _by_crowd(sample: Sample, options: FitOptions) -> MethodEstimate:
    reason = sample.why_no_columns() or sample.why_no_records()
    if reason is not None:
        raise UnsupportedError(f"the crowd model needs the records, but {reason}; use method='combined'")
    if max(sample.columns().sizes) < 2:
        return note_class_sizes_only(estimate_from_class_sizes(sample), "all records are alike")
    population = sample.population
    crowd = grow_sample(
        sample.crowd_model,
        [population],
        seed=[options.seed],
        leave_out=population if options.leave_out else None,
        progress=options.progress,
    )[population]
    return estimate_from_crowd(sample, crowd, None)


class Estimator(NamedTuple):
    """A method: its function, and its explanation in reports."""

    estimate: Callable[[Sample, FitOptions], MethodEstimate]
    explanation: Explanation


ESTIMATORS: dict[EstimatorName, Estimator] = {
    "combined": Estimator(_by_combined, combined.EXPLANATION),
    "crowd": Estimator(_by_crowd, crowd_estimator.EXPLANATION),
    "posterior": Estimator(_by_posterior, posterior_estimator.EXPLANATION),
    "anchored": Estimator(_by_anchored, anchored.EXPLANATION),
    "gaussian": Estimator(partial(_by_copulas, kinds=("gaussian",)), copula.EXPLANATION),
    "dvine": Estimator(partial(_by_copulas, kinds=("dvine",)), copula.EXPLANATION),
    "average": Estimator(partial(_by_copulas, kinds=("gaussian", "dvine")), copula.EXPLANATION),
}
