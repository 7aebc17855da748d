"""What happens if part of the table is stolen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from incrowd.classes import ClassSizes
from incrowd.leaks import LargestLeak, LeakRisk, LeakTable, largest_leak, leak_risk, leak_table, share_of
from incrowd.results import Result

SHARES = (0.01, 0.05, 0.1, 0.3, 1.0)
TARGETS = (1, 5, 15)
KS = (3, 5, 10)


@dataclass(frozen=True, slots=True)
class Leaks(Result):
    """The chance that a leak names the people somebody looks for.

    `risks` are those of this table for every share and number of targets; `largest` is the largest leak within the
    threshold; `planned` is the chance for a table whose classes all have k people.
    """

    risks: tuple[LeakRisk, ...]
    largest: LargestLeak
    planned: LeakTable | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "risks": [risk.to_dict() for risk in self.risks],
            "largest": self.largest.to_dict(),
            "planned": self.planned.to_dict() if self.planned else None,
        }


def one_named(sizes: ClassSizes) -> Iterator[LeakRisk]:
    """The chance that a given person is named, for every share that may leak."""
    yield from _risks(sizes, 1)


def _risks(sizes: ClassSizes, targets: int) -> Iterator[LeakRisk]:
    for leaked in dict.fromkeys(share_of(share, sizes.people) for share in SHARES):  # few people have few leaks
        yield leak_risk(sizes, leaked, targets=targets)


def assess_leaks(sizes: ClassSizes, threshold: float) -> Leaks:
    """The exact chances for a few leaks, one target and several."""
    people = sizes.people
    risks = tuple(risk for targets in TARGETS if targets <= people for risk in _risks(sizes, targets))
    ks = [k for k in KS if k <= people]
    planned = leak_table(people=people, ks=ks, shares=SHARES) if ks else None
    return Leaks(risks, largest_leak(sizes, at_most=threshold), planned)
