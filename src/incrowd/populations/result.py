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

    All intervals are at 95 %.

    - `sample_to_population` (B): the estimate, with its `interval`.
    - `population_uniques`: expected number of people who are alone in their class in the whole population.
    - `still_unique`: P(unique in the population | unique in the sample); None if nobody is unique in the sample.
    - `highest`: E[1/F] of the record at highest risk. `highest_interval` goes from the lower end of its 1/F to the
      largest upper end of any record. Both are None if the estimate does not distinguish records.
    - `telling_columns`: by column, the share of the records at highest risk (a hundredth of all, at least 100) whose
      risk would fall most without it; empty if not requested.
    - `parts`: the estimates that a combined estimate consists of.
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
        """The interval; the estimate twice if there is none."""
        return self.interval or (self.sample_to_population, self.sample_to_population)

    @property
    def still_unique_at_most(self) -> float:
        """The upper end of `still_unique`; the estimate if it has no interval, and 0 if nobody is unique."""
        return self.still_unique_interval[1] if self.still_unique_interval else self.still_unique or 0.0

    @property
    def population_uniques_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `population_uniques`; None if the method has none.

        It scales the sample's uniques by the interval of `still_unique`. If nobody is unique in a sample of n, the
        upper end is a share of 1 − 0.05^(1/n), about 3/n, of the population.
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
    """The risk for several populations; the others are compared with `assumed`."""

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
    """One classical estimate: expected population uniques, B if the method has it, or the reason why there is none."""

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
