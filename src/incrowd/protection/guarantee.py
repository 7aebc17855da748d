"""The guarantee of a protected table: the demand, and the values counted on the table itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from incrowd._support.distinct import count_numbers, run_starts
from incrowd.backends import Coded, encode
from incrowd.classes import Classes, assign_classes, indistinguishable_groups
from incrowd.measures import Diversity, measure_diversity
from incrowd.protection.problem import Demand
from incrowd.protection.wildcards import count_matches
from incrowd.results import Result
from incrowd.tables import Table
from incrowd.wording import listed


@dataclass(frozen=True, slots=True)
class SensitiveGuarantee(Result):
    """Diversity and closeness counted for one sensitive column.

    `l` is of the kind of diversity that was asked for, distinct by default. `delta` is None if a value is missing from
    a class, because it is infinite then.
    """

    column: str
    l: float  # noqa: E741
    t: float
    beta: float
    delta: float | None


@dataclass(frozen=True, slots=True)
class Guarantee(Result):
    """The guarantee that was asked for, and the values counted on the protected table itself.

    - `k`, `l` and `t` are counted; l and t are those of the worst `sensitive` column.
    - `asked_k` is None if the method promises no k.
    - `bound` is the t that S4 promises if all sensitive values are different (eq. 6).
    - With `wildcards`, k is the fewest records that match any record, where a blank matches every value. With
      `subsets`, records are compared by every combination of so many columns.
    - `k_map` is the fewest people of the population that match a row. With `k_map_is_estimated` it is a lower
      confidence limit (97.5 %) for the smallest class, taken alone and without the records that define its ranges and
      sets; this is not a guarantee.
    - `perturbed` are quasi-identifiers that were changed at random: people in a class by them are not really alike.
    """

    _derived: ClassVar[tuple[str, ...]] = ("holds", "sentence")
    asked_k: int | None
    k: int
    asked_l: float | None = None
    l: float | None = None  # noqa: E741
    diversity: str | None = None
    asked_t: float | None = None
    t: float | None = None
    bound: float | None = None
    sensitive: tuple[SensitiveGuarantee, ...] = ()
    perturbed: tuple[str, ...] = ()
    wildcards: bool = False
    subsets: int | None = None
    asked_beta: float | None = None
    asked_delta: float | None = None
    asked_k_map: int | None = None
    k_map: int | None = None
    k_map_is_estimated: bool = False
    filled_l: int | None = None

    @property
    def broken(self) -> list[str]:
        """The parts of the guarantee that do not hold, in words."""
        wrong = []
        if self.asked_k is not None and self.k < self.asked_k:
            wrong.append(f"classes of {self.asked_k} were asked for, the smallest has {self.k}")
        if self.asked_k_map is not None and (self.k_map is None or self.k_map < self.asked_k_map):
            wrong.append(f"a k-map of {self.asked_k_map:,} was asked for, one row fits {self.k_map} people")
        several = len(self.sensitive) > 1
        for column, l, t in self._reached():  # noqa: E741
            named = f" in {column}" if several else ""
            if self.asked_l is not None and (l is None or l < self.asked_l * (1 - 1e-9)):
                diverse = f"{self.diversity} {self.asked_l:g}-diversity was asked for"
                wrong.append(f"{diverse}, the least diverse class has {l:g}{named}")
            if self.asked_t is not None and (t is None or t > self.asked_t * (1 + 1e-9)):
                wrong.append(f"a distance of at most {self.asked_t:g} was asked for, one class is {t:.4g} away{named}")
        for one in self.sensitive:
            named = f" in {one.column}" if several else ""
            if self.asked_beta is not None and one.beta > self.asked_beta * (1 + 1e-9):
                wrong.append(f"beta of at most {self.asked_beta:g} was asked for, one class has {one.beta:.4g}{named}")
            if self.asked_delta is not None and (one.delta is None or one.delta > self.asked_delta * (1 + 1e-9)):
                reached = "lacks a value" if one.delta is None else f"has {one.delta:.4g}"
                wrong.append(f"delta of at most {self.asked_delta:g} was asked for, one class {reached}{named}")
        return wrong

    def _reached(self) -> list[tuple[str, float | None, float | None]]:
        """Name, l and t of every sensitive column; without listed columns, l and t of the table under an empty name."""
        return [(one.column, one.l, one.t) for one in self.sensitive] or [("", self.l, self.t)]

    @property
    def holds(self) -> bool:
        """True if everything asked for was counted on the protected table."""
        return not self.broken

    @property
    def sentence(self) -> str:
        """The guarantee in plain words."""
        if self.perturbed:
            crowd = (
                f"no guarantee: {listed(self.perturbed)} {'was' if len(self.perturbed) == 1 else 'were'} changed by "
                "chance, so classes of equal values protect nobody; only an attack shows the risk"
            )
        elif self.asked_k is None:
            crowd = f"no guarantee: the smallest class has {self.k:,}"
        else:
            crowd = f"everybody shares their values with at least {self.k - 1:,} other{'s' if self.k > 2 else ''}"
            if self.wildcards:
                crowd += ", where a blank may be any value"
            if self.subsets is not None:
                crowd += f", by every {self.subsets:,} columns"
            if self.asked_k_map is not None:
                fits = "every row fits"
                if self.k_map_is_estimated:
                    fits = "by an estimate, which guarantees nothing, every row is likely to fit"
                crowd += f"; {fits} at least {self.k_map:,} people of the population (k-map)"
        crowd += self._shares()
        if len(self.sensitive) > 1 and (self.asked_l is not None or self.asked_t is not None):
            return crowd + "".join(f"; {self._in_column(one)}" for one in self.sensitive) + self._without_missing
        if self.asked_l is not None:
            crowd += f"; every class is {self.l:.3g}-diverse ({self.diversity})"
        if self.asked_t is not None:
            crowd += f"; no class is more than {self.t:.3g} away from the whole table"
        return crowd + self._without_missing

    @property
    def _without_missing(self) -> str:
        """Words on an l that rests on missing values; none where it does not."""
        if self.asked_l is None or self.filled_l is None or self.filled_l >= self.asked_l:
            return ""
        return f"; a missing value counts as a value there: without it some class has {self.filled_l} different"

    def _shares(self) -> str:
        """Words for beta and delta, of the worst sensitive column."""
        text = ""
        if self.asked_beta is not None:
            most = max(one.beta for one in self.sensitive)
            text += f"; no value is more than {1 + most:.3g} times as common in a class as in the table (beta)"
        if self.asked_delta is not None:
            most = max(one.delta or 0.0 for one in self.sensitive)
            text += f"; no class changes the share of a value by more than e^{most:.3g} (delta)"
        return text

    def _in_column(self, one: SensitiveGuarantee) -> str:
        """Words for l and t of one of several sensitive columns."""
        diverse = f"every class is {one.l:.3g}-diverse ({self.diversity})" if self.asked_l is not None else ""
        close = f"no class is more than {one.t:.3g} away from the whole table" if self.asked_t is not None else ""
        return f"in {one.column} {' and '.join(filter(None, (diverse, close)))}"


def count_guarantee(
    table: Table,
    quasi_identifiers: list[str],
    demand: Demand,
    *,
    promises_k: bool = True,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    bound: float | None = None,
    perturbed: Sequence[str] = (),
) -> tuple[Guarantee, Classes]:
    """Count the guarantee on a protected table, independently of the method that made it; also returns its classes."""
    classes = assign_classes(table, quasi_identifiers, person)
    columns, filled_l = _count_sensitive(table, quasi_identifiers, demand, classes, sensitive, person)
    guarantee = Guarantee(
        asked_k=demand.k if promises_k else None,
        k=_fewest_matches(table, quasi_identifiers, demand) if demand.wildcards else int(classes.people.min()),
        asked_l=demand.l,
        l=min((one.l for one in columns), default=None),
        diversity=demand.diversity if demand.l is not None else None,
        asked_t=demand.t,
        t=max((one.t for one in columns), default=None),
        bound=bound,
        sensitive=columns,
        perturbed=tuple(perturbed),
        wildcards=demand.wildcards,
        subsets=demand.subsets,
        asked_beta=demand.beta,
        asked_delta=demand.delta,
        asked_k_map=demand.k_map,
        k_map=_fewest_people(table, quasi_identifiers, demand, classes),
        k_map_is_estimated=demand.sample is not None,
        filled_l=filled_l,
    )
    return guarantee, classes


def _count_sensitive(
    table: Table,
    quasi_identifiers: list[str],
    demand: Demand,
    classes: Classes,
    sensitive: Sequence[str],
    person: str | None,
) -> tuple[tuple[SensitiveGuarantee, ...], int | None]:
    """Count diversity and closeness for every sensitive column, and the lowest distinct l without missing values."""
    if not sensitive:
        return (), None
    groups = indistinguishable_groups(table, quasi_identifiers, classes, person)
    counted, filled = list[SensitiveGuarantee](), list[int]()
    for column in encode(table, list(sensitive)):
        facts = measure_diversity(groups.numbers, column)
        l = _reached_l(facts, demand, groups, column)  # noqa: E741
        counted.append(SensitiveGuarantee(column.name, l, facts.t, facts.beta, _reached_delta(facts, groups, column)))
        filled.append(facts.filled_distinct)
    return tuple(counted), min(filled)


def _fewest_matches(table: Table, quasi_identifiers: list[str], demand: Demand) -> int:
    """The fewest records that match any record, where a null matches every value."""
    return int(count_matches(encode(table, quasi_identifiers), demand.subsets).min())


def _fewest_people(table: Table, quasi_identifiers: list[str], demand: Demand, classes: Classes) -> int | None:
    """The fewest people of the population that match a row, counted, or estimated from the smallest class."""
    if demand.population is not None:
        return demand.population.smallest(table, quasi_identifiers)
    if demand.sample is None or demand.k_map is None:
        return None
    return demand.sample.fewest_people(int(classes.people.min()), demand.k_map)


def _reached_l(facts: Diversity, demand: Demand, classes: Classes, column: Coded) -> float:
    """The smallest l over classes, by the kind of diversity; for the recursive kind the asked l if it holds, else 1."""
    if demand.diversity == "entropy":
        return facts.entropy_l
    if demand.diversity == "recursive" and demand.l is not None:
        return float(demand.l) if _is_recursive(demand, classes, column) else 1.0
    return float(facts.distinct)


def _reached_delta(facts: Diversity, classes: Classes, column: Coded) -> float | None:
    """The largest δ over classes; None if a value is missing from a class."""
    pairs, _ = count_numbers(classes.numbers.astype(np.int64) * column.size + column.codes)
    return float(facts.delta) if pairs.size == column.size * np.count_nonzero(np.bincount(classes.numbers)) else None


def _is_recursive(demand: Demand, classes: Classes, column: Coded) -> bool:
    """Recursive (c, l)-diversity: in every class r_1 < c (r_l + r_{l+1} + …), r_i the i-th largest count of a value."""
    assert demand.l is not None
    pairs, counts = count_numbers(classes.numbers.astype(np.int64) * column.size + column.codes)
    number = pairs // column.size
    order = np.lexsort([-counts, number])
    number, counts = number[order], counts[order]
    starts = run_starts(number)
    rank = np.arange(number.size) - np.repeat(starts, np.diff(starts, append=number.size))
    tail = np.bincount(number, weights=np.where(rank >= demand.l - 1, counts, 0))
    return bool(np.all(counts[starts] < demand.c * tail[number[starts]]))
