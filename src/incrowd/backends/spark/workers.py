"""Functions that workers of a cluster run on the rows they are sent, a batch or a cell at a time.

Everything here is sent to the workers by name, so that they need this package installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.cell_protection import CellProtection
from incrowd.backends.encode import Coded, codes_among, encode
from incrowd.backends.frame_backend import arrow_backend
from incrowd.backends.row_hash import row_hashes
from incrowd.backends.spark.kd_tree import Tree

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


class OnRows:
    """Work of a worker: a function of the rows it is sent, with the arguments that are the same for all of them.

    Rows come in batches of ten thousand; they are gathered into tables that are worth encoding.
    """

    def __init__(self, work: Callable[..., Iterable[pa.Table]], *known: Any) -> None:
        self._work, self._known = work, known

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= _TOGETHER:
                yield from self._made_of(waiting)
                waiting = []
        if sum(one.num_rows for one in waiting):
            yield from self._made_of(waiting)

    def _made_of(self, batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for made in self._work(pa.Table.from_batches(batches), *self._known):
            yield from made.to_batches()


def count_values(rows: pa.Table) -> Iterator[pa.Table]:
    """In place of rows, the values of every column: its place, the value in that column and nulls in all others."""
    for place, name in enumerate(rows.column_names):
        values, counts = rows[name].value_counts().flatten()
        others = {other.name: pa.nulls(len(values), other.type) for other in rows.schema}
        places = pa.repeat(pa.scalar(place, pa.int32()), len(values))
        yield pa.table({PLACE: places} | others | {name: values, TIMES: counts})


def add_hash(rows: pa.Table, names: Sequence[str], values: Sequence[pa.Array], below: int) -> Iterator[pa.Table]:
    """Add a hash of every row, and leave out the rows whose hash is not below a limit."""
    hashes = row_hashes(encode_by_values(rows, names, values))
    chosen = np.flatnonzero(hashes < below)
    yield rows.take(pa.array(chosen)).append_column(HASH, pa.array(hashes[chosen]))


def add_cell(rows: pa.Table, protection: CellProtection, tree: Tree) -> Iterator[pa.Table]:
    """Add the cell of the tree that every row is in."""
    points = protection.points(code_quasi_identifiers(protection, rows))
    yield rows.append_column(CELL, pa.array(tree.cells(points)))


def count_cells(rows: pa.Table, protection: CellProtection, tree: Tree) -> Iterator[pa.Table]:
    """In place of rows, how many of them are in each cell of the tree."""
    points = protection.points(code_quasi_identifiers(protection, rows))
    cell, counts = np.unique(tree.cells(points), return_counts=True)
    yield pa.table({CELL: cell, TIMES: counts})


def add_distance(rows: pa.Table, protection: CellProtection) -> Iterator[pa.Table]:
    """Add the distance to zero of every row, and a hash to break ties by."""
    columns = code_quasi_identifiers(protection, rows)
    rows = rows.append_column(DISTANCE, pa.array(protection.distances(columns)))
    yield rows.append_column(HASH, pa.array(row_hashes(columns)))


def add_sensitive_code(rows: pa.Table, column: str, values: pa.Array, starts: NDArray[np.int64]) -> Iterator[pa.Table]:
    """Add the code of the sensitive value, and which part of all codes it is in: parts begin at `starts`."""
    (coded,) = encode_by_values(rows, (column,), (values,))
    codes = coded.codes.astype(np.int64)
    rows = rows.append_column(CODE, pa.array(codes))
    yield rows.append_column(PART, pa.array(np.searchsorted(starts, codes, "right") - 1))


def add_part(rows: pa.Table, column: str, cuts: NDArray[np.float64]) -> Iterator[pa.Table]:
    """Add which part of a line every row is in: parts begin at `cuts` of a column."""
    yield rows.append_column(PART, pa.array(np.searchsorted(cuts, rows[column].to_numpy(), "right")))


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
