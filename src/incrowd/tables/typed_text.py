"""Columns of text in a private Parquet file, read with the types inferred for them."""

from __future__ import annotations

import pyarrow as pa

from incrowd.tables.infer_types import arrow_type, cast, cast_in_sql
from incrowd.tables.readers import DatasetReader, Workspace

CELLS_FILE = "cells.parquet"


class TypedTextReader(DatasetReader):
    """Reads the cells in a workspace's `cells.parquet`, each column converted to its type.

    Args:
        workspace: where the file is; it is removed together with the reader.
        types: the inferred type of each column; None is text.
        memory: the limit in bytes that work on the table keeps to.
    """

    def __init__(self, workspace: Workspace, types: dict[str, str | None], memory: int) -> None:
        super().__init__([str(workspace.folder / CELLS_FILE)], "parquet", memory)
        self._cells_workspace = workspace
        self._types = types

    def _columns(self, names: list[str]) -> list[pa.ChunkedArray]:
        return [self._typed(name, text) for name, text in zip(names, super()._columns(names), strict=True)]

    def _typed(self, name: str, text: pa.ChunkedArray) -> pa.ChunkedArray:
        kind = self._types[name]
        if kind is None:
            return text
        cells = [cast(chunk.dictionary, kind).take(chunk.indices) for chunk in text.chunks]
        return pa.chunked_array(cells, arrow_type(kind))

    def _as_sql(self, name: str) -> str:
        return cast_in_sql(name, self._types[name])
