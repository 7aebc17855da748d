"""Survey weights: how many people each record stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.tables import Table

_NEAR = 0.01  # how far a sum of weights may be from what it should be and still count as the same
_UNEVEN = 2.0  # ratio of the largest to the smallest usual weight from which it is worth a note


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """One positive weight for each record."""

    values: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """How many people the sample stands for."""
        return float(self.values.sum())

    @property
    def normalised(self) -> bool:
        """Whether they add up to the number of records or to fewer: then they say nothing about the population."""
        return self.total <= self.values.size * (1.0 + _NEAR)

    def scaled_to(self, population: int) -> Weights:
        """The weights made to add up to the population, with a note where they did not."""
        if abs(self.total / population - 1.0) <= _NEAR:
            return self
        note = (
            f"the weights add up to {self.total:,.0f} and not to the population of {population:,}: they were rescaled"
        )
        return replace(self, values=self.values * (population / self.total), notes=(*self.notes, note))

    def of_classes(self, numbers: NDArray[np.uint32]) -> NDArray[np.float64]:
        """F̂ of every class: the weights of its records added up, never fewer than its records."""
        return np.maximum(np.bincount(numbers, weights=self.values), np.bincount(numbers))


def read_weights(table: Table, name: str) -> Weights:
    """The weight column of a table, checked."""
    import pyarrow as pa

    ((_, column),) = table.read(table.require([name], "weight column"))
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type)):
        raise InputError(
            f"the weight column {name!r} is not numeric; it must say how many people each record stands for"
        )
    if column.null_count:
        raise InputError(
            f"{column.null_count:,} records have no weight in {name!r}; fill them or leave the records out"
        )
    values = np.asarray(column.cast(pa.float64()).to_numpy())
    if not np.all(np.isfinite(values)):
        raise InputError(f"some weights in {name!r} are not finite numbers")
    negative, zero = int((values < 0).sum()), int((values == 0).sum())
    if negative or zero:
        raise InputError(
            f"{negative:,} weights in {name!r} are negative and {zero:,} are zero; a record stands for somebody, "
            "so give positive weights or leave these records out"
        )
    low, high = np.quantile(values, [0.05, 0.95])
    uneven = (
        f"weights differ (90 % of them from {low:,.4g} to {high:,.4g}); all methods but Benedetti–Franconi treat "
        "records as drawn with equal chance"
    )
    return Weights(values, (uneven,) if high > _UNEVEN * low else ())
