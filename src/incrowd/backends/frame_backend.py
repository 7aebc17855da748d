"""Frames in the caller's memory: pandas, Polars, Arrow, DuckDB and others that narwhals supports; eager or lazy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd.backends.arrow_columns import series_to_arrow
from incrowd.backends.base import Backend
from incrowd.backends.counts import MemoryNeeds
from incrowd.backends.engine_errors import engine_errors
from incrowd.backends.relational import quote_name

if TYPE_CHECKING:
    import duckdb


class FrameBackend(Backend):
    """A frame of the caller, which is not copied.

    A lazy frame is grouped by its own engine. If its rows are needed, it is executed once.
    """

    def __init__(
        self,
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any],
        *,
        name: str,
        memory: int,
        needs: MemoryNeeds | None = None,
    ) -> None:
        super().__init__(frame.collect_schema().names(), name=name, memory=memory, needs=needs)
        self._frame = frame
        self._is_lazy = isinstance(frame, nw.LazyFrame)
        self._collected: nw.DataFrame[Any] | None = None
        self._running = Lock()

    def _count_rows(self) -> int:
        if isinstance(self._frame, nw.DataFrame):
            return len(self._frame)
        with engine_errors("the frame"):
            return int(self._frame.select(nw.len()).collect("pyarrow").item())

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """Read columns, without a copy if they are Arrow; a lazy frame is run once, so that all have one row order."""
        with self._running, engine_errors("the frame"):
            frame = self._frame if self._collected is None else self._collected
            if isinstance(frame, nw.LazyFrame):
                frame = self._collected = frame.collect("pyarrow")
        for name in names:
            yield name, series_to_arrow(frame.get_column(name))

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns of the caller's frame, renamed c0, c1, …"""
        if self._frame.implementation.is_duckdb():
            return nw.from_native(_compared_by_bytes(self._frame.to_native(), names))
        return self._frame.lazy().select(*(nw.col(name).alias(f"c{place}") for place, name in enumerate(names)))

    def _counts_in_engine(self, names: Sequence[str]) -> bool:
        return self._is_lazy


def _compared_by_bytes(relation: duckdb.DuckDBPyRelation, names: Sequence[str]) -> duckdb.DuckDBPyRelation:
    """The named columns as c0, c1, …; text is compared by bytes, because a collation may make `a` and `A` equal."""
    kinds = dict(zip(relation.columns, relation.types, strict=True))
    plain = {name: ' COLLATE "binary"' if str(kinds[name]) == "VARCHAR" else "" for name in names}
    wanted = [f"{quote_name(name)}{plain[name]}" for name in names]
    return relation.project(", ".join(f"{column} AS c{place}" for place, column in enumerate(wanted)))
