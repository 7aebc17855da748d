"""Columns that link rows of one person or household, recognised from the other cells of these rows.

People with several records share more than a number: their sex, their birth, their place of residence. So a column with
very many values, each in a few rows, links people if other columns are (nearly) constant among the rows that share a
value, far beyond chance.

Two other kinds of columns do this too, and are excluded. Codes of places or illnesses: their neighbouring codes agree
as well, which numbers of people do not. Columns computed from others, as a body mass index follows from height and
weight: no two of their values agree in all of the other columns.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.chance import NEARLY_ALL, OF_CHANCE, is_beyond_chance
from incrowd._support.distinct import count_numbers, run_starts
from incrowd.backends import encode
from incrowd.tables.roles.amounts import IN_HOUSEHOLD, LINKED, is_of_home, is_share, shares_exact_amounts
from incrowd.tables.roles.column_role import SuggestedRole
from incrowd.tables.table import Table

_FEWEST = 20  # values that several rows share, at least
_MOST = 50  # rows that share one value, at most
_CLIMBS = 0.9  # share of the steps from row to row that must be +1, not counting those where the count restarts
_ROWS = 20_000  # rows that are compared
_TRIED = 60  # columns that may link rows, and attributes that are compared for each; those of people first
_CELLS, _FEW = 20_000_000, 8  # cells of attributes in memory at once, and attributes that are always compared
_HALF = 0.5  # share of the errors of chance, up to which two columns count as related
_AT_HOME = 0.75  # share of the disagreement of chance, up to which people with one household income live together
_EXPECTED = 10  # pairs of values that must agree by chance for a test of computed columns
_DIFFER = 0.5  # share of the disagreement of chance, from which values count as unrelated
_OF_A_PERSON = {"sex", "birth", "age", "ethnicity", "religion", "marital status"}  # topics that are constant

_Codes = NDArray[np.int64]


def can_compare_rows(table: Table) -> bool:
    """True if the rows of a table are here; those of a cluster are not fetched to compare them with each other."""
    return table.backend.rows_are_local


def find_linked_rows(table: Table, columns: Sequence[SuggestedRole]) -> tuple[str, tuple[str, ...]] | None:
    """Find a column that links rows of one person or household, and the columns that show it; None if there is none.

    The columns are empty if rows share exact amounts that hardly anybody nearly shares, or amounts of households.

    Args:
        columns: what is suggested for all its columns; known attributes of people and weights are not tried.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> draw = np.random.default_rng(0)
    >>> code, sex, home = draw.permutation(200), draw.integers(1, 3, 200), draw.integers(0, 9, 200)
    >>> rows = {"x": np.repeat(code, 4), "sex": np.repeat(sex, 4), "home": np.repeat(home, 4)}
    >>> table = read_table(rows | {"answer": draw.integers(0, 5, 800)})
    >>> find_linked_rows(table, suggest_roles(table))
    ('x', ('sex', 'home'))
    """
    if not can_compare_rows(table):
        return None
    candidates = [one for one in columns if _may_link(one) and not is_share(table, one)]
    attributes = [one for one in columns if one.distinct >= 2 and one.kind != "nested"]
    attributes.sort(key=lambda one: one.topic not in _OF_A_PERSON)
    attributes = attributes[: max(_CELLS // max(table.rows, 1), _FEW)]
    codes = cache(lambda name: encode(table, [name])[0].codes)
    for linking in candidates[:_TRIED]:
        others = [one for one in attributes if one.column != linking.column and 2 * one.distinct <= linking.distinct]
        shown = _shown_by(table, linking, others[:_TRIED], codes)
        if shown or (shown is not None and shares_exact_amounts(table, linking)):
            return linking.column, shown
        if is_of_home(linking) and groups_agree(table, linking.column, columns, most=_AT_HOME):
            return linking.column, ()
    return None


def may_be_households(one: SuggestedRole) -> bool:
    """Whether few enough rows share a value for them to be a household.

    >>> from incrowd.tables import read_table, suggest_roles
    >>> [may_be_households(one) for one in suggest_roles(read_table({"a": [1.5] * 9, "b": [1, 2, 3] * 3}))]
    [False, True]
    """
    return _each(one) <= IN_HOUSEHOLD


def groups_agree(table: Table, name: str, columns: Sequence[SuggestedRole], *, most: float | None = None) -> bool:
    """Whether rows that share a value of a column are as few as a household, and nearly always agree in another column.

    Args:
        most: the largest disagreement, as a share of the disagreement by chance, if several households may share a
            value. None: rows must nearly always agree.

    >>> from incrowd import read_table
    >>> from incrowd.tables import suggest_roles
    >>> draw = np.random.default_rng(0)
    >>> group, area = draw.permutation(200), draw.integers(0, 9, 200)
    >>> table = read_table({"group": np.repeat(group, 4), "area": np.repeat(area, 4)})
    >>> groups_agree(table, "group", suggest_roles(table))
    True
    """
    if not can_compare_rows(table):
        return False
    (column,) = encode(table, [name])
    rows, starts = _linked_groups(np.asarray(column.codes, dtype=np.int64), column.filled_size)
    if starts.size < _FEWEST or rows.size > IN_HOUSEHOLD * starts.size:
        return False
    others = [one for one in columns if one.distinct >= 2 and one.kind != "nested" and one.column != name]
    for one in [one for one in others if 2 * one.distinct <= column.filled_size][:_TRIED]:
        codes = np.asarray(encode(table, [one.column])[0].codes[rows], dtype=np.int64)
        usual, errors = _usual_values(codes, starts)
        pairs = codes.size - starts.size
        by_chance = pairs * _disagreement(codes)
        is_alike = _is_constant(pairs, errors, by_chance) if most is None else is_beyond_chance(errors, by_chance, most)
        if is_alike and _differs_between(usual):
            return True
    return False


def find_runs(table: Table, columns: Sequence[SuggestedRole]) -> tuple[str, int, str] | None:
    """Find a number or a time that increases from row to row and restarts, while an attribute of people stays the same.

    Returns:
        The column, the number of restarts, and the attribute; None if there is no such column.
    """
    if not table.backend.keeps_row_order:
        return None
    codes_of = cache(lambda name: np.asarray(encode(table, [name])[0].codes, dtype=np.int64))
    attributes = [one.column for one in columns if one.topic in _OF_A_PERSON and one.distinct >= 2]
    counters = [one for one in columns if one.kind in ("integer", "date or time") and 1 < one.distinct <= one.rows / 2]
    for one in counters if attributes else ():
        (column,) = encode(table, [one.column])
        rank = np.empty(column.size, dtype=np.int64)
        rank[pc.array_sort_indices(column.values).to_numpy()] = np.arange(column.size)
        steps = np.diff(rank[column.codes])
        starts = np.flatnonzero(np.append(-1, steps) < 0)
        restarts = starts.size - 1
        if restarts < _FEWEST or np.count_nonzero(steps == 1) < max(_CLIMBS * (steps.size - restarts), restarts):
            continue
        for name in attributes:
            if name != one.column and _is_constant(*_count_errors(codes_of(name), starts)):
                return one.column, restarts, name
    return None


def _may_link(one: SuggestedRole) -> bool:
    """True if a column has many values of a few rows each, and is not about something that many people share.

    Ranges and sets are shared by a class, whose members are alike by construction.
    """
    is_open = (
        one.role in ("other", "sensitive", "identifier", "person") and one.kind != "nested" and not one.generalised
    )
    return is_open and one.distinct >= _FEWEST and 1 < _each(one) <= _MOST


def _each(one: SuggestedRole) -> float:
    """The rows for each value."""
    return (one.rows - one.nulls) / max(one.distinct, 1)


def _shown_by(
    table: Table, linking: SuggestedRole, others: Sequence[SuggestedRole], codes_of: Callable[[str], NDArray[Any]]
) -> tuple[str, ...] | None:
    """The columns that show that rows are linked: one about a person, or two that do not follow from each other.

    None if the agreeing columns do not show it, because the linking column may be computed from them.
    """
    (column,) = encode(table, [linking.column])
    rows, starts = _linked_groups(np.asarray(column.codes, dtype=np.int64), column.filled_size)
    if starts.size < _FEWEST:
        return ()
    constant: dict[str, _Codes] = {}
    agree = False
    for one in others:
        codes = np.asarray(codes_of(one.column)[rows], dtype=np.int64)
        usual, errors = _usual_values(codes, starts)
        pairs = codes.size - starts.size
        by_chance = pairs * _disagreement(codes)
        agree |= errors <= _HALF * by_chance
        if _is_constant(pairs, errors, by_chance) and _differs_between(usual):
            constant[one.column] = usual
    if not constant:
        return None if agree else ()
    if _follows_from(list(constant.values())):
        return None
    topics = {one.column: one.topic for one in others}
    if any(topics[name] in _OF_A_PERSON for name in constant):
        return tuple(constant)
    if rows.size > IN_HOUSEHOLD * starts.size:
        return None
    if any(_independent_pairs(list(constant.values()))):
        return tuple(constant)
    return () if all(topics[name] == "area" for name in constant) else None  # no amount is computed from an area


def _linked_groups(codes: _Codes, values: int) -> tuple[_Codes, _Codes]:
    """Rows that share their value with few others, sorted by value, and the start of each value; none if too few do."""
    sizes = np.bincount(codes[codes < values], minlength=values)
    shared = (sizes > 1) & (sizes <= _MOST)
    linked = int(sizes[shared].sum())
    if linked < LINKED * np.count_nonzero(codes < values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if linked > _ROWS:  # a run of values, so that neighbours stay neighbours
        shared &= np.cumsum(np.where(shared, sizes, 0)) <= _ROWS
    rows = np.flatnonzero(np.append(shared, False)[np.minimum(codes, values)])
    rows = rows[np.argsort(codes[rows], kind="stable")]
    return rows, run_starts(codes[rows])


def _usual_values(codes: _Codes, starts: _Codes) -> tuple[_Codes, float]:
    """The commonest code in each group, and the number of neighbours in a group that differ, in random order.

    In random order, n − Σ c²/n of n neighbours differ, where c rows have each code.
    """
    width = int(codes.max(initial=0)) + 1
    sizes = np.diff(starts, append=codes.size)
    cells, counts = count_numbers(np.repeat(np.arange(starts.size), sizes) * width + codes)
    group = cells // width
    order = np.lexsort((cells, -counts, group))
    usual = cells[order[run_starts(group)]] % width
    return usual, float(codes.size - np.sum(counts * (counts / sizes[group])))


def _count_errors(codes: _Codes, starts: _Codes) -> tuple[int, float, float]:
    """Count neighbouring rows that share a value, those of them that differ, and the number expected by chance."""
    first = np.zeros(codes.size, dtype=bool)
    first[starts] = True
    differ = (codes[1:] != codes[:-1])[~first[1:]]
    return differ.size, float(np.count_nonzero(differ)), differ.size * _disagreement(codes)


def _is_constant(pairs: int, errors: float, by_chance: float) -> bool:
    """True if rows that share a value agree nearly always and far beyond chance."""
    return errors <= (1 - NEARLY_ALL) * pairs and bool(is_beyond_chance(errors, by_chance))


def _differs_between(values: _Codes) -> bool:
    """True if neighbouring values of the linking column differ about as often as any two do."""
    return float(np.mean(values[1:] != values[:-1])) >= _DIFFER * _disagreement(values)


def _follows_from(columns: Sequence[_Codes]) -> bool:
    """True if the linking column is computed from other columns: no two of its values agree in all of them.

    The columns that agree most often are used, as long as chance makes several values agree in all of them.
    """
    size = columns[0].size
    expected, joint = size * (size - 1) / 2, np.zeros(size, dtype=np.int64)
    for codes in sorted(columns, key=_disagreement):
        if expected * (1 - _disagreement(codes)) < _EXPECTED:
            break
        expected *= 1 - _disagreement(codes)
        joint = np.unique(joint * (int(codes.max()) + 1) + codes, return_inverse=True)[1].astype(np.int64)
    times = np.bincount(joint)
    return bool(np.sum(times * (times - 1)) / 2 < OF_CHANCE * expected)


def _disagreement(codes: _Codes) -> float:
    """The chance that two rows drawn at random differ."""
    return float(1 - np.sum((np.bincount(codes) / codes.size) ** 2))


def _independent_pairs(columns: Sequence[_Codes]) -> Iterator[bool]:
    """For each pair of columns, True if neither determines the other: half of the disagreement of chance remains."""
    for one, other in itertools.combinations(columns, 2):
        yield all(
            _disagreement_given(*pair) >= _DIFFER * _disagreement(pair[1]) for pair in ((one, other), (other, one))
        )


def _disagreement_given(one: _Codes, other: _Codes) -> float:
    """The chance that two rows differ in `other` although they agree in `one`, averaged over rows."""
    cells = np.unique(one * (int(other.max()) + 1) + other, return_counts=True)
    sizes = np.bincount(one)
    group = cells[0] // (int(other.max()) + 1)
    agreeing = np.bincount(group, weights=cells[1] * (cells[1] - 1.0), minlength=sizes.size)
    pairs = np.maximum(sizes - 1.0, 1.0)
    return float(np.sum(np.where(sizes > 1, sizes - agreeing / pairs, 0)) / max(int(sizes[sizes > 1].sum()), 1))
