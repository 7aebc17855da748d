"""Set-valued tables (baskets, visits): any m items of somebody are had by k people, which is k^m-anonymity.

Rare items are generalised along their hierarchy, whole subtrees at a time (Terrovitis, Mamoulis & Kalnis 2008); items
whose combinations are still rare are suppressed, each with the people in whose sets they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, class_numbers, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.measures import ItemsetAnonymity, itemset_anonymity
from incrowd.protection.hierarchies import Hierarchy, Level
from incrowd.protection.recoding import as_text, as_written
from incrowd.protection.release import build_release, draw_pseudonyms
from incrowd.results import Result
from incrowd.tables import Table, TableLike, read_table, to_native
from incrowd.wording import counted, percent

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedItems(Result):
    """A protected table of items, one row for each item of a person, without repeats.

    Attributes:
        table: the person, as a random number that nothing can reproduce, and the item, in the caller's kind of frame.
        asked_k: any `known` items of somebody were to be had by so many people.
        found: what was counted on the protected table; None where no item is left.
        people: how many people there were, and `without_items` how many have none left.
        items: how many items of people there were; `suppressed` and `generalised` of them.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"table"})
    _derived: ClassVar[tuple[str, ...]] = ("sentence",)
    table: Any
    asked_k: int
    found: ItemsetAnonymity | None
    people: int
    without_items: int
    items: int
    suppressed: int
    generalised: int

    @property
    def sentence(self) -> str:
        """The guarantee and what it took, in plain words."""
        if self.found is None:
            return "no item is shared by as many people as were asked for: nothing is left"
        gone = f"{percent(self.suppressed / self.items)} of the items were left out"
        if self.generalised:
            gone += f" and {percent(self.generalised / self.items)} made coarser"
        nothing = "person has" if self.without_items == 1 else "people have"
        alone = f"; {self.without_items:,} {nothing} none left" if self.without_items else ""
        known = counted(self.found.known, "item", "items")
        return f"whoever knows up to {known} of somebody is left with at least {self.found.k:,} people; {gone}{alone}"


def protect_items(
    data: TableLike,
    *,
    person: str,
    item: str,
    known: int = 2,
    k: int = 5,
    hierarchy: Hierarchy | str | os.PathLike[str] | None = None,
    progress: Progress = silent,
) -> ProtectedItems:
    """Make a table of items k^m-anonymous: any `known` items of somebody are had by at least k people.

    Only the person, as a random number, and the item are released; other columns are not looked at.

    Args:
        data: a long table with one row for each item of a person: whatever `read_table` reads.
        person: the column that says whose item it is.
        item: the column of items.
        known: how many items of a person an attacker may know.
        k: the fewest people who share them.
        hierarchy: along which rare items are made coarser; without one they are suppressed.
        progress: called with what is done and how far it is.

    Returns:
        The protected table and what it took.

    Raises:
        InputError: a column is missing or has nulls, or a number makes no sense.
        UnsupportedError: people have too many sets of items to count.

    >>> visits = {"who": ["a", "a", "b", "b", "c"], "what": ["x", "y", "x", "y", "z"]}
    >>> safe = protect_items(visits, person="who", item="what", k=2)
    >>> safe.table["what"].to_pylist(), safe.found.k, safe.suppressed
    (['x', 'y', 'x', 'y'], 2, 1)
    """
    table = read_table(data)
    who, what = _require_items(table, person, item, known, k)
    progress("reading", 0.0)
    owner, codes = distinct_pairs(who.codes, what.codes, what.size)
    label_of, labels = _generalise_rare(owner, codes, what, hierarchy, k)
    shown_owner, shown = distinct_pairs(owner, label_of[codes], len(labels))
    keep = suppress_rare_sets(shown_owner, shown, k, known, memory=table.memory, progress=progress)
    shown_owner, shown = shown_owner[keep], shown[keep]
    released = release_rows({item: labels.take(pa.array(shown))}, replace(who, codes=shown_owner))
    found = itemset_anonymity(released, person=person, item=item, known=known) if shown.size else None
    if found is not None and found.k < k:
        raise UnsupportedError(f"items are shared by {found.k:,} people, and {k:,} were asked for; nothing is released")
    is_left = np.isin(owner * len(labels) + label_of[codes], shown_owner * len(labels) + shown)
    written = as_written(what.values).to_numpy(zero_copy_only=False)
    coarser = ~np.equal(as_text(labels).to_numpy(zero_copy_only=False)[label_of], written)[codes]
    return ProtectedItems(
        to_native(released, table.native, index=False),
        k,
        found,
        who.size,
        who.size - np.unique(shown_owner).size,
        codes.size,
        int(np.count_nonzero(~is_left)),
        int(np.count_nonzero(is_left & coarser)),
    )


def _require_items(table: Table, person: str, item: str, known: int, k: int) -> tuple[Coded, Coded]:
    """The person and item columns, if what is asked makes sense."""
    for name, number, least in (("known items", known, 1), ("k", k, 2)):
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise InputError(f"{name} must be a whole number of {least} or more; {number!r} was given")
    who, what = encode(table, table.require([person, item], "columns of people and items"))
    if who.has_null or what.has_null:
        raise InputError(f"some rows have no value in {person!r} or {item!r}; fill them or leave them out")
    return who, what


def release_rows(columns: Mapping[str, pa.Array], who: Coded) -> pa.Table:
    """The released table in the order of the people's new random numbers, so that theirs of before tells nothing."""
    people = draw_pseudonyms(who)
    order = np.argsort(people.to_numpy(), kind="stable")
    return build_release({who.name: people, **columns}, order)


def distinct_pairs(owner: NDArray[Any], codes: NDArray[Any], size: int) -> tuple[Codes, Codes]:
    """People and items without repeats, in order of people."""
    pairs = np.sort(owner.astype(np.int64) * size + codes)
    pairs = pairs[np.diff(pairs, prepend=-1) > 0]  # a sort is many times faster here than the table of np.unique
    return pairs // max(size, 1), pairs % max(size, 1)


def _generalise_rare(
    owner: Codes, codes: Codes, what: Coded, hierarchy: Hierarchy | str | os.PathLike[str] | None, k: int
) -> tuple[Codes, pa.Array]:
    """The number of the label that every item gets, and the labels.

    Where a label is had by fewer than k people, all items below the next one up get that.
    """
    if hierarchy is None:
        return np.arange(what.size), what.values if what.has_distances else as_written(what.values)
    made = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.parse(hierarchy)
    levels = made.levels(what)[:-1]  # the last one is * for all, which tells nothing
    height = np.zeros(what.size, dtype=np.int64)
    while True:
        number, texts = _labels_at(levels, height)
        people = np.bincount(distinct_pairs(owner, number[codes], len(texts))[1], minlength=len(texts))
        rare = (people[number] < k) & (height + 1 < len(levels))
        if not rare.any():
            break
        for up in np.unique(height[rare]) + 1:
            groups = levels[up].groups
            lifted = np.isin(groups, groups[rare & (height + 1 == up)])
            height[lifted] = np.maximum(height[lifted], up)
    return number, pa.array(texts, pa.string())


def _labels_at(levels: Sequence[Level], height: Codes) -> tuple[Codes, list[str | None]]:
    """The label of every item at its own level: numbers, and the labels."""
    found: dict[str | None, int] = {}
    number = np.empty(height.size, dtype=np.int64)
    for place, level in enumerate(height.tolist()):
        label = levels[level].labels[levels[level].groups[place]]
        number[place] = found.setdefault(label, len(found))
    return number, list(found)


def suppress_rare_sets(
    owner: Codes, codes: Codes, k: int, known: int, *, memory: float = np.inf, progress: Progress = silent
) -> NDArray[np.bool_]:
    """Choose the items that stay, so that k people have any `known` items of one person.

    Sets of 1, 2, … items are counted; from everybody in a rare one the item goes that is in most of that person's rare
    sets, the commonest of several. This is repeated, for what goes makes others rarer, until no set is rare.

    Args:
        owner: the person of every item, ascending, and `codes` the items of each, ascending; no pair twice.
        codes: the items.
        k: the fewest people.
        known: the largest sets.
        memory: bytes that may be used.
        progress: called with what is done and how far it is.

    >>> suppress_rare_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), 2, 2).tolist()
    [True, True, True, True, False]
    """
    stays = np.ones(owner.size, dtype=np.bool_)
    size = 1
    while size <= known:
        progress(f"suppressing rare sets of {size} items", (size - 1) / known)
        at = np.flatnonzero(stays)
        support = np.bincount(codes[at])[codes[at]]
        if size == 1:  # a rare item goes from everybody, which makes no other one rare
            stays[at[support < k]] = False
            size += 1
            continue
        members = _rare_sets(owner[at], codes[at], k, size, memory)
        if members.size:
            stays[at[_cover(members, owner[at], support)]] = False
        size = 1 if members.size else size + 1
    return stays


def _rare_sets(owner: Codes, codes: Codes, k: int, size: int, memory: float) -> Codes:
    """Sets of so many items that fewer than k people have: a row for each person who has one, places of its items."""
    from incrowd.measures import kernels

    lengths = np.bincount(owner) if owner.size else np.zeros(0, dtype=np.int64)
    total = sum(comb(length, size) * people for length, people in enumerate(np.bincount(lengths).tolist()))
    if total * 32 > memory:
        raise UnsupportedError(f"people have {total:,} sets of {size} items, more than memory holds; ask for fewer")
    base = max(int(codes.max(initial=0)) + 1, 2)
    if float(base) ** size >= 2.0**63:
        raise UnsupportedError(f"sets of {size} among {base:,} items are too many to count; ask for fewer")
    if not total:
        return np.zeros((0, size), dtype=np.int64)
    keys = np.empty(total, dtype=np.uint64)
    starts = np.cumsum(lengths) - lengths
    kernels.list_sets(codes, starts, lengths, size, base, keys)
    numbers, sizes = class_numbers(keys)
    rare = np.flatnonzero(sizes[numbers] < k)
    person = np.repeat(np.arange(lengths.size), [comb(length, size) for length in lengths.tolist()])[rare]
    places = np.empty((rare.size, size), dtype=np.int64)
    pairs = owner * np.int64(base) + codes
    left = keys[rare].astype(np.int64)
    for position in range(size):
        left, digit = np.divmod(left, base)
        places[:, position] = np.searchsorted(pairs, person * np.int64(base) + digit)
    return places


def _cover(members: Codes, owner: Codes, support: Codes) -> Codes:
    """Places of items so that every set loses one: of each person the one in most sets, then the next."""
    gone = [members[:0, 0]]
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    while members.size:
        score = np.bincount(members.ravel(), minlength=owner.size).astype(np.float64)
        score[score > 0] += support[score > 0] / (support.max() + 1)
        best = np.maximum.reduceat(score, first)[np.searchsorted(owner[first], owner)]
        chosen = np.flatnonzero((score > 0) & (score == best))
        chosen = chosen[np.flatnonzero(np.diff(owner[chosen], prepend=-1))]  # one of equals
        gone.append(chosen)
        lost = np.zeros(owner.size, dtype=np.bool_)
        lost[chosen] = True
        members = members[~lost[members].any(axis=1)]
    return np.concatenate(gone)
