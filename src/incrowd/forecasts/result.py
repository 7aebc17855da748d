"""Results of forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from incrowd.pitman_yor import ClassSizeFit
from incrowd.pitman_yor.model_checks import HoldOut
from incrowd.results import Result
from incrowd.special import Floats
from incrowd.wording import percent, percent_interval


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
        method: "law" for estimates of the fitted law, "combined" for those of `population_risk`.
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
    method: Literal["law", "combined"] = "law"
    hold_out: HoldOut | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"hold_out"})
    _derived: ClassVar[tuple[str, ...]] = ("people_named", "people_unique")

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
