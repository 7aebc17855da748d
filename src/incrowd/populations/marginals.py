"""Dictionary-encoded columns and their marginal distributions, observed or smoothed for unseen values.

For columns in a cluster, values and pairs of values are counted there, and only the counts are sent here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.classes import ClassSizes
from incrowd.errors import UnsupportedError
from incrowd.pitman_yor import PitmanYor, fit_class_sizes
from incrowd.pitman_yor.prediction import new_classes
from incrowd.special import Floats
from incrowd.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class CodedColumns:
    """The quasi-identifiers as codes, one row for each column; `sizes[j]` is the number of values of column j.

    If records were counted in a cluster, entries are distinct records and `times` their counts; otherwise `times` is
    None and entries are records. `names` are the columns' names, if they are those of a table.
    """

    codes: NDArray[np.int64]
    sizes: tuple[int, ...]
    times: NDArray[np.int64] | None = None
    names: tuple[str, ...] = ()

    @property
    def people(self) -> int:
        """Number of records."""
        return int(self.codes.shape[1] if self.times is None else self.times.sum())

    def chances(self) -> list[Floats]:
        """The observed share of every value of every column."""
        return [self.counts(j) / self.people for j in range(len(self.sizes))]

    def counts(self, column: int) -> NDArray[np.int64]:
        """Count of each value of a column."""
        return occurrences(self.codes[column], self.times, self.sizes[column])

    def only(self, wanted: Sequence[int]) -> CodedColumns:
        """Some of the columns, in this order."""
        return CodedColumns(self.codes[list(wanted)], tuple(self.sizes[j] for j in wanted), self.times)

    def pair(self, one: int, other: int) -> ColumnPair:
        """Two columns side by side, and how often each entry occurs."""
        return ColumnPair(self.codes[one], self.codes[other], self.times)


class ColumnPair(NamedTuple):
    """The codes of two columns, entry by entry, and how often each entry occurs (None: once)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    times: NDArray[np.int64] | None


def occurrences(codes: NDArray[np.int64], times: NDArray[np.int64] | None, size: int = 0) -> NDArray[np.int64]:
    """Count of each code, where entry i occurs `times[i]` times; exact up to 2**53."""
    return np.bincount(codes, weights=times, minlength=size).astype(np.int64)


_RARE = 2  # if a column's rarest value was seen more often than this, no unseen values are assumed


def smooth_marginal(counts: NDArray[np.int64], population: int) -> Floats:
    """Probabilities of a column's values, with unseen values inserted evenly among the seen ones.

    By a Pitman–Yor model of the column's counts, a value seen c times has probability (c − d)/(n + α). The remaining
    (α + K d)/(n + α) is divided among the expected number of values that appear as the sample grows to `population`.
    """
    people, seen = int(counts.sum()), counts.size
    model = fit_column(counts) if counts.min() <= _RARE else None
    if model is None:
        return counts / people
    new = float(new_classes(model.d, model.alpha, people=people, classes=seen, population=float(population)))
    unseen = round(new)
    if unseen < 1:
        return counts / people
    chances = (counts - model.d) / (people + model.alpha)
    remaining = (model.alpha + seen * model.d) / (people + model.alpha)
    places = np.floor((np.arange(unseen) + 0.5) * (seen + 1) / unseen).astype(np.int64)
    return np.insert(chances, places, remaining / unseen)


def fit_column(counts: NDArray[np.int64]) -> PitmanYor | None:
    """The model of one column's counts; None for a constant column.

    If all values are distinct, the counts do not bound α from above; then α is such that this has probability 1/2.
    """
    people = int(counts.sum())
    if counts.size == 1:
        return None
    if counts.size == people:
        return PitmanYor(0.0, people * (people - 1) / (2.0 * math.log(2.0)))
    try:
        return fit_class_sizes(ClassSizes.from_sizes(counts)).model
    except UnsupportedError:
        return None


@dataclass(frozen=True, slots=True, eq=False)
class ColumnsInEngine(CodedColumns):
    """Marginal and pair counts for a copula, of columns with too many combinations of values to be sent here.

    `codes` is empty: instead of entries there are contingency tables of pairs, each counted on first use (`known`).
    """

    table: Table | None = None
    values: tuple[pa.Array, ...] = ()
    tallies: tuple[NDArray[np.int64], ...] = ()
    known: dict[tuple[str, str], ColumnPair] = field(default_factory=dict)

    @property
    def people(self) -> int:
        return int(self.tallies[0].sum())

    def counts(self, column: int) -> NDArray[np.int64]:
        return self.tallies[column]

    def only(self, wanted: Sequence[int]) -> CodedColumns:
        chosen = list(wanted)
        return ColumnsInEngine(
            self.codes[chosen],
            tuple(self.sizes[j] for j in chosen),
            None,
            tuple(self.names[j] for j in chosen),
            self.table,
            tuple(self.values[j] for j in chosen),
            tuple(self.tallies[j] for j in chosen),
            self.known,
        )

    def pair(self, one: int, other: int) -> ColumnPair:
        """The contingency table of two columns."""
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
            self.known[pair] = ColumnPair(first, second, counted.times)
            self.known[pair[::-1]] = ColumnPair(second, first, counted.times)
        return self.known[pair]


def columns_in_engine(table: Table, names: Sequence[str]) -> ColumnsInEngine:
    """The columns with the counts of their values; constant columns are left out."""
    varying: list[tuple[Coded, NDArray[np.int64]]] = []
    for name in names:
        counted = table.backend.counted_rows([name])
        (column,) = encode(counted.backend, [name])
        if column.size > 1:
            varying.append((column, occurrences(column.codes, counted.times, column.size)))
    sizes = tuple(column.size for column, _ in varying)
    return ColumnsInEngine(
        np.empty((len(varying), 0), dtype=np.int64),
        sizes,
        None,
        tuple(column.name for column, _ in varying),
        table,
        tuple(column.values for column, _ in varying),
        tuple(tally for _, tally in varying),
    )
