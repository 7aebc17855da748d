"""Kept columns that functionally depend on one or two quasi-identifiers, whatever the function is.

An attacker who knows a person's age and region knows the tariff that follows from them. Among the released records
whose ranges cover both, only those with that tariff count, so the class is smaller. The dependency must hold for nearly
all records, far beyond chance. It may leave a few values: the rates of the places in a village.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from incrowd._support.chance import NEARLY_ALL
from incrowd._support.distinct import run_starts
from incrowd.backends import Coded
from incrowd.measures.common_coding import are_in
from incrowd.measures.compared_release import ComparedRelease, one_of_each
from incrowd.measures.determination import Determination, UsualValues, determination, usual_values
from incrowd.measures.recovering_columns import ComputedColumn, FollowingColumn

_Codes = NDArray[np.int64]

_SAMPLE = 1_000  # rows on which a dependency is tested first
_ENOUGH = 20  # errors expected by chance in these rows, from which they suffice to reject a dependency
_HOPELESS = 0.6  # share of the errors of chance, above which the dependency is rejected
ROWS_FOR_EACH = 3  # rows for each combination of values, on average, below which a pair of columns is skipped
_ERROR_BITS = 0.29  # entropy in bits of which records are not predicted: that of a coin with chances 0.95 and 0.05
_COMPARED = 20_000  # rows on which few values are looked for first
_VALUES_FOR_EACH = 20  # values of a quasi-identifier for each part of the rows, below which all rows are compared
_FUNCTION = 0.999  # share of the records that follow, from which a column is a function of others
_EXPECTED_FROM = 0.9  # share of the records with a value that are predicted, from which an attacker expects the value


def facts_of_following_columns(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[FollowingColumn]:
    """Find kept columns that follow from one or two quasi-identifiers, at least one of them coarsened.

    Args:
        kept: the columns of the original that are released unchanged.
        release: the protected table beside its original. Records with a missing cell of a secret are left out.

    Yields:
        A fact for every column that makes the smallest class smaller.
    """
    bits = [entropy(one) for one in release.known]
    for column in kept:
        rows = column.is_filled if column.name in release.secrets and column.has_null else slice(None)
        column, *filled = (one.take(rows) for one in (column, *release.known))
        whose = None if release.whose is None else release.whose.take(rows)
        dependency = _find_dependency(column, filled, release.coarse, bits, whose)
        if dependency is None:
            continue
        after = release.column(column.name)
        expected = are_in(after, column, dependency.expected)[after.codes]
        counted = release.count_with(after, expected)
        first, *others = dependency.columns
        kind = ComputedColumn if dependency.is_function else FollowingColumn
        fact = kind(column.name, first, *dependency.shares, *counted, release.k, tuple(others))
        if fact.undoes:
            yield fact


class _Dependency(NamedTuple):
    """The columns that a column follows from.

    Attributes:
        columns: the names of these columns.
        shares: the shares of records told and by chance.
        expected: mask of the values that an attacker expects.
        is_function: whether the column is a function of these columns, but for a few altered cells.
    """

    columns: tuple[str, ...]
    shares: tuple[float, float]
    expected: NDArray[np.bool_]
    is_function: bool = False


def _find_dependency(
    column: Coded, known: Sequence[Coded], coarse: Collection[str], bits: Sequence[float], whose: Coded | None
) -> _Dependency | None:
    """The dependency of a column on quasi-identifiers: of a single value, or else of few values.

    Several sets of quasi-identifiers may tell the column. All of them are looked at, so that their order changes
    nothing. The one that is named is a function if any is, and has the fewest columns, of which it tells most.
    """
    dependencies: list[_Dependency] = []
    for columns, determined in find_telling(column, known, coarse, bits, whose):
        names = tuple(one.name for one in columns)
        if any(one.is_function and {*one.columns} < {*names} for one in dependencies):
            continue  # more columns than a function needs
        shares = determined.told, determined.by_chance
        *joint, told = _of_different_people([*columns, column], whose)
        dependencies.append(_Dependency(names, shares, _expected(joint, told), determined.told >= _FUNCTION))
    if dependencies:
        named = max(dependencies, key=lambda one: (one.is_function, -len(one.columns), one.shares))
        return named._replace(expected=np.any([one.expected for one in dependencies], axis=0))
    for name in (one.name for one in known if one.name in coarse):
        one, told = _of_different_people([*(one for one in known if one.name == name), column], whose)
        tally = np.bincount(told.codes[told.is_filled], minlength=told.size)
        if _leaves_few(one, told, tally, sample=True):
            found = _leaves_few(one, told, tally)
            if found is not None:
                is_usual = np.isin(join_codes([one, told]), found.cells)
                expected = _are_predicted(told, is_usual, one.codes)
                return _Dependency((one.name,), (found.covered, found.elsewhere), expected)
    return None


def _leaves_few(one: Coded, column: Coded, tally: NDArray[np.int64], *, sample: bool = False) -> UsualValues | None:
    """The usual values of a column for each value of a quasi-identifier, if they are few.

    In a `sample`, only the records of some values of the quasi-identifier are compared.
    """
    rows = one.is_filled & column.is_filled
    step = one.codes.size // _COMPARED
    if sample and step > 1 and _VALUES_FOR_EACH * step < one.size:
        rows &= one.codes % step == 0
    if not rows.any():
        return None
    found = usual_values(one.codes[rows], column.codes[rows], tally)
    return found if found.are_few else None


def find_telling(
    column: Coded,
    known: Sequence[Coded],
    coarse: Collection[str],
    bits: Sequence[float],
    whose: Coded | None = None,
) -> Iterator[tuple[tuple[Coded, ...], Determination]]:
    """Yield each set of one or two quasi-identifiers, at least one of them coarsened, that determines a column.

    Args:
        column: the column that may follow from others.
        known: the quasi-identifiers.
        coarse: the names of those that were made coarser.
        bits: the entropy of each quasi-identifier.
        whose: the person of each record, if people have several records.
    """
    alone = [(one,) for one in known if one.name in coarse]
    pairs = (pair for pair in _pairs(known, column, bits) if any(one.name in coarse for one in pair))
    for columns in itertools.chain(alone, pairs):
        determined = _determination(columns, column, whose)
        if determined is not None and determined.tells_nearly_all:
            yield columns, determined


def _pairs(columns: Sequence[Coded], target: Coded, bits: Sequence[float]) -> Iterator[tuple[Coded, Coded]]:
    """Pairs of columns with few enough combinations for the rows, and with enough entropy (`bits`) for the target."""
    most = target.codes.size / ROWS_FOR_EACH
    # Fano's inequality: the target's entropy that may remain if 1 − NEARLY_ALL of the records are not predicted
    needed = entropy(target) - (1 - NEARLY_ALL) * np.log2(max(target.size, 2)) - _ERROR_BITS
    for one, other in itertools.combinations(range(len(columns)), 2):
        if min(bits[one], bits[other]) > 0 and bits[one] + bits[other] >= needed:
            pair = columns[one], columns[other]
            if pair[0].size * pair[1].size <= most:
                yield pair


def entropy(column: Coded) -> float:
    """The entropy of a column, in bits."""
    shares = np.bincount(column.codes) / column.codes.size
    shares = shares[shares > 0]
    return float(-np.sum(shares * np.log2(shares)))


def join_codes(columns: Sequence[Coded], rows: slice = slice(None)) -> _Codes:
    """A code for the combination of values in each row."""
    joint = np.asarray(columns[0].codes[rows], dtype=np.int64)
    for one in columns[1:]:
        joint = joint * one.size + one.codes[rows]
    return joint


def _determination(columns: Sequence[Coded], target: Coded, whose: Coded | None) -> Determination | None:
    """Determination of a column by others; None if a sample of rows already rejects the dependency."""
    step = max(target.codes.size // _SAMPLE, 1)
    if step > 1:
        some = slice(None, None, step)
        sampled = determination(join_codes(columns, some), np.asarray(target.codes[some]))
        errors, of_chance = (sampled.records * (1 - share) for share in (sampled.told, sampled.by_chance))
        if errors > _HOPELESS * of_chance and of_chance >= _ENOUGH:
            return None
    *columns, target = _of_different_people([*columns, target], whose)
    return determination(join_codes(columns), np.asarray(target.codes))


def _of_different_people(columns: Sequence[Coded], whose: Coded | None) -> list[Coded]:
    """The columns with one record for every person and combination of values: nobody predicts himself."""
    if whose is None:
        return [*columns]
    rows = one_of_each(whose, columns)
    return [one.take(rows) for one in columns]


def _expected(columns: Sequence[Coded], column: Coded) -> NDArray[np.bool_]:
    """Mask of the values of a column that an attacker predicts from other columns, for nearly all records with them."""
    joint, codes = join_codes(columns), np.asarray(column.codes, dtype=np.int64)
    cells, place, counts = np.unique(joint * column.size + codes, return_inverse=True, return_counts=True)
    group = cells // column.size
    starts = run_starts(group)
    most = np.repeat(np.maximum.reduceat(counts, starts), np.diff(starts, append=cells.size))
    follows = (counts == most) & (counts > 1)
    return _are_predicted(column, follows[place], joint)


def _are_predicted(column: Coded, is_predicted: NDArray[np.bool_], joint: _Codes) -> NDArray[np.bool_]:
    """Mask of the values of a column that are predicted for nearly all records with them.

    A record that is alone with what predicts it (`joint`), such as a day of birth, is predicted if both of its
    neighbours have its value.
    """
    is_alone = (np.bincount(joint) == 1)[joint]
    order = np.argsort(joint, kind="stable")
    codes = column.codes[order]
    agrees = np.zeros(codes.size, dtype=bool)
    agrees[1:-1] = (codes[1:-1] == codes[:-2]) & (codes[1:-1] == codes[2:])
    by_neighbours = np.empty_like(agrees)
    by_neighbours[order] = agrees
    predicted = np.bincount(column.codes, np.where(is_alone, by_neighbours, is_predicted), column.size)
    return np.asarray((predicted >= _EXPECTED_FROM * column.tally) & (column.tally > 0))
