"""Parquet, Feather and ORC files: read through Arrow; DuckDB groups the rows if they do not fit into memory."""

from __future__ import annotations

import itertools
import os
import re
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd._support import frames as nw
from incrowd._support.files import file_state
from incrowd._support.private_folders import PrivateFolder
from incrowd.backends.arrow_columns import is_bytes, plain_type, value_type
from incrowd.backends.base import Backend
from incrowd.backends.counts import MemoryNeeds
from incrowd.backends.engine_errors import disk_errors
from incrowd.backends.relational import quote_name
from incrowd.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    import duckdb
    import pyarrow.dataset as ds

_COLUMNS_TOGETHER, _CELLS_TOGETHER = 16_384, 2_000_000
_BYTES_A_ROW = 16
_opening = threading.Lock()


class Workspace:
    """A temporary directory with an embedded DuckDB that has a memory limit and spills into the directory.

    Both are removed with this object; the database is opened when it is first used. It opens no files but
    `sources` and those of the directory, and its configuration is locked.
    """

    def __init__(self, memory: int) -> None:
        with disk_errors(Path("the temporary folder")):
            private = PrivateFolder()
        self.folder = private.path
        self.sources: list[str] = []
        self._memory = memory
        self._opened: list[duckdb.DuckDBPyConnection] = []
        self._of_thread = threading.local()
        self._cleaner = weakref.finalize(self, _close_all, self._opened, private)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """A connection to the database for this thread: two threads cannot use the same connection."""
        import duckdb

        if not hasattr(self._of_thread, "connection"):
            config: dict[str, str | bool | int | float | list[str]] = {
                "memory_limit": f"{self._memory}B",
                "temp_directory": str(self.folder / "spill"),
                "autoinstall_known_extensions": "false",  # nothing is fetched
                "autoload_known_extensions": "false",
            }
            with _opening:
                if not self._opened:
                    self._opened.append(duckdb.connect(str(self.folder / "work.duckdb"), config=config))
                    self._close_off(self._opened[0])
            self._of_thread.connection = self._opened[0].cursor()
        connection: duckdb.DuckDBPyConnection = self._of_thread.connection
        return connection

    def _close_off(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Forbid all files but the named ones, addresses, extensions, and changes of the configuration."""
        paths = [form for path in self.sources for form in (path, _without_wildcards(path))]
        for option, allowed in (("allowed_directories", [str(self.folder)]), ("allowed_paths", paths)):
            connection.execute(f"SET {option} = [{_strings(allowed)}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")

    def close(self) -> None:
        """Close the database and remove the directory."""
        self._cleaner()


def _close_all(opened: list[duckdb.DuckDBPyConnection], private: PrivateFolder) -> None:
    for connection in opened:
        connection.close()
    private.close()


class Conversion(Protocol):
    """Conversion of a stored column to the values it represents, in Arrow and in SQL."""

    @property
    def type(self) -> pa.DataType:
        """The type of the values."""

    def convert(self, stored: pa.Array) -> pa.Array:
        """Stored cells as values."""

    def in_sql(self, column: str) -> str:
        """SQL that converts a stored column, given as SQL."""


class FileBackend(Backend):
    """Parquet, Feather or ORC files.

    Args:
        paths: the files; all have the same columns.
        kind: "parquet", "feather" or "orc".
        name: the table's name in messages.
        memory: memory limit in bytes.
        needs: estimated bytes per record for each kind of work.
        conversions: by column, the conversion of stored cells to values.
        stored_as: by column, its name in the files; None if the names are equal.
        workspace: the temporary directory that the files are in, if any; it is removed together with this object.
        is_own: True if this process wrote the files, so that their cells need not be validated.
    """

    def __init__(
        self,
        paths: Sequence[str],
        kind: str,
        *,
        name: str,
        memory: int,
        needs: MemoryNeeds | None = None,
        conversions: Mapping[str, Conversion] | None = None,
        stored_as: Mapping[str, str] | None = None,
        workspace: Workspace | None = None,
        is_own: bool = False,
    ) -> None:
        import pyarrow.dataset as ds  # imports pandas, which readers in child processes do not need

        self._paths, self._kind = list(paths), kind
        self._workspace = workspace  # a reference: without one, its files and relations would be deleted
        if workspace is not None:
            workspace.sources += self._paths
        self._is_own = is_own
        self._conversions = conversions or {}
        try:
            self._dataset: ds.Dataset = ds.dataset(self._paths, format=kind)
            stored = self._dataset.schema.names
        except (pa.ArrowException, UnicodeDecodeError, OSError):
            forbidden = [path for path in paths if not os.access(path, os.R_OK)]
            if forbidden:
                raise InputError(f"{forbidden[0]} cannot be read: no permission") from None
            damaged = name if len(paths) == 1 else Path(paths[0]).name  # never the path of a private copy
            raise InputError(f"{damaged} is not a {kind} file that can be read; it may be cut short") from None
        self._stored_as = dict(zip(stored, stored, strict=True)) if stored_as is None else stored_as
        self._registered = itertools.count()
        self._state_when_opened = [file_state(path) for path in self._paths]
        super().__init__(stored if stored_as is None else list(stored_as), name=name, memory=memory, needs=needs)

    def check_unchanged(self) -> None:
        """Raise InputError if a file changed since it was opened: columns read before and after would not match."""
        if [file_state(path) for path in self._paths] != self._state_when_opened:
            raise InputError(
                f"{Path(self._paths[0]).name} changed while it was read, so the result would be wrong; read it again"
            )

    def _count_rows(self) -> int:
        with self._reading(self.columns):
            return int(self._dataset.count_rows())

    @contextmanager
    def _reading(self, names: Sequence[str]) -> Iterator[None]:
        """Replace Arrow's errors on damaged files, whose messages may quote cells, by an InputError."""
        try:
            yield
        except (pa.ArrowException, TypeError, KeyError, IndexError, OSError, UnicodeDecodeError) as error:
            self.check_unchanged()
            if "UTF8" in str(error):
                raise InputError(f"{self.name} holds text that is not UTF-8; write it again in UTF-8") from None
            raise InputError(
                f"{', '.join(names[:5])} cannot be read ({type(error).__name__}); "
                "the file is damaged, or its parts do not have the same columns and types"
            ) from None

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Read one column at a time; several if rows are few, because then reading the footers takes longest."""
        together = max(1, min(_COLUMNS_TOGETHER, _CELLS_TOGETHER // max(1, self.rows)))
        for start in range(0, len(names), together):
            part = list(names[start : start + together])
            with self._reading(part):
                columns = self._stored(part)
                for column in columns if not self._is_own else ():
                    column.validate(full=True)  # Arrow trusts the codes and the text of a damaged file
                    if len(column) != self.rows:
                        raise IndexError("rows are missing")
                values = [self._converted(name, column) for name, column in zip(part, columns, strict=True)]
            self.check_unchanged()
            yield from zip(part, values, strict=True)

    def _stored(self, names: list[str]) -> list[pa.ChunkedArray]:
        """Columns as stored in the files, before conversion."""
        names = [self._stored_as[name] for name in names]
        if self._kind == "feather":
            return list(self._dataset.to_table(columns=names).columns)
        if self._kind == "orc":
            parts = [_read_orc(path, names) for path in self._paths]
        else:
            text = [name for name in names if pa.types.is_string(self._dataset.schema.field(name).type)]
            parts = [pq.ParquetFile(path, read_dictionary=text).read(names) for path in self._paths]
        return [
            pa.chunked_array([chunk for part in parts for chunk in part[name].chunks], parts[0][name].type)
            for name in names
        ]

    def _converted(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """A column's stored cells converted to values; each dictionary entry is converted once."""
        conversion = self._conversions.get(name)
        if conversion is None:
            return column
        cells = [
            conversion.convert(chunk.dictionary).take(chunk.indices)
            if pa.types.is_dictionary(chunk.type)
            else conversion.convert(chunk)
            for chunk in column.chunks
        ]
        return pa.chunked_array(cells, conversion.type)

    def _read_types(self) -> dict[str, pa.DataType]:
        schema = self._dataset.schema
        stored = {name: schema.field(self._stored_as[name]).type for name in self.columns}
        stored |= {name: conversion.type for name, conversion in self._conversions.items()}
        return {name: plain_type(kind) for name, kind in stored.items()}

    def bytes_to_count(self, names: Sequence[str]) -> int:
        """Estimated bytes: per row a key and the codes of two columns, and twice the size of the two widest columns."""
        rows = self.rows
        if self._kind != "parquet":
            return _BYTES_A_ROW * rows
        with self._reading(names):
            return _BYTES_A_ROW * rows + self._bytes_of_widest(names)

    def _bytes_of_widest(self, names: Sequence[str]) -> int:
        """Twice the size of the two widest columns, by the footers of the files."""
        widest = dict.fromkeys((self._stored_as[name] for name in names), 0)
        for path in self._paths:
            footer = pq.read_metadata(path)
            for group in range(footer.num_row_groups):
                for place in range(footer.num_columns):
                    column = footer.row_group(group).column(place)
                    if column.path_in_schema in widest:
                        widest[column.path_in_schema] += column.total_uncompressed_size
        return 2 * sum(sorted(widest.values())[-2:])

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns through DuckDB, which reads the files itself and spills to disk if necessary."""
        stored = self._dataset.schema
        folded = {column.lower() for column in stored.names}
        if len(folded) < len(stored.names):
            raise UnsupportedError(
                "the database that takes over past the memory limit cannot tell these columns apart: names that differ "
                "only in capital letters; rename them, or give more memory"
            )
        for name in names:
            kind = stored.field(self._stored_as[name]).type
            if not _is_held(kind):
                raise UnsupportedError(
                    f"the database that takes over past the memory limit does not hold {kind}, the type of {name}; "
                    "store the column as text or numbers, or give more memory"
                )
        connection = self.connection()
        if self._kind == "parquet":
            files = _strings([_without_wildcards(path) for path in self._paths])
            source = f"read_parquet([{files}], hive_partitioning=false)"
        else:
            fields = [stored.field(column) for column in sorted({self._stored_as[name] for name in names})]
            source = f"rows{next(self._registered)}"  # without columns of types that DuckDB does not have
            connection.register(source, self._dataset.replace_schema(pa.schema(fields)))
        columns = ", ".join(f"{self._as_sql(name)} AS c{place}" for place, name in enumerate(names))
        return nw.from_native(connection.sql(f"SELECT {columns} FROM {source}"))

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A few rows as a relation of the embedded DuckDB."""
        return nw.from_native(self.connection().from_arrow(rows))

    def connection(self) -> duckdb.DuckDBPyConnection:
        """The embedded DuckDB, opened when it is first needed."""
        return self._opened_workspace().connection

    def folder_to_write(self) -> PrivateFolder:
        """A new private folder in the workspace, outside of which the embedded DuckDB writes nothing."""
        return PrivateFolder(inside=self._opened_workspace().folder)

    def _opened_workspace(self) -> Workspace:
        with _opening:
            if self._workspace is None:
                self._workspace = Workspace(self.memory)
                self._workspace.sources += self._paths
        return self._workspace

    def _as_sql(self, name: str) -> str:
        """SQL for a column's values."""
        stored, conversion = quote_name(self._stored_as[name]), self._conversions.get(name)
        return stored if conversion is None else conversion.in_sql(stored)


def _read_orc(path: str, names: list[str]) -> pa.Table:
    """Columns of an ORC file. A dataset would hold about 130 kB for each column while it reads them."""
    from pyarrow import orc

    stored = orc.ORCFile(path)
    if any("." in name for name in names):  # taken for parts of a record, which are then missing
        return stored.read().select(names)
    return stored.read(columns=names).select(names)


def _is_held(kind: pa.DataType) -> bool:
    """True if DuckDB tells the values of a type apart as `plain_column` does."""
    types, values = pa.types, value_type(kind)
    if types.is_decimal(values):
        return bool(types.is_decimal128(values) and values.scale >= 0)
    return bool(plain_type(values) == values or is_bytes(values) or types.is_date(values) or types.is_null(values))


def _without_wildcards(path: str) -> str:
    """A path as a pattern of DuckDB that only this path matches."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _strings(texts: Sequence[str]) -> str:
    """Texts as a list of SQL strings."""
    return ", ".join("'" + text.replace("'", "''") + "'" for text in texts)
