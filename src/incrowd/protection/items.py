"""k^m-anonymity of set-valued tables (baskets, visits): at least k people share any m items of a person.

Rare items are generalised along their hierarchy, whole subtrees at a time (Terrovitis, Mamoulis & Kalnis 2008). Where a
combination of items is still rare, one of its items is suppressed for the people who have the combination.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd._support.progress import Progress, silent
from incrowd.backends import Coded, class_numbers
from incrowd.errors import UnsupportedError
from incrowd.measures import ItemsetAnonymity, itemset_anonymity
from incrowd.measures.itemsets import distinct_pairs, encode_items, list_item_sets
from incrowd.protection.hierarchies import Hierarchy, Level
from incrowd.protection.method_options import require_whole
from incrowd.protection.release import build_release, draw_pseudonyms
from incrowd.results import Result
from incrowd.tables import Table, TableLike, read_table, to_native
from incrowd.tables.released_values import as_text, as_written
from incrowd.wording import counted, percent

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ProtectedItems(Result):
    """A protected table of items, one row for each item of a person, without repeats.

    Attributes:
        table: the person, as a random number that cannot be reproduced, and the item, in the caller's kind of frame.
        asked_k: how many people were to share any `known` items of a person.
        found: the k^m-anonymity counted on the protected table; None if no item remains.
        people: number of people in the original; `without_items` of them have no item in the protected table.
        items: number of pairs of person and item in the original; `suppressed` and `generalised` of them.
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
        """The guarantee and the share of items it cost, in plain words."""
        if self.found is None:
            return "no item is shared by as many people as were asked for: nothing is left"
        cost = f"{percent(self.suppressed / self.items)} of the items were left out"
        if self.generalised:
            cost += f" and {percent(self.generalised / self.items)} made coarser"
        have = "person has" if self.without_items == 1 else "people have"
        without = f"; {self.without_items:,} {have} none left" if self.without_items else ""
        known = counted(self.found.known, "item", "items")
        return (
            f"an attacker who knows up to {known} of a person is left with at least {self.found.k:,} people; "
            f"{cost}{without}"
        )


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
    """Make a table of items k^m-anonymous: at least k people share any `known` items of a person.

    Only the person, as a random number, and the item are released; other columns are left out.

    Args:
        data: a long table with one row for each item of a person: whatever `read_table` reads.
        person: the column that says whose item it is.
        item: the column of items.
        known: how many items of a person an attacker may know.
        k: the fewest people who share these items.
        hierarchy: the hierarchy along which rare items are generalised; without one they are suppressed.
        progress: called with what is done and how far it is.

    Returns:
        The protected table, and counts of suppressed and generalised items.

    Raises:
        InputError: a column is missing or has nulls, or a number makes no sense.
        UnsupportedError: there are too many sets of items to count.

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
    shown_owner, kept_labels = distinct_pairs(owner, label_of[codes], len(labels))
    keep = suppress_rare_sets(shown_owner, kept_labels, k, known, memory=table.memory, progress=progress)
    shown_owner, kept_labels = shown_owner[keep], kept_labels[keep]
    released = release_rows({item: labels.take(pa.array(kept_labels))}, replace(who, codes=shown_owner))
    found = itemset_anonymity(released, person=person, item=item, known=known) if kept_labels.size else None
    if found is not None and found.k < k:
        raise UnsupportedError(f"items are shared by {found.k:,} people, and {k:,} were asked for; nothing is released")
    is_kept = np.isin(owner * len(labels) + label_of[codes], shown_owner * len(labels) + kept_labels)
    written = as_written(what.values).to_numpy(zero_copy_only=False)
    coarser = ~np.equal(as_text(labels).to_numpy(zero_copy_only=False)[label_of], written)[codes]
    return ProtectedItems(
        to_native(released, table.native, index=False),
        k,
        found,
        who.size,
        who.size - np.unique(shown_owner).size,
        codes.size,
        int(np.count_nonzero(~is_kept)),
        int(np.count_nonzero(is_kept & coarser)),
    )


def _require_items(table: Table, person: str, item: str, known: int, k: int) -> tuple[Coded, Coded]:
    """Check the request; return the person and item columns."""
    require_whole("known items", known, 1)
    require_whole("k", k, 2)
    return encode_items(table, person, item)


def release_rows(columns: Mapping[str, pa.Array], who: Coded) -> pa.Table:
    """The released table, sorted by the new random numbers of people, so that it hides the original order."""
    people = draw_pseudonyms(who)
    order = np.argsort(people.to_numpy(), kind="stable")
    return build_release({who.name: people, **columns}, order)


def _generalise_rare(
    owner: Codes, codes: Codes, what: Coded, hierarchy: Hierarchy | str | os.PathLike[str] | None, k: int
) -> tuple[Codes, pa.Array]:
    """The index of every item's label, and the labels.

    If fewer than k people have a label, all items below its parent get the parent's label.
    """
    if hierarchy is None:
        return np.arange(what.size), what.values if what.has_distances else as_written(what.values)
    parsed = hierarchy if isinstance(hierarchy, Hierarchy) else Hierarchy.parse(hierarchy)
    levels = parsed.levels(what)[:-1]  # without the last level, which is * for all items
    by_value, height = [level.by_value() for level in levels], np.zeros(what.size, dtype=np.int64)
    while True:
        shown = Level.of([by_value[level][item] for item, level in enumerate(height.tolist())])
        label_of, labels = shown.groups.astype(np.int64), shown.labels
        people = np.bincount(distinct_pairs(owner, label_of[codes], len(labels))[1], minlength=len(labels))
        rare = (people[label_of] < k) & (height + 1 < len(levels))
        if not rare.any():
            break
        for parent_level in np.unique(height[rare]) + 1:
            groups = levels[parent_level].groups
            is_raised = np.isin(groups, groups[rare & (height + 1 == parent_level)])
            height[is_raised] = np.maximum(height[is_raised], parent_level)
    return label_of, pa.array(labels, pa.string())


def suppress_rare_sets(
    owner: Codes, codes: Codes, k: int, known: int, *, memory: float = np.inf, progress: Progress = silent
) -> NDArray[np.bool_]:
    """Choose the items to keep, so that at least k people share any `known` items of one person.

    Sets of 1, 2, … items are counted. Everybody who has a rare set loses the item that is in most of their rare sets,
    and of several such items the commonest. Suppression makes other sets rarer, so this is repeated until no set is
    rare.

    Args:
        owner: the person of every pair of person and item; pairs are distinct and sorted by person, then by item.
        k: the fewest people who share a set.

    Returns:
        Boolean mask of the pairs to keep.

    >>> suppress_rare_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 0, 1, 2]), 2, 2).tolist()
    [True, True, True, True, False]
    """
    is_kept = np.ones(owner.size, dtype=np.bool_)
    size = 1
    while size <= known:
        progress(f"suppressing rare sets of {size} items", (size - 1) / known)
        kept = np.flatnonzero(is_kept)
        support = np.bincount(codes[kept])[codes[kept]]
        if size == 1:  # suppressing a rare item for everybody makes no other item rare
            is_kept[kept[support < k]] = False
            size += 1
            continue
        members = _rare_sets(owner[kept], codes[kept], k, size, memory)
        if members.size:
            is_kept[kept[_cover(members, owner[kept], support)]] = False
        size = 1 if members.size else size + 1
    return is_kept


def _rare_sets(owner: Codes, codes: Codes, k: int, size: int, memory: float) -> Codes:
    """The sets of `size` items that fewer than k people have.

    One row for each person and rare set, with the indices of its items in `codes`.
    """
    lengths = np.bincount(owner) if owner.size else np.zeros(0, dtype=np.int64)
    base = max(int(codes.max(initial=0)) + 1, 2)
    if float(base) ** size >= 2.0**63:
        raise UnsupportedError(f"sets of {size} among {base:,} items are too many to count; ask for fewer")
    keys = list_item_sets(codes, lengths, size, base, memory / 4)
    if not keys.size:
        return np.zeros((0, size), dtype=np.int64)
    numbers, sizes = class_numbers(keys)
    rare = np.flatnonzero(sizes[numbers] < k)
    person = np.repeat(np.arange(lengths.size), [comb(length, size) for length in lengths.tolist()])[rare]
    indices = np.empty((rare.size, size), dtype=np.int64)
    pairs = owner * np.int64(base) + codes
    remaining_key = keys[rare].astype(np.int64)
    for position in range(size):
        remaining_key, digit = np.divmod(remaining_key, base)
        indices[:, position] = np.searchsorted(pairs, person * np.int64(base) + digit)
    return indices


def _cover(members: Codes, owner: Codes, support: Codes) -> Codes:
    """Indices of items such that every set loses one: greedily, for each person the item in most of their sets."""
    suppressed = [members[:0, 0]]
    first = run_starts(owner)
    while members.size:
        score = np.bincount(members.ravel(), minlength=owner.size).astype(np.float64)
        score[score > 0] += support[score > 0] / (support.max() + 1)
        best = np.maximum.reduceat(score, first)[np.searchsorted(owner[first], owner)]
        chosen = np.flatnonzero((score > 0) & (score == best))
        chosen = chosen[run_starts(owner[chosen])]  # one item for each person
        suppressed.append(chosen)
        is_suppressed = np.zeros(owner.size, dtype=np.bool_)
        is_suppressed[chosen] = True
        members = members[~is_suppressed[members].any(axis=1)]
    return np.concatenate(suppressed)
