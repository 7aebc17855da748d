"""Results of forecasts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from incrowd.pitman_yor import ClassSizeFit
from incrowd.pitman_yor.model_checks import HoldOut
from incrowd.results import DataTable, Result, Statement
from incrowd.special import Floats
from incrowd.wording import (
    about_people,
    chosen_percent,
    interval_at,
    large_number,
    number,
    number_interval,
    people,
    percent,
    percent_interval,
    population,
)

_TAILS = {"law": "scaling law", "binormal": "binormal scores"}
_NAMES = {"city": "a city", "us": "the United States", "eu": "the European Union", "world": "the world"}


class Parameter(NamedTuple):
    """A parameter of the law: its value, and the limits of its interval."""

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float]:
        """Plain JSON types."""
        return self._asdict()


@dataclass(frozen=True, slots=True, eq=False)
class Estimate(Result):
    """A quantity at each population: its value, and the limits of its interval."""

    value: Floats
    low: Floats
    high: Floats

    @classmethod
    def containing(cls, value: ArrayLike, low: ArrayLike, high: ArrayLike) -> Estimate:
        """The values, with intervals widened if needed to contain them."""
        values = np.asarray(value, dtype=np.float64)
        return cls(values, np.minimum(low, values), np.maximum(high, values))

    @property
    def rows(self) -> list[tuple[float, float, float]]:
        """For each population the value, and the limits of its interval."""
        return list(zip(self.value.tolist(), self.low.tolist(), self.high.tolist(), strict=True))

    def in_words(self, place: int) -> str:
        """A share at one of the populations, with its interval."""
        return f"{percent(self.value[place])} ({percent_interval(self.low[place], self.high[place])})"


@dataclass(frozen=True, slots=True, eq=False)
class Forecast(Result):
    """Forecast for populations of sizes `at`; every estimate has a `level` interval.

    Attributes:
        violations: maps k to the share of people in classes smaller than k.
        uniqueness: None for robust matching, which has no classes.
        measured: the number of people measured.
        notes: limits of the answer.
        method: "law" for estimates of the fitted law, "average" for those of a technique's two tails, "combined" for
            those of `population_risk`.
        tails: the correctness by each tail alone, "law" and "binormal", if a population is far beyond a technique's
            largest gallery.
        hold_out: the check of the law on held-out data, if it was possible.
    """

    at: Floats
    names: tuple[str, ...]
    correctness: Estimate
    uniqueness: Estimate | None
    violations: Mapping[int, Estimate]
    h: Parameter
    gamma: Parameter
    level: float
    measured: int
    seed: int
    notes: tuple[str, ...] = ()
    method: Literal["law", "average", "combined"] = "law"
    hold_out: HoldOut | None = None
    tails: Mapping[str, Estimate] = field(default_factory=dict)
    _hidden: ClassVar[frozenset[str]] = frozenset({"hold_out"})
    _derived: ClassVar[tuple[str, ...]] = ("people_named", "people_unique")

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The share named correctly in each population; details are populations that have no name."""
        return tuple(self._state(place) for place in range(len(self.names)))

    def _state(self, place: int) -> Statement:
        name, value = self.names[place], float(self.correctness.value[place])
        return Statement(
            "forecast",
            f"{name} people" if name[0].isdigit() else f"{_in_words(name)} ({people(self.at[place])})",
            value,
            percent(value),
            f"Named correctly in a population of that size: about {about_people(self.people_named[place])}.",
            self.certainty(place),
            "the table is a random sample of a population of that size; estimated as the risk in a given population is",
            is_detail=name.replace(",", "").isdigit(),
        )

    def certainty(self, place: int) -> str:
        """The interval of the share named correctly in one population, or that it is counted in the table."""
        _, low, high = self.correctness.rows[place]
        is_counted = self.method == "combined" and float(self.at[place]) <= self.measured and low == high
        return "counted" if is_counted else interval_at(self.level, low, high)

    @property
    def populations(self) -> tuple[str, ...]:
        """The populations by size, and by name if they have one."""
        return tuple(population(_in_words(name), float(size)) for name, size in zip(self.names, self.at, strict=True))

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The shares in each population, and the violations of k-anonymity."""
        interval = f"{chosen_percent(self.level)} interval"
        columns: dict[str, Sequence[str]] = {
            "population": self.populations,
            "named": [percent(value) for value in self.correctness.value],
            interval: [self.certainty(place).removeprefix(f"{interval}: ") for place in range(len(self.names))],
            "people named": [large_number(named) for named in self.people_named],
        }
        if self.uniqueness is not None:
            columns["unique"] = [percent(*share) for share in zip(self.uniqueness.value, self.at, strict=True)]
        shares = DataTable("Who would be named correctly", (*columns,), tuple(zip(*columns.values(), strict=True)))
        tables = (shares, *self._tables_of_tails())
        if not self.violations:
            return tables
        violations = [
            [f"{percent(value, size)} ({percent_interval(low, high)})" for size, (value, low, high) in rows]
            for rows in (zip(self.at, estimate.rows, strict=True) for estimate in self.violations.values())
        ]
        return (
            *tables,
            DataTable(
                "In classes smaller than k: violations of k-anonymity",
                ("population", *(f"k = {k} ({interval})" for k in self.violations)),
                tuple(zip(self.populations, *violations, strict=True)),
            ),
        )

    def _tables_of_tails(self) -> tuple[DataTable, ...]:
        if not self.tails:
            return ()
        interval = f"{chosen_percent(self.level)} interval"
        heads = ("population", *(f"{_TAILS[name]} ({interval})" for name in self.tails))
        columns = [[estimate.in_words(place) for place in range(len(self.names))] for estimate in self.tails.values()]
        return (DataTable("Named correctly, by each tail", heads, tuple(zip(self.populations, *columns, strict=True))),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The law, and its check on people who were left out."""
        (h, *around), (gamma, *around_gamma) = self.h, self.gamma
        law = (
            f"Entropy h = {number(h)} nats ({number_interval(*around)}), {number(h / math.log(2))} bits of "
            "information.",
            f"Tail complexity γ = {number(gamma)} ({number_interval(*around_gamma)}): {_tail(gamma)}.",
        )
        check = self.hold_out
        if check is None:
            return law
        return (
            *law,
            f"Check: from up to {check.seen:,} people, with what is larger left out, the forecast is "
            f"{percent(check.forecast)} at {check.size:,}; {percent(check.measured)} was measured, "
            f"{'inside' if check.inside else 'OUTSIDE'} its interval {percent_interval(check.low, check.high)}.",
        )

    @property
    def people_named(self) -> Floats:
        """Expected number of people named correctly in each population."""
        return np.asarray(self.at * self.correctness.value)

    @property
    def people_unique(self) -> Floats | None:
        """Expected number of people who are alone in their class in each population, if there are classes."""
        return np.asarray(self.at * self.uniqueness.value) if self.uniqueness is not None else None

    def _rows(self) -> list[dict[str, Any]]:
        """One row for each population."""
        columns: dict[str, Any] = {"population": self.names, "people": self.at.tolist()}
        quantities = {"correctness": self.correctness, "uniqueness": self.uniqueness}
        quantities |= {f"violations of k = {k}": estimate for k, estimate in self.violations.items()}
        for name, estimate in quantities.items():
            if estimate is not None:
                columns |= {name: estimate.value, f"{name} low": estimate.low, f"{name} high": estimate.high}
        columns = {name: np.asarray(column).tolist() for name, column in columns.items()}
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class TableForecast(Result):
    """Forecast of a table: at the requested populations, and along round sizes as a curve to draw.

    `fit` is the law fitted to the class sizes. `population` is the one the table was drawn from, if it is known.
    `why_no_columns` is the reason why the estimate uses class sizes alone, or None if it uses the columns.
    """

    forecast: Forecast
    curve: Forecast
    fit: ClassSizeFit
    population: int | None
    why_no_columns: str | None


def _in_words(name: str) -> str:
    return _NAMES.get(name, name)


def _tail(gamma: float) -> str:
    if gamma < -0.02:
        return "a finite number of kinds of people; in a large enough crowd nobody is unique"
    if gamma < 0.1:
        return "a light tail; above some size hardly anybody is named"
    return "a heavy tail; even in large crowds some people stay unique"
