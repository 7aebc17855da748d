"""Risk against loss for every method and k: the paper's Figures S4 to S7 on the user's own data."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode
from incrowd.errors import InputError
from incrowd.evaluation.result import Evaluation
from incrowd.protection import protect
from incrowd.protection.coarsen import parts_of
from incrowd.results import Result
from incrowd.tables import read_table

METHODS = ("partition", "sorted", "t-close partition", "tcloseness", "coarsen", "generalise")
_SIZES = (2, 3, 5, 10)
_RESOLUTIONS = (32, 16, 8)  # the paper's 1/32, 1/16 and 1/8 of the domain


@dataclass(frozen=True, slots=True)
class FrontierPoint(Result):
    """One protected table: its method and setting, what risk is left, what it cost."""

    method: str
    setting: str
    k: int
    uniqueness: float
    correctness: float
    disclosure: float | None
    t: float | None
    information_loss: float | None
    granularity: float
    suppressed: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Frontier(Result):
    """What every method makes of a table. `records` is the size of the original."""

    records: int
    points: tuple[FrontierPoint, ...]

    @property
    def best(self) -> tuple[FrontierPoint, ...]:
        """The points that no other beats in both risk and loss, the riskiest first."""
        return tuple(
            point
            for point in sorted(self.points, key=lambda point: -point.correctness)
            if not any(
                other.correctness <= point.correctness
                and other.granularity > point.granularity
                and other.uniqueness <= point.uniqueness
                for other in self.points
            )
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"records": self.records, "points": [point.to_dict() for point in self.points]}


def frontier(
    data: Any,
    *,
    quasi_identifiers: Sequence[str],
    methods: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    resolutions: Sequence[int | str] = _RESOLUTIONS,
    sensitive: str | None = None,
    secret: Any = None,
    person: str | None = None,
    hierarchies: Any = None,
    suppress: float = 0.02,
    progress: Progress = silent,
) -> Frontier:
    """Protect a table in every way and measure each: risk left against loss.

    `methods` are partition, sorted, t-close partition, tcloseness, coarsen (once for each of `resolutions`) and
    generalise (with `suppress`); without it, all that need no hierarchies, those by t only with a sensitive column.
    Where a person has several records, name the `person` column: risk is then that of people, and partition alone is
    tried, for the others work on records. Without `k`, classes of 2, 3, 5 and 10 are tried, as far as there are rows.

    >>> from incrowd import demo_table
    >>> from incrowd.demo import QUASI_IDENTIFIERS
    >>> found = frontier(demo_table(2_000), quasi_identifiers=QUASI_IDENTIFIERS, methods=["partition", "sorted"], k=[5])
    >>> better, worse = found.points
    >>> better.information_loss < 0.5 * worse.information_loss
    True
    """
    if secret is not None and sensitive is None:
        raise InputError("a secret without the sensitive column it is in; name that too")
    table = read_table(data)
    table.require_order()
    people = table.rows if person is None else encode(table, table.require([person], "person"))[0].size
    sizes = [size for size in _SIZES if size <= people] if k is None else list(k)
    chosen = list(methods) if methods is not None else _that_apply(sensitive, person)
    unknown = [method for method in chosen if method not in METHODS]
    if unknown:
        raise InputError(f"there is no method {', '.join(map(repr, unknown))}; use {', '.join(METHODS)}")
    runs = [(method, setting) for method in chosen for setting in (resolutions if method == "coarsen" else sizes)]
    points = []
    for done, (method, setting) in enumerate(runs):
        progress(f"{method}, {setting}", done / len(runs))
        options = {"sensitive": sensitive, "person": person, **_options(method, setting, suppress, hierarchies)}
        started = time.perf_counter()
        safe = protect(table, quasi_identifiers=quasi_identifiers, identifiers=[], warn=False, **options)
        points.append(_point(method, setting, time.perf_counter() - started, safe.evaluate(secret=secret)))
    return Frontier(table.rows, tuple(points))


def _options(method: str, setting: int | str, suppress: float, hierarchies: Any) -> dict[str, Any]:
    """How `protect` is asked for one point."""
    if method == "coarsen":
        return {"method": method, "resolution": setting}
    if method == "generalise":
        return {"method": method, "k": setting, "suppress": suppress, "hierarchies": hierarchies}
    if method == "t-close partition":
        return {"method": "partition", "k": setting, "t": "bound"}
    return {"method": method, "k": setting}


def _point(method: str, setting: int | str, seconds: float, found: Evaluation) -> FrontierPoint:
    return FrontierPoint(
        method=method,
        setting=f"1/{parts_of(setting)}" if method == "coarsen" else f"k={setting}",
        k=found.k,
        uniqueness=found.uniqueness,
        correctness=found.correctness,
        disclosure=found.disclosure.risk if found.disclosure else None,
        t=found.diversity.t if found.diversity else None,
        information_loss=found.information_loss,
        granularity=found.granularity,
        suppressed=found.suppressed,
        seconds=seconds,
    )


def _that_apply(sensitive: str | None, person: str | None) -> list[str]:
    """The methods that need no hierarchies; histories of people are protected by the partition alone."""
    if person is not None:
        return ["partition"]
    by_t = ["t-close partition", "tcloseness"] if sensitive is not None else []
    return ["partition", "sorted", *by_t, "coarsen"]
