"""Rounding, top coding and bottom coding of columns of numbers; the results are numbers again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from incrowd.backends import Coded
from incrowd.errors import InputError
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, as_values
from incrowd.special import Floats
from incrowd.tables.released_values import offset_of


def _plain_numbers(columns: ColumnsSoFar, names: tuple[str, ...], what: str) -> list[tuple[Coded, Floats]]:
    """Columns of numbers with their values; refuses dates, because a number would have no clear unit for them."""
    found = columns.numbers(names)
    for column, _ in found:
        if pa.types.is_temporal(column.values.type):
            raise InputError(f"{what} for {column.name!r}, which holds dates; use coarsen for them")
    return [(column, positions + offset_of(column)) for column, positions in found]


def _as_cells(column: Coded, values: Floats) -> pa.Array:
    return as_values(column, values - offset_of(column))


@dataclass(frozen=True, slots=True)
class Round(Step):
    """Every value becomes the nearest multiple of `unit`; a value halfway between two becomes the even multiple."""

    unit: float
    kind: ClassVar[str] = "round"
    label: ClassVar[str] = "rounded"
    words: ClassVar[str] = "Each value becomes the nearest multiple of the number."
    usual: ClassVar[str] = "10"
    reads: ClassVar[Readers] = {"unit": float}
    is_random: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0 < self.unit < math.inf:
            raise InputError(f"multiples of {self.unit!r}; give a number above 0")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Round every value."""
        found = _plain_numbers(columns, self.columns, "rounding")
        return StepOutcome(
            {column.name: _as_cells(column, np.rint(values / self.unit) * self.unit) for column, values in found},
            f"values were rounded to multiples of {self.unit:g}",
            "where many multiples occur, a variance is too large by unit²/12 (Sheppard), and means are unbiased",
            {"unit": self.unit},
        )


@dataclass(frozen=True, slots=True)
class TopCode(Step):
    """Values above `limit` become the limit, or with `to="mean"` their mean, which needs at least k records."""

    limit: float
    to: str = "limit"
    kind: ClassVar[str] = "top"
    label: ClassVar[str] = "largest values cut off"
    words: ClassVar[str] = "Values above the number become the number."
    reads: ClassVar[Readers] = {"limit": float, "to": str}
    is_random: ClassVar[bool] = False
    side: ClassVar[str] = "above"

    def __post_init__(self) -> None:
        if not math.isfinite(self.limit):
            raise InputError(f"a limit of {self.limit!r}; give a number")
        if self.to not in ("limit", "mean"):
            raise InputError(f"values beyond a limit become its 'limit' or their 'mean', not {self.to!r}")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Replace the values beyond the limit."""
        changed = {}
        for column, values in _plain_numbers(columns, self.columns, "a limit"):
            beyond = self._beyond(values)
            replacement = self.limit
            if self.to == "mean" and beyond.any():
                count = np.count_nonzero(beyond)
                if count < columns.problem.demand.k:
                    raise InputError(
                        f"{count:,} records of {column.name!r} are beyond the limit, and a mean of fewer than "
                        f"{columns.problem.demand.k:,} tells of them; move the limit, or write the limit itself"
                    )
                replacement = float(values[beyond].mean())
            changed[column.name] = _as_cells(column, np.where(beyond, replacement, values))
        written = "the limit" if self.to == "limit" else "their mean"
        return StepOutcome(
            changed,
            f"values {self.side} {self.limit:g} are written as {written}",
            "quantiles on this side of the limit are as they were; "
            + (
                "means and totals are biased towards the limit: use methods for censored values"
                if self.to == "limit"
                else "means and totals are kept, variances are too small"
            ),
            {"limit": self.limit, "to": self.to},
        )

    def _beyond(self, values: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return values > self.limit


@dataclass(frozen=True, slots=True)
class BottomCode(TopCode):
    """Values below `limit` become the limit, or with `to="mean"` their mean, which needs at least k records."""

    kind: ClassVar[str] = "bottom"
    label: ClassVar[str] = "smallest values cut off"
    words: ClassVar[str] = "Values below the number become the number."
    side: ClassVar[str] = "below"

    def _beyond(self, values: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return values < self.limit
