"""The attack that decides, on an original and a release: whose row is which, what is coarser, and the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from incrowd._support.progress import Progress, silent
from incrowd.attacks.learned_attack import attack_by_learning
from incrowd.attacks.learned_result import POSITION, LearnedAttack
from incrowd.attacks.likeness import Rows
from incrowd.attacks.released_columns import ReleasedColumn, read_cover
from incrowd.backends import Coded, encode
from incrowd.backends.row_hash import order_of_records
from incrowd.errors import UnsupportedError
from incrowd.tables import Table
from incrowd.tables.label_cover import LabelCover

_MOST_PAIRS = 50_000_000  # pairs of an original row and a released one that are compared to find which are the same


def attack_release_by_learning(
    original: Table,
    released: Table,
    *,
    known: Sequence[str],
    sensitive: Sequence[str] = (),
    person: str | None = None,
    unseen: Sequence[str] = (),
    rows: Rows | None = None,
    shuffled: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> LearnedAttack:
    """Attack a release as somebody who knows the exact known columns of everybody in the original.

    Args:
        original: the table that the release was made from.
        released: the release.
        known: the columns of the original that the attacker knows.
        sensitive: its sensitive columns, whether they are released or not.
        person: the column that says whose record each is, if people have several; its values may be pseudonyms.
        unseen: released columns that say nothing, such as random numbers.
        rows: the row of the original that each released row was made from. None: they are found by their labels.
        shuffled: whether the rows of the release are in random order.
        seed: of samples.
        progress: called with what is done and how far it is.

    Raises:
        UnsupportedError: it cannot be told which rows are whose.
    """
    known = [name for name in known if name in original.columns and name not in original.nested]
    left_out = {*original.nested, *released.nested, *unseen, person}
    kept = [name for name in released.columns if name not in known and name not in left_out]
    secrets = [name for name in sensitive if name in original.columns and name not in left_out]
    if not kept:  # nothing is left to learn from, but for the order of the rows
        shuffled = shuffled or rows is None
    if not known or not released.rows:
        return LearnedAttack(tuple(known), (), tuple(kept), 0, ())
    if rows is None:
        rows = match_rows(original, released, known, kept, shuffled=shuffled)
    if unmatched := int(np.count_nonzero(rows < 0)):
        raise UnsupportedError(
            f"{unmatched:,} of {rows.size:,} released rows say something else than every row of the original, so that "
            "nobody can tell whose they are; give the row of the original that each row was made from",
            hint="kept_rows",
        )
    released_rows = np.arange(released.rows)
    columns = _released_columns(original, released, [*dict.fromkeys([*known, *secrets])], rows, released_rows)
    kept_columns = [column.take(released_rows) for column in encode(released, kept)] if kept else []
    if not shuffled:
        kept_columns.append(_position(released_rows))
    whose = None
    if person is not None and person in released.columns:
        (numbered,) = encode(released, [person])
        whose = numbered.codes[released_rows].astype(np.int64)
    coded = [part for column in columns.values() for part in (column.before, column.after) if part is not None]
    coded += [column for column in kept_columns if column.name != POSITION]
    order = order_of_records(coded)  # parts and samples must not depend on the order in which rows are written
    attack = attack_by_learning(
        [columns[name].take(order) for name in known],
        [column.take(order) for column in kept_columns],
        [columns[name].take(order) for name in secrets],
        person=None if whose is None else whose[order],
        seed=seed,
        progress=progress,
    )
    return replace(attack, person=None if whose is None else person)


def _released_columns(
    original: Table, released: Table, names: Sequence[str], rows: Rows, released_rows: Rows
) -> dict[str, ReleasedColumn]:
    """Columns of the original, with their labels where the release has them."""
    before = {column.name: column.take(rows) for column in encode(original, names)}
    shown = [name for name in names if name in released.columns and name not in released.nested]
    after = {column.name: column.take(released_rows) for column in encode(released, shown)}
    return {name: ReleasedColumn(before[name], after.get(name)) for name in names}


def _position(rows: Rows) -> Coded:
    return Coded(POSITION, np.arange(rows.size), pa.array(rows))


def match_rows(
    original: Table, released: Table, known: Sequence[str], kept: Sequence[str], *, shuffled: bool
) -> NDArray[np.int64]:
    """The row of the original of every released row: theirs, or one that says the same; -1 where there is none.

    Rows in the order of the original are taken as they are, if every label covers its value.

    Raises:
        UnsupportedError: labels cannot be read, or there are too many rows that might be the same.
    """
    shared = [name for name in (*known, *kept) if name in original.columns and name in released.columns]
    befores, afters = encode(original, shared), encode(released, shared)
    covers = [read_cover(before, after) for before, after in zip(befores, afters, strict=True)]
    if original.rows == released.rows and not shuffled:
        in_order = np.arange(released.rows)
        if all(
            cover.pairs(after.codes, before.codes).all()
            for cover, before, after in zip(covers, befores, afters, strict=True)
        ):
            return in_order
    columns = list(zip(covers, befores, afters, strict=True))
    exact = [column for column in columns if _shows_single_values(column[0], column[2])]
    people, candidates = _pairs_within(*_groups_of_exact(exact, original.rows, released.rows))
    for cover, before, after in (column for column in columns if column not in exact):
        fits = cover.pairs(after.codes[candidates], before.codes[people])
        people, candidates = people[fits], candidates[fits]
    edges = coo_array((np.ones(people.size, dtype=np.bool_), (candidates, people)), (released.rows, original.rows))
    return np.asarray(maximum_bipartite_matching(edges.tocsr(), perm_type="column"), dtype=np.int64)


def _shows_single_values(cover: LabelCover, after: Coded) -> bool:
    return bool((cover.counts[np.unique(after.codes)] == 1).all())


def _groups_of_exact(
    exact: Sequence[tuple[LabelCover, Coded, Coded]], people: int, rows: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of every original row and of every released one by the columns that show exact values."""
    before, after = np.zeros(people, dtype=np.int64), np.zeros(rows, dtype=np.int64)
    for cover, original, released in exact:
        value_of_label = np.full(len(released.values), -1, dtype=np.int64)
        shown = np.flatnonzero(cover.counts == 1)
        value_of_label[shown] = [int(cover.values_of(int(label))[0]) for label in shown]
        width = len(original.values)
        _, joint = np.unique(
            np.concatenate([before * width + original.codes, after * width + value_of_label[released.codes]]),
            return_inverse=True,
        )
        before, after = joint[:people], joint[people:]
    return before, after


def _pairs_within(before: NDArray[np.int64], after: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of an original row and a released one of the same group."""
    order = np.argsort(after, kind="stable")
    starts = np.searchsorted(after[order], before, "left")
    sizes = np.searchsorted(after[order], before, "right") - starts
    if sizes.sum() > _MOST_PAIRS:
        raise UnsupportedError(
            f"{sizes.sum():,} pairs of rows might be the same, because few columns show exact values; give the row of "
            "the original that each row was made from",
            hint="kept_rows",
        )
    people = np.repeat(np.arange(before.size), sizes)
    offsets = np.arange(people.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return people, order[np.repeat(starts, sizes) + offsets]
