"""Functions that workers of a cluster run on the rows they are sent, a batch or a cell at a time.

Everything here is sent to the workers by name, so that they need this package installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.cell_protection import CellProtection
from incrowd.backends.encode import Coded, codes_among, encode
from incrowd.backends.frame_backend import arrow_backend
from incrowd.backends.row_hash import row_hashes
from incrowd.backends.spark.kd_tree import Tree

if TYPE_CHECKING:
    Batches = Iterator[pa.RecordBatch]

_TOGETHER = 100_000  # rows that are encoded at a time
CELL, CLASS, DISTANCE, HASH = "incrowd cell", "incrowd class", "incrowd distance", "incrowd hash"
PLACE, TIMES, PART, CODE = "incrowd place", "incrowd times", "incrowd part", "incrowd code"


def encode_by_values(rows: pa.Table, names: Sequence[str], values: Sequence[pa.Array]) -> list[Coded]:
    """Columns as codes of the whole table's values."""
    columns = encode(arrow_backend(rows), names)
    return [Coded(part.name, codes_among(part, every), every) for part, every in zip(columns, values, strict=True)]


def code_quasi_identifiers(protection: CellProtection, rows: pa.Table) -> list[Coded]:
    """The quasi-identifiers of some rows as codes of the whole table's values."""
    return encode_by_values(rows, protection.names, protection.values)


def count_values(batches: Batches) -> Batches:
    """In place of rows, the values of every column: its place, the value in that column and nulls in all others."""
    for rows in gather_batches(batches):
        for place, name in enumerate(rows.column_names):
            values, counts = rows[name].value_counts().flatten()
            others = {other.name: pa.nulls(len(values), other.type) for other in rows.schema}
            places = pa.repeat(pa.scalar(place, pa.int32()), len(values))
            value_rows = pa.table({PLACE: places} | others | {name: values, TIMES: counts})
            yield from value_rows.to_batches()


@dataclass(frozen=True, slots=True, eq=False)
class AddHash:
    """Adds a hash of every row, and leaves out the rows whose hash is not below a limit."""

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    below: int

    def __call__(self, batches: Batches) -> Batches:
        for rows in gather_batches(batches):
            hashes = row_hashes(encode_by_values(rows, self.names, self.values))
            chosen = np.flatnonzero(hashes < self.below)
            yield from with_column(rows.take(pa.array(chosen)), HASH, hashes[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class AddCell:
    """Adds the cell of the tree that every row is in."""

    protection: CellProtection
    tree: Tree

    def __call__(self, batches: Batches) -> Batches:
        for rows in gather_batches(batches):
            points = self.protection.points(code_quasi_identifiers(self.protection, rows))
            yield from with_column(rows, CELL, self.tree.cells(points))


@dataclass(frozen=True, slots=True, eq=False)
class CountCells:
    """In place of rows, how many of them are in each cell of the tree."""

    protection: CellProtection
    tree: Tree

    def __call__(self, batches: Batches) -> Batches:
        for rows in gather_batches(batches):
            points = self.protection.points(code_quasi_identifiers(self.protection, rows))
            cell, counts = np.unique(self.tree.cells(points), return_counts=True)
            yield from pa.table({CELL: cell, TIMES: counts}).to_batches()


@dataclass(frozen=True, slots=True, eq=False)
class AddDistance:
    """Adds the distance to zero of every row, and a hash to break ties by."""

    protection: CellProtection

    def __call__(self, batches: Batches) -> Batches:
        for rows in gather_batches(batches):
            columns = code_quasi_identifiers(self.protection, rows)
            rows = rows.append_column(DISTANCE, pa.array(self.protection.distances(columns)))
            yield from with_column(rows, HASH, row_hashes(columns))


@dataclass(frozen=True, slots=True, eq=False)
class AddSensitiveCode:
    """Adds the code of the sensitive value, and which part of all codes it is in: parts begin at `starts`."""

    column: str
    values: pa.Array
    starts: NDArray[np.int64]

    def __call__(self, batches: Batches) -> Batches:
        for rows in gather_batches(batches):
            (coded,) = encode_by_values(rows, (self.column,), (self.values,))
            codes = coded.codes.astype(np.int64)
            numbered = rows.append_column(CODE, pa.array(codes))
            yield from with_column(numbered, PART, np.searchsorted(self.starts, codes, "right") - 1)


@dataclass(frozen=True, slots=True, eq=False)
class AddPart:
    """Adds which part of a line every row is in: parts begin at `cuts` of a column."""

    column: str
    cuts: NDArray[np.float64]

    def __call__(self, batches: Batches) -> Batches:
        for rows in gather_batches(batches):
            yield from with_column(rows, PART, np.searchsorted(self.cuts, rows[self.column].to_numpy(), "right"))


@dataclass(frozen=True, slots=True, eq=False)
class ProtectCell:
    """Protects the rows of a cell; classes are made there, unless they are numbered already."""

    protection: CellProtection
    kept: tuple[str, ...]

    def __call__(self, rows: pa.Table) -> pa.Table:
        """The protected rows of one cell."""
        known = self.protection
        rows = in_one_order(rows)
        sensitive = None
        if known.sensitive is not None:
            (sensitive,) = encode_by_values(rows, (known.sensitive,), (known.sensitive_values,))
        classes = rows[CLASS].to_numpy() if CLASS in rows.column_names else None
        made = known.protect(code_quasi_identifiers(known, rows), sensitive, classes)
        return pa.table({name: made[name] if name in made else rows[name] for name in self.kept})


def in_one_order(rows: pa.Table) -> pa.Table:
    """Rows in an order that does not depend on how they came, so that classes are the same each time."""
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return rows.take(pa.array(np.argsort(row_hashes(encode(arrow_backend(rows), plain)), kind="stable")))


def gather_batches(batches: Batches) -> Iterator[pa.Table]:
    """Batches gathered into tables that are worth encoding; Spark sends ten thousand rows at a time."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= _TOGETHER:
            yield pa.Table.from_batches(waiting)
            waiting = []
    if sum(one.num_rows for one in waiting):
        yield pa.Table.from_batches(waiting)


def with_column(rows: pa.Table, name: str, values: NDArray[np.int64]) -> list[pa.RecordBatch]:
    """Rows with a column added, as batches."""
    batches: list[pa.RecordBatch] = rows.append_column(name, pa.array(values)).to_batches()
    return batches
