"""Swapping: rank swapping of values, and swapping the places of risky records with those of similar records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import first_places
from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import InputError
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, read_names, taken
from incrowd.wording import chosen_percent, listed


@dataclass(frozen=True, slots=True)
class RankSwap(Step):
    """Every value is swapped with one whose rank is at most `share` of all records away (Moore 1996)."""

    share: float
    kind: ClassVar[str] = "rankswap"
    label: ClassVar[str] = "values swapped with near ones"
    words: ClassVar[str] = (
        "Each value is swapped with one of near rank; "
        "the number is the share of all records that the ranks may be apart."
    )
    usual: ClassVar[str] = "0.05"
    reads: ClassVar[Readers] = {"share": float}

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"ranks of {self.share!r} of the records apart; give a share above 0 and up to 1")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Swap each column by itself; a missing value stays missing."""
        changed = {}
        for column in columns.coded(self.columns):
            if not column.has_order:
                raise InputError(f"{column.name!r} has no order by which ranks could be near; swap numbers or dates")
            filled = np.flatnonzero(column.is_filled)
            ties = columns.draws.random(filled.size)
            order = filled[np.lexsort([ties, column.codes[filled]])]
            codes = column.codes.copy()
            codes[order] = column.codes[order[swap_near(order.size, self.share, columns.draws)]]
            changed[column.name] = taken(column, codes)
        return StepOutcome(
            changed,
            f"values were swapped with values whose rank is at most {chosen_percent(self.share)} of the records away",
            "the column alone is as it was: counts, quantiles and moments need no correction; correlations with other "
            "columns are too small, the more so the larger the share",
            {"share": self.share},
        )


def swap_near(rows: int, share: float, draws: np.random.Generator) -> NDArray[np.int64]:
    """For every rank, the rank it is swapped with, at most `share` of all ranks away; a rank may stay unswapped.

    >>> swap_near(4, 0.3, np.random.default_rng(0)).tolist()
    [1, 0, 3, 2]
    """
    reach = max(1, math.floor(share * rows))
    partner = np.arange(rows)
    free = list(range(1, rows + 1))  # links to the next rank without a partner (union-find)

    def next_free(rank: int) -> int:
        end = rank
        while end < rows and is_taken[end]:
            end = free[end]
        while rank < end:
            free[rank], rank = end, free[rank]
        return end

    is_taken = [False] * rows
    wanted_steps = draws.integers(1, reach + 1, rows).tolist()
    for rank in range(rows):
        if is_taken[rank]:
            continue
        is_taken[rank] = True
        last = min(rank + reach, rows - 1)
        chosen = next_free(min(rank + wanted_steps[rank], last))
        if chosen > last:
            chosen = next_free(rank)
        if chosen <= last:
            is_taken[chosen] = True
            partner[rank], partner[chosen] = chosen, rank
    return partner


@dataclass(frozen=True, slots=True)
class RecordSwap(Step):
    """The places (`columns`, a geography) of the riskiest `share` of the records are swapped with those of others.

    The risk of a record is 1 / its class size by the quasi-identifiers. Its partner lives in another place, but has
    equal values in `within` (a coarser geography, for example) and in `match`. If there is no such partner, columns of
    `match` are dropped one by one, the last first. With a `household` column, whole households of the same size are
    swapped.
    """

    share: float
    within: tuple[str, ...] = ()
    match: tuple[str, ...] = ()
    household: str | None = None
    kind: ClassVar[str] = "recordswap"
    label: ClassVar[str] = "places of people at high risk swapped"
    words: ClassVar[str] = (
        "The places of the people at highest risk are swapped with those of others; the number is the share of records."
    )
    usual: ClassVar[str] = "0.05"
    reads: ClassVar[Readers] = {"share": float, "within": read_names, "match": read_names, "household": str}

    def __post_init__(self) -> None:
        if not 0 < self.share <= 0.5:
            raise InputError(f"a share of {self.share!r} of the records to swap; give one above 0 and up to 0.5")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Swap the place of each of the riskiest units with that of a similar unit."""
        places = columns.coded(self.columns)
        units = _Units.of(columns, places, self.household)
        profiles = [units.profile(column) for column in columns.coded(self.match)]
        fixed = [units.profile(column) for column in columns.coded(self.within)]
        fixed.append(Coded("members", units.sizes, np.arange(units.sizes.max() + 1)))
        wanted = max(1, round(self.share * units.number))
        order = np.lexsort([columns.draws.random(units.number), -units.risk])
        partner = np.arange(units.number)
        targets = order[:wanted]
        for dropped in range(len(profiles) + 1):
            groups = class_numbers(pack([*fixed, *profiles[: len(profiles) - dropped]]))[0]
            targets = _pair(targets, groups, units.place, partner, columns.draws)
            if not targets.size:
                break
        swapped = wanted - targets.size
        source_record = units.first[partner][units.of_record]
        notes = (
            f"{targets.size:,} of {wanted:,} could not be swapped: nobody lives elsewhere to swap with"
            if targets.size
            else ""
        )
        return StepOutcome(
            {column.name: taken(column, column.codes[source_record]) for column in places},
            f"the places of the riskiest {chosen_percent(self.share)} of the "
            f"{'households' if self.household else 'records'} were swapped with those of others"
            + (f" in the same {listed(self.within)}" if self.within else ""),
            f"counts by {listed(self.columns)} alone are as they were"
            + (f", and so are they with {listed(self.match)} where partners were found by it" if self.match else "")
            + "; relations of other columns to the place are weakened",
            {"share": self.share, "swapped": swapped},
            notes=(notes,) if notes else (),
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """Units to swap: records or households. `first` is one record of each unit, `of_record` the unit of each record."""

    number: int
    of_record: NDArray[np.int64]
    first: NDArray[np.int64]
    place: NDArray[np.int64]
    risk: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(cls, columns: ColumnsSoFar, places: Sequence[Coded], household: str | None) -> _Units:
        rows = columns.table.rows
        if household is None:
            of_record, number = np.arange(rows), rows
        else:
            (column,) = columns.coded([household])
            if column.has_null:
                raise InputError(f"some records have no value in the household column {household!r}; fill it")
            of_record, number = column.codes.astype(np.int64), column.size
        first = first_places(of_record)
        by_place = class_numbers(pack(places))[0].astype(np.int64)
        if np.any(by_place[first[of_record]] != by_place):
            raise InputError(f"some households have members in several places ({listed([c.name for c in places])})")
        smallest = np.full(number, rows)
        np.minimum.at(smallest, of_record, _sizes_of_classes(columns))
        return cls(number, of_record, first, by_place[first], 1.0 / smallest, np.bincount(of_record, minlength=number))

    def profile(self, column: Coded) -> Coded:
        """A column of units: equal codes for units whose members have the same values, in any order."""
        if self.number == self.of_record.size:
            return column.take(self.first)
        order = np.lexsort([column.codes, self.of_record])
        starts = np.cumsum(self.sizes) - self.sizes
        codes = column.codes[order].tolist()
        listed_codes = [tuple(codes[start : start + size]) for start, size in zip(starts, self.sizes, strict=True)]
        known: dict[tuple[int, ...], int] = {}
        numbers = np.array([known.setdefault(members, len(known)) for members in listed_codes], dtype=np.uint32)
        return Coded(column.name, numbers, np.arange(len(known)))


def _sizes_of_classes(columns: ColumnsSoFar) -> NDArray[np.int64]:
    """Class size of every record by the quasi-identifiers."""
    numbers, sizes = class_numbers(pack(columns.coded([column.name for column in columns.problem.columns])))
    return sizes[numbers].astype(np.int64)


def _pair(
    targets: NDArray[np.int64],
    groups: NDArray[np.integer],
    place: NDArray[np.int64],
    partner: NDArray[np.int64],
    draws: np.random.Generator,
) -> NDArray[np.int64]:
    """Give each target a free partner of its group in another place; returns the targets without a partner.

    A place is drawn with a probability proportional to its free units, and then a random unit of it.
    """
    free = np.flatnonzero(np.isin(groups, groups[targets]) & (partner == np.arange(partner.size)))
    free = draws.permutation(free)
    order = np.lexsort([place[free], groups[free]])
    free_units: dict[int, dict[int, list[int]]] = {}
    for unit in free[order].tolist():
        free_units.setdefault(int(groups[unit]), {}).setdefault(int(place[unit]), []).append(unit)
    unpaired = []
    for target in targets.tolist():
        if partner[target] != target:
            continue
        places = free_units[int(groups[target])]
        other_places = [at for at, units in places.items() if at != place[target] and units]
        chosen = _take(places, other_places, partner, draws)
        if chosen is None:
            unpaired.append(target)
        else:
            partner[target], partner[chosen] = chosen, target
    return np.array(unpaired, dtype=np.int64)


def _take(
    places: dict[int, list[int]], other_places: list[int], partner: NDArray[np.int64], draws: np.random.Generator
) -> int | None:
    """Remove and return a free unit of one of the places, drawn in proportion to their units; None if there is none."""
    while other_places:
        ends = np.cumsum([len(places[place]) for place in other_places])
        place = other_places[int(np.searchsorted(ends, draws.integers(ends[-1]), side="right"))]
        unit = places[place].pop()
        if partner[unit] == unit:
            return unit
        if not places[place]:
            other_places.remove(place)
    return None
