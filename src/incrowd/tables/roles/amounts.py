"""Columns of amounts: which number nobody, which are of a household, and which rows share to the last digit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import encode
from incrowd.backends.arrow_columns import as_floats
from incrowd.tables.roles.column_role import SuggestedRole
from incrowd.tables.roles.names import find_topics
from incrowd.tables.table import Table

_FEWEST = 20  # amounts that several rows share, at least
IN_HOUSEHOLD = 8  # rows that share one value, up to which they may be a household
LINKED = 0.2  # share of the filled rows that must share their value with other rows
# exact amounts; "shared" amounts have 2 to IN_HOUSEHOLD rows, "common" ones more rows, "single" ones one row
_MONEY = {"income", "wealth and spending"}  # topics in which whole amounts may link rows
_CENTS = 2  # decimals from which amounts of any topic may link rows
_DIGITS = 5  # decimals that are tried: 0 to 4
_ROUND = 5  # amounts that are multiples of this many smallest units are round, and are skipped
_NEIGHBOURS = 5  # smallest units apart, up to which two amounts are near
_TIMES_NEAR = 10  # pairs of rows with equal amounts for each pair with near amounts (on average), at least
_FEW_COMMON = 0.02  # common for each shared amount, above which single amounts are counted too
_MANY_COMMON = 0.4  # common for each shared amount, above which the column is a tariff
# shared for each single amount, at least; False: whole amounts, some common
_SHARED_FOR_SINGLE = {True: 0.7, False: 1.5}


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


def is_of_home(one: SuggestedRole) -> bool:
    """Whether the name of a column says that it holds amounts of a household, which all who live there share.

    >>> from incrowd.tables import read_table, suggest_roles
    >>> [is_of_home(one) for one in suggest_roles(read_table({"household_income": [1, 2, 2], "income": [1, 2, 2]}))]
    [True, False]
    """
    return one.topic in _MONEY and any(found.topic == "household" for found in find_topics(one.column))


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
    times = column.tally[: column.filled_size][order]
    values, times = values[values % _ROUND != 0], times[values % _ROUND != 0]
    few = np.where(times <= IN_HOUSEHOLD, times, 0)
    near = 0
    for apart in range(1, _NEIGHBOURS + 1):
        place = np.minimum(np.searchsorted(values, values + apart), values.size - 1)
        near += int(np.sum(few * few[place] * (values[place] == values + apart)))
    equal = int(np.sum(few * (few - 1)))
    if equal < max(_FEWEST, _TIMES_NEAR * near / _NEIGHBOURS) or few[few > 1].sum() < LINKED * few.sum():
        return False
    single, shared, common = (int(np.count_nonzero(which)) for which in (few == 1, few > 1, times > IN_HOUSEHOLD))
    is_unsure = shared < _FEWEST or common > _FEW_COMMON * shared
    shared_for_single = _SHARED_FOR_SINGLE[bool(has_cents or not common)]
    is_tariff = common > _MANY_COMMON * shared or (is_unsure and shared < shared_for_single * single)
    return not is_tariff


def is_share(table: Table, one: SuggestedRole) -> bool:
    """True for probabilities and shares: decimals from 0 to 1, which a stratum has and no person."""
    return one.kind == "number" and bool(np.all((_values(table, one) >= 0) & (_values(table, one) <= 1)))


def _values(table: Table, one: SuggestedRole) -> NDArray[np.float64]:
    """The distinct numbers of a column, in ascending order."""
    (column,) = encode(table, [one.column])
    return as_floats(column.values.slice(0, column.filled_size))
