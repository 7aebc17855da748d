"""Set-valued tables: baskets, visits, places. k^m-anonymity: any m items somebody is known to have fit k people."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import encode, frequencies
from incrowd.errors import InputError, UnsupportedError
from incrowd.results import Result
from incrowd.tables import read_table


@dataclass(frozen=True, slots=True)
class ItemsetAnonymity(Result):
    """The k of k^m-anonymity for sets of 1, 2, … m items.

    `smallest[s − 1]` is the fewest people who share a set of s items that somebody has; `sets` counts such sets and
    `alone` those that a single person has. Sizes that nobody's items reach are left out.
    """

    people: int
    items: int
    known: int
    smallest: tuple[int, ...]
    sets: tuple[int, ...]
    alone: tuple[int, ...]

    @property
    def k(self) -> int:
        """Any `known` items or fewer that somebody has are had by at least k people."""
        return min(self.smallest)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {name: getattr(self, name) for name in ("people", "items", "known", "k")} | {
            "smallest": list(self.smallest),
            "sets": list(self.sets),
            "alone": list(self.alone),
        }


def itemset_anonymity(
    data: Any, *, person: str, item: str, known: int = 2, progress: Progress = silent
) -> ItemsetAnonymity:
    """Measure a long table with one row for each item of a person; `known` is the m of k^m-anonymity.

    >>> visits = {"who": ["a", "a", "b", "b", "c"], "what": ["x", "y", "x", "y", "x"]}
    >>> itemset_anonymity(visits, person="who", item="what", known=2).smallest
    (2, 2)
    """
    from incrowd.measures import kernels

    table = read_table(data)
    if known < 1:
        raise InputError(f"{known} known items; give 1 or more")
    who, what = encode(table, table.require([person, item]))
    if who.has_null or what.has_null:
        raise InputError(f"some rows have no value in {person!r} or {item!r}; fill them or leave them out")
    pairs = np.unique(who.codes.astype(np.uint64) * np.uint64(what.size) + what.codes)
    owner = (pairs // np.uint64(what.size)).astype(np.int64)
    items = (pairs % np.uint64(what.size)).astype(np.int64)
    lengths = np.bincount(owner, minlength=who.size)
    if what.size**known >= 1 << 63:
        raise UnsupportedError(f"sets of {known} among {what.size:,} items are too many to tell apart; ask for fewer")
    smallest, sets, alone = [], [], []
    for size in range(1, known + 1):
        progress(f"counting sets of {size} items", (size - 1) / known)
        total = _how_many(lengths, size)
        if total * 8 > table.memory / 2:
            raise UnsupportedError(f"people have {total:,} sets of {size} items, more than memory holds; ask for fewer")
        if not total:
            break
        keys = np.empty(total, dtype=np.uint64)
        kernels.list_sets(items, np.cumsum(lengths) - lengths, lengths, size, what.size, keys)
        found, counts = frequencies(keys)
        smallest.append(int(found[0]))
        sets.append(int(counts.sum()))
        alone.append(int(counts[0]) if found[0] == 1 else 0)
    return ItemsetAnonymity(who.size, what.size, known, tuple(smallest), tuple(sets), tuple(alone))


def _how_many(lengths: NDArray[np.int64], size: int) -> int:
    """How many sets of that size all people have together."""
    distinct, people = np.unique(lengths, return_counts=True)
    return sum(comb(length, size) * many for length, many in zip(distinct.tolist(), people.tolist(), strict=True))
