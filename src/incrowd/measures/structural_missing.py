"""Structural missing values: cells that are missing because of quasi-identifiers, such as answers about a child."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, CountedRows, encode
from incrowd.tables import Table

_BY_CHANCE = 0.01  # largest share of the records of a skip pattern that is expected by chance
_FEWEST = 10  # records of a skip pattern, in groups of at least two
_MOST_GROUPS = 1 << 24  # combinations of values of two columns, above which no skip pattern is searched for


class SkipPatterns:
    """Skip patterns: missing values that follow from one or two quasi-identifiers, those that explain most of them.

    A missing value follows if all records with the same values of these columns are missing (at least two records). If
    values were missing at random with rate p, a group of s records would be missing as a whole with probability p^s;
    the records expected that way must be a small share of those found.

    `find_pattern` of `predicted_cells` tolerates exceptions, because a prediction makes a risk larger. Here there are
    none: a cell that follows is left out of the records among which a value is common, which may make a risk smaller.

    Quasi-identifiers are encoded once for all sensitive columns. Answers are cached by the mask of missing records,
    which many columns share.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self.table, self.names = table, list(names)
        self.sets: list[tuple[str, ...]] = [*((name,) for name in names), *combinations(names, 2)]
        self.in_memory = table.backend.way_to_compare(self.names) == "rows"
        self.cache: dict[bytes, tuple[int, tuple[str, ...]]] = {}  # by the packed mask of missing records
        self.grouped: dict[tuple[str, ...], tuple[NDArray[Any], int, NDArray[np.int64]]] = {}

    @cached_property
    def known(self) -> dict[str, Coded]:
        """The quasi-identifiers as codes."""
        return {one.name: one for one in encode(self.table, self.names)}

    def explain(self, column: str, missing: int) -> tuple[int, tuple[str, ...]]:
        """Number of missing values of a column that follow from quasi-identifiers, and from which."""
        if not self.in_memory:
            return self._best(self._counted(column), missing)
        (coded,) = encode(self.table, [column])
        is_null = coded.codes == coded.size - 1
        key = np.packbits(is_null).tobytes()
        if key not in self.cache:
            self.cache[key] = self._best(((*self._groups(names), is_null, None, names) for names in self.sets), missing)
        return self.cache[key]

    def _groups(self, names: tuple[str, ...]) -> tuple[NDArray[Any], int, NDArray[np.int64]]:
        """The groups of a set of columns with their sizes, which are kept if those of all sets fit into memory."""
        if names in self.grouped:
            return self.grouped[names]
        groups, size = _group([self.known[name] for name in names])
        made = groups.astype(np.int32) if size <= _MOST_GROUPS else groups, size, _sizes(groups, size, None)
        needed = len(self.sets) * (groups.size * made[0].itemsize + made[2].nbytes)
        if needed <= self.table.memory // 8:
            self.grouped[names] = made
        return made

    def _counted(self, column: str) -> Iterator[_Grouped]:
        """The groups of every set of columns, from counted distinct rows if the rows do not fit into memory."""
        for chosen in self.sets:
            rows = _rows_by(self.table, chosen, column)
            if rows is not None:
                *columns, coded = encode(rows.backend, [*chosen, column])
                groups, size = _group(columns)
                yield groups, size, _sizes(groups, size, rows.times), coded.codes == coded.size - 1, rows.times, chosen

    def _best(self, sets: Iterable[_Grouped], missing: int) -> tuple[int, tuple[str, ...]]:
        best: tuple[int, tuple[str, ...]] = (0, ())
        for groups, size, records, is_null, times, chosen in sets:
            if size > _MOST_GROUPS:
                continue
            nulls = np.bincount(groups[is_null], None if times is None else times[is_null], minlength=size)
            share = nulls.sum() / records.sum()
            several = records > 1  # a single record is not a pattern
            records, nulls = records[several], nulls[several]
            explained = int(records[nulls == records].sum())
            by_chance = float(records @ np.power(share, records))
            if explained >= max(_FEWEST, best[0] + 1) and by_chance <= _BY_CHANCE * explained:
                best = (explained, chosen)
                if explained == missing:
                    break
        return best


_Grouped = tuple[NDArray[Any], int, NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64] | None, tuple[str, ...]]


def _sizes(groups: NDArray[np.int64], size: int, times: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The number of records of each group; empty if there are too many groups."""
    return np.bincount(groups, times, size).astype(np.int64) if size <= _MOST_GROUPS else np.zeros(0, dtype=np.int64)


def _group(columns: Sequence[Coded]) -> tuple[NDArray[np.int64], int]:
    """The number of each record's combination of values, and the number of possible combinations."""
    groups, size = columns[0].codes.astype(np.int64), columns[0].size
    for column in columns[1:]:
        groups, size = groups * column.size + column.codes, size * column.size
    if _MOST_GROUPS >= size > 4 * groups.size:
        distinct, groups = np.unique(groups, return_inverse=True)
        size = distinct.size
    return groups, size


def _rows_by(table: Table, chosen: Sequence[str], column: str) -> CountedRows | None:
    """The rows; the counted distinct rows if the rows do not fit into memory; None if those do not fit either."""
    wanted = [*chosen, column]
    if table.backend.way_to_compare(wanted) == "rows":
        return CountedRows(table.backend)
    return table.backend.distinct_rows(wanted, table.backend.most_distinct(len(wanted)))
