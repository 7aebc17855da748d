"""Functions that the workers of a cluster run on batches or blocks of rows.

They are pickled by name, so this package must be installed on the workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends.base import ArrowRows
from incrowd.backends.block_protection import BlockProtection
from incrowd.backends.encode import Coded, codes_among, encode
from incrowd.backends.row_hash import row_hashes
from incrowd.backends.spark.kd_tree import Tree

_ROWS_AT_ONCE = 100_000  # rows that are encoded together
BLOCK, CLASS, DISTANCE, HASH = "incrowd block", "incrowd class", "incrowd distance", "incrowd hash"
PLACE, TIMES, PART, CODE = "incrowd place", "incrowd times", "incrowd part", "incrowd code"


def encode_by_values(rows: pa.Table, names: Sequence[str], values: Sequence[pa.Array]) -> list[Coded]:
    """Columns of some rows, with codes of the whole table's `values`."""
    columns = encode(ArrowRows(rows), names)
    return [Coded(part.name, codes_among(part, whole), whole) for part, whole in zip(columns, values, strict=True)]


def code_quasi_identifiers(protection: BlockProtection, rows: pa.Table) -> list[Coded]:
    """The quasi-identifiers of some rows as codes of the whole table's values."""
    return encode_by_values(rows, protection.names, protection.values)


class OnRows:
    """A function of rows with constant further arguments, in the form that Spark's `mapInArrow` calls.

    Spark sends batches of ten thousand rows; they are joined into larger tables, because encoding has a fixed cost.
    """

    def __init__(self, work: Callable[..., Iterable[pa.Table]], *arguments: Any) -> None:
        self._work, self._arguments = work, arguments

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        for batch in batches:
            waiting.append(batch)
            if sum(one.num_rows for one in waiting) >= _ROWS_AT_ONCE:
                yield from self._processed(waiting)
                waiting = []
        if sum(one.num_rows for one in waiting):
            yield from self._processed(waiting)

    def _processed(self, batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for table in self._work(pa.Table.from_batches(batches), *self._arguments):
            yield from table.to_batches()


def count_values(rows: pa.Table) -> Iterator[pa.Table]:
    """The distinct values of every column: one row each, with the column's index, the value, and nulls elsewhere."""
    for place, name in enumerate(rows.column_names):
        values, counts = rows[name].value_counts().flatten()
        others = {other.name: pa.nulls(len(values), other.type) for other in rows.schema}
        places = pa.repeat(pa.scalar(place, pa.int32()), len(values))
        yield pa.table({PLACE: places} | others | {name: values, TIMES: counts})


def add_hash(rows: pa.Table, names: Sequence[str], values: Sequence[pa.Array], below: int) -> Iterator[pa.Table]:
    """Add a hash of every row, and keep only the rows with a hash less than `below`."""
    hashes = row_hashes(encode_by_values(rows, names, values))
    chosen = np.flatnonzero(hashes < below)
    yield rows.take(pa.array(chosen)).append_column(HASH, pa.array(hashes[chosen]))


def add_block(rows: pa.Table, protection: BlockProtection, tree: Tree) -> Iterator[pa.Table]:
    """Add the block of every row in the tree."""
    points = protection.points(code_quasi_identifiers(protection, rows))
    yield rows.append_column(BLOCK, pa.array(tree.blocks(points)))


def count_blocks(rows: pa.Table, protection: BlockProtection, tree: Tree) -> Iterator[pa.Table]:
    """The number of rows in each block of the tree."""
    points = protection.points(code_quasi_identifiers(protection, rows))
    block, counts = np.unique(tree.blocks(points), return_counts=True)
    yield pa.table({BLOCK: block, TIMES: counts})


def add_distance(rows: pa.Table, protection: BlockProtection) -> Iterator[pa.Table]:
    """Add the distance of every row from the origin, and a hash that breaks ties."""
    columns = code_quasi_identifiers(protection, rows)
    rows = rows.append_column(DISTANCE, pa.array(protection.distances(columns)))
    yield rows.append_column(HASH, pa.array(row_hashes(columns)))


def add_sensitive_code(rows: pa.Table, column: str, values: pa.Array, starts: NDArray[np.int64]) -> Iterator[pa.Table]:
    """Add the code of the sensitive value, and the part that contains the code; part i begins at `starts[i]`."""
    (coded,) = encode_by_values(rows, (column,), (values,))
    codes = coded.codes.astype(np.int64)
    rows = rows.append_column(CODE, pa.array(codes))
    yield rows.append_column(PART, pa.array(np.searchsorted(starts, codes, "right") - 1))


def add_part(rows: pa.Table, column: str, cuts: NDArray[np.float64]) -> Iterator[pa.Table]:
    """Add the interval that contains the value of a column; intervals begin at `cuts`."""
    yield rows.append_column(PART, pa.array(np.searchsorted(cuts, rows[column].to_numpy(), "right")))


@dataclass(frozen=True, slots=True, eq=False)
class ProtectBlock:
    """Function that protects the rows of a block, with the classes in the column CLASS if there is one."""

    protection: BlockProtection
    kept: tuple[str, ...]

    def __call__(self, rows: pa.Table) -> pa.Table:
        """The protected rows of one block."""
        protection = self.protection
        rows = in_one_order(rows)
        sensitive = None
        if protection.sensitive is not None:
            (sensitive,) = encode_by_values(rows, (protection.sensitive,), (protection.sensitive_values,))
        classes = rows[CLASS].to_numpy() if CLASS in rows.column_names else None
        protected = protection.protect(code_quasi_identifiers(protection, rows), sensitive, classes)
        return pa.table({name: protected[name] if name in protected else rows[name] for name in self.kept})


def in_one_order(rows: pa.Table) -> pa.Table:
    """Sort rows by a hash, so that classes do not depend on the order in which Spark sends the rows."""
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    return rows.take(pa.array(np.argsort(row_hashes(encode(ArrowRows(rows), plain)), kind="stable")))
