"""Trajectories and transactions (person, time, place, amount): coarser points, chosen jointly, and rare ones left out.

Points of people are items: any few of somebody's are had by k people, as of sets of items. Every combination of a time
step, a grid or level of places and a resolution of amounts is looked at, and the one that keeps most is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress, part, silent
from incrowd.backends import class_numbers, encode, pack
from incrowd.curves import Curve, sparse_curve
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts.law import forecast_fit
from incrowd.forecasts.result import Parameter
from incrowd.measures import ItemsetAnonymity, itemset_anonymity
from incrowd.pitman_yor import fit_curve
from incrowd.protection.hierarchies import Hierarchy
from incrowd.protection.items import Codes, distinct_pairs, release_rows, suppress_rare_sets
from incrowd.protection.resolutions import Resolution, amount_levels, place_levels, time_steps
from incrowd.results import Result
from incrowd.tables import TableLike, read_table, to_native
from incrowd.wording import counted, listed, percent

_MOST_POINTS = 5  # that unicity is measured by


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedTrajectories(Result):
    """Protected points of people, each once.

    Attributes:
        table: the person as a random number, and the coarser time, place and amount, in the caller's kind of frame.
        resolution: what was chosen, in words, by column.
        asked_k: any `known` points of somebody were to be had by so many people.
        known: how many points an attacker may know.
        k: the fewest people who have them, as counted on the released table.
        people: how many people there were, and `without_points` how many have none left.
        points: how many points of people there were at the chosen resolution, and `suppressed` how many were left out.
        unicity_before: the share of people whom 1, 2, … of their points single out, in the original: up to 5 points, or
            as many as somebody has.
        unicity_after: the same in the released table, of the people who are in it.
        population: the people of whom these are a random sample; None where it was not said.
        forecast_before: the shares that the scaling law forecasts for that population, with 95 % intervals; None where
            no law can be fitted, such as where everybody is singled out in every part of the table.
        forecast_after: the same if the release were one of all of them.
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
        """The guarantee and what it took, in plain words."""
        chosen = listed([f"{name} by {words}" for name, words in self.resolution.items()])
        most = len(self.unicity_after)
        return (
            f"any {counted(self.known, 'point', 'points')} of somebody fit at least {self.k:,} people: {chosen}, and "
            f"{percent(self.suppressed / self.points)} of the points were left out; "
            f"{counted(most, 'point singles', 'points single')} out "
            f"{percent(self.unicity_after[-1])} of the people, and {percent(self.unicity_before[-1])} before"
            + self._forecast_in_words()
        )

    def _forecast_in_words(self) -> str:
        """Forecast of the law for the whole population, in words; empty if there is none."""
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
    """Make points of people coarser and leave out the rare ones, so that any few of somebody's fit k people.

    Args:
        data: a long table with one row for each point: whatever `read_table` reads.
        person: the column that says whose point it is.
        time: a column of dates, times or numbers.
        place: two columns of coordinates, or one of regions or codes.
        amount: a column of positive numbers, such as prices.
        known: how many points of a person an attacker may know.
        k: the fewest people who have them.
        hierarchy: of the regions, the finest level first; without one they stay as they are or are left out.
        population: of how many people these are a random sample; unicity is forecast for all of them then.
        seed: of the points that unicity is measured by.
        progress: called with what is done and how far it is.

    Returns:
        The released points, what was chosen, and unicity before and after.

    Raises:
        InputError: a column is missing, has nulls or is of a wrong type, or a number makes no sense.
        UnsupportedError: no point is had by k people at any resolution.

    >>> trips = {"who": [1, 1, 2, 2], "day": [1, 9, 2, 9], "town": ["a", "b", "a", "b"]}
    >>> safe = protect_trajectories(trips, person="who", time="day", place=["town"], k=2)
    >>> safe.table["town"].to_pylist(), safe.unicity_before[0], safe.unicity_after[0]
    (['a', 'b', 'a', 'b'], 0.5, 0.0)
    """
    table = read_table(data)
    if k < 2 or known < 1:
        raise InputError(f"{known:,} known points of {k:,} people; give 1 point or more, and 2 people or more")
    names = [person, time, *place, *([] if amount is None else [amount])]
    who, when, *where = encode(table, table.require(names, "columns of points"))
    empty = [column.name for column in (who, when, *where) if column.has_null]
    if empty:
        raise InputError(f"some rows have no value in {listed(empty)}; fill them or leave them out")
    if population is not None and not population >= who.size:
        raise InputError(
            f"a population of {population:,g} people, and {who.size:,} are in the table; give all of them",
            hint="population",
        )
    ladders = {time: time_steps(when), " and ".join(place): place_levels(where[: len(place)], hierarchy)}
    if amount is not None:
        ladders[amount] = amount_levels(where[-1])
    search = _Search(who.codes.astype(np.int64), list(ladders.values()), k, known, table.memory)
    best, keep = search.run(part(progress, 0.0, 0.7))
    owner, point = search.pairs(best)
    rows = search.first_rows(best)[keep]
    shown = {name: cells.take(pa.array(rows)) for one in best for name, cells in one.shown.items()}
    released = release_rows(shown, replace(who, codes=owner[keep]))
    found = _require_shared(released, person, list(shown), k, known)
    before = search.pairs([ladder[0] for ladder in ladders.values()])
    curves = [_unicity_curves(*points, seed) for points in (before, (owner[keep], point[keep]))]
    unicity = [tuple(float(curve.uniqueness[-1]) for curve in several) for several in curves]  # type: ignore[index]
    forecasts = [tuple(_forecast(curve, population) for curve in several if population) for several in curves]
    return ProtectedTrajectories(
        to_native(released, table.native, index=False),
        {name: one.words for name, one in zip(ladders, best, strict=True)},
        k,
        known,
        found.k,
        who.size,
        who.size - int(np.count_nonzero(np.diff(owner[keep], prepend=-1))),
        point.size,
        int(np.count_nonzero(~keep)),
        unicity[0],
        unicity[1],
        None if population is None else round(population),
        forecasts[0],
        forecasts[1],
    )


class _Search:
    """Looks for the combination of resolutions that keeps most detail and most points."""

    def __init__(self, owner: Codes, ladders: list[list[Resolution]], k: int, known: int, memory: int) -> None:
        self.owner, self.ladders, self.k, self.known, self.memory = owner, ladders, k, known, memory
        self.finest = [max(max(one.detail for one in ladder), 1e-9) for ladder in ladders]

    def run(self, progress: Progress) -> tuple[tuple[Resolution, ...], NDArray[np.bool_]]:
        """The best resolutions, and the points that stay.

        Coarser ones come first: a finer one keeps no larger share of its points, so it is not looked at where even that
        share could not make it the best.
        """
        shape = [len(ladder) for ladder in self.ladders]
        share = np.ones(shape)
        best, most = None, 0.0
        nodes = sorted(np.ndindex(*shape), key=lambda node: -sum(node))
        for done, node in enumerate(nodes):
            progress("choosing times and places", done / len(nodes))
            coarser = (tuple(at + (place == up) for place, at in enumerate(node)) for up in range(len(node)))
            share[node] = min((share[one] for one in coarser if all(np.less(one, shape))), default=1.0)
            choice = tuple(ladder[at] for ladder, at in zip(self.ladders, node, strict=True))
            detail = self._detail(choice)
            if share[node] * detail <= most:
                continue
            keep = suppress_rare_sets(*self.pairs(choice), self.k, self.known, memory=self.memory)
            share[node] = keep.mean()
            kept = float(share[node]) * detail
            if kept > most:
                best, most = (choice, keep), kept
        if best is None:
            raise UnsupportedError(f"no point is had by {self.k:,} people at any resolution; ask for fewer", hint="k")
        return best

    def pairs(self, choice: Sequence[Resolution]) -> tuple[Codes, Codes]:
        """People and their points at some resolutions, each once."""
        point, size = self._points(choice)
        return distinct_pairs(self.owner, point, size)

    def first_rows(self, choice: Sequence[Resolution]) -> Codes:
        """The first row of each of these."""
        point, size = self._points(choice)
        rows: Codes = np.unique(self.owner * size + point, return_index=True)[1]
        return rows

    @staticmethod
    def _points(choice: Sequence[Resolution]) -> tuple[Codes, int]:
        """The point of every row, numbered densely."""
        point = choice[0].groups
        for one in choice[1:]:
            numbers, _ = class_numbers((point * (int(one.groups.max()) + 1) + one.groups).astype(np.uint64))
            point = numbers.astype(np.int64)
        return point, int(point.max()) + 1

    def _detail(self, choice: Sequence[Resolution]) -> float:
        """The detail of a point, 1 for the original's."""
        detail = [one.detail / finest for one, finest in zip(choice, self.finest, strict=True)]
        return sum(detail) / len(detail)


def _require_shared(released: pa.Table, person: str, columns: list[str], k: int, known: int) -> ItemsetAnonymity:
    """Count on the released table how many people have any few points of somebody; refuse it where they are too few."""
    point, _ = class_numbers(pack(encode(read_table(released), columns)))
    found = itemset_anonymity({"person": released[person], "point": point}, person="person", item="point", known=known)
    if found.k < k:
        raise UnsupportedError(f"points fit {found.k:,} people where {k:,} were asked for; nothing is released")
    return found


def _unicity_curves(owner: Codes, point: Codes, seed: int) -> list[Curve]:
    """Curves of the people singled out by 1, 2, … known points against the number of people, without random noise."""
    points = {"person": owner, "point": point}
    most = min(int(np.bincount(owner).max()), _MOST_POINTS)
    return [
        sparse_curve(points, person="person", item="point", known=known, draws=1, seed=seed)
        for known in range(1, most + 1)
    ]


def _forecast(curve: Curve, population: float) -> Parameter | None:
    """The share of a population that is singled out, by the scaling law; None where none can be fitted."""
    try:
        found = forecast_fit(fit_curve(curve), ("",), np.array([population]), (), 0.95, 0, silent).uniqueness
    except UnsupportedError:
        return None
    assert found is not None
    return Parameter(float(found.value[0]), float(found.low[0]), float(found.high[0]))
