"""Where rows come from: Parquet and Feather files, DuckDB relations, the caller's frames."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import narwhals.stable.v2 as nw
    import pyarrow as pa
    import pyarrow.dataset as ds

_COLUMNS_TOGETHER, _CELLS_TOGETHER = 256, 2_000_000


class Workspace:
    """A private folder, and in it an embedded DuckDB that keeps to a memory limit and spills there.

    Both are gone when nobody needs them; the database is opened when it is first asked for.
    """

    def __init__(self, memory: int) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="incrowd-"))  # readable by this user alone
        self._memory = memory
        self._opened: list[duckdb.DuckDBPyConnection] = []
        self._cleaner = weakref.finalize(self, _forget, self._opened, self.folder)

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


def _forget(opened: list[duckdb.DuckDBPyConnection], folder: Path) -> None:
    for connection in opened:
        connection.close()
    shutil.rmtree(folder, ignore_errors=True)


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
            raise InputError(f"{paths[0]} is not a {kind} file that can be read; it may be cut short") from None
        self.columns = tuple(self._dataset.schema.names)

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
            except (pa.ArrowInvalid, OSError) as error:
                raise InputError(f"{self._paths[0]}: {', '.join(part)} cannot be read; the file is damaged") from error
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

    def lazy(self) -> nw.LazyFrame[Any]:
        """Through DuckDB, which reads the files itself and spills where it must."""
        import narwhals.stable.v2 as nw

        folded = {column.lower() for column in self.columns}
        if len(folded) < len(self.columns):
            raise InputError(
                "some column names differ only in capital letters, which the database that takes over past the memory "
                "limit cannot tell apart; rename them, or give more memory"
            )
        if self._workspace is None:
            self._workspace = Workspace(self._memory)
        if self._kind != "parquet":
            self._workspace.connection.register("rows", self._dataset)
            return nw.from_native(self._workspace.connection.sql("SELECT * FROM rows"))
        files = ", ".join("'" + path.replace("'", "''") + "'" for path in self._paths)
        query = f"SELECT {self._selection()} FROM read_parquet([{files}])"
        return nw.from_native(self._workspace.connection.sql(query))

    def _selection(self) -> str:
        """What the database reads of a file."""
        return "*"


class FrameReader:
    """A frame the caller holds: pandas, Polars, Arrow, DuckDB, Spark and what else narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> None:
        self._frame = frame
        self._running = Lock()
        self.columns = tuple(frame.collect_schema().names())

    def rows(self) -> int:
        """How many rows the frame has; a lazy frame is asked."""
        import narwhals.stable.v2 as nw

        if isinstance(self._frame, nw.DataFrame):
            return len(self._frame)
        return int(self._frame.select(nw.len()).collect("pyarrow").item())

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Without a copy where the frame is Arrow inside; a lazy frame is run once, so that its rows stay aligned."""
        import narwhals.stable.v2 as nw

        with self._running:
            if isinstance(self._frame, nw.LazyFrame):
                self._frame = self._frame.collect("pyarrow")
        for name in names:
            yield name, _series_to_arrow(self._frame.get_column(name))

    def lazy(self) -> nw.LazyFrame[Any]:
        """The caller's frame, lazily."""
        return self._frame.lazy()


def _series_to_arrow(series: nw.Series[Any]) -> pa.ChunkedArray:
    """Arrow for any series; a column of mixed types is compared as text."""
    import pyarrow as pa

    try:
        found = series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        missing = series.is_null().to_list()
        found = pa.array(
            [None if gone else str(value) for value, gone in zip(series.to_list(), missing, strict=True)], pa.string()
        )
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def quoted(name: str) -> str:
    """A column's name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
