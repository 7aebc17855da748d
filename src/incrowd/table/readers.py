"""Where rows come from: Parquet and Feather files, DuckDB relations, the caller's frames."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError

if TYPE_CHECKING:
    import duckdb
    import narwhals.stable.v2 as nw
    import pyarrow as pa
    import pyarrow.dataset as ds


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


class RelationReader:
    """A DuckDB relation of ours: a loaded CSV or JSON file, or a file that is grouped where it lies."""

    def __init__(self, workspace: Workspace, query: str) -> None:
        self._workspace = workspace
        self._query = query
        self.columns = tuple(self.relation().columns)

    def relation(self) -> duckdb.DuckDBPyRelation:
        """The rows as DuckDB sees them."""
        return self._workspace.connection.sql(self._query)

    def rows(self) -> int:
        """How many rows there are."""
        ((counted,),) = self._workspace.connection.execute(f"SELECT count(*) FROM ({self._query})").fetchall()
        return int(counted)

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Column by column; DuckDB keeps the order of a stored table."""
        for name in names:
            yield name, self.relation().select(quoted(name)).to_arrow_table().column(0)

    def lazy(self) -> nw.LazyFrame[Any]:
        """The relation itself, alive as long as this reader."""
        import narwhals.stable.v2 as nw

        return nw.from_native(self.relation())


class DatasetReader:
    """Parquet or Feather files, read through Arrow column by column."""

    def __init__(self, paths: list[str], kind: str, memory: int) -> None:
        import pyarrow as pa
        import pyarrow.dataset as ds

        self._paths, self._kind, self._memory = paths, kind, memory
        self._relation: RelationReader | None = None  # kept, for a relation dies with its workspace
        try:
            self._dataset: ds.Dataset = ds.dataset(paths, format=kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
            raise InputError(f"{paths[0]} is not a {kind} file that can be read; it may be cut short") from None
        self.columns = tuple(self._dataset.schema.names)

    def rows(self) -> int:
        """From the files' own footers."""
        return int(self._dataset.count_rows())

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Column by column, so that only one is held as it lies in the file."""
        import pyarrow as pa

        for name in names:
            try:
                yield name, self._column(name)
            except (pa.ArrowInvalid, OSError) as error:
                raise InputError(f"{self._paths[0]}: column {name!r} cannot be read; the file is damaged") from error

    def _column(self, name: str) -> pa.ChunkedArray:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if self._kind != "parquet":
            return self._dataset.to_table(columns=[name]).column(0)
        text = pa.types.is_string(self._dataset.schema.field(name).type)
        parts = [
            pq.ParquetFile(path, read_dictionary=[name] if text else None).read([name]).column(0)
            for path in self._paths
        ]
        return parts[0] if len(parts) == 1 else pa.chunked_array([chunk for part in parts for chunk in part.chunks])

    def lazy(self) -> nw.LazyFrame[Any]:
        """Through DuckDB, which reads the file itself and spills where it must."""
        if self._relation is None:
            workspace = Workspace(self._memory)
            if self._kind == "parquet":
                files = ", ".join("'" + path.replace("'", "''") + "'" for path in self._paths)
                query = f"SELECT * FROM read_parquet([{files}])"
            else:
                workspace.connection.register("rows", self._dataset)
                query = "SELECT * FROM rows"
            self._relation = RelationReader(workspace, query)
        return self._relation.lazy()


class FrameReader:
    """A frame the caller holds: pandas, Polars, Arrow, DuckDB, Spark and what else narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> None:
        self._frame = frame
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
