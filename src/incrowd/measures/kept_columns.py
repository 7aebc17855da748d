"""Columns that are released unchanged and give back what protection has coarsened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.progress import Progress, part, silent
from incrowd.backends import Coded, encode, in_order_of_records
from incrowd.measures.arithmetic_relations import read_quantity
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.columns_together import facts_of_columns_together, facts_of_computed_columns
from incrowd.measures.determination import Determination, determination
from incrowd.measures.expected_values import facts_of_expected_values
from incrowd.measures.following_columns import facts_of_following_columns
from incrowd.measures.missing_cells import facts_of_missing_cells
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.measures.released_labels import label_reader
from incrowd.tables import TableLike, read_table

_COMPARING = "comparing kept columns with those made coarser"
_LARGE = 20_000  # records from which columns that are clearly unrelated are told by examples first
_FINER, _STEPS = 2, 3  # values for each step, and steps, from which numbers count as made coarser
_GROUPS, _SHARED_BY_MANY = 2, 10  # groups that may have been made of finer values; records for each, if they are two
_SHARED = 3  # records for each value, on average, from which values may be those of groups
_OUTERMOST, _SAME_WAY = 0.05, 0.9  # records at each end of a step that may be altered; steps that must go one way
_MANY, _NEARLY_ALL = 30, 0.9  # records of one value, and the share that agrees, from which it may tell by itself
_CLEARLY_NOT = 0.5  # share that examples agree with, below which nearly all cannot


def kept_column_facts(
    original: TableLike,
    released: TableLike,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    person: str | None = None,
    *,
    coarse: Sequence[str] | None = None,
    secrets: Sequence[str] = (),
    progress: Progress = silent,
) -> tuple[RecoveringColumn, ...]:
    """Find the kept columns that give back a quasi-identifier, with the class sizes they lead to.

    A relation that holds for nearly all records counts, so that a few altered cells do not hide it. Numbers and dates
    are also looked at together: weight and body mass index give back height. Of these, one is named as the column that
    is to go, so that the others do not tell any more.

    Args:
        original: the table before protection.
        released: the protected table.
        quasi_identifiers: the columns that were protected.
        kept: the columns that are released as they were, whatever their role.
        person: the column that says whose record it is, where people have several.
        coarse: the quasi-identifiers that were made coarser, so that something can be given back. None: all of them.
        secrets: the kept columns that are named last among columns that only tell together.
        progress: told how far the work is.

    Returns:
        A fact for every kept column that gives something back, in the order of `kept`; then those that do together.

    Raises:
        ColumnNotFoundError: a column is missing.

    >>> age = np.tile(np.arange(20, 60), 5)
    >>> before = {"age": age, "born": 2000 - age}
    >>> after = {"age": [f"[{a // 10 * 10};{a // 10 * 10 + 9}]" for a in age], "born": 2000 - age}
    >>> (fact,) = kept_column_facts(before, after, ["age"], ["born"])
    >>> fact.column, fact.gives_back, fact.k, fact.k_without
    ('born', 'age', 5, 50)
    """
    if not kept:
        return ()
    names = list(dict.fromkeys(quasi_identifiers))
    before = in_order_of_records(encode(read_table(original), [*names, *kept]))  # some rows are looked at before others
    known, columns = before[: len(names)], before[len(names) :]

    def tells(column: Coded, number: int) -> Determination | None:
        other = known[number]
        is_coarse = coarse is None or other.name in coarse
        return _tell(column, other) if is_coarse and _may_tell(column.codes, other.codes) else None

    after = read_table(released)
    coarsened = names if coarse is None else coarse
    # each looks at the columns that those before it left; with the share of the progress at which it ends
    detectors: list[tuple[float, Callable[[Sequence[Coded], Progress], Iterator[RecoveringColumn]]]] = [
        (0.1, lambda left, tell: _facts(left, after, names, tells, person, tell)),
        (0.4, lambda left, tell: facts_of_computed_columns(left, known, after, person=person, progress=tell)),
        (
            0.6,
            lambda left, tell: facts_of_columns_together(
                left, known, after, coarsened, person=person, secrets=secrets, progress=tell
            ),
        ),
        (0.9, lambda left, tell: facts_of_missing_cells(left, known, after, coarsened, person=person, progress=tell)),
        (
            0.95,
            lambda left, _: facts_of_following_columns(left, known, after, coarsened, person=person, secrets=secrets),
        ),
        (1.0, lambda left, _: facts_of_expected_values(left, known, after, coarsened, person=person)),
    ]
    found: list[RecoveringColumn] = []
    begin = 0.0
    for end, detect in detectors:
        gone = {fact.column for fact in found if fact.undoes}
        progress(_COMPARING, begin)
        found += detect([column for column in columns if column.name not in gone], part(progress, begin, end))
        begin = end
    return tuple(found)


def released_column_facts(
    released: TableLike,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    person: str | None = None,
    *,
    coarse: Sequence[str] | None = None,
    progress: Progress = silent,
) -> tuple[RecoveringColumn, ...]:
    """Find the kept columns that give back a quasi-identifier, from a released table alone.

    A column that tells the value behind ranges or sets shows in that the ranges or sets of the records that share its
    value all have a point in common. Plain numbers were made coarser where they climb (or fall) in steps as the finer
    numbers of a kept column do: ages of 30, 40, 50 beside years of birth. Labels were, where a finer column tells them:
    counties beside towns.

    Args:
        released: the protected table.
        quasi_identifiers: its quasi-identifiers: ranges, sets, labels or plain values.
        kept: the columns that may be as they were.
        person: the column that says whose record it is, where people have several.
        coarse: quasi-identifiers that hold ranges or sets; the others were made coarser only if they show it so. None:
            all of them.
        progress: told how far the work is.

    Returns:
        A fact for every kept column that gives something back, in the order of `kept`.

    Raises:
        ColumnNotFoundError: a column is missing.

    >>> age = np.tile(np.arange(20, 60), 10)
    >>> start = age - np.arange(400) // 40
    >>> table = {"age": [f"[{a};{a + 9}]" for a in start], "born": 2000 - age}
    >>> [(fact.column, fact.gives_back, fact.k) for fact in released_column_facts(table, ["age"], ["born"])]
    [('born', 'age', 1)]
    """
    if not kept:
        return ()
    table = read_table(released)
    names = list(dict.fromkeys(quasi_identifiers))
    both = in_order_of_records(encode(table, [*names, *kept]))  # chance is drawn row by row
    known, columns = both[: len(names)], both[len(names) :]
    readers = [label_reader(column) if coarse is None or column.name in coarse else None for column in known]
    ranks = cache(_ranks)

    def tells(column: Coded, number: int) -> Determination | None:
        reader, other = readers[number], known[number]
        if reader is not None:
            return reader(column.codes, column.is_filled)
        if _is_in_steps(column, other, ranks):
            return determination(column.codes, other.codes)
        return _tell_groups(column, other)

    return tuple(_facts(columns, table, names, tells, person, progress))


def _tell_groups(fine: Coded, coarse: Coded) -> Determination | None:
    """Determination of a coarser column by a finer one, as of counties by towns; None if it cannot be finer.

    Single values that go with one group tell no more than the group, which is released. Amounts that hardly anybody
    shares are no values of groups: they tell the size of a household because its members have one income. Of two
    groups each must have several values, which many share: numbers of people tell their sex, and are asked about.
    """
    is_finer = fine.size >= _FINER * coarse.size and fine.codes.size >= _SHARED * fine.size
    if not is_finer or coarse.filled_size < _GROUPS or not _may_tell(fine.codes, coarse.codes):
        return None
    filled = fine.is_filled & coarse.is_filled
    one, other = fine.codes[filled], coarse.codes[filled]
    if coarse.filled_size < _STEPS:
        usual = np.zeros((fine.size, coarse.size), dtype=np.int64)
        np.add.at(usual, (one, other), 1)
        values = np.bincount(usual.argmax(axis=1)[usual.any(axis=1)], minlength=coarse.filled_size)
        if values[: coarse.filled_size].min() < _STEPS or one.size < _SHARED_BY_MANY * fine.filled_size:
            return None
    return replace(determination(one, other), told_by_value=0)


def _is_in_steps(fine: Coded, coarse: Coded, ranks_of: Callable[[Coded], NDArray[np.int64] | None]) -> bool:
    """True if numbers or dates climb or fall in steps along the finer ones of another column, for nearly all records.

    The finer values behind each step, without the outermost of them, must then lie beyond those of the step before.
    """
    if not fine.size >= _FINER * coarse.size >= _FINER * _STEPS:
        return False
    ranks, steps = ranks_of(fine), ranks_of(coarse)
    if ranks is None or steps is None:
        return False
    filled = (ranks >= 0) & (steps >= 0)
    cells = np.sort(steps[filled] * fine.size + ranks[filled])
    starts = np.flatnonzero(np.diff(cells // fine.size, prepend=-1))
    last = np.diff(starts, append=cells.size) - 1
    shares = (_OUTERMOST, 1 - _OUTERMOST)
    low, high = (cells[starts + (share * last).astype(np.int64)] % fine.size for share in shares)
    most = max(np.count_nonzero(low[1:] > high[:-1]), np.count_nonzero(high[1:] < low[:-1]))
    return bool(starts.size >= _STEPS and most >= _SAME_WAY * (starts.size - 1))


def _ranks(column: Coded) -> NDArray[np.int64] | None:
    """The rank of every row among the numbers, dates or times of a column, -1 where it has none; None for texts."""
    quantity = read_quantity(column)
    if quantity is None:
        return None
    ranks: NDArray[np.int64] = np.where(
        np.isnan(quantity.places), -1, np.unique(quantity.places, return_inverse=True)[1]
    )
    return np.asarray(ranks[quantity.codes])


def _facts(
    kept: Sequence[Coded],
    released: Any,
    names: Sequence[str],
    tells: Callable[[Coded, int], Determination | None],
    person: str | None,
    progress: Progress,
) -> Iterator[RecoveringColumn]:
    """The quasi-identifier that every kept column tells best, if it gives one away, and what knowing it does."""
    table, k_without = read_table(released), 0
    for place, column in enumerate(kept):
        progress(_COMPARING, place / len(kept))
        found = [(name, tells(column, number)) for number, name in enumerate(names)]
        away = [(name, relation) for name, relation in found if relation is not None and relation.gives_away]
        if not away:
            continue
        name, best = max(away, key=lambda pair: pair[1].given_away)  # of equals the first
        k_without = k_without or count_with_auxiliary(table, names, [], person=person).k
        known = count_with_auxiliary(table, names, [column.name], person=person)
        yield RecoveringColumn(column.name, name, best.given_away, best.by_chance, known.k, known.uniques, k_without)


def _tell(column: Coded, other: Coded) -> Determination:
    """Determination of one column by another; two missing cells in one row, as in a skip pattern, do not count."""
    found = determination(column.codes, other.codes)
    if found.told_by_value and (column.has_null or other.has_null):
        filled = column.is_filled & other.is_filled
        values = determination(column.codes[filled], other.codes[filled])
        return replace(found, told_by_value=values.told_by_value)
    return found


def _may_tell(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """True if one column may tell another: false only in large tables where three records of each value deny it.

    The first and the last record of each value, and one from the middle, are compared with all others that share it. If
    a column tells another for nearly all records, more than half agree with one of the three; if a single value does,
    nearly all of its records.
    """
    if one.size < _LARGE:
        return True
    sizes = np.bincount(one)
    example = np.zeros(sizes.size, dtype=other.dtype)
    for rows in (slice(None), slice(None, None, -1), slice(one.size // 2)):
        example[one[rows]] = other[rows]
        agree = example[one] == other
        if np.count_nonzero(agree) >= _CLEARLY_NOT * one.size or _tells_by_value(one, agree, sizes):
            return True
    return False


def _tells_by_value(one: NDArray[Any], agree: NDArray[np.bool_], sizes: NDArray[np.int64]) -> bool:
    """True if nearly all records of some value, of which there are many, agree with its example."""
    is_common = sizes >= _MANY
    if not is_common.any():
        return False
    return bool((is_common & (np.bincount(one[agree], minlength=sizes.size) >= _NEARLY_ALL * sizes)).any())
