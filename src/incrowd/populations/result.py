"""Results of estimates of the risk in the population."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from incrowd.results import Result


class Explanation(NamedTuple):
    """Description of an estimator in sentences for a report, with its source."""

    how: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationRisk(Result):
    """Rate at which a record of the sample, matched against the population, is named correctly.

    `sample_to_population` (B) is the estimate and `interval` holds it with 95 % probability. `population_uniques` is
    the expected number of people alone in their class in the whole population, `still_unique` P(unique in the
    population | unique in the sample), None where nobody is unique in the sample, and `still_unique_interval` holds it
    with 95 % probability. `highest` is E[1/F] of the record at highest risk, and `highest_interval` holds its 1/F and
    reaches to the highest end of any record; both are None where the estimate does not tell records apart.
    `telling_columns` are those that make the records at highest risk (a hundredth of them, 100 at least) stand out,
    each with the share of them whose risk would fall most without it; empty where it was not asked for. `parts` are the
    estimates a combination was made of.
    """

    people: int
    classes: int
    uniques: int
    population: int
    sample_to_population: float
    interval: tuple[float, float] | None
    population_uniques: float | None
    still_unique: float | None
    method: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    still_unique_interval: tuple[float, float] | None = None
    highest: float | None = None
    highest_interval: tuple[float, float] | None = None
    telling_columns: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    seconds: float = 0.0
    _derived: ClassVar[tuple[str, ...]] = (
        "fraction",
        "population_to_sample",
        "overall",
        "population_uniques_interval",
    )

    @property
    def population_to_sample(self) -> float:
        """A: the share of the population named correctly in the sample, exactly known."""
        return self.classes / self.population

    @property
    def overall(self) -> float:
        """The larger of `population_to_sample` (A) and `sample_to_population` (B): the risk to report."""
        return max(self.population_to_sample, self.sample_to_population)

    @property
    def overall_interval(self) -> tuple[float, float] | None:
        """Range of `overall`: the interval, never below `population_to_sample`, which is known exactly."""
        least = self.population_to_sample
        return None if self.interval is None else (max(least, self.interval[0]), max(least, self.interval[1]))

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; the estimate twice where there is none."""
        return self.interval or (self.sample_to_population, self.sample_to_population)

    @property
    def population_uniques_interval(self) -> tuple[float, float] | None:
        """Holds `population_uniques` with 95 % probability; None where the method has no interval for it.

        The sample's uniques stand for those of the population, with the interval of `still_unique`. Where nobody is
        unique in a sample of n, a share of up to 1 − 0.05^(1/n), about 3/n, may be in the population.
        """
        if self.population_uniques is None or self.interval is None:
            return None
        if self.uniques and self.still_unique_interval is None:
            return None
        ends, share = self.still_unique_interval or (0.0, 1.0), self.uniques / self.people
        if not self.uniques:
            counted = self.people == self.population
            share = 0.0 if counted else min(-math.expm1(math.log(0.05) / self.people), self.interval[1])
        low, high = (self.population * share * end for end in ends)
        return min(low, self.population_uniques), max(high, self.population_uniques)

    @property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.people / self.population

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; the published schema calls the two directions "A" and "B"."""
        plain = Result.to_dict(self)
        plain["A"], plain["B"] = plain.pop("population_to_sample"), plain.pop("sample_to_population")
        return plain


@dataclass(frozen=True, slots=True)
class Sensitivity(Result):
    """The risk for several populations; `assumed` is the one the others are compared with."""

    assumed: PopulationRisk
    risks: tuple[PopulationRisk, ...]
    _derived: ClassVar[tuple[str, ...]] = ("method", "rows")
    _hidden: ClassVar[frozenset[str]] = frozenset({"risks"})

    @property
    def method(self) -> str:
        """The estimator that was used."""
        return self.assumed.method

    @property
    def rows(self) -> list[dict[str, float]]:
        """One row for each population: N, its factor, the sampling fraction, B, its interval and its change."""
        return [
            {
                "population": risk.population,
                "factor": risk.population / self.assumed.population,
                "fraction": risk.fraction,
                "B": risk.sample_to_population,
                "low": risk.ends[0],
                "high": risk.ends[1],
                "change": risk.sample_to_population / self.assumed.sample_to_population - 1.0,
            }
            for risk in self.risks
        ]

    def _rows(self) -> list[dict[str, float]]:
        return self.rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicalEstimate(Result):
    """One classical estimate: expected population uniques, B where the method has one, or why there is none."""

    method: str
    population: int
    population_uniques: float | None = None
    sample_to_population: float | None = None
    refused: str | None = None
    _derived: ClassVar[tuple[str, ...]] = ("population_uniqueness",)
    _hidden: ClassVar[frozenset[str]] = frozenset({"population"})

    @property
    def population_uniqueness(self) -> float | None:
        """The share of the population that is alone in its class."""
        return None if self.population_uniques is None else self.population_uniques / self.population

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types; B is the key of `sample_to_population`, as in every result."""
        plain = Result.to_dict(self)
        plain["B"] = plain.pop("sample_to_population")
        return plain


@dataclass(frozen=True, slots=True, eq=False)
class ClassicalRisk(Result, Mapping[str, ClassicalEstimate]):
    """The classical estimates of one sample, by name."""

    estimates: Mapping[str, ClassicalEstimate]

    def __getitem__(self, name: str) -> ClassicalEstimate:
        return self.estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each estimator."""
        return [estimate.to_dict() for estimate in self.estimates.values()]
