"""What if N is wrong? B for several populations, and against the sampling fraction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from incrowd._support.progress import Progress, part, silent
from incrowd.errors import InputError
from incrowd.populations.api import METHODS, answer
from incrowd.populations.result import PopulationRisk
from incrowd.populations.sample import read_sample, settle_population
from incrowd.results import Result

FACTORS = (0.5, 0.8, 1.0, 1.25, 2.0)
"""How wrong N may be, as a factor."""


@dataclass(frozen=True, slots=True)
class Sensitivity(Result):
    """The risk for several populations; `assumed` is the one the others are compared with."""

    assumed: PopulationRisk
    risks: tuple[PopulationRisk, ...]

    @property
    def rows(self) -> list[dict[str, float]]:
        """One row a population: N, its factor, the sampling fraction, B, its interval and its change."""
        return [
            {
                "population": risk.population,
                "factor": risk.population / self.assumed.population,
                "fraction": risk.fraction,
                "B": risk.B,
                "low": risk.interval[0] if risk.interval else risk.B,
                "high": risk.interval[1] if risk.interval else risk.B,
                "change": risk.B / self.assumed.B - 1.0,
            }
            for risk in self.risks
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"method": self.assumed.method, "assumed": self.assumed.to_dict(), "rows": self.rows}


def sensitivity(
    data: Any,
    *,
    population: float | Sequence[float] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    fraction: float | None = None,
    weights: str | None = None,
    person: str | None = None,
    method: str = "combined",
    seed: int = 0,
    progress: Progress = silent,
) -> Sensitivity:
    """How B moves with N: for the populations given, or for the one given times 0.5, 0.8, 1, 1.25 and 2.

    Of several populations the middle one is the one assumed. Populations smaller than the sample are left out where
    they come from a factor, and refused where they were given.

    >>> from incrowd import ClassSizes
    >>> sample = ClassSizes.from_counts({1: 300, 2: 120, 3: 60, 10: 12})
    >>> [row["factor"] for row in sensitivity(sample, population=8400, method="posterior").rows]
    [0.5, 0.8, 1.0, 1.25, 2.0]
    """
    if method not in METHODS:
        raise InputError(f"no method {method!r}; there are: {', '.join(METHODS)}")
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
    )
    if given is None:
        wanted = [round(sample.population * factor) for factor in FACTORS]
        wanted = [people for people in wanted if people >= sample.sizes.people]
    else:
        wanted = [settle_population(sample.sizes.people, population=people) for people in given]
    risks = [
        answer(
            replace(sample, population=people),
            method,
            seed=seed,
            progress=part(progress, number / len(wanted), (number + 1) / len(wanted)),
        )
        for number, people in enumerate(wanted)
    ]
    assumed = next(risk for risk in risks if risk.population == sample.population)
    return Sensitivity(assumed, tuple(risks))


def by_fraction(
    data: Any,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    fractions: Sequence[float] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0),
    person: str | None = None,
    method: str = "combined",
    seed: int = 0,
    progress: Progress = silent,
) -> Sensitivity:
    """B if the sample were this share of its population: for whoever knows neither N nor the fraction well."""
    sample = read_sample(data, quasi_identifiers=quasi_identifiers, fraction=1.0, person=person)
    populations = [settle_population(sample.sizes.people, fraction=share) for share in fractions]
    return sensitivity(
        data,
        population=populations,
        quasi_identifiers=quasi_identifiers,
        person=person,
        method=method,
        seed=seed,
        progress=progress,
    )
