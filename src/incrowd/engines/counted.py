"""Rows that differ and how often each occurs: what a table is to whoever only counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from incrowd.engines.relational import distinct_in_engine
from incrowd.errors import UnsupportedError
from incrowd.table import Table, read_table

_BYTES_A_CELL, _BYTES_A_ROW = 24, 64  # of a counted row: as it comes, its code, its key and the order of keys


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """A table whose row i stands for `times[i]` rows; for one row each where `times` is None."""

    table: Table
    times: NDArray[np.int64] | None = None

    @property
    def rows(self) -> int:
        """How many rows all of them stand for."""
        return self.table.rows if self.times is None else int(self.times.sum())


_known: WeakKeyDictionary[Table, dict[tuple[str, ...], Counted]] = WeakKeyDictionary()


def counted_rows(table: Table, names: Sequence[str]) -> Counted:
    """The table itself, or, where it stays in a cluster, its distinct rows counted there.

    Distinct rows are brought here only if they take no more than a quarter of the memory limit. They are kept with
    their table, so that several questions count once.
    """
    if table.engine != "cluster":
        return Counted(table)
    known = _known.setdefault(table, {})
    wanted = tuple(names)
    if wanted not in known:
        known.clear()
        most = most_distinct(table, len(wanted))
        found = distinct_in_engine(table, wanted, most)
        if found is None:
            raise TooManyDistinctError(
                f"{table.name} stays in its cluster, and has more than {most:,} rows that differ in "
                f"{', '.join(wanted[:9])}: too many for a quarter of the memory limit of {table.memory / 1e6:,.0f} MB; "
                "give more memory, or leave out what needs every combination of values"
            )
        rows = read_table(found[0], memory=table.memory)
        rows.name = table.name
        known[wanted] = Counted(rows, found[1])
    return known[wanted]


def most_distinct(table: Table, columns: int) -> int:
    """How many distinct rows of so many columns are brought here at most."""
    return table.memory // 4 // (_BYTES_A_CELL * columns + _BYTES_A_ROW)


class TooManyDistinctError(UnsupportedError):
    """A table in a cluster has more distinct rows than are brought here."""
