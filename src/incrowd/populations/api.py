"""Public functions: the risk in one population, in several, and for a population whose size is uncertain."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.populations.estimators import EstimatorName, check_method, estimate_risk, estimate_risks
from incrowd.populations.fixed_coding import require_fixed_coding
from incrowd.populations.result import PopulationRisk, Sensitivity
from incrowd.populations.sample import Sample, read_sample, settle_population
from incrowd.tables import TableLike

FACTORS = (0.5, 0.8, 1.0, 1.25, 2.0)
"""Factors by which the population may be wrong, for `sensitivity`."""


def population_risk(
    data: ClassSizes | TableLike,
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    method: EstimatorName = "combined",
    seed: int = 0,
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    draws: int = 1,
    reference: bool = False,
    progress: Progress = silent,
) -> PopulationRisk:
    """Estimate how often a record of this sample, matched against the population, is named correctly.

    Args:
        data: a table (a path, a frame or a `Table`), or `ClassSizes`, which only the method "posterior" can use.
        population: how many people the sample was drawn from.
        quasi_identifiers: the columns an attacker knows.
        method: "combined", "crowd", "posterior", "anchored", "gaussian", "dvine" or "average".
        seed: seed of the synthetic populations.
        fraction: the share of the population that is in the sample, instead of `population`.
        weights: the column with the number of people that each record represents, instead of `population`.
        person: the column that identifies the person of each record, if people have several.
        strata: the column with the stratum in which each record was drawn; needs `weights`.
        cluster: the column with the cluster (household, village) with which each record was drawn.
        draws: number of synthetic populations to draw.
        reference: fit the two published copulas by their published Monte Carlo method; slow, for comparison.
        progress: progress callback.

    Returns:
        The estimate with its interval, its assumptions and its parts.

    Raises:
        InputError: the population is not known or smaller than the sample, or a column does not exist.
        UnsupportedError: the sample cannot support an answer by this method.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> risk = population_risk(sample, population=8400, method="posterior")
    >>> 0.1 < risk.sample_to_population < 0.3
    True
    """
    started = time.perf_counter()
    check_method(method)
    if draws < 1:
        raise InputError(f"at least one synthetic population must be drawn; draws={draws} was given")
    sample = read_sample(
        data,
        population=population,
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
        strata=strata,
        cluster=cluster,
    )
    return estimate_risk(
        sample, method, seed=seed, draws=draws, reference=reference, progress=progress, started=started
    )


def risk_curve(
    data: ClassSizes | TableLike,
    *,
    at: Sequence[float],
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    seed: int = 0,
    drawn: int | None = None,
    progress: Progress = silent,
) -> tuple[PopulationRisk, ...]:
    """Estimate the risk if the sample were drawn from each of several populations, by the combined estimator.

    For a random sample the expectation of B is κ(N), the average risk among N people, so these are also forecasts of
    κ(N). The model is fitted once for all populations; `sensitivity` fits it for each.

    Args:
        data: a table (a path, a frame or a `Table`), or `ClassSizes`.
        at: the populations.
        quasi_identifiers: the columns an attacker knows.
        person: the column that identifies the person of each record, if people have several.
        seed: seed of the synthetic population.
        drawn: number of synthetic people, between 200,000 and five million; by default the largest population, within
            this range.
        progress: progress callback.

    Returns:
        One estimate for each population, in the order of `at`.

    Raises:
        InputError: a population is smaller than the sample, or none is given.
        UnsupportedError: the sample cannot support an answer.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> [risk.population for risk in risk_curve(sample, at=[840, 8_400])]
    [840, 8400]
    """
    sample = _read_as_whole(data, quasi_identifiers, person)
    return estimate_risks(sample, at, seed=seed, drawn=drawn, progress=progress)


def sensitivity(
    data: ClassSizes | TableLike,
    *,
    population: float | Sequence[float] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
    strata: str | None = None,
    cluster: str | None = None,
    method: EstimatorName = "combined",
    seed: int = 0,
    progress: Progress = silent,
) -> Sensitivity:
    """Estimate how the risk depends on the size of the population, if this size is uncertain.

    Args:
        data: a table (a path, a frame or a `Table`), or `ClassSizes`.
        population: one population, which is multiplied by 0.5, 0.8, 1, 1.25 and 2 (products smaller than the sample
            are left out); or several, the middle one of which is the assumed population.
        quasi_identifiers: the columns an attacker knows.
        fraction: the share of the population that is in the sample, instead of `population`.
        weights: the column with the number of people that each record represents, instead of `population`.
        person: the column that identifies the person of each record, if people have several.
        strata: the column with the stratum in which each record was drawn; needs `weights`.
        cluster: the column with the cluster (household, village) with which each record was drawn.
        method: an estimator of `population_risk`.
        seed: seed of the synthetic populations.
        progress: progress callback.

    Returns:
        The estimates, and their change relative to the assumed population.

    Raises:
        InputError: a population that was given is smaller than the sample, or none is known.
        UnsupportedError: the sample cannot support an answer by this method.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> [row["factor"] for row in sensitivity(sample, population=8400, method="posterior").rows]
    [0.5, 0.8, 1.0, 1.25, 2.0]
    """
    check_method(method)
    several = population is not None and not np.isscalar(population)
    if several and np.asarray(population).size and np.asarray(population).dtype.kind not in "iuf":
        raise InputError("the populations must be numbers; something else was given")
    given = sorted(float(one) for one in np.atleast_1d(np.asarray(population))) if several else None
    if given is not None and not given:
        raise InputError("an empty list of populations; give at least one number")
    sample = read_sample(
        data,
        population=given[len(given) // 2] if given is not None else population,  # type: ignore[arg-type]
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
        strata=strata,
        cluster=cluster,
    )
    people = sample.sizes.people
    if given is None:
        wanted = [round(sample.population * factor) for factor in FACTORS]
        wanted = [size for size in wanted if size >= people]
    else:
        wanted = [settle_population(people, population=size) for size in given]
    return _compare_populations(sample, wanted, method, seed, progress)


def by_fraction(
    data: ClassSizes | TableLike,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    fractions: Sequence[float] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    person: str | None = None,
    method: EstimatorName = "combined",
    seed: int = 0,
    progress: Progress = silent,
) -> Sensitivity:
    """Estimate the risk for several sampling fractions, if neither the population nor the fraction is known.

    Args:
        data: a table (a path, a frame or a `Table`), or `ClassSizes`.
        quasi_identifiers: the columns an attacker knows.
        fractions: possible shares of the population that are in the sample.
        person: the column that identifies the person of each record, if people have several.
        method: an estimator of `population_risk`.
        seed: seed of the synthetic populations.
        progress: progress callback.

    Returns:
        One estimate for each fraction.

    Raises:
        InputError: a fraction is not above 0 and at most 1.
        UnsupportedError: the sample cannot support an answer by this method.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> [risk.population for risk in by_fraction(sample, fractions=[0.1, 1.0], method="posterior").risks]
    [840, 8400]
    """
    check_method(method)
    sample = _read_as_whole(data, quasi_identifiers, person)
    wanted = sorted(settle_population(sample.sizes.people, fraction=fraction) for fraction in fractions)
    if not wanted:
        raise InputError("an empty list of fractions; give at least one number")
    return _compare_populations(replace(sample, population=wanted[len(wanted) // 2]), wanted, method, seed, progress)


def _read_as_whole(data: ClassSizes | TableLike, quasi_identifiers: Sequence[str] | None, person: str | None) -> Sample:
    """The sample as its own population, to be replaced by others."""
    sample = read_sample(data, quasi_identifiers=quasi_identifiers, fraction=1.0, person=person)
    if sample.table is not None:
        require_fixed_coding(sample.table, sample.names)
    return sample


def _compare_populations(
    sample: Sample, populations: Sequence[int], method: EstimatorName, seed: int, progress: Progress
) -> Sensitivity:
    """An estimate for each population; `sample.population` is the assumed one."""
    count = len(populations)
    risks = tuple(
        estimate_risk(
            replace(sample, population=people),
            method,
            seed=seed,
            progress=part(progress, number / count, (number + 1) / count),
        )
        for number, people in enumerate(populations)
    )
    return Sensitivity(next(risk for risk in risks if risk.population == sample.population), risks)
