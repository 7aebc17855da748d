"""Formulas that hold for part of the records only: the time in a study is the time until death of those who died.

An attacker who knows the days of a person's diagnosis and death computes the time between them, and looks for it among
the records of the class. Sums and differences of two or three columns are looked for. A formula is told from a mere
correlation by its errors: one value of them (zero, or another constant) is far more frequent than any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.measures.common_coding import in_one_code
from incrowd.measures.compared_release import ComparedRelease
from incrowd.measures.quantities import Floats, read_quantity
from incrowd.measures.recovering_columns import RecoveringColumn

_SAMPLE = 500  # records that are compared first
_IN_SAMPLE = 12  # of these, the records with the most frequent error, at least
_TIMES_IN_SAMPLE = 3  # times as many as with the second most frequent error, at least
_SHARE, _RECORDS = 0.05, 30  # share and number of all records that the formula must hold for
_TIMES = 5  # times as many as have the second most frequent error, and as chance gives the most frequent one
_COMMON = 0.2  # share of the records with one value, from which the value proves nothing
_VALUES = 20  # different values of the kept column among these records, at least
_MOST_ALIKE = 0.5  # share of these records that may have one value of a column: more make the column superfluous
_EXPECTED_FROM = 0.5  # share of the records with a kept value that the formula holds for, from which it is looked for
_MOST_FORMULAS = 50_000  # with three columns, above which the third is a quasi-identifier: about five seconds
_DIGITS = 1e9  # steps of a column's usual numbers, to which errors are rounded
_USUAL = 0.99  # share of the numbers that are usual; the others may be wrong entries, or codes such as 9e12
_SIGNS = ((-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0))  # of a quasi-identifier and a third column, beside the kept one


@dataclass(frozen=True, slots=True, eq=False)
class _Number:
    """A column of the original as numbers, NaN for a missing cell and for a value that many share, such as 0.

    Attributes:
        column: the column.
        places: the number of each code.
        values: the number of each record.
        scale: the size of all but its largest numbers.
    """

    column: Coded
    places: Floats
    values: Floats
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class _Formula:
    """A sum or difference of columns that is constant for many records: the first is kept, the second was coarsened.

    Attributes:
        columns: the columns.
        signs: the sign of each.
        holds: mask of the records that the formula holds for.
        share: the share of the records without a missing cell that it holds for.
        by_chance: the share that it holds for if the kept column is in random order.
    """

    columns: tuple[_Number, ...]
    signs: tuple[float, ...]
    holds: NDArray[np.bool_]
    share: float
    by_chance: float


def facts_of_partial_formulas(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[RecoveringColumn]:
    """Find kept numbers and dates that give a coarsened quasi-identifier back for part of the records.

    Args:
        kept: the columns of the original that are released unchanged; their rows must be in random order.
        release: the protected table beside its original.

    Yields:
        For every kept column that makes classes smaller, the fact of the formula that holds for most records.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # sums of extreme numbers overflow; no formula holds for these
        yield from _find_facts(kept, release)


def _find_facts(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[RecoveringColumn]:
    numbers, known = _read(kept), _read(release.known)
    coarsened = [one for one in known if one.column.name in release.coarse]
    few = len(numbers) * len(coarsened) * len(numbers) <= _MOST_FORMULAS
    removed = set[str]()
    for place, one in enumerate(numbers):
        others = [*known, *(numbers[place + 1 :] if few else ())]
        found = [_find(one, limit, [each for each in others if each is not limit]) for limit in coarsened]
        for formula in sorted(itertools.chain.from_iterable(found), key=lambda each: -each.share):
            fact = _fact(formula, kept, release)
            if fact.undoes and removed.isdisjoint(fact.columns):
                removed.add(fact.column)
                yield fact


def _read(columns: Sequence[Coded]) -> list[_Number]:
    """The columns that are numbers or dates of at least as many values as a formula needs."""
    numbers = []
    for column in columns:
        quantity = read_quantity(column) if column.size >= _VALUES else None
        if quantity is not None:
            is_common = column.tally > _COMMON * column.codes.size
            places = np.where(is_common, np.nan, quantity.places)
            values = places[column.codes]
            filled = np.abs(values[~np.isnan(values)])
            numbers.append(_Number(column, places, values, float(np.quantile(filled, _USUAL)) if filled.size else 0.0))
    return numbers


def _find(kept: _Number, limit: _Number, others: Sequence[_Number]) -> Iterator[_Formula]:
    """Find the formulas of a kept column, a coarsened one and, perhaps, a third one."""
    sample = np.flatnonzero(~np.isnan(kept.values + limit.values))[:_SAMPLE]
    for sign in (-1.0, 1.0):
        if _may_hold((kept.values[sample] + sign * limit.values[sample])[np.newaxis], [kept, limit]).any():
            yield from _check((kept, limit), (1.0, sign))
    if not others:
        return
    third = np.array([one.values[sample] for one in others])
    for sign, of_third in _SIGNS:
        errors = kept.values[sample] + sign * limit.values[sample] + of_third * third
        for place in np.flatnonzero(_may_hold(errors, [kept, limit])).tolist():
            yield from _check((kept, limit, others[place]), (1.0, sign, of_third))


def _round(errors: Floats, columns: Sequence[_Number]) -> Floats:
    """Errors in whole steps, so that those of rounding disappear."""
    scale = max(one.scale for one in columns)
    rounded: Floats = np.round(errors / scale * _DIGITS) if scale > 0 else errors
    return rounded


def _may_hold(errors: Floats, columns: Sequence[_Number]) -> NDArray[np.bool_]:
    """For every row of errors, True if one of them is far more frequent than all others."""
    ordered = np.sort(_round(errors, columns), axis=1)
    starts = np.ones(ordered.shape, dtype=bool)
    starts[:, 1:] = ordered[:, 1:] != ordered[:, :-1]  # a missing error is equal to none
    places = np.flatnonzero(starts.ravel())
    lengths = np.diff(places, append=ordered.size)
    row = places // ordered.shape[1]
    most = np.zeros(len(ordered), dtype=np.int64)
    np.maximum.at(most, row, lengths)
    ties = np.bincount(row[lengths == most[row]], minlength=most.size)
    second = np.zeros_like(most)
    np.maximum.at(second, row, np.where(lengths == most[row], 0, lengths))
    second = np.where(ties > 1, most, second)
    return np.asarray((most >= _IN_SAMPLE) & (most >= _TIMES_IN_SAMPLE * second))


def _check(columns: tuple[_Number, ...], signs: tuple[float, ...]) -> Iterator[_Formula]:
    """Yield the formula if it holds for enough of all records, and neither chance nor fewer columns explain it."""
    kept, *others = columns
    rest = np.sum([sign * one.values for sign, one in zip(signs[1:], others, strict=True)], axis=0)
    errors = _round(kept.values + rest, columns)
    filled = ~np.isnan(errors)
    most, second, error = _most_frequent(errors[filled])
    holds = filled & (errors == error)
    shuffled = np.random.default_rng(0).permutation(kept.values[filled])
    by_chance, _, _ = _most_frequent(_round(shuffled + rest[filled], columns))
    records = int(np.count_nonzero(filled))
    if most < max(_RECORDS, _SHARE * records) or most < _TIMES * max(second, by_chance):
        return
    tallies = [np.bincount(one.column.codes[holds]) for one in columns]
    if np.count_nonzero(tallies[0]) >= _VALUES and all(tally.max() <= _MOST_ALIKE * most for tally in tallies):
        yield _Formula(columns, signs, holds, most / records, by_chance / records)


def _most_frequent(errors: Floats) -> tuple[int, int, float]:
    """The numbers of the most and of the second most frequent error, and the most frequent one."""
    if not errors.size:
        return 0, 0, np.nan
    values, counts = np.unique(errors, return_counts=True)
    place = int(counts.argmax())
    return int(counts[place]), int(np.delete(counts, place).max(initial=0)), float(values[place])


def _fact(formula: _Formula, kept: Sequence[Coded], release: ComparedRelease) -> RecoveringColumn:
    """The fact of a formula: the classes for an attacker who knows the sum of the kept columns, and looks for it."""
    names = {column.name for column in kept}
    signs = {one: sign for one, sign in zip(formula.columns, formula.signs, strict=True) if one.column.name in names}
    visible = [one.column for one in signs]
    sums: Floats = np.zeros(formula.holds.size + release.table.rows)
    for (one, sign), released in zip(signs.items(), encode(release.table, [one.name for one in visible]), strict=True):
        sums += sign * np.append(one.places, np.nan)[in_one_code(one.column, released).codes]
    distinct, both = np.unique(_round(sums, formula.columns), return_inverse=True)
    before, after = np.split(both.astype(np.int64), [formula.holds.size])
    groups = distinct.size
    share = np.bincount(before, formula.holds, groups) / np.maximum(np.bincount(before, minlength=groups), 1)
    values = Coded("", after, pa.nulls(groups))
    counted = release.count_with(values, share[after] >= _EXPECTED_FROM)
    to_remove = release.to_remove([one.name for one in visible])
    others = [one.column.name for one in formula.columns if one is not formula.columns[1]]
    return RecoveringColumn(
        to_remove,
        formula.columns[1].column.name,
        formula.share,
        formula.by_chance,
        *counted,
        release.k,
        tuple(name for name in others if name != to_remove),
    )
