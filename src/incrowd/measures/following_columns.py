"""Kept columns that follow from one or two quasi-identifiers, whatever the function is.

Whoever knows an age and a region knows the tariff that follows from them, and looks for it among the records of the
same ranges. The function must hold for nearly all records, far beyond chance.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd.backends import Coded, class_numbers, encode, pack
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.determination import Determination, determination
from incrowd.measures.recovering_columns import RecoveringColumn
from incrowd.tables import Table

_Codes = NDArray[np.int64]

_SAMPLE, _ENOUGH, _HOPELESS = 1_000, 20, 0.6  # rows looked at first, errors of chance among them, and how many remain
ROWS_FOR_EACH = 3  # rows for each combination of values, on average, below which two columns are not looked at
_NEARLY_ALL, _OPEN = 0.95, 0.29  # share of the records that is told, and bits that say which ones are not
_TOLD = 0.9  # share of the records of a value that follow, from which on it is expected


def facts_of_following_columns(
    kept: Sequence[Coded],
    known: Sequence[Coded],
    table: Table,
    coarse: Sequence[str],
    *,
    secrets: Sequence[str] = (),
    person: str | None = None,
) -> Iterator[RecoveringColumn]:
    """Find kept columns that follow from one or two quasi-identifiers, of which one was made coarser.

    Args:
        kept: the columns of the original that are released as they were.
        known: its quasi-identifiers.
        table: the protected table.
        coarse: the quasi-identifiers that were made coarser.
        secrets: the columns of which a missing cell is no value.
        person: the column that says whose record it is, where people have several.

    Yields:
        A fact for every column that makes the smallest class smaller.
    """
    names = [column.name for column in known]
    k_without = count_with_auxiliary(table, names, [], person=person).k
    bits = [entropy(one) for one in known]
    for column in kept:
        rows = column.is_filled if column.name in secrets and column.has_null else slice(None)
        column, *those = (Coded(one.name, one.codes[rows], one.values) for one in (column, *known))
        telling = next(find_telling(column, those, coarse, bits), None)
        if telling is None:
            continue
        columns, determined = telling
        (after,) = encode(table, [column.name])
        expected = _are_in(after, column, _expected(columns, column))[after.codes]
        counted = count_classes(table, [*encode(table, names), after], expected, person)
        fact = RecoveringColumn(
            *(column.name, columns[0].name, determined.told, determined.by_chance, *counted, k_without),
            others=tuple(one.name for one in columns[1:]),
            follows=True,
        )
        if fact.undoes:
            yield fact


def find_telling(
    column: Coded, known: Sequence[Coded], coarse: Sequence[str], bits: Sequence[float]
) -> Iterator[tuple[tuple[Coded, ...], Determination]]:
    """The one or two quasi-identifiers each, some of them made coarser, that a column follows from."""
    alone = [(one,) for one in known if one.name in coarse]
    pairs = (pair for pair in _pairs(known, column, bits) if any(one.name in coarse for one in pair))
    for columns in itertools.chain(alone, pairs):
        found = _determination(columns, column)
        if found is not None and found.tells_nearly_all:
            yield columns, found


def _pairs(columns: Sequence[Coded], target: Coded, bits: Sequence[float]) -> Iterator[tuple[Coded, Coded]]:
    """Two columns each that rows share often enough, and that hold information (`bits`) enough for the target's."""
    most = target.codes.size / ROWS_FOR_EACH
    # by Fano's inequality so much of the target may stay open where a share of the records is not told
    needed = entropy(target) - (1 - _NEARLY_ALL) * np.log2(max(target.size, 2)) - _OPEN
    for one, other in itertools.combinations(range(len(columns)), 2):
        if min(bits[one], bits[other]) > 0 and bits[one] + bits[other] >= needed:
            pair = columns[one], columns[other]
            if pair[0].size * pair[1].size <= most:
                yield pair


def entropy(column: Coded) -> float:
    """The entropy of a column."""
    shares = np.bincount(column.codes) / column.codes.size
    shares = shares[shares > 0]
    return float(-np.sum(shares * np.log2(shares)))


def join_codes(columns: Sequence[Coded], rows: slice = slice(None)) -> _Codes:
    """Codes for the combinations of values that some rows have."""
    joint = np.asarray(columns[0].codes[rows], dtype=np.int64)
    for one in columns[1:]:
        joint = joint * one.size + one.codes[rows]
    return joint


def _determination(columns: Sequence[Coded], target: Coded) -> Determination | None:
    """Determination of a column by others; None if some rows already show that it does not hold for nearly all."""
    step = max(target.codes.size // _SAMPLE, 1)
    if step > 1:
        some = slice(None, None, step)
        seen = determination(join_codes(columns, some), np.asarray(target.codes[some]))
        errors, of_chance = (seen.records * (1 - share) for share in (seen.told, seen.by_chance))
        if errors > _HOPELESS * of_chance and of_chance >= _ENOUGH:
            return None
    return determination(join_codes(columns), np.asarray(target.codes))


def _expected(columns: Sequence[Coded], column: Coded) -> NDArray[np.bool_]:
    """Flags of the values of a column that an attacker predicts from other columns for nearly all of their records."""
    joint, codes = join_codes(columns), np.asarray(column.codes, dtype=np.int64)
    cells, place, counts = np.unique(joint * column.size + codes, return_inverse=True, return_counts=True)
    group = cells // column.size
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    most = np.repeat(np.maximum.reduceat(counts, starts), np.diff(starts, append=cells.size))
    follows = (counts == most) & (counts > 1)
    records = np.bincount(codes, minlength=column.size)
    told = np.bincount(codes, weights=follows[place], minlength=column.size)
    return np.asarray((told >= _TOLD * records) & (records > 0))


def _are_in(released: Coded, original: Coded, expected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Flags of the expected values of a released column; all of them if the original has another type."""
    if released.values.type != original.values.type:
        return np.ones(released.size, dtype=bool)
    found = pc.is_in(released.values, value_set=original.values.filter(pa.array(expected)))
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def count_classes(
    table: Table, columns: Sequence[Coded], expected: NDArray[np.bool_], person: str | None
) -> tuple[int, int]:
    """The smallest class by released columns that holds an expected record, and the people who are alone."""
    classes, sizes = class_numbers(pack(columns))
    is_expected = np.zeros(sizes.size, dtype=bool)
    is_expected[classes[expected]] = True
    if person is not None:
        (whose,) = encode(table, [person])
        sizes = np.bincount(distinct_values(classes.astype(np.int64) * whose.size + whose.codes) // whose.size)
    sizes = sizes[is_expected]
    return int(sizes.min(initial=table.rows)), int(np.count_nonzero(sizes == 1))
