"""Risk by the attacker's knowledge: for groups of attributes, and for every set of attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, ClassVar

from incrowd._support.progress import Progress, silent
from incrowd.errors import InputError
from incrowd.measures.subset_counts import SubsetCount, SubsetCounter
from incrowd.results import Count, DataTable, Result, Share
from incrowd.tables import TableLike, read_table
from incrowd.wording import percent

_MOST_SUBSETS = 200_000  # sets of columns in one call


@dataclass(frozen=True, slots=True)
class KnowledgeRisk(Result):
    """Risk for an attacker who knows these columns and nothing else."""

    label: str
    columns: tuple[str, ...]
    people: Count
    classes: Count
    uniques: Count
    smallest: Count
    _derived: ClassVar[tuple[str, ...]] = ("correctness", "uniqueness")

    @property
    def correctness(self) -> Share:
        """κ: the share of people named correctly."""
        return self.classes / self.people

    @property
    def uniqueness(self) -> Share:
        """Ξ: the share of people nobody else looks like."""
        return self.uniques / self.people


def table_of_risks(caption: str, risks: Iterable[KnowledgeRisk], *, first: str = "knows") -> DataTable:
    """The risks of attackers in words, one row each."""
    rows = ((one.label, percent(one.correctness), percent(one.uniqueness), one.smallest) for one in risks)
    return DataTable(caption, (first, "named correctly", "unique", "smallest class"), tuple(rows))


class KnowledgeRisks(tuple[KnowledgeRisk, ...]):
    """Risks of several sets of columns: a tuple that is also shown as a frame of one row each."""

    __slots__ = ()

    @property
    def most_telling(self) -> list[KnowledgeRisk]:
        """The sets with the highest risk, the worst and then the smallest first."""
        return sorted(self, key=lambda risk: (-risk.classes, len(risk.columns)))

    def to_frame(self) -> Any:
        """The risks as a pandas DataFrame."""
        return Result.to_frame(self)  # type: ignore[arg-type]

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        return [risk.to_dict() for risk in self]


def risk_by_group(
    data: TableLike, groups: Mapping[str, Sequence[str]], *, person: str | None = None, progress: Progress = silent
) -> KnowledgeRisks:
    """The risk for every combination of named groups of columns, such as census, spatial and temporal knowledge.

    Args:
        data: a file's path, a frame or a `Table`.
        groups: the name of each group and its columns.
        person: the column that identifies the person of each record.
        progress: callback that receives the current step and the share done.

    Returns:
        One risk for each combination, single groups first.

    Raises:
        InputError: there are no groups or more than 17, or a column is missing.

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
    if len(wanted) > _MOST_SUBSETS:
        raise InputError(f"{len(groups)} groups have too many combinations; give 17 groups or fewer")
    names = list(dict.fromkeys(name for columns in groups.values() for name in columns))
    counter = SubsetCounter(table, names, person)
    risks = []
    for done, (label, columns) in enumerate(wanted):
        count = counter.count([names.index(name) for name in columns])
        risks.append(_risk(counter, count, label, columns))
        progress("counting sets of attributes", done / len(wanted))
    return KnowledgeRisks(risks)


def risk_by_subset(
    data: TableLike,
    quasi_identifiers: Sequence[str],
    *,
    up_to: int | None = None,
    person: str | None = None,
    progress: Progress = silent,
) -> KnowledgeRisks:
    """The risk for every set of quasi-identifiers.

    Args:
        data: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that the attacker may know.
        up_to: the largest size of a set; all columns by default.
        person: the column that identifies the person of each record.
        progress: callback that receives the current step and the share done.

    Returns:
        One risk for each set, the smallest sets first.

    Raises:
        InputError: a column is missing, or the sets are too many.

    >>> found = risk_by_subset({"age": [3, 3, 4], "zip": ["a", "b", "b"]}, ["age", "zip"])
    >>> [(risk.label, risk.classes) for risk in found]
    [('age', 2), ('zip', 2), ('age, zip', 3)]
    """
    table = read_table(data)
    names = table.require(quasi_identifiers, "quasi-identifiers")
    largest = check_subset_size(len(names), up_to)
    progress("counting people who look alike", 0.0)
    counter = SubsetCounter(table, names, person)
    total = sum(comb(len(names), size) for size in range(1, largest + 1))
    counts = []
    for count in counter.count_all(largest):
        counts.append(count)
        progress("counting sets of attributes", len(counts) / total)
    counts.sort(key=lambda count: (len(count.positions), count.positions))
    return KnowledgeRisks(_risk(counter, count) for count in counts)


def _risk(
    counter: SubsetCounter, count: SubsetCount, label: str | None = None, columns: tuple[str, ...] | None = None
) -> KnowledgeRisk:
    """The risk by a counted set; by default it is named by its columns."""
    columns = columns or tuple(counter.columns[position] for position in count.positions)
    label = label or ", ".join(columns)
    return KnowledgeRisk(label, columns, counter.people, count.classes, count.uniques, count.smallest)


def check_subset_size(columns: int, up_to: int | None) -> int:
    """The size of the largest set to count; an error if there are too many sets."""
    largest = columns if up_to is None else up_to
    if largest < 1:
        raise InputError(f"sets of at most {largest} columns; give 1 or more")
    largest = min(largest, columns)
    sets = sum(comb(columns, size) for size in range(1, largest + 1))
    if sets > _MOST_SUBSETS:
        raise InputError(
            f"{columns} columns have {sets:,} sets of at most {largest}; ask for smaller sets", hint="up_to"
        )
    return largest
