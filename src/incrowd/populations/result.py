"""Results of estimates of the risk in the population."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

from incrowd.results import COUNTED, Count, DataTable, Result, Share, Statement
from incrowd.wording import (
    interval_at,
    listed,
    number,
    number_interval,
    out_of_hundred,
    percent,
    percentage_points,
    two_digits,
    whole,
)


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

    people: Count
    classes: Count
    uniques: Count
    population: Count
    sample_to_population: Share
    interval: tuple[float, float] | None
    population_uniques: float | None
    still_unique: float | None
    method: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    still_unique_interval: tuple[float, float] | None = None
    highest: Share | None = None
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
    _renamed: ClassVar[Mapping[str, str]] = {"population_to_sample": "A", "sample_to_population": "B"}

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The risk in both directions, people who stay unique, the record at highest risk, what makes it stand out."""
        assumed = "; ".join(self.assumptions) or "the table is the whole population"
        return tuple(one if one.assumed else replace(one, assumed=assumed) for one in self._statements())

    def _statements(self) -> Iterator[Statement]:
        where, there, back = "population", self.sample_to_population, self.population_to_sample
        found = f"A record of the table, matched against {self.population:,} people, finds the right person so often."
        average = percent(self.overall)
        yield Statement(where, "average risk in the population", self.overall, average, found, _sure(self.interval))
        right = f"Of 100 records matched against everybody, {out_of_hundred(there)} get the right name"
        meaning, sure = f"{right}, by the {self.method} estimator.", _digits(self.interval)
        name = "from the table to the population (B)"
        yield Statement(where, name, there, number(there), meaning, sure, is_detail=True)
        name = "from the population to the table (A)"
        meaning = "Somebody picked from the population is found in the table so often."
        sure, assumed = "counted, exact for this population", "the population has the size that was given"
        yield Statement(where, name, back, percent(back), meaning, sure, assumed)
        alone, meaning = self.classes / self.people, "What the table looks like if it were everybody."
        assumed = "the attacker knows who is in the table"
        yield Statement(where, "in the table alone", alone, percent(alone), meaning, COUNTED, assumed, is_detail=True)
        yield from self._about_unique_people()
        if self.highest is not None:
            name, sure = "record at highest risk in the population", _sure(self.highest_interval)
            meaning = "The right name is found so often for the one record that is easiest to name."
            yield Statement(where, name, self.highest, percent(self.highest), meaning, sure)
        if self.telling_columns:
            first, share = next(iter(self.telling_columns.items()))
            columns = listed([f"{name} ({percent(part)})" for name, part in self.telling_columns.items()])
            meaning = (
                "Of the records at highest risk (1 in 100, and 100 at least) the share whose risk would fall most if "
                f"nobody knew the column; {first} is the first to protect."
            )
            yield Statement(where, "what makes records stand out", share, columns, meaning, _sure(None))
        for name, value in self.parts.items():
            meaning = "What the estimate is made of."
            yield Statement(where, name, value, number(value), meaning, _sure(None), is_detail=True)

    def _about_unique_people(self) -> Iterator[Statement]:
        where, alone, ends = "population", self.population_uniques, self.population_uniques_interval
        if alone is not None:
            shown = f"{round(alone):,} ({percent(alone / self.population)})" if alone >= 1 else "fewer than 1"
            sure = _sure(None) if ends is None else f"95% interval: {whole(ends[0])} to {whole(ends[1])} people"
            name, meaning = "unique in the population", "People nobody else looks like."
            yield Statement(where, name, alone, shown, meaning, sure, is_detail=True)
        if self.still_unique is None:
            return
        shown, sure = percent(self.still_unique), _sure(self.still_unique_interval)
        meaning = "Of the people who are unique in the table, so many are unique in the population."
        yield Statement(where, "unique there too", self.still_unique, shown, meaning, sure)
        if (both := self.uniques * self.still_unique_at_most) >= 1:
            meaning = "People of the table; where it may be one, assess takes the highest risk for 100%."
            name, sure = "unique here and there, at most", "upper end of the interval"
            yield Statement(where, name, both, two_digits(both), meaning, sure, is_detail=True)

    @property
    def population_to_sample(self) -> Share:
        """A: the share of the population named correctly in the sample, exactly known."""
        return self.classes / self.population

    @property
    def overall(self) -> Share:
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
    def fraction(self) -> Share:
        """The share of the population that is in the sample."""
        return self.people / self.population


def _sure(interval: tuple[float, float] | None) -> str:
    return "no interval" if interval is None else interval_at(0.95, *interval)


def _digits(interval: tuple[float, float] | None) -> str:
    return "no interval" if interval is None else f"95% interval: {number_interval(*interval)}"


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

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The risk for each population."""
        columns = ("population", "factor", "table → population (B)", "95% interval", "change")
        rows = tuple(
            (
                f"{row['population']:,}",
                f"×{number(row['factor'])}",
                number(row["B"]),
                number_interval(row["low"], row["high"]),
                f"{percentage_points(row['change'])}%",
            )
            for row in self.rows
        )
        return (DataTable("If the population is not what you think", columns, rows),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What a mistake does."""
        return ("A population taken too large understates the risk.",)

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
    _renamed: ClassVar[Mapping[str, str]] = {"sample_to_population": "B"}

    @property
    def population_uniqueness(self) -> float | None:
        """The share of the population that is alone in its class."""
        return None if self.population_uniques is None else self.population_uniques / self.population


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

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The answers of the estimators, or why they have none."""
        rows = tuple(
            (one.method, _or_none(one.population_uniqueness), _or_none(one.sample_to_population), one.refused or "")
            for one in self.estimates.values()
        )
        return (DataTable("Classical estimators", ("method", "unique in the population", "B", "why no answer"), rows),)

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each estimator."""
        return [estimate.to_dict() for estimate in self.estimates.values()]


def _or_none(share: float | None) -> str:
    return "–" if share is None else number(share)
