"""Where rows come from: Parquet and Feather files, through Arrow or an embedded DuckDB."""

from __future__ import annotations

import os
import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.private_folders import PrivateFolder
from incrowd.errors import IncrowdError, InputError, UnsupportedError

if TYPE_CHECKING:
    import duckdb
    import narwhals.stable.v2 as nw
    import pyarrow as pa
    import pyarrow.dataset as ds

_COLUMNS_TOGETHER, _CELLS_TOGETHER = 256, 2_000_000
_BYTES_A_ROW = 16


class Workspace:
    """A private folder, and in it an embedded DuckDB that keeps to a memory limit and spills there.

    Both are gone when nobody needs them; the database is opened when it is first asked for.
    """

    def __init__(self, memory: int) -> None:
        with disk_errors(Path("the temporary folder")):
            private = PrivateFolder()
        self.folder = private.path
        self._memory = memory
        self._opened: list[duckdb.DuckDBPyConnection] = []
        self._cleaner = weakref.finalize(self, _forget, self._opened, private)

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database."""
        import duckdb

        if not self._opened:
            config: dict[str, str | bool | int | float | list[str]] = {
                "memory_limit": f"{self._memory}B",
                "temp_directory": str(self.folder / "spill"),
                "autoinstall_known_extensions": "false",  # nothing is fetched
                "autoload_known_extensions": "false",
            }
            self._opened.append(duckdb.connect(str(self.folder / "work.duckdb"), config=config))
        return self._opened[0]

    def close(self) -> None:
        """Remove it now."""
        self._cleaner()


def _forget(opened: list[duckdb.DuckDBPyConnection], private: PrivateFolder) -> None:
    for connection in opened:
        connection.close()
    private.close()


class DatasetReader:
    """Parquet or Feather files, read through Arrow column by column."""

    def __init__(self, paths: list[str], kind: str, memory: int) -> None:
        import pyarrow as pa
        import pyarrow.dataset as ds

        self._paths, self._kind, self._memory = paths, kind, memory
        self._workspace: Workspace | None = None  # kept, for a relation dies with its database
        try:
            self._dataset: ds.Dataset = ds.dataset(paths, format=kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
            closed = [path for path in paths if not os.access(path, os.R_OK)]
            if closed:
                raise InputError(f"{closed[0]} cannot be read: no permission") from None
            raise InputError(f"{paths[0]} is not a {kind} file that can be read; it may be cut short") from None
        self.columns = tuple(self._dataset.schema.names)
        self._seen = self._state()

    def confirm(self) -> None:
        """Stop if a file is not what it was when it was opened: columns read before and after would not fit."""
        if self._state() != self._seen:
            raise InputError(
                f"{Path(self._paths[0]).name} changed while it was read; nothing of it can be trusted, read it again"
            )

    def _state(self) -> list[tuple[int, ...] | None]:
        """When each file was written, how long it is and which it is; None where it is gone."""
        found: list[tuple[int, ...] | None] = []
        for path in self._paths:
            state = os.stat(path) if os.path.exists(path) else None
            found.append(None if state is None else (state.st_mtime_ns, state.st_size, state.st_ino))
        return found

    def rows(self) -> int:
        """From the files' own footers."""
        return int(self._dataset.count_rows())

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """A few columns at a time: one where there are many rows, more where a footer costs more than its columns."""
        import pyarrow as pa

        together = max(1, min(_COLUMNS_TOGETHER, _CELLS_TOGETHER // max(1, self.rows())))
        for start in range(0, len(names), together):
            part = list(names[start : start + together])
            try:
                found = self._columns(part)
            except (pa.ArrowInvalid, pa.ArrowTypeError, KeyError, IndexError, OSError) as error:
                self.confirm()
                raise InputError(
                    f"{', '.join(part[:5])} cannot be read ({type(error).__name__}); "
                    "the file is damaged, or its parts do not have the same columns and types"
                ) from None
            self.confirm()
            yield from zip(part, found, strict=True)

    def _columns(self, names: list[str]) -> list[pa.ChunkedArray]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._kind != "parquet":
            return list(self._dataset.to_table(columns=names).columns)
        text = [name for name in names if pa.types.is_string(self._dataset.schema.field(name).type)]
        parts = [pq.ParquetFile(path, read_dictionary=text).read(names) for path in self._paths]
        return [
            pa.chunked_array([chunk for part in parts for chunk in part[name].chunks], parts[0][name].type)
            for name in names
        ]

    def bytes_to_count(self, names: Sequence[str]) -> int:
        """A key and the codes of two columns a row, and the two widest columns as they lie in the file."""
        import pyarrow.parquet as pq

        rows = self.rows()
        if self._kind != "parquet":
            return _BYTES_A_ROW * rows
        widest = dict.fromkeys(names, 0)
        for path in self._paths:
            footer = pq.read_metadata(path)
            for group in range(footer.num_row_groups):
                for place in range(footer.num_columns):
                    column = footer.row_group(group).column(place)
                    if column.path_in_schema in widest:
                        widest[column.path_in_schema] += column.total_uncompressed_size
        return _BYTES_A_ROW * rows + 2 * sum(sorted(widest.values())[-2:])

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """Through DuckDB, which reads the files itself and spills where it must."""
        import narwhals.stable.v2 as nw
        import pyarrow as pa

        folded = {column.lower() for column in self.columns}
        if len(folded) < len(self.columns) or any(
            pa.types.is_decimal256(self._dataset.schema.field(name).type) for name in names
        ):
            raise UnsupportedError(
                "the database that takes over past the memory limit cannot tell these columns apart: names that differ "
                "only in capital letters, or decimals of more than 38 digits; rename or round them, or give more memory"
            )
        connection = self._connection()
        source = "rows"
        if self._kind == "parquet":
            files = ", ".join("'" + _literal(path) + "'" for path in self._paths)
            source = f"read_parquet([{files}], hive_partitioning=false)"
        else:
            connection.register("rows", self._dataset)
        columns = ", ".join(f"{self._as_sql(name)} AS c{place}" for place, name in enumerate(names))
        return nw.from_native(connection.sql(f"SELECT {columns} FROM {source}"))

    def beside(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """The rows in the same database."""
        import narwhals.stable.v2 as nw

        return nw.from_native(self._connection().from_arrow(rows))

    def _connection(self) -> duckdb.DuckDBPyConnection:
        if self._workspace is None:
            self._workspace = Workspace(self._memory)
        return self._workspace.connection

    def _as_sql(self, name: str) -> str:
        """What the database reads for a column."""
        return quoted(name)


@contextmanager
def engine_errors(what: str) -> Iterator[None]:
    """Turn whatever an engine raises into an error of ours: its own words may quote cells."""
    try:
        yield
    except IncrowdError:
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryException" or "No space left" in str(error):
            raise UnsupportedError(
                f"{what}: memory and temporary disk space ran out; nothing was kept: give more memory (--memory), free "
                "space, or name a folder on a larger disk in TMPDIR"
            ) from None
        from incrowd.backends.spark.session import reason_of

        cells = "look for cells that are not valid in their column's type"
        raise InputError(
            f"{what} cannot be counted by its engine ({type(error).__name__}); {reason_of(error) or cells}"
        ) from None


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn a disk that is full, or may not be written, into an error of ours."""
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else "a write failed"
        raise InputError(
            f"a private copy of the table cannot be written to {folder}: {why}; nothing was kept: free space "
            "there, or name a folder on a larger disk in TMPDIR"
        ) from None


def quoted(name: str) -> str:
    """A column's name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def _literal(path: str) -> str:
    """A path that the database takes as it is, and not as a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path).replace("'", "''")
