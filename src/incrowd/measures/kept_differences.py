"""Kept numbers whose difference tells a coarsened column: two incomes differ only for people who work.

Which of two columns is larger, or whether they are equal, is compared with the column, as one kept column would be. One
of the two may be in thousands.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.measures.auxiliary import count_with_auxiliary
from incrowd.measures.columns_together import read_quantities, read_released
from incrowd.measures.compared_release import ComparedRelease, one_of_each
from incrowd.measures.determination import Determination, determination
from incrowd.measures.quantities import Floats, Quantity
from incrowd.measures.recovering_columns import RecoveringColumn, RecoveringValues
from incrowd.measures.telling_values import count_by_telling_values
from incrowd.tables import read_table

_VALUES = 20  # different values of each kept number, at least
_FEW = 10  # values of the coarsened column, at most: a difference has three signs
_MOST_PAIRS = 500  # pairs of columns that are looked at
_SAMPLE = 5_000  # records that are compared first
_EQUAL = 1e-4  # difference of numbers that count as equal, as a share of their usual size: rounded thousands
_MISSING = 3  # the code of a difference with a missing number


def facts_of_differences(kept: Sequence[Coded], release: ComparedRelease) -> Iterator[RecoveringColumn]:
    """Find pairs of kept numbers whose difference gives back a coarsened quasi-identifier of few values by its sign.

    Args:
        kept: the columns of the original that are released unchanged; their rows must be in random order.
        release: the protected table beside its original.

    Yields:
        For every pair that makes classes smaller, the fact of the quasi-identifier that it tells best; further pairs
        with the column that it names for removal are left out.
    """
    targets = [one for one in release.coarsened if one.filled_size <= _FEW]
    numbers = read_quantities([one for one in kept if one.size >= _VALUES]) if targets else []
    coded = {one.name: one for one in kept}
    removed = set[str]()
    for one, other in itertools.islice(itertools.combinations(numbers, 2), _MOST_PAIRS):
        if not removed.isdisjoint((one.name, other.name)):
            continue
        scales = _scales(one, other)
        if scales is None:
            continue
        signs = _signs(one, other, scales)
        found = [(target, told) for target in targets if (told := _tell(signs, target, release.whose)) is not None]
        if not found:
            continue
        released = read_released(release.table, [coded[one.name], coded[other.name]], [one, other])
        if len(released) < 2:
            continue
        after = _signs(released[0], released[1], scales)
        named = release.to_remove([one.name, other.name])
        further = one.name if named == other.name else other.name
        facts = [_fact(named, further, signs, after, target, told, release) for target, told in found]
        fact = min(facts, key=lambda each: (each.k, -each.uniques))
        if fact.undoes:
            removed.add(named)
            yield fact


def _scales(one: Quantity, other: Quantity) -> tuple[float, float] | None:
    """The power of ten that brings the first column to the size of the second, and that size; None without any."""
    sizes = [float(np.nanmedian(np.abs(each.places))) for each in (one, other)]
    if not all(0 < size < np.inf for size in sizes):
        return None
    return float(10.0 ** np.round(np.log10(sizes[1] / sizes[0]))), sizes[1]


def _signs(one: Quantity, other: Quantity, scales: tuple[float, float]) -> NDArray[np.int64]:
    """Whether the first number of each record is smaller than the second (0), equal (1) or larger (2)."""
    difference: Floats = one.at(slice(None)) * scales[0] - other.at(slice(None))
    is_missing = np.isnan(difference)
    signs = np.sign(np.where(np.abs(difference) <= _EQUAL * scales[1], 0.0, difference))
    return np.where(is_missing, _MISSING, np.where(is_missing, 0, signs) + 1).astype(np.int64)


def _tell(signs: NDArray[np.int64], target: Coded, whose: Coded | None) -> Determination | None:
    """Determination of a column by the signs; None if they do not give it away. A sample of rows is compared first."""
    rows = np.flatnonzero((signs != _MISSING) & target.is_filled)
    for some in (rows[:_SAMPLE], rows) if rows.size > _SAMPLE and whose is None else (rows,):
        codes = Coded("", signs[some], pa.nulls(_MISSING)), Coded("", target.codes[some], target.values)
        if whose is not None:
            single = one_of_each(Coded("", whose.codes[some], whose.values), codes)
            codes = (
                Coded("", codes[0].codes[single], codes[0].values),
                Coded("", codes[1].codes[single], codes[1].values),
            )
        told = determination(codes[0].codes, codes[1].codes)
        if not told.gives_away:
            return None
    return told


def _fact(
    column: str,
    other: str,
    signs: NDArray[np.int64],
    released: NDArray[np.int64],
    target: Coded,
    told: Determination,
    release: ComparedRelease,
) -> RecoveringColumn:
    """The fact of two columns: the classes for an attacker who looks at the signs of their difference."""
    name = f"difference of {column} and {other}"  # longer than each of the columns, so that none has this name
    persons = [] if release.person is None or release.person in release.names else [release.person]
    table = read_table(release.table.to_arrow([*release.names, *persons]).append_column(name, pa.array(released)))
    shares = told.given_away, told.by_chance
    if not told.tells_nearly_all:
        coded = Coded(name, signs, pa.array(range(_MISSING + 1)))
        counted = count_by_telling_values(coded, target, told.telling, replace(release, table=table))
        if counted is not None:
            return RecoveringValues(column, target.name, *shares, *counted, release.k, (other,))
    with_it = count_with_auxiliary(table, release.names, [name], person=release.person)
    return RecoveringColumn(column, target.name, *shares, with_it.k, with_it.uniques, release.k, (other,))
