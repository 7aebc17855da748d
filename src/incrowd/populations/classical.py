"""`classical_risk` and the classical estimators that it calls.

Each estimates from class sizes and N, or raises UnsupportedError if its equations have no solution. Formulas: Zayatz
1991; Hoshino 2001 (Pitman, Ewens); Chen & Keller-McNulty 1998 (slide negative binomial); Dankar et al. 2012 (rule that
chooses an estimator); Benedetti & Franconi 1998; the entropy score is the inverse of the expected count under
independence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, least_squares
from scipy.special import hyp2f1

from incrowd.classes import ClassSizes, assign_classes
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import PitmanYor, fit_class_sizes
from incrowd.populations.result import ClassicalEstimate, ClassicalRisk
from incrowd.populations.sample import Sample, read_sample
from incrowd.special import Floats, log_chance_missed
from incrowd.tables import TableLike


def zayatz(sizes: ClassSizes, population: int) -> ClassicalEstimate:
    """Zayatz: population class sizes are distributed as the sample's; uniques = a₁ P(F=1 | f=1) / π."""
    if not sizes.uniques:
        raise UnsupportedError("no record is unique in the sample; the method only scales up sample uniques")
    _needs_some_repeats(sizes)
    size, share = sizes.sizes.astype(np.float64), sizes.counts / sizes.classes
    once = np.exp(_log_one_drawn(size, sizes.people, population))
    chance = share[0] * once[0] / float(share @ once)
    uniques = sizes.uniques * float(chance) * population / sizes.people
    return ClassicalEstimate(method="zayatz", population=population, population_uniques=uniques)


def pitman(sizes: ClassSizes, population: int) -> ClassicalEstimate:
    """Pitman's model by maximum likelihood: uniques = Γ(θ+1)/Γ(θ+α) · N^α, here its exact expectation."""
    fit = fit_class_sizes(sizes, method="ml")
    if fit.model.d <= 0:
        raise UnsupportedError(
            "the class sizes have no heavy tail (the likelihood of Pitman's model is highest at α ≤ 0); "
            "use the posterior estimator"
        )
    return _from_model("pitman", fit.model, population)


def ewens(sizes: ClassSizes, population: int) -> ClassicalEstimate:
    """Ewens' model: θ so that the expected number of classes is the observed one; uniques = Nθ/(N+θ−1)."""
    _needs_some_repeats(sizes)
    if sizes.classes == 1:
        raise UnsupportedError("all records are alike; Ewens' model has no θ for that")

    def excess(log_theta: float) -> float:
        return float(PitmanYor(0.0, math.exp(log_theta)).correctness(sizes.people)) - sizes.correctness

    theta = math.exp(brentq(excess, -40.0, 60.0, xtol=1e-12))
    return _from_model("ewens", PitmanYor(0.0, theta), population)


def slide_negative_binomial(sizes: ClassSizes, population: int) -> ClassicalEstimate:
    """SNB: α and β from a₁, a₂ and the expected number of sample classes; population uniques K_N β^α."""
    fraction = sizes.people / population
    ones, twos = float(sizes.uniques), float(sizes.histogram().get(2, 0))
    if not ones or not twos:
        raise UnsupportedError("SNB needs both unique records and pairs; there are none of one of them")
    total, alpha, beta = _solve_snb(ones, twos, sizes.classes, fraction)
    return ClassicalEstimate(method="snb", population=population, population_uniques=total * beta**alpha)


def dankar(sizes: ClassSizes, population: int) -> ClassicalEstimate:
    """Dankar's rule: up to a tenth of the population Pitman; above, the smaller of SNB and Zayatz."""
    if sizes.people <= 0.1 * population:
        chosen = pitman(sizes, population)
    else:
        answers = [zayatz(sizes, population)]
        with suppress(UnsupportedError):  # if SNB has no solution, Zayatz alone is used
            answers.append(slide_negative_binomial(sizes, population))
        chosen = min(answers, key=lambda answer: answer.population_uniques or 0.0)
    return ClassicalEstimate(
        method="dankar",
        population=population,
        population_uniques=chosen.population_uniques,
        sample_to_population=chosen.sample_to_population,
    )


def benedetti_franconi(
    sizes: ClassSizes, population: int, *, seen: Floats | None = None, estimated: Floats | None = None
) -> ClassicalEstimate:
    """Benedetti–Franconi: E[1/F] of F | f negative binomial, p = f/F̂; F̂ = f/π, or each class's sum of weights."""
    if seen is None or estimated is None:
        seen = sizes.sizes.astype(np.float64)
        weight = sizes.counts * seen
        estimated = seen * population / sizes.people
    else:
        weight = seen
    risk = benedetti_franconi_risk(seen, estimated)
    estimate = float(weight @ risk / weight.sum())
    return ClassicalEstimate(method="benedetti-franconi", population=population, sample_to_population=estimate)


def benedetti_franconi_risk(seen: Floats, estimated: Floats) -> Floats:
    """(p^f / f) · ₂F₁(f, f; f+1; 1−p), p = f/F̂: the exact form for any f.

    >>> benedetti_franconi_risk(np.array([1.0]), np.array([10.0])).tolist()  # p/(1−p) · ln(1/p)
    [0.2558...]
    """
    p = seen / estimated
    # Euler: ₂F₁(f, f; f+1; z) = (1−z)^(1−f) ₂F₁(1, 1; f+1; z), which neither overflows nor underflows
    return np.asarray(p / seen * _hypergeometric(seen, 1.0 - p))


def _hypergeometric(seen: Floats, z: Floats) -> Floats:
    """₂F₁(1, 1; f+1; z); for large f by its series Σ k! z^k / (f+1)_k, which then converges fast."""
    large = seen > 30
    value = np.empty(seen.shape)
    value[~large] = hyp2f1(1.0, 1.0, seen[~large] + 1.0, z[~large])
    term, total = np.ones(int(large.sum())), np.ones(int(large.sum()))
    for k in range(1, 120):
        term = term * k * z[large] / (seen[large] + k)
        total = total + term
    value[large] = total
    return value


def entropy_score(
    counts: list[NDArray[np.int64]],
    codes: NDArray[np.int64],
    population: int,
    *,
    times: NDArray[np.int64] | None = None,
) -> ClassicalEstimate:
    """Mean of min(1, 1 / (N Π p̂)): the inverse of the expected number of equal records if columns were independent.

    Column i of `codes` stands for `times[i]` equal records, or for one if `times` is None.
    """
    people = int(counts[0].sum())
    log_expected = np.full(codes.shape[1], math.log(population))
    for count, code in zip(counts, codes, strict=True):
        log_expected += np.log(count / people)[code]
    return ClassicalEstimate(
        method="entropy",
        population=population,
        sample_to_population=float(np.average(np.exp(np.minimum(0.0, -log_expected)), weights=times)),
    )


FROM_SIZES: dict[str, Callable[[ClassSizes, int], ClassicalEstimate]] = {
    "zayatz": zayatz,
    "pitman": pitman,
    "ewens": ewens,
    "snb": slide_negative_binomial,
    "dankar": dankar,
    "benedetti-franconi": benedetti_franconi,
}


def _from_model(method: str, model: PitmanYor, population: int) -> ClassicalEstimate:
    return ClassicalEstimate(
        method=method,
        population=population,
        population_uniques=float(model.uniqueness(population)) * population,
        sample_to_population=float(model.correctness(population)),
    )


def _needs_some_repeats(sizes: ClassSizes) -> None:
    if sizes.classes == sizes.people:
        raise UnsupportedError("all records are unique; the method needs some that are alike")


def _log_one_drawn(size: Floats, people: int, population: int) -> Floats:
    """log P(exactly one of a class's `size` people is in a sample): Hypergeometric(N, j, n) at 1."""
    # C(j,1) C(N−j, n−1) / C(N, n) = (j n / N) · C(N−j, n−1) / C(N−1, n−1)
    return np.asarray(
        np.log(size * people / population) + log_chance_missed(population - 1.0, size - 1.0, people - 1.0)
    )


def _solve_snb(ones: float, twos: float, classes: int, fraction: float) -> tuple[float, float, float]:
    """K_N, α and β for which a₁, a₂ and the number of sample classes have the observed values as expectations.

    With D = (1−π)(1−β): E a₁ = K π (β/(1−D))^α [1 + αD/(1−D)] and E K_n = K [1 − (1−π) (β/(1−D))^α]. The second
    equation eliminates K; least squares from several starts solves the equations for a₁ and a₂.
    """

    def expected(alpha: float, beta: float) -> tuple[float, float, float]:
        d = (1.0 - fraction) * (1.0 - beta)
        none = (beta / (1.0 - d)) ** alpha
        total = classes / (1.0 - (1.0 - fraction) * none)
        first = total * fraction * none * (1.0 + alpha * d / (1.0 - d))
        second = (
            total * fraction**2 * alpha * beta**alpha * (1.0 - beta) * (2.0 - (1.0 - alpha) * d)
            / (2.0 * (1.0 - d) ** (alpha + 2.0))
        )  # fmt: skip
        return total, first, second

    def misfit(point: Floats) -> Floats:
        alpha, beta = math.exp(point[0]), 1.0 / (1.0 + math.exp(-point[1]))
        _, first, second = expected(alpha, beta)
        return np.log([max(first, 1e-300) / ones, max(second, 1e-300) / twos])

    best = min(
        (
            least_squares(misfit, [start, odds], bounds=([-12.0, -25.0], [8.0, 25.0]))
            for start in (-3.0, 0.0, 2.0)
            for odds in (-4.0, 0.0, 2.0)
        ),
        key=lambda found: float(found.cost),
    )
    if best.cost > 1e-10:
        raise UnsupportedError("SNB's equations have no solution for this sample's uniques and pairs")
    alpha, beta = math.exp(best.x[0]), 1.0 / (1.0 + math.exp(-best.x[1]))
    return expected(alpha, beta)[0], alpha, beta


def classical_risk(
    data: ClassSizes | TableLike,
    *,
    population: float | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
) -> ClassicalRisk:
    """Estimate the risk by Zayatz, Pitman, Ewens, SNB, Dankar's rule, Benedetti–Franconi and the entropy score.

    If an estimator has no solution for this sample, its `refused` says why. The entropy score needs a table with one
    record for each person.

    Args:
        data: a table (a path, a frame or a `Table`), or `ClassSizes`.
        population: how many people the sample was drawn from.
        quasi_identifiers: the columns an attacker knows.
        fraction: the share of the population that is in the sample, instead of `population`.
        weights: the column with the number of people that each record represents, instead of `population`; the
            Benedetti–Franconi estimate uses the sum of weights of each class.
        person: the column that identifies the person of each record, if people have several; the unit is then the
            person.

    Returns:
        The estimates by name: a mapping.

    Raises:
        InputError: the population is not known or smaller than the sample.
        UnsupportedError: the sample has one record.

    >>> from incrowd import ClassSizes
    >>> found = classical_risk(ClassSizes.from_counts({1: 300, 2: 120, 3: 60}), population=7200)
    >>> found["zayatz"].population_uniqueness
    0.1888...
    """
    sample = read_sample(
        data,
        population=population,
        fraction=fraction,
        quasi_identifiers=quasi_identifiers,
        weights=weights,
        person=person,
    )
    if sample.sizes.people == 1:
        raise UnsupportedError("one record says nothing about a population; give a table of at least two records")
    estimates: dict[str, ClassicalEstimate] = {}
    for name, estimator in FROM_SIZES.items():
        try:
            estimates[name] = estimator(sample.sizes, sample.population)
        except UnsupportedError as reason:
            estimates[name] = ClassicalEstimate(method=name, population=sample.population, refused=str(reason))
    if sample.why_no_columns() is None and sample.table is not None:
        if sample.weights is not None:
            classes = assign_classes(sample.table, sample.names)
            estimated = sample.weights.of_classes(classes.numbers)
            estimates["benedetti-franconi"] = benedetti_franconi(
                sample.sizes, sample.population, seen=classes.people.astype(np.float64), estimated=estimated
            )
        estimates["entropy"] = _entropy(sample)
    return ClassicalRisk(estimates)


def _entropy(sample: Sample) -> ClassicalEstimate:
    try:
        columns = sample.columns()
    except UnsupportedError as reason:
        return ClassicalEstimate(method="entropy", population=sample.population, refused=str(reason))
    counts = [columns.counts(j) for j in range(len(columns.sizes))]
    return entropy_score(counts, columns.codes, sample.population, times=columns.times)
