"""An open table: its source and its columns. Values are read on demand."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd._support.addresses import masked
from incrowd.backends import Backend, Coded
from incrowd.backends.class_size_writer import write_with_class_sizes
from incrowd.backends.engine_errors import engine_errors
from incrowd.backends.scales import Scale, ScaleKind, scale_of_type
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables.file_codebook import FileCodebook


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class Table:
    """Rows about people, from a file, a database or a frame of the caller.

    Attributes:
        backend: holds the rows and counts them; defines the cost of work and what is refused.
        native: the caller's own frame, if there is one.
        source: the file's path as it was given, or an address without its credentials.
        notes: messages about reading, for the user.
        not_counted: contents of the file that are not in these rows: other sheets, skipped lines.
        describe_unread: describes the bytes of the file that belong to no row; it reads the file once more.
        place: the path or address of the table for commands and scripts, without credentials.
        reading: the options of `read_table` with which it was opened, by name.
        codebook: metadata of the file: descriptions, value labels, missing codes, dialect.
        guessed_scales: columns whose scale was guessed from their names.
        members: the names of the tables in a workbook or an R file.
    """

    backend: Backend
    _: KW_ONLY
    native: Any = None
    source: str | None = None
    notes: tuple[str, ...] = ()
    not_counted: tuple[str, ...] = ()
    describe_unread: Callable[[], list[str]] = list
    place: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    codebook: FileCodebook = field(default_factory=FileCodebook)
    guessed_scales: frozenset[str] = frozenset()
    members: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.source = None if self.source is None else masked(self.source)  # a path stays as it is
        self.place = self.place or self.source or "TABLE"

    @property
    def name(self) -> str:
        """The name of the table in messages and reports."""
        return self.backend.name

    @name.setter
    def name(self, name: str) -> None:
        self.backend.name = name

    @property
    def memory(self) -> int:
        """The memory limit for work on the table, in bytes."""
        return self.backend.memory

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return self.backend.columns

    @property
    def rows(self) -> int:
        """Number of rows; counted once."""
        return self.backend.rows

    def contents_not_counted(self) -> tuple[str, ...]:
        """Everything that the file holds besides these rows, to the last byte; nobody has judged it."""
        return (*self.not_counted, *self.describe_unread())

    @property
    def encoded(self) -> dict[str, Coded]:
        """Columns stored as codes, so that several questions encode them once."""
        return self.backend.encoded

    @property
    def scales(self) -> Mapping[str, Scale]:
        """The scales that were stated, or that the file gives; the others follow from the types."""
        return self.backend.scales

    def scale_of(self, column: str) -> ScaleKind:
        """The scale of a column: nominal, ordered, numeric, date or place.

        Args:
            column: its name.

        Returns:
            The scale that was stated, or that the file gives, or else that of the type.

        Raises:
            ColumnNotFoundError: there is no such column.
        """
        self.require([column])
        stated = self.scales.get(column)
        return (stated or scale_of_type(self.backend.types()[column])).kind

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold lists, records or maps, which no measure can compare."""
        return tuple(name for name, kind in self.backend.types().items() if pa.types.is_nested(kind))

    def is_at(self, place: str | os.PathLike[str]) -> bool:
        """True if a path is the file that the table is read from, or one of its parts."""
        return os.path.exists(place) and any(os.path.samefile(part, place) for part in _files(self.source))

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        """Check that columns exist.

        Args:
            names: the names of the columns.
            what: the word for them in error messages.

        Returns:
            The names as a list.

        Raises:
            ColumnNotFoundError: some do not exist; the message lists the existing ones.
            InputError: it is a single text, a name is repeated, or there is none.
        """
        return self.backend.require(names, what)

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Yield the named columns as Arrow, one at a time, all in the same row order; a NaN is a null."""
        return self.backend.read(names)

    def filled_values(self, name: str) -> list[Any]:
        """The values of a column.

        Raises:
            ColumnNotFoundError: it does not exist.
            InputError: a row has no value.
        """
        ((_, column),) = self.read(self.require([name]))
        values: list[Any] = column.to_pylist()
        if None in values:
            raise InputError(f"some rows have no value in {name!r}; fill them or leave them out")
        return values

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """Some or all columns together as an Arrow table."""
        return pa.table(dict(self.read(self.columns if names is None else names)))

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …, as a relation that an engine can group without loading it here."""
        return self.backend.lazy(self.require(names))

    def head(self, names: Sequence[str], rows: int) -> pa.Table:
        """The first rows of some columns, read by the table's engine."""
        with engine_errors(self.name):
            found: pa.Table = self.lazy(names).head(rows).collect("pyarrow").to_arrow()
        return found.rename_columns(list(names))

    def require_order(self) -> None:
        """Refuse a table whose rows have no order, for work that compares tables row by row."""
        if not self.backend.keeps_row_order:
            raise UnsupportedError(
                f"{self.name} is in a cluster, which keeps no order of rows, and this goes row by row; "
                "give the file or a sample of it, without the engine"
            )

    def write_with_class_sizes(
        self,
        names: Sequence[str],
        out: str | os.PathLike[str],
        *,
        facts_by_size: pa.Table | None = None,
        class_counts: Mapping[int, int] | None = None,
        force: bool = False,
    ) -> Path | str:
        """Write the table as Parquet with the class size of every record, in its engine, never over itself.

        Args:
            names: the columns that classes are counted by.
            out: the file, or the folder where a cluster writes.
            facts_by_size: columns to add, one row for each class size in the column `class_size`.
            class_counts: the number of classes of each size when `facts_by_size` was computed.
            force: replace an existing file or folder.

        Returns:
            The path that was written, or the address of a store.
        """
        if self.is_at(out):
            raise InputError(f"{os.fspath(out)} is the table that is read; it is never overwritten, name another file")
        return write_with_class_sizes(
            self.backend, names, out, facts_by_size=facts_by_size, class_counts=class_counts, force=force
        )

    def __repr__(self) -> str:
        return f"Table({self.name!r}, columns={len(self.columns)})"


def _files(source: str | None) -> list[str]:
    """The files from which a table was read: one, the parts in a folder, or the matches of a pattern."""
    if source is None:
        return []
    if os.path.isdir(source):
        return [str(part) for part in Path(source).rglob("*") if part.is_file()]
    return [source] if os.path.isfile(source) else glob.glob(source, recursive=True)
