"""Contribution of each attribute to the risk: its Shapley value over the orders in which attributes become known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd._support.seed import require_seed
from incrowd.errors import InputError
from incrowd.measures.subset_counts import SubsetCounter
from incrowd.results import Result, Share, Statement
from incrowd.special import NORMAL_QUANTILE
from incrowd.tables import TableLike, read_table
from incrowd.wording import percent, percentage_points

EXACT_UP_TO = 12
"""Largest number of attributes that are averaged over all orders; with more, orders are sampled."""

_EXACT_IF_COUNTED_SINGLY = 7  # the same if every set of attributes needs its own query
_ORDERS = 200  # sampled orders


@dataclass(frozen=True, slots=True)
class Contribution(Result):
    """Contribution of one attribute to the average risk and to the share of unique people.

    The standard errors are 0 where all orders were averaged.
    """

    column: str
    correctness: float
    uniqueness: float
    error: float = 0.0
    uniqueness_error: float = 0.0
    _derived: ClassVar[tuple[str, ...]] = ("interval",)

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the contribution to correctness."""
        return self.correctness - NORMAL_QUANTILE * self.error, self.correctness + NORMAL_QUANTILE * self.error


@dataclass(frozen=True, slots=True)
class Contributions(Result):
    """The contributions of all attributes; those to correctness add up to correctness less `nothing_known`.

    `orders` is the number of sampled orders, None if all orders were averaged. `nothing_known` is the chance of naming
    somebody without knowing any attribute: 1 ÷ the number of people.
    """

    columns: tuple[Contribution, ...]
    nothing_known: Share
    orders: int | None
    seed: int

    @property
    def ranked(self) -> tuple[Contribution, ...]:
        """The attribute that adds most first."""
        return tuple(sorted(self.columns, key=lambda part: -part.correctness))

    def share(self, part: Contribution) -> float:
        """The contribution as a share of what all attributes add; 0 where they add nothing."""
        total = sum(one.correctness for one in self.columns)
        return part.correctness / total if total else 0.0

    @property
    def statements(self) -> tuple[Statement, ...]:
        """What each attribute adds to the average risk, the largest part first."""
        return tuple(
            Statement(
                "drivers",
                part.column,
                part.correctness,
                percentage_points(part.correctness),
                "Percentage points that this attribute adds to the average risk: "
                f"{percent(self.share(part))} of what all add.",
                "exact, all orders averaged"
                if self.orders is None
                else f"95% interval: {' to '.join(map(percentage_points, part.interval))}",
                "attributes become known in any order, all equally likely",
            )
            for part in self.ranked
        )

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types; every contribution with its share of the total."""
        return Result.to_dict(self) | {"columns": self._rows()}

    def _rows(self) -> list[dict[str, Any]]:
        return [part.to_dict() | {"share": self.share(part)} for part in self.columns]


def contributions(
    data: TableLike,
    quasi_identifiers: Sequence[str],
    *,
    person: str | None = None,
    orders: int = _ORDERS,
    exact_up_to: int = EXACT_UP_TO,
    seed: int = 0,
    progress: Progress = silent,
) -> Contributions:
    """Contribution of each attribute to the risk, averaged over every order in which an attacker may learn them.

    This is the Shapley value (Shapley 1953) of the attribute in the game whose worth is the correctness of a set of
    attributes.

    Args:
        data: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that the attacker may know.
        person: the column that identifies the person of each record; whole histories are then counted, and orders are
            sampled beyond seven attributes.
        orders: the number of random orders if not all are averaged; half of them are the reverse of the other half.
        exact_up_to: the largest number of attributes that are averaged over all orders, from the counts of all sets.
        seed: the seed of the random orders.
        progress: callback that receives the current step and the share done.

    Returns:
        The contribution of every attribute.

    Raises:
        InputError: a column is missing, or fewer than 2 orders are asked for.

    >>> found = contributions({"age": [30, 30, 41, 41], "sex": ["f", "m", "f", "m"], "ward": [1, 1, 1, 1]},
    ...                       ["age", "sex", "ward"])
    >>> [(part.column, part.correctness) for part in found.columns]
    [('age', 0.375), ('sex', 0.375), ('ward', 0.0)]
    """
    table = read_table(data)
    names = table.require(quasi_identifiers, "quasi-identifiers")
    if orders < 2:
        raise InputError(f"{orders} sampled orders; give 2 or more")
    progress("counting people who look alike", 0.0)
    counter = SubsetCounter(table, names, person)
    if counter.classes is None:
        exact_up_to, orders = _EXACT_IF_COUNTED_SINGLY, min(orders, 2 * len(names))
    if len(names) > exact_up_to:
        return _from_sampled_orders(counter, orders, seed, progress)
    counted = {}
    for count in counter.count_all(len(names)):
        counted[count.positions] = (count.classes, count.uniques)
        progress("counting sets of attributes", len(counted) / 2 ** len(names))
    return contributions_from_counts(names, counter.people, counted, seed=seed)


def contributions_from_counts(
    names: Sequence[str], people: int, counted: Mapping[tuple[int, ...], tuple[int, int]], *, seed: int = 0
) -> Contributions:
    """Exact contributions from the classes and uniques of every set of columns, named by sorted positions."""
    m = len(names)
    worth = np.zeros((2, 1 << m))
    worth[:, 0] = _nothing_known(people)
    for positions, found in counted.items():
        worth[:, sum(1 << position for position in positions)] = np.array(found) / people
    sets = np.arange(1 << m)
    size = np.bitwise_count(sets.astype(np.uint64)).astype(np.int64)
    weight = np.array([factorial(s) * factorial(m - s - 1) / factorial(m) for s in range(m)])
    parts = []
    for position, name in enumerate(names):
        without = sets[(sets >> position) & 1 == 0]
        gains = worth[:, without | (1 << position)] - worth[:, without]
        correctness, uniqueness = gains @ weight[size[without]]
        parts.append(Contribution(name, float(correctness), float(uniqueness)))
    return Contributions(tuple(parts), 1 / people, None, seed)


def _nothing_known(people: int) -> NDArray[np.float64]:
    """Correctness and uniqueness where no attribute is known: everybody is in one class."""
    return np.array([1 / people, 1.0 if people == 1 else 0.0])


def _from_sampled_orders(counter: SubsetCounter, orders: int, seed: int, progress: Progress) -> Contributions:
    """Averages over random orders; an order and its reverse are one (antithetic) draw: their errors partly cancel."""
    names = counter.columns
    generator = np.random.default_rng(require_seed(seed))
    draws = np.empty((max(orders // 2, 2), 2, len(names)))
    for done in range(len(draws)):
        order = tuple(generator.permutation(len(names)).tolist())
        draws[done] = (_gains(counter, order) + _gains(counter, order[::-1])) / 2
        progress("sampling orders of attributes", done / len(draws))
    mean, error = draws.mean(axis=0), draws.std(axis=0, ddof=1) / sqrt(len(draws))
    parts = [
        Contribution(name, *(float(x) for x in (*mean[:, position], *error[:, position])))
        for position, name in enumerate(names)
    ]
    return Contributions(tuple(parts), 1 / counter.people, 2 * len(draws), seed)


def _gains(counter: SubsetCounter, order: tuple[int, ...]) -> NDArray[np.float64]:
    """Contribution of each column if the columns become known in this order."""
    counts = [(count.classes, count.uniques) for count in counter.count_prefixes(order)]
    worth = np.array(counts, dtype=np.float64).T / counter.people
    gained = np.diff(worth, axis=1, prepend=_nothing_known(counter.people)[:, None])
    by_position = np.empty_like(gained)
    by_position[:, list(order)] = gained
    return by_position
