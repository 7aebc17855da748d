"""Where rows come from: frames that the caller holds, and mappings of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError, UnsupportedError
from incrowd.tables.readers import engine_errors, quoted

if TYPE_CHECKING:
    import duckdb
    import narwhals.stable.v2 as nw
    import pyarrow as pa


class FrameReader:
    """A frame the caller holds: pandas, Polars, Arrow, DuckDB and what else narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> None:
        self._frame = frame
        self._here: nw.DataFrame[Any] | None = None
        self._running = Lock()
        self.columns = tuple(frame.collect_schema().names())

    def rows(self) -> int:
        """How many rows the frame has; a lazy frame is asked."""
        import narwhals.stable.v2 as nw

        if isinstance(self._frame, nw.DataFrame):
            return len(self._frame)
        with engine_errors("the frame"):
            return int(self._frame.select(nw.len()).collect("pyarrow").item())

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Without a copy where the frame is Arrow inside; a lazy frame is run once, so that its rows stay aligned."""
        import narwhals.stable.v2 as nw

        with self._running, engine_errors("the frame"):
            here = self._frame if self._here is None else self._here
            if isinstance(here, nw.LazyFrame):
                here = self._here = here.collect("pyarrow")
        for name in names:
            yield name, _series_to_arrow(here.get_column(name))

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The caller's frame, lazily."""
        import narwhals.stable.v2 as nw

        if self._frame.implementation.is_duckdb():
            return nw.from_native(_by_bytes(self._frame.to_native(), names))
        return self._frame.lazy().select(*(nw.col(name).alias(f"c{place}") for place, name in enumerate(names)))

    def beside(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """No engine holds the frame."""
        raise UnsupportedError("a frame in memory is not written by an engine; give the file, or a Spark frame")

    def bytes_to_count(self, names: Sequence[str]) -> None:
        """The rows are in memory, whatever is done with them."""

    def confirm(self) -> None:
        """What the caller holds, the caller changes or not."""


def _by_bytes(relation: duckdb.DuckDBPyRelation, names: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """The named columns as c0, c1, …; text without its collation, which would make one of `a` and `A`."""
    kinds = dict(zip(relation.columns, relation.types, strict=True))
    plain = {name: ' COLLATE "binary"' if str(kinds[name]) == "VARCHAR" else "" for name in names}
    wanted = [f"{quoted(name)}{plain[name]}" for name in names]
    return relation.project(", ".join(f"{column} AS c{place}" for place, column in enumerate(wanted)))


def _series_to_arrow(series: nw.Series[Any]) -> pa.ChunkedArray:
    """Arrow for any series; values that Arrow has no simple type for are compared as text."""
    import pyarrow as pa

    try:
        found = series.to_arrow()
        kind = found.type.value_type if pa.types.is_dictionary(found.type) else found.type
        plain = not (isinstance(kind, pa.BaseExtensionType) and pa.types.is_nested(kind.storage_type))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError):
        plain = False
    if not plain:
        missing = series.is_null().to_list()
        found = as_text([None if gone else value for value, gone in zip(series.to_list(), missing, strict=True)])
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])


def as_text(values: Sequence[Any]) -> pa.Array:
    """Values of several types, or of none that Arrow has, as text."""
    import pyarrow as pa

    if any(isinstance(value, list | dict | set | tuple) for value in values):
        raise InputError("a column holds lists or records; give columns of single values")
    return pa.array([None if value is None else str(value) for value in values], pa.string())
