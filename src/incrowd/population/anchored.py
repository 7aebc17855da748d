"""The anchored copula: unseen values are allowed for, and the answer starts from what the sample itself shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.population.copula import Drawn, draw, informative
from incrowd.population.gaussian import fit_gaussian
from incrowd.population.marginals import Columns, smoothed
from incrowd.population.sampler import Copula
from incrowd.progress import Progress, part, silent

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "from the sample to the population correctness falls as in a normal copula of the columns",
)


@dataclass(frozen=True, slots=True, eq=False)
class Anchored:
    """κ and Ξ of the synthetic populations at the sample's size and at N, and the estimates they lead to.

    The copula supplies only the change from n to N: B = κ(n) · κ_syn(N)/κ_syn(n), and uniqueness likewise.
    """

    copula: Copula
    drawn: Drawn
    sizes: ClassSizes
    population: int
    at_sample: float
    at_population: float

    @property
    def B(self) -> float:  # noqa: N802
        """κ(n) · κ_syn(N)/κ_syn(n), within the certain limits."""
        return within(self.sizes, self.population, self.sizes.correctness * self.at_population / self.at_sample)

    @property
    def population_uniques(self) -> float:
        """N · Ξ(n) · Ξ_syn(N)/Ξ_syn(n); at most every sample unique is one in the population too."""
        ratios = [
            float(one.uniqueness(self.population)[0] / one.uniqueness(self.sizes.people)[0])
            for one in self.drawn.populations
            if one.uniques
        ]
        ratio = min(1.0, float(np.mean(ratios))) if ratios else 0.0
        return self.population * self.sizes.uniqueness * ratio


def within(sizes: ClassSizes, population: int, value: float) -> float:
    """The value within K/N ≤ B ≤ K/n, which hold whatever the population looks like."""
    return min(max(value, sizes.classes / population), sizes.correctness)


def fit_anchored(
    columns: Columns,
    sizes: ClassSizes,
    population: int,
    *,
    seed: Sequence[int],
    draws: int = 1,
    progress: Progress = silent,
) -> Anchored:
    """Fit the Gaussian copula with smoothed marginals, draw from it, and read κ at n and at N."""
    telling = informative(columns)
    correlation = fit_gaussian(telling, progress=part(progress, 0.0, 0.3))
    marginals = [smoothed(telling.counts(j), population) for j in range(len(telling.sizes))]
    copula = Copula(marginals, correlation)
    drawn = draw(copula, population, seed=seed, draws=draws, progress=part(progress, 0.3, 1.0))
    curves: NDArray[np.float64] = np.array([one.correctness([sizes.people, population]) for one in drawn.populations])
    at_sample, at_population = curves.mean(axis=0)
    return Anchored(copula, drawn, sizes, population, float(at_sample), float(at_population))
