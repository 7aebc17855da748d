"""Choosing before anything leaks: how large classes must be, how much may leak."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.leaks.exact import leak_risk, leak_risk_uniform
from incrowd.leaks.result import LeakRisk, share_of, whole
from incrowd.recipients import RECIPIENTS, judge
from incrowd.results import Result
from incrowd.wording import counted


@dataclass(frozen=True, slots=True)
class SmallestK(Result):
    """The smallest class size that keeps the risk of a leak within a bound."""

    k: int
    at_most: float
    risk: LeakRisk

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"k": self.k, "at_most": self.at_most, "risk": self.risk.to_dict()}


@dataclass(frozen=True, slots=True)
class LargestLeak(Result):
    """The largest leak that keeps the risk within a bound."""

    leaked: int
    at_most: float
    risk: LeakRisk

    @property
    def share(self) -> float:
        """The leak as a share of the table's people."""
        return self.risk.share_leaked

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {"leaked": self.leaked, "share": self.share, "at_most": self.at_most, "risk": self.risk.to_dict()}


@dataclass(frozen=True, slots=True)
class LeakTable(Result):
    """The risk for several k (rows) and shares of the table that leak (columns)."""

    people: int
    targets: int
    ks: tuple[int, ...]
    shares: tuple[float, ...]
    risks: tuple[tuple[LeakRisk, ...], ...]

    def meets(self, row: int, column: int) -> float | None:
        """The strictest of the recipients' thresholds that this cell keeps, or None.

        The thresholds are for the chance of naming one person: a table for several targets meets none.
        """
        if self.targets > 1:
            return None
        risk = self.risks[row][column].probability
        kept = [limit for limit in RECIPIENTS.values() if judge(risk, limit) == "within"]
        return min(kept) if kept else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        cells = [
            {
                "k": k,
                "share_leaked": share,
                "leaked": self.risks[row][column].leaked,
                "probability": self.risks[row][column].probability,
                "meets": self.meets(row, column),
            }
            for row, k in enumerate(self.ks)
            for column, share in enumerate(self.shares)
        ]
        return {"people": self.people, "targets": self.targets, "cells": cells}


def smallest_k(*, people: int, leaked: int, targets: int = 1, at_most: float) -> SmallestK:
    """The smallest k for which naming `targets` people from such a leak has a chance of `at_most`.

    >>> smallest_k(people=10_000, leaked=4_000, at_most=0.09).k
    12
    """
    _checked_bound(at_most)
    people = whole(people, "a table")

    def risk(k: int) -> LeakRisk:
        return leak_risk_uniform(people=people, k=k, leaked=leaked, targets=targets)

    alone = risk(people)
    if alone.probability > at_most:
        raise UnsupportedError(
            f"no k keeps the chance at {at_most:g}: a single class of {counted(people, 'person', 'people')} "
            f"leaves {alone.probability:.3g}"
        )
    k = _first(lambda k: risk(k).probability <= at_most, 1, people)
    return SmallestK(k, at_most, risk(k))


def largest_leak(sizes: ClassSizes, *, targets: int = 1, at_most: float) -> LargestLeak:
    """The largest leak of this table for which naming `targets` people has a chance of `at_most`.

    >>> largest_leak(ClassSizes.from_sizes([5] * 2_000), at_most=0.09).leaked
    1126
    """
    _checked_bound(at_most)
    above = _first(
        lambda leaked: leaked > sizes.people or leak_risk(sizes, leaked, targets=targets).probability > at_most,
        0,
        sizes.people + 1,
    )
    return LargestLeak(above - 1, at_most, leak_risk(sizes, above - 1, targets=targets))


def leak_table(
    *,
    people: int,
    ks: Sequence[int] | None = None,
    shares: Sequence[float] = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0),
    targets: int = 1,
) -> LeakTable:
    """The risk over k and the share that leaks, to choose from. Leaks are rounded up to whole people.

    Without `ks`: 2, 3, 5, 10, 15, 20 and 50, as far as the people reach.

    >>> table = leak_table(people=10_000, ks=[5, 10], shares=[0.1, 1.0])
    >>> [[round(risk.probability, 4) for risk in row] for row in table.risks]
    [[0.0819, 0.2], [0.0651, 0.1]]
    >>> table.meets(0, 0), table.meets(0, 1)
    (0.09, 0.33)
    """
    people, targets = whole(people, "a table"), whole(targets, "a number of targets")
    if ks is None:
        ks = [k for k in (2, 3, 5, 10, 15, 20, 50) if k <= people] or [1]
    ks = [whole(k, "a class") for k in ks]
    rows = [
        tuple(
            leak_risk_uniform(people=people, k=k, leaked=share_of(share, people), targets=targets) for share in shares
        )
        for k in ks
    ]
    return LeakTable(people, targets, tuple(ks), tuple(shares), tuple(rows))


def _checked_bound(at_most: float) -> None:
    if not 0 < at_most <= 1:
        raise InputError(f"a chance of at most {at_most:g}; give a number above 0, up to 1")


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The first number for which it holds, given that it goes on holding and does so at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
