"""Row order: whether neighbouring rows are alike more than rows in random order, so that the order itself tells values.

A table that was sorted by age, or written household by household, keeps that order when ages become ranges and the
household column is removed. Two counts tell it of each column, against their exact mean and variance over all orders of
the rows: neighbours with equal values (joins of a path, as in the runs test of Wald and Wolfowitz), and the serial
correlation of ranks at lag 1.
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

_ERRORS_APART = 4.0  # standard errors above the mean of random orders, from which on it is no chance
_EFFECT = 0.1  # and the share of what could be above that mean, below which neighbours tell next to nothing
_BYTES_A_ROW = 200  # of memory, for two columns, of which one is read ahead, and what is counted on one
_BYTES_A_CELL = 40  # of the first rows, which are held together
_FEWEST = 8  # rows, below which no order is far from the others
_OF_ALL_ROWS: WeakKeyDictionary[Coded, FollowedColumn] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class FollowedColumn(Result):
    """A column in which neighbouring rows are more alike than in random order.

    Attributes:
        column: its name.
        by: "equal" where neighbours have equal values, "near" where they have values of near ranks.
        seen: the share of neighbours that are equal, or the serial correlation of ranks.
        expected: what that is on average over all orders of the rows.
        error: its standard deviation over them.
        of_pair: what one pair of neighbours adds to it.
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

        By Bernstein's inequality: where a few pairs make up the number, as for a rare value, chance reaches farther.
        """
        excess = self.seen - self.expected
        return excess / math.sqrt(self.error**2 + self.of_pair * max(excess, 0.0) / 3) if self.error else 0.0

    @property
    def is_followed(self) -> bool:
        """True if the order of the rows tells this column, beyond chance and beyond the negligible."""
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
        columns: those to look at. None: all that hold single values.
        person: the column that says whose record it is, where people have several; of each a record drawn by chance
            counts, because the first records of people are not in random order even where all rows are: people with
            many records come first. Where these are in its order, random numbers in its place are given back.
        order: another order of the rows to look at. None: the one they are in.

    Returns:
        The columns that are followed, the clearest first.

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
    if table.rows * _BYTES_A_ROW > table.memory:  # the first rows tell as well
        held = list(dict.fromkeys([*names, *([] if person is None else [person])]))
        most = table.memory // (_BYTES_A_ROW + _BYTES_A_CELL * len(held))
        if rows is None:
            table = read_table(table.head(held, most))
        else:
            rows = rows[:most]
    if person is not None:
        codes = encode(table, [person])[0].codes
        drawn = _draw_one_of_each(codes if rows is None else codes[rows])
        rows = drawn if rows is None else rows[drawn]
    tests = [_clearer_test(one, rows) for one in encode_each(table, names)]
    return tuple(sorted((one for one in tests if one.is_followed), key=lambda one: -one.errors_apart))


def _draw_one_of_each(codes: NDArray[Any]) -> NDArray[np.int64]:
    """The place of one row of every person, each of theirs equally likely, in the order of the rows."""
    # unlike other draws this one may depend on where rows stand: their order is what is tested
    shuffled = np.random.default_rng(0).permutation(codes.size)
    return np.sort(shuffled[np.unique(codes[shuffled], return_index=True)[1]])


def _clearer_test(column: Coded, rows: NDArray[np.int64] | None) -> FollowedColumn:
    """The test of a column that shows more; kept as long as the codes are, where it is about all rows."""
    if rows is not None:
        return max(_tests(column, column.codes[rows]), key=lambda test: test.errors_apart)
    if column not in _OF_ALL_ROWS:
        _OF_ALL_ROWS[column] = max(_tests(column, column.codes), key=lambda test: test.errors_apart)
    return _OF_ALL_ROWS[column]


def _tests(column: Coded, codes: NDArray[Any]) -> list[FollowedColumn]:
    """Both tests of one column."""
    middles, near = range_middles(column), codes
    if middles is not None:  # by rank, and those that tell nothing last
        near = np.unique(middles, return_inverse=True)[1][codes]
    blank = column.filled_size if middles is None else distinct_values(middles[~np.isnan(middles)]).size
    return [
        FollowedColumn(column.name, "equal", *_equal_neighbours(codes)),
        FollowedColumn(column.name, "near", *_serial_correlation(near, blank)),
    ]


def _equal_neighbours(codes: NDArray[Any]) -> tuple[float, float, float, float]:
    """The share of neighbours that are equal, its mean and standard deviation over all orders, and one pair's part.

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
    """Σ xᵢ xᵢ₊₁ / Σ xᵢ² of centred ranks, ties sharing theirs, and the same of all orders as for equal neighbours.

    Codes from `blank` on tell nothing and lie in the middle.
    """
    n, counts = codes.size, np.bincount(codes).astype(np.float64)
    counts[blank:] = 0.0
    ranks = np.cumsum(counts) - (counts + counts.sum()) / 2
    ranks[blank:] = 0.0  # which weighs nothing below, however many there are
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
    """The sum of products, on one thread: those of a matrix library take longer to wake than the sum does."""
    return float(np.einsum("i,i->", one, other))
