"""k^m-anonymity of set-valued tables (baskets, visits, places): any m items of a person are shared by k people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, encode, frequencies
from incrowd.errors import InputError, UnsupportedError
from incrowd.results import DataTable, Result
from incrowd.tables import Table, TableLike, read_table
from incrowd.wording import people, percent


@dataclass(frozen=True, slots=True)
class ItemsetAnonymity(Result):
    """The k of k^m-anonymity for sets of 1, 2, … m items.

    Only sets count that somebody has. `smallest[s − 1]` is the smallest number of people who share a set of s items;
    `sets` is the number of sets, and `alone` the number of sets that one person has. Sizes larger than anybody's number
    of items are left out.
    """

    people: int
    items: int
    known: int
    smallest: tuple[int, ...]
    sets: tuple[int, ...]
    alone: tuple[int, ...]
    _derived: ClassVar[tuple[str, ...]] = ("k",)

    @property
    def k(self) -> int:
        """The k of k^m-anonymity: every set of at most `known` items that occurs is shared by at least k people."""
        return min(self.smallest)

    @property
    def data_tables(self) -> tuple[DataTable, ...]:
        """The sets by their size."""
        columns = ("items known", "fewest people who share them", "sets", "sets of a single person")
        rows = tuple(
            (row["size"], row["smallest"], row["sets"], f"{row['alone']:,} ({percent(row['alone'] / row['sets'])})")
            for row in self._rows()
        )
        return (DataTable("People who share their items (k^m-anonymity)", columns, rows),)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The guarantee."""
        return (
            f"{self.people:,} people with {self.items:,} different items: an attacker who knows up to {self.known} "
            f"items of a person is left with at least {people(self.k)}, which is k^{self.known}-anonymity with "
            f"k = {self.k:,}.",
        )

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        by_size = enumerate(zip(self.smallest, self.sets, self.alone, strict=True), start=1)
        return [{"size": size, "smallest": k, "sets": sets, "alone": alone} for size, (k, sets, alone) in by_size]


def itemset_anonymity(
    data: TableLike, *, person: str, item: str, known: int = 2, progress: Progress = silent
) -> ItemsetAnonymity:
    """Measure the k^m-anonymity of a long table with one row for each item of a person.

    Args:
        data: a file's path, a frame or a `Table`.
        person: the column that identifies the person of each item.
        item: the column of items.
        known: the m of k^m-anonymity: the number of items of a person that the attacker knows.
        progress: callback that receives the current step and the share done.

    Returns:
        The smallest number of people for sets of 1, 2, … items.

    Raises:
        InputError: a column is missing or has nulls, or `known` is below 1.
        UnsupportedError: the sets are too many for the memory.

    >>> visits = {"who": ["a", "a", "b", "b", "c"], "what": ["x", "y", "x", "y", "x"]}
    >>> itemset_anonymity(visits, person="who", item="what", known=2).smallest
    (2, 2)
    """
    table = read_table(data)
    if known < 1:
        raise InputError(f"{known} known items; give 1 or more")
    who, what = encode_items(table, person, item)
    owner, items = distinct_pairs(who.codes, what.codes, what.size)
    lengths = np.bincount(owner, minlength=who.size)
    if what.size**known >= 1 << 63:
        raise UnsupportedError(f"sets of {known} among {what.size:,} items are too many to count; ask for fewer")
    smallest, sets, alone = [], [], []
    for size in range(1, known + 1):
        progress(f"counting sets of {size} items", (size - 1) / known)
        keys = list_item_sets(items, lengths, size, what.size, table.memory / 2)
        if not keys.size:
            break
        holders, counts = frequencies(keys)
        smallest.append(int(holders[0]))
        sets.append(int(counts.sum()))
        alone.append(int(counts[0]) if holders[0] == 1 else 0)
    return ItemsetAnonymity(who.size, what.size, known, tuple(smallest), tuple(sets), tuple(alone))


def encode_items(table: Table, person: str, item: str) -> tuple[Coded, Coded]:
    """The columns of people and of their items, if no row lacks either."""
    who, what = encode(table, table.require([person, item], "columns of people and items"))
    if who.has_null or what.has_null:
        raise InputError(f"some rows have no value in {person!r} or {item!r}; fill them or leave them out")
    return who, what


def distinct_pairs(owner: NDArray[Any], codes: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct pairs of person and item, sorted by person and then by item; `size` is the number of items."""
    pairs = distinct_values(owner.astype(np.int64) * size + codes)
    return pairs // max(size, 1), pairs % max(size, 1)


def list_item_sets(
    items: NDArray[np.int64], lengths: NDArray[np.int64], size: int, base: int, room: float
) -> NDArray[np.uint64]:
    """Every set of `size` items of every person, as a number whose digits (in base `base`) are the items.

    Args:
        items: the items, those of one person after the other.
        lengths: the number of items of each person.
        room: the largest size of the result in bytes.
    """
    from incrowd.measures import kernels

    total = sum(comb(length, size) * people for length, people in enumerate(np.bincount(lengths).tolist()))
    if total * 8 > room:
        raise UnsupportedError(f"people have {total:,} sets of {size} items, more than memory holds; ask for fewer")
    keys = np.empty(total, dtype=np.uint64)
    if total:
        kernels.list_sets(items, np.cumsum(lengths) - lengths, lengths, size, base, keys)
    return keys
