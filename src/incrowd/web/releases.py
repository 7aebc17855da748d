"""A protected table of a job: its file, which records it keeps, and its classes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pyarrow as pa

from incrowd.backends import encode
from incrowd.backends.arrow_columns import value_type
from incrowd.backends.row_hash import digest_rows
from incrowd.backends.spool import load_batches, load_part
from incrowd.classes import Classes, assign_classes
from incrowd.errors import InputError
from incrowd.protection.marks import remove_release
from incrowd.tables import Table, read_table
from incrowd.tables.released_values import bounds_of
from incrowd.web.cells import cell_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from incrowd.assessment import Question

_BATCH = 65_536  # rows
CellChange = Literal["kept", "coarser", "removed"]


class AttackedRelease(NamedTuple):
    """A release that is attacked, and the rows of the original that it keeps, if they are known.

    `release` is the protected table of a candidate and `made_by` the digest of its settings; None for a table from
    elsewhere.
    """

    name: str
    table: Table
    kept_rows: Any
    release: Release | None = None
    made_by: str | None = None


@dataclass(frozen=True, eq=False)
class Release:
    """A protected table in a file, read on first use.

    Attributes:
        file: the Parquet file.
        quasi_identifiers: its quasi-identifiers.
        person: the column that says whose record it is.
        kept_rows: the record of the original that each row comes from; None if all are kept in their order.
        question: the question by which it is assessed.
    """

    file: Path
    quasi_identifiers: tuple[str, ...]
    person: str | None = None
    kept_rows: NDArray[np.int64] | None = None
    question: Question | None = None

    @property
    def rows_file(self) -> Path:
        """The file that `kept_rows` are saved in for a restart of the server."""
        return self.file.with_suffix(".rows.npy")

    def delete(self) -> None:
        """Delete the files."""
        remove_release(self.file)
        self.rows_file.unlink(missing_ok=True)

    @cached_property
    def table(self) -> Table:
        """The table, opened once."""
        return read_table(self.file)

    @cached_property
    def classes(self) -> Classes:
        """The classes of its records, counted once."""
        return assign_classes(self.table, self.quasi_identifiers, self.person)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the columns and cells, whatever the settings and the name of the release.

        Raises:
            FileNotFoundError: the release was deleted.
        """
        digest = hashlib.sha256()
        for part in load_batches(self.file, _BATCH):
            # serialised batches hold codes, not the dictionary
            plain = part.cast(pa.schema([(field.name, value_type(field.type)) for field in part.schema]))
            digest.update(str(plain.schema).encode())
            for batch in plain.to_batches():
                digest.update(batch.serialize())
        return digest.hexdigest()

    @cached_property
    def rows_digest(self) -> str:
        """SHA-256 of the columns and rows, whatever their order, which protection may draw at random.

        Raises:
            FileNotFoundError: the release was deleted.
        """
        try:
            if not self.table.rows or self.table.nested:
                return self.fingerprint
            return digest_rows(encode(self.table, list(self.table.columns)))
        except InputError:
            if not self.file.exists():
                raise FileNotFoundError(self.file) from None
            raise

    def row_of(self, record: int) -> int | None:
        """The row that a record of the original became; None if it was left out."""
        if self.kept_rows is None:
            return record
        rows = (self.kept_rows == record).nonzero()[0]
        return int(rows[0]) if rows.size else None

    def record_of(self, row: int) -> int:
        """Row of the original that a released row comes from."""
        return row if self.kept_rows is None else int(self.kept_rows[row])

    @property
    def last_record(self) -> int:
        """The highest number of a record of the original among the rows."""
        return self.table.rows - 1 if self.kept_rows is None else int(self.kept_rows.max(initial=-1))

    def alike(self, row: int) -> int:
        """The number of people in the class of a row."""
        return int(self.classes.people[self.classes.numbers[row]])

    def cell_after(self, column: str, row: int, before: str) -> tuple[CellChange, str]:
        """How protection changed a cell with the text `before`, and its text afterwards."""
        (cells,) = self.cells([column], row, 1)
        return change_of(before, cells[0]), "" if cells[0] is None else cells[0]

    def cells(self, columns: list[str], start: int, count: int) -> list[list[str | None]]:
        """The cells of some rows as text, one list per column; None in removed columns. Bounds become one range."""
        wanted = {end for name in columns for end in (name, *bounds_of(name))}
        arrow = load_part(self.file, [name for name in self.table.columns if name in wanted], start, count)
        return [_column_texts(arrow, name) for name in columns]


def change_of(before: str, after: str | None) -> CellChange:
    """The kind of change between two texts of a cell."""
    if after is None or (after in ("", "*") and before != after):
        return "removed"
    return "kept" if before == after else "coarser"


def _column_texts(arrow: pa.Table, name: str) -> list[str | None]:
    if name in arrow.column_names:
        return [cell_text(value) for value in arrow[name].to_pylist()]
    ends = bounds_of(name)
    if all(end in arrow.column_names for end in ends):
        pairs = zip(*(arrow[end].to_pylist() for end in ends), strict=True)
        return [f"[{cell_text(low) or '*'};{cell_text(high) or '*'}]" for low, high in pairs]
    return [None] * arrow.num_rows
