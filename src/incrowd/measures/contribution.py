"""Contribution of each attribute to the risk: its Shapley value over the orders in which attributes become known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, sqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd._support.seed import require_seed
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.measures.subset_counts import class_table, count_prefixes, count_subsets
from incrowd.results import Result
from incrowd.special import NORMAL_QUANTILE
from incrowd.tables import Table, TableLike, read_table

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
    nothing_known: float
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
    classes = class_table(table, names) if person is None else None
    if classes is None:
        return _from_single_counts(table, names, person, min(orders, 2 * len(names)), seed, progress)
    people = int(classes.people.sum())
    if len(names) <= exact_up_to:
        counted = {}
        for count in count_subsets(classes, len(names)):
            counted[count.positions] = (count.classes, count.uniques)
            progress("counting sets of attributes", len(counted) / 2 ** len(names))
        return contributions_from_counts(names, people, counted, seed=seed)

    def prefixes(order: tuple[int, ...]) -> list[tuple[int, int]]:
        return [(count.classes, count.uniques) for count in count_prefixes(classes, order)]

    return _from_sampled_orders(names, people, prefixes, orders, seed, progress)


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


def _from_sampled_orders(
    names: Sequence[str],
    people: int,
    prefixes: Callable[[tuple[int, ...]], Sequence[tuple[int, int]]],
    orders: int,
    seed: int,
    progress: Progress,
) -> Contributions:
    """Averages over random orders; an order and its reverse are one (antithetic) draw: their errors partly cancel."""
    generator = np.random.default_rng(require_seed(seed))
    draws = np.empty((max(orders // 2, 2), 2, len(names)))
    for done in range(len(draws)):
        order = tuple(generator.permutation(len(names)).tolist())
        draws[done] = (_gains(order, people, prefixes(order)) + _gains(order[::-1], people, prefixes(order[::-1]))) / 2
        progress("sampling orders of attributes", done / len(draws))
    mean, error = draws.mean(axis=0), draws.std(axis=0, ddof=1) / sqrt(len(draws))
    parts = [
        Contribution(name, *(float(x) for x in (*mean[:, position], *error[:, position])))
        for position, name in enumerate(names)
    ]
    return Contributions(tuple(parts), 1 / people, 2 * len(draws), seed)


def _gains(order: tuple[int, ...], people: int, counts: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Contribution of each column if the columns become known in this order."""
    worth = np.array(counts, dtype=np.float64).T / people
    gained = np.diff(worth, axis=1, prepend=_nothing_known(people)[:, None])
    by_position = np.empty_like(gained)
    by_position[:, list(order)] = gained
    return by_position


def _from_single_counts(
    table: Table, names: list[str], person: str | None, orders: int, seed: int, progress: Progress
) -> Contributions:
    """Contributions if each set needs its own query: for histories, and for classes that do not fit into memory."""
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    people = 0

    def count(positions: tuple[int, ...]) -> tuple[int, int]:
        nonlocal people
        if positions not in known:
            columns = [names[position] for position in positions]
            sizes = ClassSizes.from_table(table, quasi_identifiers=columns, person=person)
            people = sizes.people
            known[positions] = (sizes.classes, sizes.uniques)
        return known[positions]

    count(tuple(range(len(names))))
    if len(names) <= _EXACT_IF_COUNTED_SINGLY:
        for number in range(1, 1 << len(names)):
            count(tuple(position for position in range(len(names)) if number >> position & 1))
            progress("counting sets of attributes", number / (1 << len(names)))
        return contributions_from_counts(names, people, known, seed=seed)

    def prefixes(order: tuple[int, ...]) -> list[tuple[int, int]]:
        return [count(tuple(sorted(order[:size]))) for size in range(1, len(order) + 1)]

    return _from_sampled_orders(names, people, prefixes, orders, seed, progress)
