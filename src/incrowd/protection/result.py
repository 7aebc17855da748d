"""What protecting a table gives: the table, what is guaranteed, what it took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import encode
from incrowd.classes import Classes, ClassSizes, assign_classes, indistinguishable_groups
from incrowd.errors import UnsupportedError
from incrowd.measures import diversity
from incrowd.protection.problem import Demand
from incrowd.results import Result, provided
from incrowd.tables import Table

if TYPE_CHECKING:
    from incrowd.protection.hierarchies import Hierarchy


@dataclass(frozen=True, slots=True)
class Guarantee(Result):
    """What was asked, and what was counted on the protected table itself.

    `k`, `l` and `t` are as counted; `asked_k` is None where the method promises nothing. `bound` is the t that the
    method promises for sensitive values that are all different (eq. 6).
    """

    asked_k: int | None
    k: int
    asked_l: float | None = None
    l: float | None = None  # noqa: E741
    diversity: str | None = None
    asked_t: float | None = None
    t: float | None = None
    bound: float | None = None

    @property
    def broken(self) -> list[str]:
        """What was asked and is not there; empty where the guarantee holds."""
        wrong = []
        if self.asked_k is not None and self.k < self.asked_k:
            wrong.append(f"classes of {self.asked_k} were asked for, the smallest has {self.k}")
        if self.asked_l is not None and (self.l is None or self.l < self.asked_l * (1 - 1e-9)):
            wrong.append(
                f"{self.diversity} {self.asked_l:g}-diversity was asked for, the least diverse class has {self.l:g}"
            )
        if self.asked_t is not None and (self.t is None or self.t > self.asked_t * (1 + 1e-9)):
            wrong.append(f"a distance of at most {self.asked_t:g} was asked for, one class is {self.t:.4g} away")
        return wrong

    @property
    def holds(self) -> bool:
        """Whether everything asked for was counted on the protected table."""
        return not self.broken

    @property
    def sentence(self) -> str:
        """The guarantee in plain words."""
        if self.asked_k is None:
            crowd = f"no guarantee: the smallest class has {self.k:,}"
        else:
            crowd = f"everybody shares their values with at least {self.k - 1:,} other{'s' if self.k > 2 else ''}"
        if self.asked_l is not None:
            crowd += f"; every class is {self.l:.3g}-diverse ({self.diversity})"
        if self.asked_t is not None:
            crowd += f"; no class is more than {self.t:.3g} away from the whole table"
        return crowd

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in self.__slots__} | {"holds": self.holds, "sentence": self.sentence}


def count_guarantee(
    table: Table,
    quasi_identifiers: list[str],
    demand: Demand,
    *,
    promises_k: bool = True,
    sensitive: str | None = None,
    person: str | None = None,
    bound: float | None = None,
) -> tuple[Guarantee, Classes]:
    """Count the protected table as it is, forgetting how it was made."""
    classes = assign_classes(table, quasi_identifiers, person)
    found_l = found_t = None
    if sensitive is not None:
        (column,) = encode(table, [sensitive])
        groups = indistinguishable_groups(table, quasi_identifiers, classes, person)
        facts = diversity(groups.numbers, column)
        found_t = facts.t
        found_l = _reached(facts, demand, groups, column)
    return (
        Guarantee(
            demand.k if promises_k else None,
            int(classes.people.min()),
            demand.l,
            found_l,
            demand.diversity if demand.l is not None else None,
            demand.t,
            found_t,
            bound,
        ),
        classes,
    )


def _reached(facts: Any, demand: Demand, classes: Classes, column: Any) -> float:
    """The l reached, by the kind that was asked for; for the recursive kind l itself where it holds and 1 where not."""
    if demand.diversity == "entropy":
        return float(facts.entropy_l)
    if demand.diversity == "recursive" and demand.l is not None:
        return float(demand.l) if _is_recursive(demand, classes, column) else 1.0
    return float(facts.distinct)


def _is_recursive(demand: Demand, classes: Classes, column: Any) -> bool:
    """Recursive (c, l)-diversity: in every class the commonest value is rarer than c times the l-th and rarer ones."""
    assert demand.l is not None
    pairs, counts = np.unique(classes.numbers.astype(np.int64) * column.size + column.codes, return_counts=True)
    number = pairs // column.size
    order = np.lexsort([-counts, number])
    number, counts = number[order], counts[order]
    starts = np.flatnonzero(np.diff(number, prepend=-1))
    rank = np.arange(number.size) - np.repeat(starts, np.diff(starts, append=number.size))
    tail = np.bincount(number, weights=np.where(rank >= demand.l - 1, counts, 0))
    return bool(np.all(counts[starts] < demand.c * tail[number[starts]]))


@dataclass(frozen=True, slots=True, eq=False)
class Protected(Result):
    """A protected table, in the caller's kind of frame, with what is guaranteed about it and what it took.

    `classes` are counted on the table; `changed` is how many cells of each quasi-identifier differ from the original;
    `kept` lists the original's rows that are still there (None: all). `removed` and `pseudonymised` are columns.
    `undone` are those of the notes that tell which kept columns undo the protection.
    """

    table: Any = field(repr=False)  # its rows are not printed by chance
    method: str
    quasi_identifiers: tuple[str, ...]
    demand: Demand
    guarantee: Guarantee
    classes: ClassSizes
    changed: dict[str, int]
    rows: int
    suppressed: int
    seed: int
    removed: tuple[str, ...] = ()
    pseudonymised: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] | None = None
    original: Table | None = None
    kept: NDArray[np.int64] | None = None
    sensitive: str | None = None
    person: str | None = None
    hierarchies: Mapping[str, Hierarchy] | None = None
    undone: tuple[str, ...] = ()

    @property
    def share_changed(self) -> float:
        """The share of quasi-identifier cells, of the rows that are left, that differ from the original."""
        cells = self.rows * len(self.quasi_identifiers)
        return sum(self.changed.values()) / cells if cells else 0.0

    @property
    def unchanged(self) -> tuple[str, ...]:
        """The columns that are passed on as they were."""
        touched = {*self.quasi_identifiers, *self.removed, *self.pseudonymised}
        every = self.original.columns if self.original else self.table.columns  # in a cluster: Spark's frame
        return tuple(name for name in every if name not in touched)

    def evaluate(self, **options: Any) -> Any:
        """An `Evaluation` against the original: risk, loss, disclosure. Options are those of `evaluate`."""
        if self.original is None:
            raise UnsupportedError(
                "what protection cost is measured row by row, and a cluster keeps no order of rows; "
                "protect and evaluate a sample here"
            )
        return provided("evaluation")(self, **options)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types: everything but the table."""
        return {
            "method": self.method,
            "quasi_identifiers": list(self.quasi_identifiers),
            "guarantee": self.guarantee.to_dict(),
            "rows": self.rows,
            "suppressed_rows": self.suppressed,
            "classes": self.classes.to_dict(),
            "changed_cells": self.changed,
            "share_changed": self.share_changed,
            "removed": list(self.removed),
            "pseudonymised": list(self.pseudonymised),
            "settings": dict(self.settings or {}),
            "notes": list(self.notes),
            "undone": list(self.undone),
            "seed": self.seed,
        }
