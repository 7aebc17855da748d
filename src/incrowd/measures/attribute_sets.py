"""Risk by what the attacker knows: groups of attributes, and every set of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from incrowd._support.progress import Progress, silent
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.measures.subset_counts import class_table, count_subset, count_subsets
from incrowd.results import Result
from incrowd.tables import Table, read_table

_MOST_SETS = 200_000


@dataclass(frozen=True, slots=True)
class KnowledgeRisk(Result):
    """How many people an attacker picks out who knows these columns and nothing else."""

    label: str
    columns: tuple[str, ...]
    people: int
    classes: int
    uniques: int
    smallest: int

    @property
    def correctness(self) -> float:
        """κ: the share of people named correctly."""
        return self.classes / self.people

    @property
    def uniqueness(self) -> float:
        """Ξ: the share of people nobody else looks like."""
        return self.uniques / self.people

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        plain = {name: getattr(self, name) for name in self.__slots__} | {"columns": list(self.columns)}
        return plain | {"correctness": self.correctness, "uniqueness": self.uniqueness}


def risk_by_group(
    data: Any, groups: Mapping[str, Sequence[str]], *, person: str | None = None, progress: Progress = silent
) -> tuple[KnowledgeRisk, ...]:
    """The risk for every combination of named groups, such as census, spatial and temporal knowledge.

    >>> found = risk_by_group({"age": [3, 3, 4], "zip": ["a", "b", "b"]}, {"census": ["age"], "spatial": ["zip"]})
    >>> [(risk.label, risk.uniques) for risk in found]
    [('census', 1), ('spatial', 1), ('census + spatial', 3)]
    """
    table = read_table(data)
    if not groups:
        raise InputError("no groups given; name them like {'census': ['age', 'sex'], 'spatial': ['zip']}")
    for label, members in groups.items():
        table.require(members, f"columns of group {label!r}")
    wanted = []
    for size in range(1, len(groups) + 1):
        for labels in combinations(groups, size):
            columns = tuple(dict.fromkeys(name for label in labels for name in groups[label]))
            wanted.append((" + ".join(labels), columns))
    if len(wanted) > _MOST_SETS:
        raise InputError(f"{len(groups)} groups have too many combinations; give 17 groups or fewer")
    return _count_each(table, wanted, person, progress)


def risk_by_subset(
    data: Any,
    quasi_identifiers: Sequence[str],
    *,
    up_to: int | None = None,
    person: str | None = None,
    progress: Progress = silent,
) -> tuple[KnowledgeRisk, ...]:
    """The risk for every set of at most `up_to` quasi-identifiers (all of them by default), smallest sets first.

    >>> found = risk_by_subset({"age": [3, 3, 4], "zip": ["a", "b", "b"]}, ["age", "zip"])
    >>> [(risk.label, risk.classes) for risk in found]
    [('age', 2), ('zip', 2), ('age, zip', 3)]
    """
    table = read_table(data)
    names = table.require(quasi_identifiers, "quasi-identifiers")
    largest = check_sets(len(names), up_to)
    progress("counting people who look alike", 0.0)
    classes = class_table(table, names) if person is None else None
    if classes is None:
        wanted = [
            (", ".join(columns), columns) for size in range(1, largest + 1) for columns in combinations(names, size)
        ]
        return _count_apart(table, wanted, person, progress)
    people = int(classes.people.sum())
    total = sum(comb(len(names), size) for size in range(1, largest + 1))
    found = []
    for done, count in enumerate(count_subsets(classes, largest)):
        columns = tuple(names[position] for position in count.positions)
        found.append(KnowledgeRisk(", ".join(columns), columns, people, count.classes, count.uniques, count.smallest))
        progress("counting sets of attributes", done / total)
    order = {name: position for position, name in enumerate(names)}
    return tuple(sorted(found, key=lambda risk: (len(risk.columns), [order[name] for name in risk.columns])))


def check_sets(columns: int, up_to: int | None) -> int:
    """The size of the largest set to look at, if there are not too many."""
    largest = columns if up_to is None else up_to
    if largest < 1:
        raise InputError(f"sets of at most {largest} columns; give 1 or more")
    largest = min(largest, columns)
    sets = sum(comb(columns, size) for size in range(1, largest + 1))
    if sets > _MOST_SETS:
        raise InputError(f"{columns} columns have {sets:,} sets of at most {largest}; ask for smaller sets with up_to=")
    return largest


def _count_each(
    table: Table, wanted: Sequence[tuple[str, tuple[str, ...]]], person: str | None, progress: Progress
) -> tuple[KnowledgeRisk, ...]:
    """Count the wanted sets of columns, from one count of the table where its rows can be had."""
    names = list(dict.fromkeys(name for _, columns in wanted for name in columns))
    classes = class_table(table, names) if person is None else None
    if classes is None:
        return _count_apart(table, wanted, person, progress)
    people = int(classes.people.sum())
    found = []
    for done, (label, columns) in enumerate(wanted):
        count = count_subset(classes, [names.index(name) for name in columns])
        found.append(KnowledgeRisk(label, columns, people, count.classes, count.uniques, count.smallest))
        progress("counting sets of attributes", done / len(wanted))
    return tuple(found)


def _count_apart(
    table: Table, wanted: Sequence[tuple[str, tuple[str, ...]]], person: str | None, progress: Progress
) -> tuple[KnowledgeRisk, ...]:
    """Count every set of columns on its own: whole histories, or classes too many to be brought out of a cluster."""
    found = []
    for done, (label, columns) in enumerate(wanted):
        sizes = ClassSizes.from_table(table, quasi_identifiers=columns, person=person)
        found.append(KnowledgeRisk(label, columns, sizes.people, sizes.classes, sizes.uniques, sizes.smallest))
        progress("counting sets of attributes", done / len(wanted))
    return tuple(found)
