"""The anchored copula: unseen values are allowed for, and the answer starts from what the sample itself shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd.classes import ClassSizes
from incrowd.population.copula import Drawn, draw, informative
from incrowd.population.gaussian import fit_gaussian
from incrowd.population.limits import within
from incrowd.population.marginals import Columns, smoothed
from incrowd.population.sampler import Copula, SyntheticClasses
from incrowd.progress import Progress, part, silent

Floats = NDArray[np.float64]

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "from the sample to the population correctness falls as in a normal copula of the columns",
)
MOST_DRAWN = 10**8
"""Largest synthetic population that is drawn, a minute's work; a larger one is extrapolated from it."""


@dataclass(frozen=True, slots=True, eq=False)
class Anchored:
    """κ and Ξ of the synthetic populations at the sample's size and at N, and the estimates they lead to.

    The copula supplies only the change from n to N: B = κ(n) · κ_syn(N)/κ_syn(n), and uniqueness likewise;
    `uniques_ratio`, Ξ_syn(N)/Ξ_syn(n), is also the chance that a unique record is unique in the population.
    """

    copula: Copula
    drawn: Drawn
    sizes: ClassSizes
    population: int
    at_sample: float
    at_population: float
    uniques_ratio: float
    notes: tuple[str, ...] = ()

    @property
    def B(self) -> float:  # noqa: N802
        """κ(n) · κ_syn(N)/κ_syn(n), within the certain limits."""
        return within(self.sizes, self.population, self.sizes.correctness * self.at_population / self.at_sample)

    @property
    def population_uniques(self) -> float:
        """N · Ξ(n) · Ξ_syn(N)/Ξ_syn(n); at most every sample unique is one in the population too."""
        return self.population * self.sizes.uniqueness * self.uniques_ratio


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
    people = min(population, max(MOST_DRAWN, sizes.people))
    drawn = draw(copula, people, seed=seed, draws=draws, progress=part(progress, 0.3, 1.0))
    ends = np.mean([_ends(one, sizes.people, population) for one in drawn.populations], axis=0)
    at_sample, at_population, alone_in_sample, alone_in_population = (float(end) for end in ends)
    ratio = min(1.0, alone_in_population / alone_in_sample) if alone_in_sample else 0.0
    notes = () if people == population else (f"beyond {people:,} people the synthetic population is extrapolated",)
    return Anchored(copula, drawn, sizes, population, at_sample, at_population, ratio, notes)


def _ends(drawn: SyntheticClasses, people: int, population: int) -> list[float]:
    """κ at n and at N, Ξ at n and at N of a synthetic population."""
    ends: list[float] = []
    for curve in (drawn.correctness, drawn.uniqueness):
        ends += [float(curve(people)[0]), extrapolated(curve, drawn.people, population)]
    return ends


def extrapolated(curve: Callable[[Floats], Floats], known: int, population: int) -> float:
    """A curve that is known up to `known` people, at a larger population.

    log κ bends down smoothly over log n. Polynomials of second and third degree through its last two decades err to
    either side, so the geometric mean of the two is taken. κ(N)·N cannot fall, nor κ rise, as people are added.
    """
    if population <= known:
        return float(curve(np.array([float(population)]))[0])
    sizes = np.unique(np.maximum(1.0, np.round(known * 10.0 ** -np.arange(0.0, 2.01, 0.25))))
    values = curve(sizes)
    if values[-1] <= 0.0:
        return 0.0  # nobody is unique any more
    way, height = np.log(sizes / known), np.log(values / values[-1])
    further = np.log(population / known)
    rises = [
        np.polyval(found, further) - found[-1]
        for found in (np.polyfit(way, height, degree, w=np.sqrt(sizes / known)) for degree in (2, 3))
    ]
    return float(values[-1] * np.exp(np.clip(np.mean(rises), -further, 0.0)))
