"""`measure`: the facts about one table, from one count of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from incrowd._support.progress import Progress, silent
from incrowd.backends import Backend, TooManyDistinctError, encode
from incrowd.classes import ClassSizes, classes_of_counted
from incrowd.measures.class_values import group_by_knowledge, group_records, require_columns
from incrowd.measures.diversity import ALL_KNOWN, Diversity, measure_diversity
from incrowd.measures.partitioned import measure_parts, parts_of_distinct_rows, parts_on_disk
from incrowd.results import Count, Result, Share, Statement
from incrowd.tables import Table, TableLike, read_table
from incrowd.tables.guess_scales import apply_scales
from incrowd.wording import people, percent


@dataclass(frozen=True, slots=True)
class Measurement(Result):
    """Re-identification risk of the people in a table for an attacker who knows the quasi-identifiers.

    Risks are the prosecutor's: the attacker knows that the person is in the table.
    """

    quasi_identifiers: tuple[str, ...]
    sizes: ClassSizes
    sensitive: tuple[Diversity, ...] = ()
    person: str | None = None
    notes: tuple[str, ...] = ()
    _derived: ClassVar[tuple[str, ...]] = (
        "records",
        "people",
        "classes",
        "uniques",
        "k",
        "largest_class",
        "correctness",
        "uniqueness",
        "maximum_risk",
        "average_risk",
        "expected_reidentifications",
    )
    _hidden: ClassVar[frozenset[str]] = frozenset({"sizes"})
    _keys: ClassVar[Mapping[str, Any]] = {"share_below": dict[str, Share], "histogram": dict[str, Count]}

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The numbers of the classes, and those of every sensitive column."""
        histories = "; of somebody with several records all of them, and how many" if self.person else ""
        secrets = (statement for column in self.sensitive for statement in column.statements)
        return (*(replace(one, assumed=ALL_KNOWN + histories) for one in self._statements()), *secrets)

    def _statements(self) -> Iterator[Statement]:
        where, unique = "facts", f"{self.uniques:,} ({percent(self.uniqueness)})"
        records = f"in {self.records:,} records" if self.person else "one record each"
        yield Statement(where, "people", self.people, f"{self.people:,}", f"People in the table, {records}.")
        alike = "Groups of people who share all quasi-identifiers."
        yield Statement(where, "classes", self.classes, f"{self.classes:,}", alike)
        crowd = "Somebody stands alone." if self.k == 1 else f"Everybody looks like at least {self.k - 1:,} others."
        yield Statement(where, "smallest class (k)", self.k, f"{self.k:,}", crowd)
        yield Statement(where, "unique", self.uniqueness, unique, "People nobody else in the table looks like.")
        largest = f"{self.largest_class:,}"
        yield Statement(
            where, "largest class", self.largest_class, largest, "People who all look alike.", is_detail=True
        )
        guessed = f"Guessing for everybody, an attacker names {people(self.expected_reidentifications)} correctly."
        average = percent(self.correctness)
        yield Statement(where, "average risk within the table (κ)", self.correctness, average, guessed)
        easiest = "The chance of naming the person easiest to name."
        yield Statement(where, "highest risk", self.maximum_risk, percent(self.maximum_risk), easiest)
        for k in (3, 5, 10):
            below, few = self.share_below(k), f"People with fewer than {k - 1} look-alikes."
            yield Statement(where, f"in classes below {k}", below, percent(below), few)

    @property
    def records(self) -> Count:
        """Rows of the table."""
        return self.sizes.records

    @property
    def people(self) -> Count:
        """People in the table: its records, unless there is a person column."""
        return self.sizes.people

    @property
    def classes(self) -> Count:
        """Equivalence classes: groups of people with equal quasi-identifiers."""
        return self.sizes.classes

    @property
    def uniques(self) -> Count:
        """People who are alone in their class."""
        return self.sizes.uniques

    @property
    def smallest_class(self) -> int:
        """The k of k-anonymity: everybody shares their class with at least k − 1 others."""
        return self.sizes.smallest

    @property
    def k(self) -> int:
        """`smallest_class`, by its name in the literature."""
        return self.sizes.smallest

    @property
    def largest_class(self) -> Count:
        """Size of the largest class."""
        return self.sizes.largest

    @property
    def correctness(self) -> Share:
        """κ: the share of people whom an attacker who guesses within the class names correctly."""
        return self.sizes.correctness

    @property
    def uniqueness(self) -> Share:
        """Ξ: the share of people who are alone in their class."""
        return self.sizes.uniqueness

    @property
    def maximum_risk(self) -> Share:
        """The chance of naming the person easiest to name: 1 ÷ k."""
        return 1 / self.sizes.smallest

    @property
    def average_risk(self) -> Share:
        """The chance of naming a person picked at random, which equals the correctness."""
        return self.sizes.correctness

    @property
    def expected_reidentifications(self) -> Count:
        """Expected number of people named correctly by an attacker who guesses for everybody: one per class."""
        return self.sizes.classes

    def share_below(self, k: int) -> float:
        """The share of people in classes smaller than `k`."""
        return self.sizes.below(k) / self.sizes.people

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types, with the histogram of class sizes."""
        return Result.to_dict(self) | {
            "share_below": {str(k): self.share_below(k) for k in (2, 3, 5, 10, 20)},
            "histogram": {str(size): count for size, count in self.sizes.histogram().items()},
        }

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        """The facts in one row; with sensitive columns, a row for each of them."""
        facts = {name: getattr(self, name) for name in self._derived}
        return [facts | column.to_dict() for column in self.sensitive] or [facts]


def measure(
    data: TableLike,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    progress: Progress = silent,
) -> Measurement:
    """Count the people with equal quasi-identifiers, and how much each class discloses about the sensitive columns.

    Args:
        data: a file's path, a frame or a `Table`.
        quasi_identifiers: the columns that the attacker knows.
        sensitive: columns that people keep to themselves. One that is a quasi-identifier as well is compared within
            the classes by the other quasi-identifiers.
        person: the column that identifies the person of each record. The unit is then the person and the class is the
            whole history; sensitive values are compared among the records of a class with equal quasi-identifiers.
        progress: callback that receives the current step and the share done.

    Returns:
        The class sizes and everything that follows from them, and the diversity of every sensitive column.

    Raises:
        InputError: a column is missing.
        UnsupportedError: the values of a sensitive column do not fit into memory.

    >>> patients = {"age": [30, 30, 41], "sex": ["f", "f", "m"], "illness": ["flu", "cold", "flu"]}
    >>> found = measure(patients, quasi_identifiers=["age", "sex"], sensitive=["illness"])
    >>> found.k, found.uniques, round(found.correctness, 3), found.sensitive[0].distinct
    (1, 1, 0.667, 1)
    """
    table = read_table(data)
    names, wanted = require_columns(table, quasi_identifiers, sensitive)
    notes = [*table.notes, *apply_scales(table, wanted)]
    progress("counting people who look alike", 0.1)
    sizes: ClassSizes | None = None
    diversities: dict[str, Diversity] = {}
    for known, secrets in group_by_knowledge(names, wanted):
        sizes_of_group, of_group = _measure(table, known, secrets, person, progress)
        diversities |= dict(zip(secrets, of_group, strict=True))
        if known == names:
            sizes = sizes_of_group
    if sizes is None:
        sizes = ClassSizes.from_table(table, quasi_identifiers=names, person=person)
    return Measurement(tuple(names), sizes, tuple(diversities[name] for name in wanted), person, tuple(notes))


def _measure(
    table: Table, names: list[str], wanted: list[str], person: str | None, progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and the diversity of each sensitive column, in the way that the table's engine and memory allow."""
    way = table.backend.way_to_compare(names, person) if names else "rows"
    if way == "distinct":
        return _measure_distinct(table, names, wanted, person, progress)
    if way == "parts":
        return measure_parts(parts_on_disk(table, names, wanted, person, progress))
    groups, diversities = group_records(table, names, person), []
    for done, column in enumerate(wanted):
        progress(f"comparing {column} within classes", 0.4 + 0.6 * done / len(wanted))
        diversities.append(measure_diversity(groups.numbers, encode(table, [column])[0], groups.times))
    return groups.sizes(), diversities


def _measure_distinct(
    table: Table, names: list[str], wanted: list[str], person: str | None, progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and diversities of rows in a remote engine, from its counted distinct rows."""
    if person is None:
        return _measure_counted(table.backend, names, wanted, progress)
    sizes = ClassSizes.from_table(table, quasi_identifiers=names, person=person)
    merged = table.backend.merge_histories(names, wanted, person)
    _, diversities = _measure_counted(merged, [*names, person], wanted, progress)
    table.backend.check_unchanged()
    return sizes, diversities


def _measure_counted(
    backend: Backend, names: list[str], wanted: list[str], progress: Progress
) -> tuple[ClassSizes, list[Diversity]]:
    """Class sizes and diversities from counted distinct rows, one sensitive column after the other."""
    diversities = []
    try:
        for done, column in enumerate(wanted):
            counted = backend.counted_rows([*names, column])
            progress(f"comparing {column} within classes", 0.4 + 0.6 * done / len(wanted))
            classes = classes_of_counted(counted, names)
            diversities.append(measure_diversity(classes.numbers, encode(counted.backend, [column])[0], classes.times))
    except TooManyDistinctError:
        return measure_parts(parts_of_distinct_rows(backend, names, wanted, progress))
    return classes.sizes, diversities
