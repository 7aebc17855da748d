"""Protection of trajectories and transactions (person, time, place, amount): coarser points, without the rare ones.

A point is treated as an item: at least k people share any few points of a person (k^m-anonymity, see `items`). Every
combination of a time step, a grid or level of places and a resolution of amounts is tried, and the one that keeps most
detail and points is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd._support.progress import Progress, part, silent
from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.curves import Curve, sparse_curve
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts.law import forecast_fit
from incrowd.forecasts.result import Parameter
from incrowd.measures import ItemsetAnonymity, itemset_anonymity
from incrowd.measures.itemsets import distinct_pairs
from incrowd.pitman_yor import fit_curve
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.items import Codes, release_rows, suppress_rare_sets
from incrowd.protection.method_options import require_whole
from incrowd.protection.resolutions import (
    Resolution,
    amount_levels,
    combine_groups,
    drop_ineffective,
    place_levels,
    time_steps,
)
from incrowd.results import DataTable, Result
from incrowd.tables import Table, TableLike, read_table, to_native
from incrowd.wording import counted, listed, percent

_MOST_POINTS = 5  # most known points for which unicity is measured


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedTrajectories(Result):
    """Protected points of people, without repeats.

    Attributes:
        table: the person as a random number, and the coarser time, place and amount, in the caller's kind of frame.
        resolution: the chosen resolution in words, by column.
        asked_k: how many people were to share any `known` points of a person.
        known: how many points an attacker may know.
        k: the fewest people who share any `known` points of a person, counted on the released table.
        people: number of people in the original; `without_points` of them have no released point.
        points: number of pairs of person and point at the chosen resolution; `suppressed` of them were left out.
        unicity_before: the share of people in the original whom 1, 2, … of their points single out, up to 5 points or
            the most points of a person.
        unicity_after: the share of people in the released table whom 1, 2, … of their points single out.
        population: the size of the population of which the people are a random sample; None if it was not given.
        forecast_before: the forecast of `unicity_before` for the population by the scaling law, with 95 % intervals;
            None if no law can be fitted, for example if everybody is singled out in every part of the table.
        forecast_after: the forecast of `unicity_after` for a release of the whole population.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"table"})
    _derived: ClassVar[tuple[str, ...]] = ("sentence",)
    table: Any
    resolution: Mapping[str, str]
    asked_k: int
    known: int
    k: int
    people: int
    without_points: int
    points: int
    suppressed: int
    unicity_before: tuple[float, ...]
    unicity_after: tuple[float, ...]
    population: int | None = None
    forecast_before: tuple[Parameter | None, ...] = ()
    forecast_after: tuple[Parameter | None, ...] = ()

    @property
    def sentence(self) -> str:
        """The guarantee, the chosen resolution and the suppressed share, in plain words."""
        by = {name: words if words == "as it is" else f"by {words}" for name, words in self.resolution.items()}
        chosen = listed([f"{name} {words}" for name, words in by.items()])
        most = len(self.unicity_after)
        return (
            f"any {counted(self.known, 'point', 'points')} of somebody fit at least {self.k:,} people: {chosen}, and "
            f"{percent(self.suppressed / self.points)} of the points were left out; "
            f"{counted(most, 'point singles', 'points single')} out "
            f"{percent(self.unicity_after[-1])} of the people, and {percent(self.unicity_before[-1])} before"
            + self._forecast_in_words()
        )

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The share of people whom some of their points single out, before and after, and its forecasts."""
        forecasts = (self.forecast_before, self.forecast_after) if self.population is not None else ()
        expected = [[None if share is None else share.value for share in forecast] for forecast in forecasts]
        columns = [self.unicity_before, self.unicity_after, *expected]
        heads = ("points known", "singled out before", "and after", "forecast before", "forecast after")
        rows = tuple(
            (known, *("" if share is None else percent(share) for share in shares))
            for known, shares in enumerate(zip_longest(*columns), start=1)
        )
        return (DataTable("Who is singled out by some of their points", heads[: len(columns) + 1], rows),)

    def _forecast_in_words(self) -> str:
        """The forecast for the whole population, in words; empty if no population was given."""
        last = self.forecast_after[-1] if self.forecast_after else None
        if self.population is None:
            return ""
        if last is None:
            return f"; how many of all {self.population:,} people they would single out cannot be forecast from them"
        return (
            f"; released so of all {self.population:,} people they would single out about {percent(last.value)} "
            f"({percent(last.low)} to {percent(last.high)}), by the scaling law"
        )


def protect_trajectories(
    data: TableLike,
    *,
    person: str,
    time: str,
    place: Sequence[str],
    amount: str | None = None,
    known: int = 1,
    k: int = 5,
    hierarchy: Hierarchy | str | None = None,
    population: float | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> ProtectedTrajectories:
    """Make points coarser and suppress rare ones, so that at least k people share any few points of a person.

    Args:
        data: a long table with one row for each point: whatever `read_table` reads.
        person: the column that says whose point it is.
        time: a column of dates, times or numbers.
        place: two columns of coordinates, or one of regions or codes.
        amount: a column of positive numbers, such as prices.
        known: how many points of a person an attacker may know.
        k: the fewest people who share any `known` points of a person.
        hierarchy: the hierarchy of the regions; without one, a region is released unchanged or suppressed.
        population: the size of the population of which the people are a random sample; unicity is forecast for it.
        seed: the seed of the points by which unicity is measured.
        progress: called with what is done and how far it is.

    Returns:
        The released points, the chosen resolution, and unicity before and after.

    Raises:
        InputError: a column is missing, has nulls or is of a wrong type, or a number makes no sense.
        UnsupportedError: at no resolution do k people share a point.

    >>> trips = {"who": [1, 1, 2, 2], "day": [1, 9, 2, 9], "town": ["a", "b", "a", "b"]}
    >>> safe = protect_trajectories(trips, person="who", time="day", place=["town"], k=2)
    >>> safe.table["town"].to_pylist(), safe.unicity_before[0], safe.unicity_after[0]
    (['a', 'b', 'a', 'b'], 0.5, 0.0)
    """
    table = read_table(data)
    require_whole("known points", known, 1)
    require_whole("k", k, 2)
    names = [person, time, *place, *([] if amount is None else [amount])]
    who, when, *others = _require_points(table, names, population)
    ladders = {time: time_steps(when), " and ".join(place): place_levels(others[: len(place)], hierarchy)}
    if amount is not None:
        ladders[amount] = amount_levels(others[-1])
    ladders = {name: drop_ineffective(ladder) for name, ladder in ladders.items()}
    search = _Search(who.codes.astype(np.int64), list(ladders.values()), k, known, table.memory)
    best, keep = search.run(part(progress, 0.0, 0.7))
    owner, point = search.pairs(best)
    kept_rows = search.first_rows(best)[keep]
    released_columns = {name: cells.take(pa.array(kept_rows)) for one in best for name, cells in one.shown.items()}
    released = release_rows(released_columns, replace(who, codes=owner[keep]))
    anonymity = _require_shared(released, person, list(released_columns), k, known)
    before = search.pairs([ladder[0] for ladder in ladders.values()])
    curves = [_unicity_curves(*points, seed) for points in (before, (owner[keep], point[keep]))]
    unicity = [tuple(float(curve.uniqueness[-1]) for curve in of_table) for of_table in curves]  # type: ignore[index]
    forecasts = [tuple(_forecast(curve, population) for curve in of_table if population) for of_table in curves]
    return ProtectedTrajectories(
        to_native(released, table.native, index=False),
        {name: one.words for name, one in zip(ladders, best, strict=True)},
        k,
        known,
        anonymity.k,
        who.size,
        who.size - run_starts(owner[keep]).size,
        point.size,
        int(np.count_nonzero(~keep)),
        unicity[0],
        unicity[1],
        None if population is None else round(population),
        forecasts[0],
        forecasts[1],
    )


def _require_points(table: Table, names: Sequence[str], population: float | None) -> list[Coded]:
    """The columns of points, the person first; refuses missing values and a population smaller than the table."""
    columns = encode(table, table.require(names, "columns of points"))
    empty = [column.name for column in columns if column.has_null]
    if empty:
        raise InputError(f"some rows have no value in {listed(empty)}; fill them or leave them out")
    people = columns[0].size
    if population is not None and not population >= people:
        raise InputError(
            f"a population of {population:,g} people, and {people:,} are in the table; give all of them",
            hint="population",
        )
    return columns


class _Search:
    """Search for the combination of resolutions that keeps most detail and most points."""

    def __init__(self, owner: Codes, ladders: list[list[Resolution]], k: int, known: int, memory: int) -> None:
        self.owner, self.ladders, self.k, self.known, self.memory = owner, ladders, k, known, memory
        self.finest = [max(max(one.detail for one in ladder), 1e-9) for ladder in ladders]

    def run(self, progress: Progress) -> tuple[tuple[Resolution, ...], NDArray[np.bool_]]:
        """The best combination of resolutions, and the boolean mask of the points to keep.

        Coarser combinations come first. The share of kept points of a coarser combination is an upper bound for a finer
        one, which is skipped if even this share would not make it the best.
        """
        shape = [len(ladder) for ladder in self.ladders]
        share = np.ones(shape)
        best, highest_score = None, 0.0
        nodes = sorted(np.ndindex(*shape), key=lambda node: -sum(node))
        for done, node in enumerate(nodes):
            progress("choosing times and places", done / len(nodes))
            coarser = (
                tuple(level + (position == axis) for position, level in enumerate(node)) for axis in range(len(node))
            )
            share[node] = min((share[one] for one in coarser if all(np.less(one, shape))), default=1.0)
            choice = tuple(ladder[level] for ladder, level in zip(self.ladders, node, strict=True))
            detail = self._detail(choice)
            if share[node] * detail <= highest_score:
                continue
            keep = suppress_rare_sets(*self.pairs(choice), self.k, self.known, memory=self.memory)
            share[node] = keep.mean()
            score = float(share[node]) * detail
            if score > highest_score:
                best, highest_score = (choice, keep), score
        if best is None:
            raise UnsupportedError(f"no point is had by {self.k:,} people at any resolution; ask for fewer", hint="k")
        return best

    def pairs(self, choice: Sequence[Resolution]) -> tuple[Codes, Codes]:
        """Distinct pairs of person and point at some resolutions."""
        point, size = self._points(choice)
        return distinct_pairs(self.owner, point, size)

    def first_rows(self, choice: Sequence[Resolution]) -> Codes:
        """The first row of each pair of person and point, in the order of `pairs`."""
        point, size = self._points(choice)
        rows: Codes = np.unique(self.owner * size + point, return_index=True)[1]
        return rows

    @staticmethod
    def _points(choice: Sequence[Resolution]) -> tuple[Codes, int]:
        """The number of the point of every row, and the number of distinct points."""
        point = combine_groups([one.groups for one in choice])
        return point, int(point.max()) + 1

    def _detail(self, choice: Sequence[Resolution]) -> float:
        """The detail of a combination of resolutions; 1 for the original."""
        detail = [one.detail / finest for one, finest in zip(choice, self.finest, strict=True)]
        return sum(detail) / len(detail)


def _require_shared(released: pa.Table, person: str, columns: list[str], k: int, known: int) -> ItemsetAnonymity:
    """Count on the released table how many people share any `known` points of a person; refuses fewer than k."""
    point, _ = class_numbers(pack(encode(read_table(released), columns)))
    anonymity = itemset_anonymity(
        {"person": released[person], "point": point}, person="person", item="point", known=known
    )
    if anonymity.k < k:
        raise UnsupportedError(f"points fit {anonymity.k:,} people where {k:,} were asked for; nothing is released")
    return anonymity


def _unicity_curves(owner: Codes, point: Codes, seed: int) -> list[Curve]:
    """For 1, 2, … known points, the curve of the share of people singled out against the number of people."""
    points = {"person": owner, "point": point}
    most = min(int(np.bincount(owner).max()), _MOST_POINTS)
    return [
        sparse_curve(points, person="person", item="point", known=known, draws=1, seed=seed)
        for known in range(1, most + 1)
    ]


def _forecast(curve: Curve, population: float) -> Parameter | None:
    """Forecast by the scaling law of the share of a population that is singled out; None if no law can be fitted."""
    try:
        uniqueness = forecast_fit(fit_curve(curve), ("",), np.array([population]), (), 0.95, 0, silent).uniqueness
    except UnsupportedError:
        return None
    assert uniqueness is not None
    return Parameter(float(uniqueness.value[0]), float(uniqueness.low[0]), float(uniqueness.high[0]))
