"""Disclosure by row order: tests of whether neighbouring rows are more alike than rows in random order.

A table that was sorted by age, or written household by household, keeps that order when ages become ranges and the
household column is removed. Each column is tested with two statistics, which are compared with their exact mean and
variance over all orders of the rows: the number of neighbours with equal values (the runs test of Wald and Wolfowitz),
and the serial correlation of ranks at lag 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from incrowd._support.distinct import distinct_values
from incrowd.backends import Coded, encode, encode_each
from incrowd.measures.released_labels import range_middles
from incrowd.results import Result
from incrowd.special import Floats
from incrowd.tables import Table, read_table

_ERRORS_APART = 4.0  # standard errors above the mean of random orders, from which a statistic is significant
_EFFECT = 0.1  # smallest effect: the excess over the mean, as a share of the largest possible excess
_BYTES_A_ROW = 200  # memory for two columns, one of them read ahead, and for the statistics of one
_BYTES_A_CELL = 40  # memory for a cell if only the first rows are used, which are all held at once
_FEWEST = 8  # rows, below which no order is significant
_TESTS_OF_ALL_ROWS: WeakKeyDictionary[Coded, FollowedColumn] = WeakKeyDictionary()  # cache: the clearer test


@dataclass(frozen=True, slots=True)
class FollowedColumn(Result):
    """A column in which neighbouring rows are more alike than in random order.

    Attributes:
        column: the name of the column.
        by: "equal" if neighbours have equal values, "near" if their values have near ranks.
        seen: the observed statistic: the share of equal neighbours, or the serial correlation of ranks.
        expected: the mean of the statistic over all orders of the rows.
        error: the standard deviation of the statistic over all orders of the rows.
        of_pair: the contribution of one pair of neighbours to the statistic.
    """

    _derived: ClassVar[tuple[str, ...]] = ("errors_apart",)
    column: str
    by: Literal["equal", "near"]
    seen: float
    expected: float
    error: float
    of_pair: float

    @property
    def errors_apart(self) -> float:
        """Number of standard errors between the observed and the expected value.

        By Bernstein's inequality: if few pairs make up the statistic, as for a rare value, its tail is longer.
        """
        excess = self.seen - self.expected
        return excess / math.sqrt(self.error**2 + self.of_pair * max(excess, 0.0) / 3) if self.error else 0.0

    @property
    def is_followed(self) -> bool:
        """True if the order of the rows discloses this column: significantly, and with an effect that matters."""
        room = 1.0 - self.expected
        return self.errors_apart >= _ERRORS_APART and self.seen - self.expected >= _EFFECT * room


def followed_columns(
    table: Table,
    columns: Sequence[str] | None = None,
    person: str | None = None,
    order: NDArray[np.int64] | None = None,
) -> tuple[FollowedColumn, ...]:
    """Find the columns that the order of the rows follows; none in a table whose rows are in random order.

    Args:
        table: a table, or a release with ranges, which are compared by their middles.
        columns: the columns to test. None: all that hold single values.
        person: the column that identifies the person of each record, if people have several records. One random record
            of each person is used. The first records would not do: people with many records come first among them,
            even if all rows are in random order. If rows are in the order of the person column, that order also
            discloses the numbers that random pseudonyms replace.
        order: another order of the rows to test. None: the order of the table.

    Returns:
        The columns that the order follows, the clearest first.

    >>> from incrowd import read_table
    >>> ages = [age for age in range(30, 60) for _ in range(3)]
    >>> sorted_by_age = read_table({"age": ages, "sex": ["f", "m", "m", "f", "f", "m"] * 15})
    >>> [one.column for one in followed_columns(sorted_by_age)]
    ['age']
    """
    nested = {*table.nested}
    names = [name for name in columns or table.columns if name not in nested]
    if table.rows < _FEWEST or not names or not table.backend.keeps_row_order:
        return ()
    rows = order
    if table.rows * _BYTES_A_ROW > table.memory:  # the first rows are enough for the tests
        held = list(dict.fromkeys([*names, *([] if person is None else [person])]))
        most = table.memory // (_BYTES_A_ROW + _BYTES_A_CELL * len(held))
        if rows is None:
            table = read_table(table.head(held, most))
        else:
            rows = rows[:most]
    if person is not None:
        codes = encode(table, [person])[0].codes
        drawn = _draw_one_each(codes if rows is None else codes[rows])
        rows = drawn if rows is None else rows[drawn]
    tests = [_clearer_test(one, rows) for one in encode_each(table, names)]
    return tuple(sorted((one for one in tests if one.is_followed), key=lambda one: -one.errors_apart))


def _draw_one_each(codes: NDArray[Any]) -> NDArray[np.int64]:
    """The index of one random row of every person, in the order of the rows."""
    # this draw may depend on the order of the rows, because that order is what is tested
    shuffled = np.random.default_rng(0).permutation(codes.size)
    return np.sort(shuffled[np.unique(codes[shuffled], return_index=True)[1]])


def _clearer_test(column: Coded, rows: NDArray[np.int64] | None) -> FollowedColumn:
    """The test of a column that is more significant; the test of all rows is cached."""
    if rows is not None:
        return max(_tests(column, column.codes[rows]), key=lambda test: test.errors_apart)
    if column not in _TESTS_OF_ALL_ROWS:
        _TESTS_OF_ALL_ROWS[column] = max(_tests(column, column.codes), key=lambda test: test.errors_apart)
    return _TESTS_OF_ALL_ROWS[column]


def _tests(column: Coded, codes: NDArray[Any]) -> list[FollowedColumn]:
    """Both tests of one column: of equal neighbours, and of near ranks."""
    middles, ranks = range_middles(column), codes
    if middles is not None:  # ranges are ranked by their middles; nulls and * (NaN) come last
        ranks = np.unique(middles, return_inverse=True)[1][codes]
    blank = column.filled_size if middles is None else distinct_values(middles[~np.isnan(middles)]).size
    return [
        FollowedColumn(column.name, "equal", *_equal_neighbours(codes)),
        FollowedColumn(column.name, "near", *_serial_correlation(ranks, blank)),
    ]


def _equal_neighbours(codes: NDArray[Any]) -> tuple[float, float, float, float]:
    """The share of equal neighbours, its mean and standard deviation over all orders, and the contribution of one pair.

    With runs R = n − joins, E R = (n (n + 1) − Σ cᵢ²) / n and
    Var R = (Σ cᵢ² (Σ cᵢ² + n (n + 1)) − 2 n Σ cᵢ³ − n³) / (n² (n − 1)), where cᵢ rows have the value i.
    """
    n, counts = codes.size, np.bincount(codes).astype(np.float64)
    if n < 2:
        return 0.0, 0.0, 0.0, 0.0
    squares, cubes = _dot(counts, counts), _dot(counts * counts, counts)
    runs = (n * (n + 1) - squares) / n
    variance = (squares * (squares + n * (n + 1)) - 2 * n * cubes - float(n) ** 3) / (float(n) ** 2 * (n - 1))
    joins = int(np.count_nonzero(codes[1:] == codes[:-1]))
    return joins / (n - 1), (n - runs) / (n - 1), math.sqrt(max(variance, 0.0)) / (n - 1), 1 / (n - 1)


def _serial_correlation(codes: NDArray[Any], blank: int) -> tuple[float, float, float, float]:
    """The serial correlation Σ xᵢ xᵢ₊₁ / Σ xᵢ² of centred ranks (mid-ranks for ties).

    Returns the statistic, its mean and standard deviation over all orders, and the contribution of one pair. Codes from
    `blank` on are missing values; they get the mean rank.
    """
    n, counts = codes.size, np.bincount(codes).astype(np.float64)
    counts[blank:] = 0.0
    ranks = np.cumsum(counts) - (counts + counts.sum()) / 2
    ranks[blank:] = 0.0  # contributes nothing to the sums below
    squares = ranks * ranks
    second, fourth = _dot(counts, squares), _dot(counts, squares * squares)
    if n < 4 or second == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    x = ranks[codes]
    # E S² over all orders: the pair itself, pairs that share a row, pairs that share none
    own = (second**2 - fourth) / n
    sharing = 2 * (2 * fourth - second**2) / (n * (n - 1))
    apart = (3 * second**2 - 6 * fourth) / (n * (n - 1))
    variance = own + sharing + apart - (second / n) ** 2
    return _dot(x[1:], x[:-1]) / second, -1.0 / n, math.sqrt(max(variance, 0.0)) / second, fourth / second**2


def _dot(one: Floats, other: Floats) -> float:
    """The sum of products on one thread: starting the threads of a matrix library takes longer than the sum."""
    return float(np.einsum("i,i->", one, other))
