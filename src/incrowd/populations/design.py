"""Survey designs: weights (people that each record represents), strata, and clusters that were sampled whole."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import encode
from incrowd.backends.arrow_columns import is_number
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables import SuggestedRole, Table, suggest_roles
from incrowd.wording import counted, percent, whole

_NEAR = 0.01  # relative tolerance for the sum of weights
_LARGEST_COUNTRY, _MOST_EACH = 1.5e9, 100_000  # people in all, and average number of people per record
_FAR = 1.5  # factor between the sum of weights and the population, from which one of them is probably wrong
CHECK_WEIGHTS = "; check both: weights may have implied decimals, or the population is of other people"
"""How the note ends that says that the sum of the weights is far from the population."""

_UNEVEN = 0.1  # coefficient of variation from which weights count as unequal
_STEP, _MOST_STRATA = 0.4, 8  # smallest width of a stratum of weights on the log scale, and largest number of strata


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """One positive weight for each record."""

    values: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> float:
        """Number of people that the sample represents."""
        return float(self.values.sum())

    @property
    def normalised(self) -> bool:
        """True if the weights add up to the number of records or less; then they do not give the population's size."""
        return self.total <= self.values.size * (1.0 + _NEAR)

    @property
    def is_implausible(self) -> bool:
        """True if the weights add up to more people than any country has, or are larger than in any survey."""
        return self.total > _LARGEST_COUNTRY or self.total > _MOST_EACH * self.values.size

    def are_of_some_strata(self, population: int) -> bool:
        """True if the weights count people and add up to fewer than the population."""
        return not self.normalised and self.total < population * (1.0 - _NEAR)

    def scaled_to(self, population: int) -> Weights:
        """The weights rescaled to add up to the population, with a note if they did not."""
        if abs(self.total / population - 1.0) <= _NEAR:
            return self
        note = (
            f"the weights add up to {whole(self.total)} and not to the population of {population:,}: they were "
            "rescaled to the population"
        )
        if self.total < population:
            note += "; if whole strata are missing from the table, the estimate does not hold for their people"
        if not self.normalised and max(self.total / population, population / self.total) > _FAR:
            note += CHECK_WEIGHTS
        return replace(self, values=self.values * (population / self.total), notes=(*self.notes, note))

    def of_classes(self, numbers: NDArray[np.uint32]) -> NDArray[np.float64]:
        """F̂ of every class: the sum of its records' weights, but at least its number of records."""
        return np.maximum(np.bincount(numbers, weights=self.values), np.bincount(numbers))


def read_weights(table: Table, name: str, *, population_is_given: bool = False) -> Weights:
    """Read and check the weight column of a table: positive numbers that are not clearly something else."""
    ((_, column),) = table.read(table.require([name], "weight column"))
    if not is_number(column.type):
        raise InputError(
            f"the weight column {name!r} is not numeric; it must say how many people each record stands for"
        )
    if column.null_count:
        raise InputError(
            f"{counted(column.null_count, 'record has', 'records have')} no weight in {name!r}; fill it in, or leave "
            "such records out"
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
    refuse_other_columns(suggest_roles(table, [name])[0], population_is_given=population_is_given)
    return Weights(values)


def refuse_other_columns(looks: SuggestedRole, *, population_is_given: bool = False) -> None:
    """Refuse a column that is clearly not a sampling weight, because it would make every risk too small.

    A name such as `wt` may mean the weight of a body. If the population is given, the sum of weights is not used, so
    such a column is accepted.
    """
    if looks.topic == "body" and population_is_given:
        return
    if looks.role not in ("weight", "other") and looks.topic and looks.confidence != "low":
        way_out = "; if it is one all the same, give the population too" if looks.topic == "body" else ""
        raise InputError(
            f"{looks.column!r} is no sampling weight: {looks.reason}; name the column that says how many people each "
            f"record stands for, or give the population{way_out}",
            hint=("weights", "population"),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Sampling design of records that were not sampled independently with about equal chances."""

    # the design effect: number of these records that inform as much as one simple random record (Kish, 1965)
    effect: float
    strata: NDArray[np.int64] | None = None  # the stratum of each record, from 0; None if there is only one
    # the share of each stratum among the people who are not in the sample
    shares: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    # the cluster of each record, from 0; None if records were sampled independently
    clusters: NDArray[np.int64] | None = None

    def note(self, *, used: bool) -> str:
        """Note on the design, for an estimate that uses it or not."""
        equivalent = f"(records count as {percent(1.0 / self.effect)} of as many"
        differ = f"weights differ {equivalent} with equal weights)"
        grown = "those with similar weights were grown to the people they stand for"
        if self.clusters is not None:
            differ = f"whole clusters were drawn {equivalent} drawn one by one)"
            grown = "the population was grown after one record of each cluster"
        if used:
            return f"{differ}: {grown}"
        return f"{differ}, which this method does not use: its interval is wider, and the risk may be understated"


def read_groups(table: Table, name: str, what: str) -> NDArray[np.int64]:
    """Read the strata or clusters of a table as codes; refuse missing values and a column with one value."""
    (column,) = encode(table.backend, table.require([name], f"{what} column"))
    if column.has_null:
        raise UnsupportedError(f"some records have no {what} in {name!r}; fill them or leave the records out")
    if column.size < 2:
        raise UnsupportedError(f"all records have one {what} in {name!r}, which says nothing; leave it out")
    return np.asarray(column.codes, dtype=np.int64)


def design_of(
    weights: Weights, strata: NDArray[np.int64] | None = None, clusters: NDArray[np.int64] | None = None
) -> Design | None:
    """The design of a sample; None if records were sampled independently and weights hardly differ.

    Records with equal sampling chances are equally informative about the people not sampled (Rosenbaum and Rubin,
    1983), so strata of similar weights are enough; given strata are divided further by weights. One record of each
    cluster represents all its records.
    """
    values = weights.values
    own = np.arange(values.size) if clusters is None else clusters
    cluster_sizes = np.bincount(own)[own]
    clusters = None if cluster_sizes.max() == 1 else clusters
    totals = np.bincount(own, weights=values)
    effect = float(values.size * np.sum(totals**2) / totals.sum() ** 2)
    uneven = np.mean((values * cluster_sizes) ** 2) / np.mean(values * cluster_sizes) ** 2 - 1.0 >= _UNEVEN**2
    if clusters is None and strata is None and not uneven:
        return None
    combined = np.zeros(values.size, dtype=np.int64) if strata is None else strata
    if uneven:
        combined = combined * _MOST_STRATA + _strata_of_weights(np.log(values * cluster_sizes))
    combined = np.unique(combined, return_inverse=True)[1]
    not_sampled = np.maximum(np.bincount(combined, weights=values - 1.0), 0.0)
    if not_sampled.size < 2 or not_sampled.sum() <= 0.0:
        return None if clusters is None else Design(effect, clusters=clusters)
    return Design(effect, combined, not_sampled / not_sampled.sum(), clusters)


def _strata_of_weights(logs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Strata of similar weights, from their logs."""
    low, high = np.quantile(logs, [0.01, 0.99])
    bins = int(min(max(round((high - low) / _STEP), 2), _MOST_STRATA))
    strata: NDArray[np.int64] = np.clip(((logs - low) / max((high - low) / bins, 1e-12)).astype(np.int64), 0, bins - 1)
    return strata
