"""Planning before a leak: the class size, and the size of a leak, that stay within a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from incrowd.classes import ClassSizes, class_sizes_of
from incrowd.errors import InputError, UnsupportedError
from incrowd.leaks.inputs import share_of, whole_number
from incrowd.leaks.leak_probability import leak_risk, leak_risk_uniform
from incrowd.leaks.result import LeakRisk
from incrowd.recipients import RECIPIENTS, is_within, judge, read_limit, smallest_class
from incrowd.results import DataTable, Result, as_json
from incrowd.tables import TableLike
from incrowd.wording import chosen_percent, counted, number, people, percent


@dataclass(frozen=True, slots=True)
class SmallestK(Result):
    """The smallest class size that keeps the risk of a leak within a bound."""

    k: int
    at_most: float
    risk: LeakRisk


@dataclass(frozen=True, slots=True)
class LargestLeak(Result):
    """The largest leak that keeps the risk within a bound."""

    leaked: int
    at_most: float
    risk: LeakRisk
    _derived: ClassVar[tuple[str, ...]] = ("share",)

    @property
    def share(self) -> float:
        """The leak as a share of the table's people."""
        return self.risk.share_leaked


@dataclass(frozen=True, slots=True)
class LeakTable(Result):
    """The risk for several k (rows) and shares of the table that leak (columns)."""

    people: int
    targets: int
    ks: tuple[int, ...]
    shares: tuple[float, ...]
    risks: tuple[tuple[LeakRisk, ...], ...]
    _derived: ClassVar[tuple[str, ...]] = ("cells",)
    _hidden: ClassVar[frozenset[str]] = frozenset({"ks", "shares", "risks"})

    def meets(self, row: int, column: int) -> float | None:
        """The strictest recipient limit on a person's risk that this cell keeps, or None.

        The limits are for the chance of naming one person: a table for several targets meets none.
        """
        if self.targets > 1:
            return None
        risk = self.risks[row][column].judged
        return min((limit for limit in limits_on_a_person() if judge(risk, limit) == "within"), default=None)

    @property
    def cells(self) -> tuple[dict[str, Any], ...]:
        """Every cell: its k, leak, probability and the limit it keeps."""
        return tuple(
            {
                "k": k,
                "share_leaked": share,
                "leaked": self.risks[row][column].leaked,
                "probability": self.risks[row][column].probability,
                "meets": self.meets(row, column),
            }
            for row, k in enumerate(self.ks)
            for column, share in enumerate(self.shares)
        )

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return self.cells

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The chances, with a star for each limit on a person that they keep, the widest first."""
        stars: dict[float | None, str] = {
            limit: "*" * count for count, limit in enumerate(limits_on_a_person(), start=1)
        }
        rows = tuple(
            (
                k,
                *(
                    f"{number(risk.probability, digits=3)}{stars.get(self.meets(row, column), '')}"
                    for column, risk in enumerate(risks)
                ),
            )
            for row, (k, risks) in enumerate(zip(self.ks, self.risks, strict=True))
        )
        caption = f"Chance of naming {who_is_named(self.targets)}, by k and by the share that leaks"
        return (DataTable(caption, ("k", *map(chosen_percent, self.shares)), rows),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the stars of the table stand for."""
        limits = {f"1/{smallest_class(limit)}": who for limit, who in limits_on_a_person().items()}
        if self.targets > 1:
            shown = ", ".join(f"{limit} for {who}" for limit, who in limits.items())
            return (f"The limits, {shown}, are for naming one person, so none is marked.",)
        return tuple(
            f"{'*' * stars:>{len(limits)}} {limit} or less: {who}"
            for stars, (limit, who) in enumerate(limits.items(), start=1)
        )


def who_is_named(targets: int) -> str:
    """The people an attacker looks for, in words."""
    return "one person" if targets == 1 else f"all of {targets:,} people"


def limits_on_a_person() -> dict[float, str]:
    """The limits on a person's risk, the widest first, each with the recipients that accept it, in words.

    >>> "a trusted recipient and a restricted circle" in limits_on_a_person()[1 / 3]
    True
    """
    accepted = sorted({one.limits.highest for one in RECIPIENTS}, reverse=True)
    return {limit: " and ".join(one.words for one in RECIPIENTS if one.limits.highest == limit) for limit in accepted}


def smallest_k(*, people: int, leaked: int, targets: int = 1, at_most: float) -> SmallestK:
    """The smallest k with which the chance of naming `targets` people from a leak is at most `at_most`.

    For one target it is the chance of the person at highest risk, for several the average over whom one looks for.

    Args:
        people: how many people the table will hold.
        leaked: people in the leak.
        targets: number of people the attacker looks for together.
        at_most: the largest chance that is accepted.

    Returns:
        The k, and the risk that it leaves.

    Raises:
        InputError: the bound is not a chance, or there are fewer people than leak or are looked for.
        UnsupportedError: not even a single class of everybody keeps the bound.

    >>> smallest_k(people=10_000, leaked=10_000, at_most=0.09).k, smallest_k(people=9, leaked=9, at_most=0.33).k
    (11, 3)
    """
    at_most = _read_bound(at_most)
    people = whole_number(people, "a table")

    def risk(k: int) -> LeakRisk:
        return leak_risk_uniform(people=people, k=k, leaked=leaked, targets=targets)

    alone = risk(people)
    if not is_within(alone.judged, at_most):
        raise UnsupportedError(
            f"no k keeps the chance at {number(at_most)}: a single class of {counted(people, 'person', 'people')} "
            f"leaves {number(alone.judged)}"
        )
    k = _first(lambda k: is_within(risk(k).judged, at_most), 1, people)
    return SmallestK(k, at_most, risk(k))


def largest_leak(
    data: ClassSizes | TableLike,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    person: str | None = None,
    targets: int = 1,
    at_most: float,
) -> LargestLeak:
    """The largest leak of this table with which the chance of naming `targets` people is at most `at_most`.

    For one target it is the chance of the person at highest risk, for several the average over whom one looks for.

    Args:
        data: class sizes, or a table: a file's path, a frame or a `Table`.
        quasi_identifiers: for a table, the columns that the attacker knows.
        person: for a table, the column that identifies the person of each record.
        targets: number of people the attacker looks for together.
        at_most: the largest chance that is accepted.

    Returns:
        The leak in people, and its risk.

    Raises:
        InputError: the bound is not a chance, or the quasi-identifiers of a table are missing.

    >>> largest_leak(ClassSizes.from_sizes([5] * 2_000), at_most=0.09).leaked
    1141
    """
    sizes = class_sizes_of(data, quasi_identifiers, person)
    at_most = _read_bound(at_most)
    above = _first(
        lambda leaked: (
            leaked > sizes.people or not is_within(leak_risk(sizes, leaked, targets=targets).judged, at_most)
        ),
        0,
        sizes.people + 1,
    )
    return LargestLeak(above - 1, at_most, leak_risk(sizes, above - 1, targets=targets))


class LeakPlan(NamedTuple):
    """What keeps the chance of naming `targets` people at `at_most`; where no k does, `no_k` says why."""

    at_most: float
    targets: int
    largest_leak: LargestLeak
    smallest_k: SmallestK | None = None
    no_k: str | None = None

    def sentences(self, leaked: int) -> tuple[str, ...]:
        """What keeps the bound: a smaller leak or larger classes, or that a leak of `leaked` people does already."""
        most, choice = self.largest_leak, self.smallest_k
        whom = "the person at highest risk" if self.targets == 1 else who_is_named(self.targets)
        bound = f"the chance of naming {whom} at {number(self.at_most)} or less"
        share = percent(most.share)
        if leaked <= most.leaked:
            return (f"This leak keeps {bound}; up to {people(most.leaked)} ({share} of the table) would.",)
        larger = f"or every class needs {people(choice.k)}" if choice else self.no_k
        return (
            f"To keep {bound}:",
            f"  · no more than {people(most.leaked)} ({share} of the table) may leak;",
            f"  · {larger}.",
        )

    def to_dict(self) -> dict[str, Any]:
        """What was found, in plain JSON types."""
        return {name: as_json(found) for name, found in self._asdict().items() if found is not None}


def plan_leak(sizes: ClassSizes, leaked: int, *, targets: int, at_most: float) -> LeakPlan:
    """The largest leak of these classes, and the smallest k for a leak of `leaked` people, within a bound."""
    plan = LeakPlan(at_most, targets, largest_leak(sizes, targets=targets, at_most=at_most))
    try:
        found = smallest_k(people=sizes.people, leaked=leaked, targets=targets, at_most=at_most)
    except UnsupportedError as reason:
        return plan._replace(no_k=str(reason))
    return plan._replace(smallest_k=found)


def leak_table(
    *,
    people: int,
    ks: Sequence[int] | None = None,
    shares: Sequence[float] = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0),
    targets: int = 1,
) -> LeakTable:
    """The risk for several k and shares that leak, to choose from.

    Args:
        people: how many people the table will hold.
        ks: class sizes; by default those of 2, 3, 5, 10, 11, 15, 20 and 50 that are not above the number of people.
        shares: shares of the people that leak, rounded up to whole people.
        targets: number of people the attacker looks for together.

    Returns:
        The risk of every k (rows) and share (columns).

    Raises:
        InputError: a number is not whole, or a k or share is out of range.

    >>> table = leak_table(people=10_000, ks=[5, 10], shares=[0.1, 1.0])
    >>> [[round(risk.probability, 4) for risk in row] for row in table.risks]
    [[0.0819, 0.2], [0.0651, 0.1]]
    >>> table.meets(0, 0), table.meets(0, 1)
    (0.09090909090909091, 0.3333333333333333)
    """
    people, targets = whole_number(people, "a table"), whole_number(targets, "a number of targets")
    if ks is None:
        ks = [k for k in (2, 3, 5, 10, 11, 15, 20, 50) if k <= people] or [1]
    ks = [whole_number(k, "a class") for k in ks]
    rows = [
        tuple(
            leak_risk_uniform(people=people, k=k, leaked=share_of(share, people), targets=targets) for share in shares
        )
        for k in ks
    ]
    return LeakTable(people, targets, tuple(ks), tuple(shares), tuple(rows))


def few_leaks(people: int, targets: int = 1) -> list[int]:
    """Sizes of leaks from the smallest possible to the whole table, about log-spaced.

    >>> few_leaks(100)[:4], few_leaks(100)[-1]
    ([1, 2, 3, 4], 100)
    """
    rest = max(people - targets, 0)
    sizes = {targets + round((rest + 1) ** (step / 24)) - 1 for step in range(25)}
    return sorted(size for size in sizes if size <= people)


def _read_bound(at_most: float) -> float:
    """The exact bound: 0.33 and 0.09 are read as 1/3 and 1/11."""
    if not 0 < at_most <= 1:
        raise InputError(f"a chance of at most {at_most:g}; give a number above 0, up to 1")
    return read_limit(at_most, "bound")


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number for which a monotone condition holds, given that it holds at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
