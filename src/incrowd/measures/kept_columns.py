"""Columns that are released unchanged and give back what protection has coarsened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd._support.memory import BUFFERS, require_memory
from incrowd._support.progress import Progress, part, silent
from incrowd.backends import Coded, encode, in_order_of_records
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.columns_together import facts_of_columns_together, facts_of_computed_columns
from incrowd.measures.compared_release import ComparedRelease, one_of_each
from incrowd.measures.determination import Determination, determination
from incrowd.measures.expected_values import facts_of_expected_values
from incrowd.measures.following_columns import facts_of_following_columns
from incrowd.measures.kept_differences import facts_of_differences
from incrowd.measures.left_out_secrets import left_out_secret_facts
from incrowd.measures.missing_cells import facts_of_missing_cells
from incrowd.measures.ordered_columns import facts_of_ordered_columns
from incrowd.measures.partial_formulas import facts_of_partial_formulas
from incrowd.measures.quantities import read_quantity
from incrowd.measures.recovering_columns import RecoveringColumn, RecoveringValues
from incrowd.measures.released_labels import Reader, label_reader
from incrowd.measures.repeated_values import facts_of_repeated_values
from incrowd.measures.telling_values import count_by_telling_values
from incrowd.tables import Table, TableLike, read_table

_BYTES_A_CODE, _BYTES_A_ROW = 8, 64  # bytes of a cell, and of all numbers that are made for a row to order it
_COMPARING = "comparing kept columns with those made coarser"
_LARGE = 20_000  # records from which example records are compared first, to exclude columns that are clearly unrelated
_FINER = 2  # fine values for each coarse value, at least
_STEPS = 3  # coarse values, from which numbers count as coarsened by their steps
_GROUPS = 2  # coarse values, from which labels count as groups of finer values
_SHARED = 3  # records for each fine value, on average, from which it may be a value of a group
_SHARED_BY_MANY = 10  # the same if there are fewer than _STEPS groups
_OUTERMOST = 0.05  # share of the records at each end of a step that may be altered
_SAME_WAY = 0.9  # share of the steps that must all rise, or all fall
_MANY, _NEARLY_ALL = 30, 0.9  # records of one value, and the share that agrees, from which the value may be telling
_CLEARLY_NOT = 0.5  # share that agrees with the examples, below which a dependency for nearly all is impossible


def kept_column_facts(
    original: TableLike,
    released: TableLike,
    quasi_identifiers: Sequence[str],
    kept: Sequence[str],
    person: str | None = None,
    *,
    coarse: Sequence[str] | None = None,
    secrets: Sequence[str] = (),
    left_out: Sequence[str] = (),
    progress: Progress = silent,
) -> tuple[RecoveringColumn, ...]:
    """Find the kept columns that give back a quasi-identifier, with the class sizes they lead to.

    A dependency counts if it holds for nearly all records, so that a few altered cells do not hide it. Numbers and
    dates are also combined: weight and body mass index give back height. Of such a set, one column is named; without it
    the others give nothing back.

    Args:
        original: the table before protection.
        released: the protected table.
        quasi_identifiers: the columns that were protected.
        kept: the columns that are released unchanged, whatever their role.
        person: the column that identifies the person of each record, if people have several records.
        coarse: the quasi-identifiers that were made coarser. None: all of them.
        secrets: sensitive columns; of a set of columns, one of these is named only if all are sensitive.
        left_out: sensitive columns of the original that are not released.
        progress: callback that receives the current step and the share done.

    Returns:
        A fact for every kept column that gives something back alone, in the order of `kept`; then the other facts.

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
    changed = names if coarse is None else coarse
    regained = left_out_secret_facts(
        *(original, released, names, kept, left_out, person), coarse=changed, secrets=secrets
    )
    if not changed:
        return regained
    persons = [] if person is None or person in (*names, *kept) else [person]
    # samples must not depend on row order
    before = _encode_in_order(read_table(original), [*names, *kept, *persons])
    known, columns = before[: len(names)], before[len(names) : len(names) + len(kept)]
    whose = before[-1] if persons else None

    def tells(column: Coded, number: int) -> Determination | None:
        other = known[number]
        is_coarse = other.name in changed
        if not is_coarse or not _may_tell(column.codes, other.codes):
            return None
        rows = slice(None) if whose is None else one_of_each(whose, [column, other])
        return _tell(column.take(rows), other.take(rows))

    release = ComparedRelease(known, read_table(released), changed, person, secrets, whose)
    # each detector is given the columns without a fact so far, and ends at its share of the progress
    detectors: list[tuple[float, Callable[[Sequence[Coded], Progress], Iterator[RecoveringColumn]]]] = [
        (0.1, lambda rest, tell: _facts(rest, release, tells, tell, original=True)),
        (0.4, lambda rest, tell: facts_of_computed_columns(rest, release, progress=tell)),
        (0.6, lambda rest, tell: facts_of_columns_together(rest, release, progress=tell)),
        (0.65, lambda rest, _: facts_of_partial_formulas(rest, release)),
        (0.67, lambda rest, _: facts_of_differences(rest, release)),
        (0.9, lambda rest, tell: facts_of_missing_cells(rest, release, progress=tell)),
        (0.92, lambda rest, _: facts_of_ordered_columns(rest, release)),
        (0.97, lambda rest, _: facts_of_following_columns(rest, release)),
        (0.98, lambda rest, _: facts_of_repeated_values(rest, release)),
        (1.0, lambda rest, _: facts_of_expected_values(rest, release)),
    ]
    facts: list[RecoveringColumn] = []
    begin = 0.0
    for end, detect in detectors:
        undoing = {fact.column for fact in facts if fact.undoes and not fact.narrows}  # which may not decide
        progress(_COMPARING, begin)
        facts += detect([column for column in columns if column.name not in undoing], part(progress, begin, end))
        begin = end
    return (*facts, *regained)


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

    If a column determines the value behind ranges or sets, the ranges or sets of all records with the same value of the
    column have a point in common. Plain numbers count as coarsened if they rise or fall in steps with the finer numbers
    of a kept column: ages of 30, 40, 50 beside years of birth. Labels count as coarsened if a finer column determines
    them: counties beside towns.

    Args:
        released: the protected table.
        quasi_identifiers: its quasi-identifiers: ranges, sets, labels or plain values.
        kept: the columns that may be unchanged.
        person: the column that identifies the person of each record, if people have several records.
        coarse: the quasi-identifiers that hold ranges or sets; the others are tested for steps and groups. None: all.
        progress: callback that receives the current step and the share done.

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
    both = _encode_in_order(table, [*names, *kept])
    known, columns = both[: len(names)], both[len(names) :]
    readers = [label_reader(column) if coarse is None or column.name in coarse else None for column in known]
    exact = [column for column, reader in zip(known, readers, strict=True) if reader is None]
    ranks = cache(_ranks)

    def tells(column: Coded, number: int) -> Determination | None:
        reader, other = readers[number], known[number]
        if reader is not None:
            return _tell_labels(column, reader, exact)
        if _is_in_steps(column, other, ranks):
            return determination(column.codes, other.codes)
        return _tell_groups(column, other)

    release = ComparedRelease(known, table, names, person)
    return tuple(_facts(columns, release, tells, progress))


def _encode_in_order(table: Table, names: Sequence[str]) -> list[Coded]:
    """The columns as codes, in an order that depends on the rows alone: random numbers must not depend on theirs."""
    needed = table.rows * (_BYTES_A_CODE * len(names) + _BYTES_A_ROW)
    require_memory(f"comparing {len(names)} columns of {table.rows:,} records", needed - BUFFERS, table.memory)
    return in_order_of_records(encode(table, names))


def _tell_labels(column: Coded, reader: Reader, exact: Sequence[Coded]) -> Determination:
    """Determination of ranges or sets by a column, beyond what it tells by giving away a known column.

    Wages that are adjusted to prices tell the year, and the year limits the years of work. If the year is released as
    it is, only what wages tell within one year is new.
    """
    found = reader(column.codes, column.is_filled, None)
    for other in exact if found.gives_away else ():
        if determination(column.codes, other.codes).tells_nearly_all:
            within = reader(column.codes, column.is_filled, other.codes)
            found = found if within.gives_away else within
    return found


def _tell_groups(fine: Coded, coarse: Coded) -> Determination | None:
    """Determination of a coarser column by a finer one, such as counties by towns; None if it cannot be finer.

    Single values (`told_by_value`) do not count: they tell no more than the group, which is released. Three kinds of
    columns are excluded:

    - Values that hardly anybody shares, such as incomes: they determine the size of a household by accident, because
      its members have one income.
    - Columns with too few values for each group.
    - With fewer than three groups: values that few share, or groups with fewer than three values.
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
    return replace(determination(one, other), told_by_value=0, telling={})


def _is_in_steps(fine: Coded, coarse: Coded, ranks_of: Callable[[Coded], NDArray[np.int64] | None]) -> bool:
    """True if numbers or dates rise or fall in steps with the finer numbers of another column, for nearly all records.

    The finer values of each step, without the outermost ones, must lie beyond those of the step before.
    """
    if not fine.size >= _FINER * coarse.size >= _FINER * _STEPS:
        return False
    ranks, steps = ranks_of(fine), ranks_of(coarse)
    if ranks is None or steps is None:
        return False
    filled = (ranks >= 0) & (steps >= 0)
    cells = np.sort(steps[filled] * fine.size + ranks[filled])
    starts = run_starts(cells // fine.size)
    last = np.diff(starts, append=cells.size) - 1
    shares = (_OUTERMOST, 1 - _OUTERMOST)
    low, high = (cells[starts + (share * last).astype(np.int64)] % fine.size for share in shares)
    most = max(np.count_nonzero(low[1:] > high[:-1]), np.count_nonzero(high[1:] < low[:-1]))
    return bool(starts.size >= _STEPS and most >= _SAME_WAY * (starts.size - 1))


def _ranks(column: Coded) -> NDArray[np.int64] | None:
    """The rank of every row's number, date or time in its column, -1 for a missing cell; None for a column of texts."""
    quantity = read_quantity(column)
    if quantity is None:
        return None
    ranks: NDArray[np.int64] = np.where(
        np.isnan(quantity.places), -1, np.unique(quantity.places, return_inverse=True)[1]
    )
    return np.asarray(ranks[quantity.codes])


def _facts(
    kept: Sequence[Coded],
    release: ComparedRelease,
    tells: Callable[[Coded, int], Determination | None],
    progress: Progress,
    *,
    original: bool = False,
) -> Iterator[RecoveringColumn]:
    """For every kept column that gives a quasi-identifier away: the one it determines best, and the smallest class.

    With the `original`, single values that tell are counted by the people who may have them.
    """
    for place, column in enumerate(kept):
        progress(_COMPARING, place / len(kept))
        relations = [(known, tells(column, number)) for number, known in enumerate(release.known)]
        telling = [(known, relation) for known, relation in relations if relation is not None and relation.gives_away]
        if not telling:
            continue
        known, best = max(telling, key=lambda pair: pair[1].given_away)  # the first, if several are equal
        if original and not any(relation.tells_nearly_all for _, relation in telling):
            counted = [(count_by_telling_values(column, one, of.telling, release), one, of) for one, of in telling]
            if all(counts is not None for counts, _, _ in counted):
                counts, one, of = min(counted, key=lambda each: each[0] or (0, 0))
                assert counts is not None
                yield RecoveringValues(column.name, one.name, of.given_away, of.by_chance, *counts, release.k)
                continue
        with_it = count_with_auxiliary(release.table, release.names, [column.name], person=release.person)
        shares = best.given_away, best.by_chance
        yield RecoveringColumn(column.name, known.name, *shares, with_it.k, with_it.uniques, release.k)


def _tell(column: Coded, other: Coded) -> Determination:
    """Determination of one column by another; `told_by_value` ignores rows with a missing cell (skip patterns)."""
    found = determination(column.codes, other.codes)
    if found.told_by_value and (column.has_null or other.has_null):
        filled = column.is_filled & other.is_filled
        values = determination(column.codes[filled], other.codes[filled])
        return replace(found, told_by_value=values.told_by_value, telling=values.telling)
    return found


def _may_tell(one: NDArray[Any], other: NDArray[Any]) -> bool:
    """True if one column may determine another: a quick test, which is false only in large tables.

    The first and the last record of each value, and one from the middle, are examples: every record is compared with
    the example that has its value. If the column determines the other for nearly all records, more than half of them
    agree with one of the three examples. If a single value does, nearly all records with that value agree.
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
    """True if nearly all records of some frequent value agree with its example."""
    is_common = sizes >= _MANY
    if not is_common.any():
        return False
    return bool((is_common & (np.bincount(one[agree], minlength=sizes.size) >= _NEARLY_ALL * sizes)).any())
