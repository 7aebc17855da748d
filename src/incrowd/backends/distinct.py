"""Rows that differ and how often each occurs: what a table is to whoever only counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from incrowd.backends.relational import distinct_in_engine, plain_keys
from incrowd.errors import UnsupportedError
from incrowd.tables import Table, read_table
from incrowd.tables.readers import engine_errors

_BYTES_A_CELL, _BYTES_A_ROW = 24, 64  # of a counted row: as it comes, its code, its key and the order of keys

_SHARE = 2  # parts are half of what may come here on average: some are larger


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


class CountedParts:
    """The rows of a table in a cluster that differ, counted and kept by its workers, and brought here part by part.

    Equal values of `names` are always in the same part. The parts may be gone through more than once; `close` gives
    back what the workers kept.
    """

    def __init__(self, table: Table, names: Sequence[str], column: str) -> None:
        self._table, self._names = table, (*names, column)
        self._most = most_distinct(table, len(self._names))
        with engine_errors(table.name):
            rows: Any = plain_keys(table.lazy(self._names)).to_native()
            self._counted = rows.groupBy(*rows.columns).count().persist()
            self._parts = 1 + _SHARE * self._counted.count() // self._most
        table.confirm()

    def __iter__(self) -> Iterator[Counted]:
        from pyspark.sql import functions as sql

        *keys, _ = (f"c{place}" for place in range(len(self._names)))
        for part in range(self._parts):
            with engine_errors(self._table.name):
                here = self._counted.where(sql.pmod(sql.xxhash64(*keys), sql.lit(self._parts)) == part)
                found = here.limit(self._most + 1).toArrow()
            if found.num_rows > self._most:
                raise UnsupportedError(
                    f"more than {self._most:,} values of {self._names[-1]} are in a few classes: too many for a "
                    f"quarter of the memory limit of {self._table.memory / 1e6:,.0f} MB; give more memory or round them"
                )
            if found.num_rows:
                rows = found.drop_columns("count").rename_columns(list(self._names))
                yield Counted(read_table(rows, memory=self._table.memory), found["count"].to_numpy())

    def close(self) -> None:
        """Let the workers forget it."""
        self._counted.unpersist()


def most_distinct(table: Table, columns: int) -> int:
    """How many distinct rows of so many columns are brought here at most."""
    return table.memory // 4 // (_BYTES_A_CELL * columns + _BYTES_A_ROW)


class TooManyDistinctError(UnsupportedError):
    """A table in a cluster has more distinct rows than are brought here."""
