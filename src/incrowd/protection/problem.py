"""The input of every method: encoded columns, the positions of their values, and the demanded guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import InputError
from incrowd.protection.protect_options import Aim, DiversityKind, ProtectOptions
from incrowd.tables import Table
from incrowd.tables.released_values import offset_of

if TYPE_CHECKING:
    from incrowd.protection.hierarchies import Hierarchy
    from incrowd.protection.k_map import PopulationTable, RandomSample

DIVERSITIES: tuple[DiversityKind, ...] = get_args(DiversityKind)
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # units of a timestamp in a second
AIMS: tuple[Aim, ...] = get_args(Aim)
_LARGEST_NUMBER = 1e150
_NO_OPTIONS = ProtectOptions(quasi_identifiers=())


@dataclass(frozen=True, slots=True)
class Demand:
    """The guarantee that is asked for; l, t, beta and delta hold in every sensitive column."""

    k: int  # the smallest class that is allowed
    # the fewest different sensitive values of a class, counted as `diversity` says
    l: float | None = None  # noqa: E741
    diversity: str = "distinct"  # "distinct", "entropy" or "recursive"
    c: float = 3.0  # the c of recursive (c, l)-diversity
    t: float | None = None  # the largest distance of a class from the table
    asks_t: bool = False  # whether t-closeness is asked for, with or without a limit t
    beta: float | None = None  # no sensitive value is over 1 + beta times as common in a class as in the table
    # no sensitive value is over e^delta times as common, or as rare, in a class as in the table
    delta: float | None = None
    # whether k counts records that match, where a null matches any value, instead of equal records
    wildcards: bool = False
    # with wildcards, k holds for every combination of this many columns. None: for all columns together
    subsets: int | None = None
    k_map: int | None = None  # the fewest people of a population that a class covers
    # the table of the population of k-map
    population: PopulationTable | None = field(default=None, compare=False, repr=False)
    # the numbers of records and people, if k-map is estimated without a table of the population
    sample: RandomSample | None = None

    @property
    def asks_bound_on_t(self) -> bool:
        """True if t-closeness is asked for without a limit: the t that strata of k reach."""
        return self.asks_t and self.t is None

    @property
    def limits_shares(self) -> bool:
        """True if β or δ limits the share of a sensitive value in a class."""
        return self.beta is not None or self.delta is not None

    @property
    def about_secrets(self) -> bool:
        """True if the demand concerns sensitive columns: l, t, beta or delta."""
        return self.l is not None or self.asks_t or self.limits_shares

    @property
    def smallest(self) -> int:
        """The fewest records a class can have: the larger of k and l."""
        return max(self.k, math.ceil(self.l or 0))


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A table to protect, and what is asked for."""

    columns: list[Coded]  # the quasi-identifiers
    rows: int  # number of records
    demand: Demand  # the guarantee; it holds for every sensitive column
    sensitive: Sequence[Coded] = ()  # the sensitive columns
    # the loss that classes keep small: "information" measures distances in standard deviations (eq. 2), "granularity"
    # in shares of each column's domain
    aim: str = "information"
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)  # by column
    options: ProtectOptions = _NO_OPTIONS  # as they were given
    progress: Progress = silent  # called with what is done and how far it is
    # by column, the count of every value in the whole table, if the records are only a part of it
    tallies: Sequence[NDArray[np.int64]] | None = None
    table: Table | None = None  # the table of the columns, for methods that change other columns too

    def counted(self) -> Problem:
        """The problem with its values counted now, so that its parts share the counts."""
        return replace(self, tallies=[self.tally(index) for index in range(len(self.columns))])

    def part(self, rows: NDArray[np.int64], progress: Progress) -> Problem:
        """The problem of protecting some of the records."""
        columns, sensitive = ([column.take(rows) for column in group] for group in (self.columns, self.sensitive))
        changes: dict[str, Any] = {"columns": columns, "sensitive": sensitive, "rows": rows.size}
        return replace(self.counted(), progress=progress, **changes)

    @property
    def keep(self) -> Sequence[str]:
        """Columns that are released unchanged, so that all records of a class have the same value."""
        return self.options.keep or ()

    @property
    def widest(self) -> Mapping[str, float]:
        """By column, the longest range allowed, in its own unit (days for dates); for text, the largest set."""
        return self.options.widest or {}

    @property
    def restricts_classes(self) -> bool:
        """True if columns to keep, or longest ranges, may leave records without a class."""
        return bool(self.keep or self.widest)

    @property
    def power(self) -> int:
        """2 if losses are Euclidean distances, 1 if they are sums over columns."""
        return 2 if self.aim == "information" else 1

    @property
    def weights(self) -> NDArray[np.float64]:
        """The importance of every column, scaled to an average of 1."""
        importance = self.options.importance or {}
        weights = np.array([float(importance.get(column.name, 1.0)) for column in self.columns])
        relative: NDArray[np.float64] = weights / weights.mean()
        return relative

    def nominal(self) -> NDArray[np.float64]:
        """The cost of one more value in a class, for columns written as sets; 0 for those written as intervals."""
        costs = [
            0.0 if self.aim == "information" or column.has_distances else 1.0 / max(column.size - 1, 1)
            for column in self.columns
        ]
        return np.array(costs) * self.weights

    def points(self) -> NDArray[np.float32]:
        """Scaled coordinates of every record, centred so that 32 bits are enough."""
        points = np.empty((self.rows, len(self.columns)), dtype=np.float32)
        for index, (column, weight) in enumerate(zip(self.columns, self.weights, strict=True)):
            points[:, index] = (weight * self._scaled(index)).astype(np.float32)[column.codes]
        return points

    def tally(self, index: int) -> NDArray[np.int64]:
        """Count of each value of a column in the whole table."""
        column = self.columns[index]
        return column.tally if self.tallies is None else self.tallies[index]

    def _scaled(self, index: int) -> NDArray[np.float64]:
        column = self.columns[index]
        if self.aim == "granularity":
            return np.arange(column.size) / max(column.size - 1, 1)
        place = positions(column)
        mean, deviation = moments(column, place, self.tally(index))
        return (place - mean) / deviation if deviation > 0.0 else np.zeros(column.size)


def require_known(what: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse options (named by `what`) for columns that are not quasi-identifiers."""
    if unknown := [name for name in dict.fromkeys(given) if name not in known]:
        raise InputError(
            f"{what} for {', '.join(map(repr, unknown))}, not a quasi-identifier; these are: {', '.join(known)}"
        )


def settle_aim(aim: str | None, columns: Sequence[Coded]) -> str:
    """Check the aim; None becomes granularity if a quasi-identifier is text, else information."""
    if aim is None:
        return "information" if all(column.has_distances for column in columns) else "granularity"
    if aim not in AIMS:
        raise InputError(f"there is no aim {aim!r}; use {' or '.join(AIMS)}", hint="aim")
    return aim


def check_values(columns: Sequence[Coded]) -> None:
    """Refuse quasi-identifiers without values, or of a type that cannot be written as ranges or sets."""
    empty = [column.name for column in columns if column.size == column.has_null]
    clocks = [
        column.name
        for column in columns
        if pa.types.is_time(column.values.type) or pa.types.is_duration(column.values.type)
    ]
    if clocks:
        raise InputError(
            f"{', '.join(map(repr, clocks))} holds times of day or durations; make it a number (minutes, say) first"
        )
    if huge := [column.name for column in columns if _is_huge(column)]:
        raise InputError(
            f"{', '.join(map(repr, huge))} holds infinite numbers, or numbers above 1e150, which cannot be averaged; "
            "make them null or smaller"
        )
    if empty:
        raise InputError(f"no row has a value in {', '.join(map(repr, empty))}; leave it out of the quasi-identifiers")


def _is_huge(column: Coded) -> bool:
    """True if the square of a number overflows."""
    if not pa.types.is_floating(column.values.type):
        return False
    largest = pc.max(pc.abs(column.values)).as_py()
    return largest is not None and not largest <= _LARGEST_NUMBER


def positions(column: Coded) -> NDArray[np.float64]:
    """Position of each value of a column on a line: numbers and dates as floats, text by its rank.

    The position of a null is half the domain's length beyond the largest value: apart from all others, but not so far
    that it dominates the standard deviation.
    """
    if not column.has_distances:
        return np.arange(column.size, dtype=np.float64)
    filled = column.values.slice(0, column.filled_size)
    place = as_floats(filled, offset_of(column))
    if not place.size:
        raise InputError(f"column {column.name!r} has no values at all; leave it out of the quasi-identifiers")
    if not np.all(np.isfinite(place)):
        raise InputError(f"column {column.name!r} holds infinite numbers; make them null or a number")
    return with_null(place, column)


def with_null(place: NDArray[np.float64], column: Coded) -> NDArray[np.float64]:
    """The positions of a column's values, and that of its null if it has one."""
    return np.append(place, place[-1] + max(place[-1] - place[0], 1.0) / 2) if column.has_null else place


def moments(column: Coded, place: NDArray[np.float64], tally: NDArray[np.int64] | None = None) -> tuple[float, float]:
    """Mean and standard deviation of a column over its records, from the counts of its codes."""
    if tally is None:
        tally = column.tally
    mean = float(tally @ place) / tally.sum()
    return mean, float(np.sqrt(tally @ (place - mean) ** 2 / tally.sum()))
