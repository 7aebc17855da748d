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
from incrowd._support.distinct import count_numbers
from incrowd.backends import encode
from incrowd.tables.roles.column_role import SuggestedRole
from incrowd.tables.roles.names import find_topics
from incrowd.tables.table import Table

_FEWEST = 20  # values that several rows share, at least
_MOST = 50  # rows that share one value, at most
_IN_HOUSEHOLD = 8  # rows that share one value, up to which they may be a household
_LINKED = 0.2  # share of the filled rows that must share their value with other rows
_CLIMBS = 0.9  # share of the steps from row to row that must be +1, not counting those where the count restarts
# exact amounts; "shared" amounts have 2 to _IN_HOUSEHOLD rows, "common" ones more rows, "single" ones one row
_MONEY = {"income", "wealth and spending"}  # topics in which whole amounts may link rows
_CENTS = 2  # decimals from which amounts of any topic may link rows
_DIGITS = 5  # decimals that are tried: 0 to 4
_ROUND = 5  # amounts that are multiples of this many smallest units are round, and are skipped
_NEIGHBOURS = 5  # smallest units apart, up to which two amounts are near
_TIMES_NEAR = 10  # pairs of rows with equal amounts for each pair with near amounts (on average), at least
_FEW_COMMON = 0.02  # common for each shared amount, above which single amounts are counted too
_MANY_COMMON = 0.4  # common for each shared amount, above which the column is a tariff
_SHARED_FOR_SINGLE = {
    True: 0.7,
    False: 1.5,
}  # shared for each single amount, at least; False: whole amounts, some common
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
    candidates = [one for one in columns if _may_link(one) and not _is_share(table, one)]
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


def is_numbering(table: Table, one: SuggestedRole) -> bool:
    """Whether the cells of a column are texts or whole numbers, as numbers of people and households are.

    Probabilities, logarithms and amounts with cents are not, although the members of a household share them.

    >>> from incrowd.tables import read_table, suggest_roles
    >>> table = read_table({"a": [7.0, 8.0, None], "b": [0.1, 2.0, 3.0], "c": ["k1", "k2", "k3"]})
    >>> [is_numbering(table, one) for one in suggest_roles(table)]
    [True, False, True]
    """
    if one.kind != "number":
        return True
    values = _values(table, one)
    return bool(np.array_equal(np.floor(values), values))


def may_be_households(one: SuggestedRole) -> bool:
    """Whether few enough rows share a value for them to be a household.

    >>> from incrowd.tables import read_table, suggest_roles
    >>> [may_be_households(one) for one in suggest_roles(read_table({"a": [1.5] * 9, "b": [1, 2, 3] * 3}))]
    [False, True]
    """
    return _each(one) <= _IN_HOUSEHOLD


def is_of_home(one: SuggestedRole) -> bool:
    """Whether the name of a column says that it holds amounts of a household, which all who live there share.

    >>> from incrowd.tables import read_table, suggest_roles
    >>> [is_of_home(one) for one in suggest_roles(read_table({"household_income": [1, 2, 2], "income": [1, 2, 2]}))]
    [True, False]
    """
    return one.topic in _MONEY and any(found.topic == "household" for found in find_topics(one.column))


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
    if starts.size < _FEWEST or rows.size > _IN_HOUSEHOLD * starts.size:
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


def shares_exact_amounts(table: Table, one: SuggestedRole) -> bool:
    """True if groups of a few rows share an exact amount, far more often than amounts nearly agree.

    Round amounts are skipped, because many people state them; so are common amounts, which more rows share than a
    household has. Whole amounts are used if the column is about money. Wages and tariffs must not be taken for
    household incomes. They have many common amounts. If there are some common amounts, or few shared ones, the amounts
    of a single row are counted too: most wages occur once, fewer household incomes do.
    """
    if one.kind not in ("number", "integer"):
        return False
    (column,) = encode(table, [one.column])
    amounts = _values(table, one)
    units = amounts * np.array([[10.0**digits] for digits in range(_DIGITS)])
    whole = np.flatnonzero(np.all(np.abs(units - np.rint(units)) < 1e-6, axis=1))
    if not whole.size or np.abs(units[whole[0]]).max() >= 2**53:
        return False
    has_cents = whole[0] >= _CENTS
    if not has_cents and (one.topic not in _MONEY or whole[0] > 0):
        return False
    order = np.argsort(amounts)
    values = np.rint(units[whole[0]][order]).astype(np.int64)
    times = np.bincount(column.codes, minlength=column.size)[: column.filled_size][order]
    values, times = values[values % _ROUND != 0], times[values % _ROUND != 0]
    few = np.where(times <= _IN_HOUSEHOLD, times, 0)
    near = 0
    for apart in range(1, _NEIGHBOURS + 1):
        place = np.minimum(np.searchsorted(values, values + apart), values.size - 1)
        near += int(np.sum(few * few[place] * (values[place] == values + apart)))
    equal = int(np.sum(few * (few - 1)))
    if equal < max(_FEWEST, _TIMES_NEAR * near / _NEIGHBOURS) or few[few > 1].sum() < _LINKED * few.sum():
        return False
    single, shared, common = (int(np.count_nonzero(which)) for which in (few == 1, few > 1, times > _IN_HOUSEHOLD))
    is_unsure = shared < _FEWEST or common > _FEW_COMMON * shared
    shared_for_single = _SHARED_FOR_SINGLE[bool(has_cents or not common)]
    is_tariff = common > _MANY_COMMON * shared or (is_unsure and shared < shared_for_single * single)
    return not is_tariff


def _may_link(one: SuggestedRole) -> bool:
    """True if a column has many values of a few rows each, and is not about something that many people share.

    Ranges and sets are shared by a class, whose members are alike by construction.
    """
    is_open = (
        one.role in ("other", "sensitive", "identifier", "person") and one.kind != "nested" and not one.generalised
    )
    return is_open and one.distinct >= _FEWEST and 1 < _each(one) <= _MOST


def _is_share(table: Table, one: SuggestedRole) -> bool:
    """True for probabilities and shares: decimals from 0 to 1, which a stratum has and no person."""
    return one.kind == "number" and bool(np.all((_values(table, one) >= 0) & (_values(table, one) <= 1)))


def _values(table: Table, one: SuggestedRole) -> NDArray[np.float64]:
    """The distinct numbers of a column, in ascending order."""
    (column,) = encode(table, [one.column])
    return np.asarray(column.values.slice(0, column.filled_size).cast("float64").to_numpy(zero_copy_only=False))


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
    if rows.size > _IN_HOUSEHOLD * starts.size:
        return None
    if any(_independent_pairs(list(constant.values()))):
        return tuple(constant)
    return () if all(topics[name] == "area" for name in constant) else None  # no amount is computed from an area


def _linked_groups(codes: _Codes, values: int) -> tuple[_Codes, _Codes]:
    """Rows that share their value with few others, sorted by value, and the start of each value; none if too few do."""
    sizes = np.bincount(codes[codes < values], minlength=values)
    shared = (sizes > 1) & (sizes <= _MOST)
    linked = int(sizes[shared].sum())
    if linked < _LINKED * np.count_nonzero(codes < values):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    if linked > _ROWS:  # a run of values, so that neighbours stay neighbours
        shared &= np.cumsum(np.where(shared, sizes, 0)) <= _ROWS
    rows = np.flatnonzero(np.append(shared, False)[np.minimum(codes, values)])
    rows = rows[np.argsort(codes[rows], kind="stable")]
    return rows, np.flatnonzero(np.diff(codes[rows], prepend=-1))


def _usual_values(codes: _Codes, starts: _Codes) -> tuple[_Codes, float]:
    """The commonest code in each group, and the number of neighbours in a group that differ, in random order.

    In random order, n − Σ c²/n of n neighbours differ, where c rows have each code.
    """
    width = int(codes.max(initial=0)) + 1
    sizes = np.diff(starts, append=codes.size)
    cells, counts = count_numbers(np.repeat(np.arange(starts.size), sizes) * width + codes)
    group = cells // width
    order = np.lexsort((cells, -counts, group))
    usual = cells[order[np.flatnonzero(np.diff(group, prepend=-1))]] % width
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
