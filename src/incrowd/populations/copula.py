"""What the copula estimators share: a fit, one or more synthetic populations, and what is counted in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, part
from incrowd.errors import UnsupportedError
from incrowd.measures.auxiliary import determines
from incrowd.populations.marginals import Columns
from incrowd.populations.synthetic import Copula, SyntheticClasses

Floats = NDArray[np.float64]

MOST_PEOPLE = 10**9
"""Largest synthetic population that is drawn: about a minute for each hundred million people."""

ASSUMPTIONS = (
    "the sample was drawn at random from the population",
    "pairs of columns determine how all columns depend on each other, as in a normal distribution",
)
PATENT = "copula estimators of this kind are the subject of a patent application (US 2022/0050917)"


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Synthetic populations of one copula, and their averages."""

    populations: tuple[SyntheticClasses, ...]

    @property
    def B(self) -> float:  # noqa: N802
        """Classes ÷ people in the synthetic population."""
        return float(np.mean(self.each))

    @property
    def each(self) -> list[float]:
        """B of each draw."""
        return [one.classes / one.people for one in self.populations]

    @property
    def population_uniques(self) -> float:
        """People alone in their class in the synthetic population."""
        return float(np.mean([one.uniques for one in self.populations]))

    def still_unique(self, people: int) -> float:
        """The chance that somebody unique among so many people is unique in the synthetic population."""
        alone = float(np.mean([one.uniqueness(people)[0] for one in self.populations]))
        everywhere = float(np.mean([one.uniques / one.people for one in self.populations]))
        return min(1.0, everywhere / alone) if alone else 0.0


def draw(copula: Copula, population: int, *, seed: Sequence[int], draws: int, progress: Progress) -> Drawn:
    """Draw synthetic populations one after the other."""
    if population > MOST_PEOPLE:
        raise UnsupportedError(
            f"a synthetic population of {population:,} takes too long to draw; "
            f"up to {MOST_PEOPLE:,} it is done, beyond use the combined or the posterior estimator"
        )
    return Drawn(
        tuple(
            copula.sample(population, [*seed, number], progress=part(progress, number / draws, (number + 1) / draws))
            for number in range(draws)
        )
    )


def informative(columns: Columns) -> Columns:
    """The columns without those that another one determines: the same classes, and nothing for a copula to blur.

    Which column determines which is decided by `determines`.
    """
    kept = list(range(len(columns.sizes)))
    for j in sorted(kept, key=lambda column: columns.sizes[column]):
        others = [i for i in kept if i != j and columns.sizes[i] >= columns.sizes[j]]
        if any(determines(*columns.pair(i, j)) for i in others):
            kept.remove(j)
    return columns.only(kept)
