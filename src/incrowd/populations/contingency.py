"""Columns that stay in a cluster: their values and every pair of them are counted there, and only the counts come."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.populations.marginals import Columns, Pair, occurrences
from incrowd.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsInEngine(Columns):
    """What a copula of pairs needs of columns whose combinations are too many to be brought here.

    `codes` is empty: there are no entries, only contingency tables, each counted when it is first asked for.
    """

    table: Table | None = None
    names: tuple[str, ...] = ()
    values: tuple[pa.Array, ...] = ()
    tallies: tuple[NDArray[np.int64], ...] = ()
    known: dict[tuple[str, str], Pair] = field(default_factory=dict)

    @property
    def people(self) -> int:
        return int(self.tallies[0].sum())

    def counts(self, column: int) -> NDArray[np.int64]:
        return self.tallies[column]

    def only(self, wanted: Sequence[int]) -> Columns:
        chosen = list(wanted)
        return ColumnsInEngine(
            self.codes[chosen],
            tuple(self.sizes[j] for j in chosen),
            None,
            self.table,
            tuple(self.names[j] for j in chosen),
            tuple(self.values[j] for j in chosen),
            tuple(self.tallies[j] for j in chosen),
            self.known,
        )

    def pair(self, one: int, other: int) -> Pair:
        """The contingency table of two columns."""
        import pyarrow.compute as pc

        pair = (self.names[one], self.names[other])
        if pair not in self.known:
            assert self.table is not None
            counted = self.table.backend.counted_rows(pair)
            first, second = (
                pc.index_in(column.values, value_set=values).to_numpy()[column.codes].astype(np.int64)
                for column, values in zip(
                    encode(counted.backend, pair), (self.values[one], self.values[other]), strict=True
                )
            )
            self.known[pair] = Pair(first, second, counted.times)
            self.known[pair[::-1]] = Pair(second, first, counted.times)
        return self.known[pair]


def columns_in_engine(table: Table, names: Sequence[str]) -> ColumnsInEngine:
    """The columns with their values counted; constant ones are left out."""
    found: list[tuple[Coded, NDArray[np.int64]]] = []
    for name in names:
        counted = table.backend.counted_rows([name])
        (column,) = encode(counted.backend, [name])
        if column.size > 1:
            found.append((column, occurrences(column.codes, counted.times, column.size)))
    sizes = tuple(column.size for column, _ in found)
    return ColumnsInEngine(
        np.empty((len(found), 0), dtype=np.int64),
        sizes,
        None,
        table,
        tuple(column.name for column, _ in found),
        tuple(column.values for column, _ in found),
        tuple(tally for _, tally in found),
    )
