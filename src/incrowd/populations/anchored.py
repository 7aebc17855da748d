"""The anchored copula: marginals allow for unseen values, and the estimate starts from the sample's own correctness."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, part, silent
from incrowd.classes import ClassSizes
from incrowd.populations.copula import Copula, SyntheticClasses, SyntheticPopulations, draw_populations, informative
from incrowd.populations.copula_fit import fit_gaussian
from incrowd.populations.intervals import bound_estimate
from incrowd.populations.marginals import CodedColumns, smooth_marginal
from incrowd.populations.result import Explanation
from incrowd.special import Floats

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "from the sample to the population correctness falls as in a normal copula of the columns",
)
EXPLANATION = Explanation(
    "An anchored Gaussian copula with smoothed margins: the average risk of the sample is counted, and the copula says "
    "how it changes from the sample to the population.",
    "The anchor is this package's own; copula estimators of this kind: patent application US 2022/0050917.",
)
MOST_DRAWN = 5_000_000
"""Largest synthetic population that is drawn, in seconds; larger ones are extrapolated from it."""


@dataclass(frozen=True, slots=True, eq=False)
class AnchoredEstimate:
    """κ and Ξ of the synthetic populations at the sample's size and at N, and the estimates they lead to.

    The copula supplies only the change from n to N: B = κ(n) · κ_syn(N)/κ_syn(n), and uniqueness likewise;
    `uniques_ratio`, Ξ_syn(N)/Ξ_syn(n), is also the chance that a unique record is unique in the population, and
    `unique_class_share`, Ξ_syn(N)/κ_syn(N), the share of classes that hold one person.
    """

    copula: Copula
    drawn: SyntheticPopulations
    sizes: ClassSizes
    population: int
    at_sample: float
    at_population: float
    uniques_ratio: float
    unique_class_share: float
    notes: tuple[str, ...] = ()

    @property
    def sample_to_population(self) -> float:
        """κ(n) · κ_syn(N)/κ_syn(n), within the certain limits."""
        return bound_estimate(self.sizes, self.population, self.sizes.correctness * self.at_population / self.at_sample)

    @property
    def population_uniques(self) -> float:
        """N · Ξ(n) · Ξ_syn(N)/Ξ_syn(n); at most every sample unique is one in the population too."""
        return self.population * self.sizes.uniqueness * self.uniques_ratio

    @property
    def reach(self) -> int:
        """Number of synthetic people drawn; estimates for larger populations are extrapolated."""
        return self.drawn.populations[0].people

    def at(self, population: int) -> AnchoredEstimate:
        """The estimate for another population, from the synthetic people already drawn."""
        return _estimate_from(self.copula, self.drawn, self.sizes, population)


def _estimate_from(copula: Copula, drawn: SyntheticPopulations, sizes: ClassSizes, population: int) -> AnchoredEstimate:
    """The estimate for a sample and a population, from synthetic people."""
    ends = np.mean([_ends(one, sizes.people, population) for one in drawn.populations], axis=0)
    at_sample, at_population, alone_in_sample, alone_in_population = (float(end) for end in ends)
    reach = drawn.populations[0].people
    return AnchoredEstimate(
        copula,
        drawn,
        sizes,
        population,
        at_sample,
        at_population,
        min(1.0, alone_in_population / alone_in_sample) if alone_in_sample else 0.0,
        alone_in_population / at_population,
        (f"beyond {reach:,} people the estimate is extrapolated",) if population > reach else (),
    )


def people_drawn(people: int, population: int) -> int:
    """Number of people to draw for a population of which a sample holds `people`."""
    return min(population, max(MOST_DRAWN, people))


class Dependence(NamedTuple):
    """Marginal counts of every informative column, and the dependence between these columns."""

    counts: Sequence[NDArray[np.int64]]
    correlation: Floats


def fit_dependence(columns: CodedColumns, *, progress: Progress = silent) -> Dependence:
    """Fit the marginal counts and correlations of the columns: the slow part, the same for any number of people."""
    chosen = informative(columns)
    correlation = fit_gaussian(chosen, progress=progress)
    return Dependence([chosen.counts(j) for j in range(len(chosen.sizes))], correlation)


def fit_anchored(
    columns: CodedColumns,
    sizes: ClassSizes,
    population: int,
    *,
    seed: Sequence[int],
    draws: int = 1,
    drawn: int | None = None,
    dependence: Dependence | None = None,
    progress: Progress = silent,
) -> AnchoredEstimate:
    """Fit the Gaussian copula with smoothed marginals, draw from it, and read κ at n and at N.

    The number of people drawn is `drawn`, or the population up to `MOST_DRAWN`. `dependence` is the result of
    `fit_dependence`, if the columns were fitted before.
    """
    counts, correlation = dependence or fit_dependence(columns, progress=part(progress, 0.0, 0.3))
    people = people_drawn(sizes.people, population) if drawn is None else max(drawn, sizes.people)
    marginals = [smooth_marginal(one, max(people, population)) for one in counts]
    copula = Copula(marginals, correlation)
    synthetic = draw_populations(copula, people, seed=seed, draws=draws, progress=part(progress, 0.3, 1.0))
    return _estimate_from(copula, synthetic, sizes, population)


def _ends(drawn: SyntheticClasses, people: int, population: int) -> list[float]:
    """κ at n and at N, Ξ at n and at N of a synthetic population.

    The last person added is unique if they add a class, so Ξ(N) = d(N κ)/dN = κ(N) (1 + d log κ/d log N). Beyond the
    people drawn, Ξ is computed from this slope of κ instead of being extrapolated itself.
    """
    at_population = extrapolate(drawn.correctness, drawn.people, population)
    if population <= drawn.people:
        alone = float(drawn.uniqueness(population)[0])
    else:
        before, after = (extrapolate(drawn.correctness, drawn.people, population * step) for step in (0.99, 1.01))
        alone = at_population * (1.0 + float(np.log(after / before)) / float(np.log(1.01 / 0.99)))
    return [float(drawn.correctness(people)[0]), at_population, float(drawn.uniqueness(people)[0]), alone]


def extrapolate(curve: Callable[[Floats], Floats], known: int, population: float) -> float:
    """Extrapolate a curve that is known up to `known` people to a larger population.

    log κ is a smooth concave function of log n. Polynomials of degree two and three, fitted to its last two decades,
    err in opposite directions, so the result is their geometric mean. κ(N)·N cannot fall, nor κ rise, with N.
    """
    if population <= known:
        return float(curve(np.array([float(population)]))[0])
    sizes = np.unique(np.maximum(1.0, np.round(known * 10.0 ** -np.arange(0.0, 2.01, 0.25))))
    values = curve(sizes)
    if values[-1] <= 0.0:
        return 0.0
    log_size, log_value = np.log(sizes / known), np.log(values / values[-1])
    log_factor = np.log(population / known)
    changes = [
        np.polyval(polynomial, log_factor) - polynomial[-1]
        for polynomial in (np.polyfit(log_size, log_value, degree, w=np.sqrt(sizes / known)) for degree in (2, 3))
    ]
    return float(values[-1] * np.exp(np.clip(np.mean(changes), -log_factor, 0.0)))
