"""Equivalence classes: groups of people with equal quasi-identifiers, and their sizes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from incrowd._support.distinct import count_numbers
from incrowd.backends import CountedRows, class_numbers, encode_each, merge_counts, pack
from incrowd.backends.class_parts import count_people
from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.tables import Table, TableLike, read_table


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizes(Result):
    """The frequency of frequencies: how many classes have one person, two people, and so on.

    Nearly every risk measure is a function of these few numbers, so a table is counted once. `sizes` are the distinct
    class sizes in ascending order, `counts` the number of classes of each size. The unit is the person; `records`
    differs from `people` only if a person has several records.

    >>> sizes = ClassSizes.from_sizes([3, 2, 1])
    >>> sizes.people, sizes.classes, sizes.uniques
    (6, 3, 1)
    >>> sizes.correctness
    0.5
    """

    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]
    records: int

    @classmethod
    def from_sizes(cls, sizes: ArrayLike) -> ClassSizes:
        """Class sizes from the size of every class: `[3, 2, 1]` is three classes of six people."""
        array = _whole_numbers(sizes, "class sizes")
        return cls.from_counts(*count_numbers(array))

    @classmethod
    def from_counts(
        cls,
        sizes: ArrayLike | Mapping[int, int],
        counts: ArrayLike | None = None,
        *,
        records: int | None = None,
    ) -> ClassSizes:
        """Class sizes from the frequency of frequencies: `{1: 20, 2: 5}` is twenty unique people and five pairs."""
        if isinstance(sizes, Mapping):
            counts = list(sizes.values())
            sizes = list(sizes.keys())
        if counts is None:
            raise InputError("class sizes came without counts; give both, or a mapping from size to count")
        size = _whole_numbers(sizes, "class sizes")
        count = _whole_numbers(counts, "counts of classes")
        if size.shape != count.shape:
            raise InputError(f"{size.size} class sizes but {count.size} counts; give one count for each size")
        size, count = merge_counts([(size, count)])
        people = sum(s * c for s, c in zip(size.tolist(), count.tolist(), strict=True))
        if people >= 2**62:
            raise InputError("these classes hold more people than 2**62; check the sizes and counts")
        if records is None:
            records = people
        elif records < people:
            raise InputError(f"{records:,} records for {people:,} people; everybody has at least one record")
        size.flags.writeable = count.flags.writeable = False
        return cls(size, count, records)

    @classmethod
    def from_table(cls, source: Any, *, quasi_identifiers: Sequence[str], person: str | None = None) -> ClassSizes:
        """Count the people in a file or frame who share all quasi-identifiers; a null is a value.

        A table object caches its first count for each set of columns.

        Args:
            source: a table, a file's path or a frame.
            quasi_identifiers: the columns that people are compared by.
            person: the column that identifies the person of each record, if people have several. The unit is then the
                person, and two people are in one class if all their records are equal.

        Returns:
            How many classes there are of each size.

        Raises:
            ColumnNotFoundError: a column does not exist.
            InputError: the table cannot be read, has no rows, or has records without a person.

        >>> ClassSizes.from_table({"age": [30, 30, None]}, quasi_identifiers=["age"]).histogram()
        {1: 1, 2: 1}
        """
        table = read_table(source)
        names = table.require(quasi_identifiers, "quasi-identifiers")
        if person is None:
            return cls.from_counts(*table.backend.count_classes(names))
        check_person(table, names, person)
        return cls.from_counts(*count_people(table.backend, names, person), records=table.rows)

    @property
    def people(self) -> int:
        """Number of people in the table; equal to the number of records if nobody has more than one."""
        return int(self.sizes @ self.counts)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.counts.sum())

    @property
    def uniques(self) -> int:
        """Number of people who are alone in their class."""
        return int(self.counts[0]) if self.sizes[0] == 1 else 0

    @property
    def smallest(self) -> int:
        """Size of the smallest class: the k of k-anonymity."""
        return int(self.sizes[0])

    @property
    def largest(self) -> int:
        """Size of the largest class."""
        return int(self.sizes[-1])

    @property
    def correctness(self) -> float:
        """κ: the share of people an attacker names correctly, classes ÷ people."""
        return self.classes / self.people

    @property
    def uniqueness(self) -> float:
        """Ξ: the share of people who are alone in their class."""
        return self.uniques / self.people

    def below(self, k: int) -> int:
        """Number of people in classes smaller than `k`."""
        small = self.sizes < k
        return int(self.sizes[small] @ self.counts[small])

    def histogram(self) -> dict[int, int]:
        """Class size to number of classes, smallest first."""
        return dict(zip(self.sizes.tolist(), self.counts.tolist(), strict=True))

    def __add__(self, other: ClassSizes) -> ClassSizes:
        """The class sizes of two tables together, if they share no class."""
        if not isinstance(other, ClassSizes):
            return NotImplemented
        return ClassSizes.from_counts(
            np.concatenate([self.sizes, other.sizes]),
            np.concatenate([self.counts, other.counts]),
            records=self.records + other.records,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassSizes):
            return NotImplemented
        return (
            self.records == other.records
            and np.array_equal(self.sizes, other.sizes)
            and np.array_equal(self.counts, other.counts)
        )

    def __hash__(self) -> int:
        return hash((self.sizes.tobytes(), self.counts.tobytes(), self.records))

    def to_dict(self) -> dict[str, Any]:
        """The class sizes in plain JSON types."""
        return {
            "records": self.records,
            "people": self.people,
            "classes": self.classes,
            "uniques": self.uniques,
            "smallest": self.smallest,
            "largest": self.largest,
            "sizes": self.sizes.tolist(),
            "counts": self.counts.tolist(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The class of every record: `numbers[i]` is the class of record i, `people[c]` the size of class c in people.

    If distinct rows were counted, i is a distinct row and `times[i]` the number of its occurrences.
    """

    numbers: NDArray[np.uint32]
    people: NDArray[np.int64]
    times: NDArray[np.int64] | None = None

    @property
    def sizes(self) -> ClassSizes:
        """The frequency of frequencies."""
        sizes, counts = np.unique(self.people, return_counts=True)
        records = self.numbers.size if self.times is None else int(self.times.sum())
        return ClassSizes.from_counts(sizes, counts, records=records)


def assign_classes(table: Table, quasi_identifiers: Sequence[str], person: str | None = None) -> Classes:
    """Number the classes of a table, and return the class of every record."""
    names = table.require(quasi_identifiers, "quasi-identifiers")
    if person is not None:
        check_person(table, names, person)
    return Classes(*table.backend.assign_classes(names, person))


def classes_of_counted(counted: CountedRows, quasi_identifiers: Sequence[str]) -> Classes:
    """Number the classes of distinct rows with counts."""
    numbers, sizes = counted.backend.assign_classes(quasi_identifiers)
    if counted.times is None:
        return Classes(numbers, sizes)
    people = np.zeros(sizes.size, dtype=np.int64)
    np.add.at(people, numbers, counted.times)
    return Classes(numbers, people, counted.times)


def check_person(table: Table, quasi_identifiers: Sequence[str], person: str) -> None:
    """Refuse a person column that does not exist or that already has another role."""
    if person in quasi_identifiers:
        raise InputError(f"the person column {person!r} cannot be a quasi-identifier too; take it out of one of them")
    table.require([person], "person column")


def indistinguishable_groups(
    table: Table, quasi_identifiers: Sequence[str], classes: Classes, person: str | None
) -> Classes:
    """Group the records that an attacker cannot distinguish when they look for a sensitive value.

    Without a person column the groups are the classes. With one, an attacker who knows a person's history knows each of
    its records, so a group is the set of records with equal values within one class of people.
    """
    if person is None:
        return classes
    rows, sizes = class_numbers(pack(encode_each(table, table.require(quasi_identifiers, "quasi-identifiers"))))
    return Classes(*class_numbers(classes.numbers.astype(np.uint64) * np.uint64(sizes.size) + rows))


def class_size_of_each_record(
    source: Any, *, quasi_identifiers: Sequence[str], person: str | None = None
) -> NDArray[np.int64]:
    """Return the class size of every record, in people.

    Args:
        source: a table, a file's path or a frame.
        quasi_identifiers: the columns that people are compared by.
        person: the column that identifies the person of each record, if people have several.

    Returns:
        The size of the class of every record, in the order of the records: 1 is unique.

    Raises:
        UnsupportedError: the rows stay in a cluster, or are too many for the memory limit.

    >>> class_size_of_each_record({"age": [30, 41, 30]}, quasi_identifiers=["age"]).tolist()
    [2, 1, 2]
    """
    classes = assign_classes(read_table(source), quasi_identifiers, person)
    return classes.people[classes.numbers]


def write_class_sizes(
    source: Any, out: str | os.PathLike[str], *, quasi_identifiers: Sequence[str], force: bool = False
) -> Path | str:
    """Write a table as Parquet with a column `class_size`: the number of people in the class of each record.

    The engine counts, joins and writes: DuckDB writes a file, Spark a folder. No record is loaded here, so any size
    works. Rows are written in no particular order.

    Args:
        source: a file, or a table in a cluster.
        out: the file or folder to write; it ends in .parquet.
        quasi_identifiers: the columns that people are compared by.
        force: replace an existing file or folder.

    Returns:
        The path that was written, or the address of a store.

    Raises:
        InputError: the place is taken or is the table itself, a column `class_size` exists, or the table changed.

    >>> import tempfile
    >>> from incrowd.tables import read_table, write_table
    >>> folder = Path(tempfile.mkdtemp())
    >>> people = write_table(read_table({"age": [30, 41, 30]}).to_arrow(), folder / "people.parquet")
    >>> sizes = write_class_sizes(people, folder / "sizes.parquet", quasi_identifiers=["age"])
    >>> sorted(read_table(sizes).to_arrow()["class_size"].to_pylist())
    [1, 2, 2]
    """
    table = read_table(source)
    return table.write_with_class_sizes(table.require(quasi_identifiers, "quasi-identifiers"), out, force=force)


def class_sizes_of(
    data: ClassSizes | TableLike, quasi_identifiers: Sequence[str] | None, person: str | None
) -> ClassSizes:
    """Return the given class sizes, or count those of a table."""
    if isinstance(data, ClassSizes):
        if quasi_identifiers is not None or person is not None:
            raise InputError(
                "class sizes are counted already; give the table to use quasi-identifiers or a person column"
            )
        return data
    if quasi_identifiers is None:
        raise InputError(
            "a table needs the columns that an attacker may know, its quasi-identifiers; name them, or give ClassSizes",
            hint="quasi_identifiers",
        )
    return ClassSizes.from_table(data, quasi_identifiers=quasi_identifiers, person=person)


def _whole_numbers(values: ArrayLike, what: str) -> NDArray[np.int64]:
    """Return positive whole numbers as int64, or raise an error."""
    array = np.asarray(list(values) if isinstance(values, Iterable) and not isinstance(values, np.ndarray) else values)
    if array.ndim != 1 or array.size == 0:
        raise InputError(f"{what} must be a list of at least one whole number; the table may have no rows")
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)) or np.any(array != np.floor(array)):
        raise InputError(f"{what} must be whole numbers")
    if array.min() < 1:
        raise InputError(f"{what} must be 1 or more; the smallest seen is {int(array.min())}")
    if array.max() >= 2**62:
        raise InputError(f"{what} must be below 2**62")
    return array.astype(np.int64)
