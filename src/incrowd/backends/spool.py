"""Temporary private copies of rows in Parquet, written and read in batches to limit memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.backends.duckdb_backend import FileBackend, Workspace
from incrowd.backends.engine_errors import disk_errors
from incrowd.errors import InputError


def spool(batches: Iterable[pa.Table | pa.RecordBatch], folder: Path, name: str) -> Path:
    """Write batches of rows, all with the same columns and types, to a file of a private folder."""
    path = folder / "cells.parquet"
    writer: pq.ParquetWriter | None = None
    with disk_errors(folder.parent):
        try:
            for batch in batches:
                writer = writer or pq.ParquetWriter(path, batch.schema, compression="lz4", write_statistics=False)
                if batch.schema != writer.schema:
                    raise InputError(f"{name}: the files do not have the same columns and types; read them one by one")
                writer.write(batch)
        finally:
            if writer is not None:
                writer.close()
    if writer is None:
        raise InputError(f"{name} has no rows")
    return path


def spooled_rows(files: Sequence[Path], *, name: str, memory: int, workspace: Workspace, **columns: Any) -> FileBackend:
    """A backend for files in a workspace, which is removed with it; `columns` are arguments of `FileBackend`."""
    paths = [str(file) for file in files]
    return FileBackend(paths, "parquet", name=name, memory=memory, workspace=workspace, is_own=True, **columns)


def store_rows(table: pa.Table, file: Path) -> None:
    """Write rows, and the metadata of their schema, to a private file of any name."""
    with open(file, "wb") as opened:
        pq.write_table(table, opened)


def load_rows(file: Path) -> pa.Table:
    """All rows of a private file, with the metadata of their schema."""
    with pq.ParquetFile(file) as opened:
        return opened.read()


def load_batches(file: Path, rows: int) -> Iterator[pa.Table]:
    """Yield the rows of a private file in batches of limited size; the first batch has the columns and no row."""
    with pq.ParquetFile(file) as opened:
        yield opened.schema_arrow.empty_table()
        for batch in opened.iter_batches(rows):
            yield pa.Table.from_batches([batch])


def load_part(file: Path, columns: list[str], start: int, count: int) -> pa.Table:
    """Read some rows of a private file; only the row groups that hold them are read."""
    with pq.ParquetFile(file) as parts:
        slices = [parts.schema_arrow.empty_table().select(columns)]
        for number in range(parts.num_row_groups):
            rows = parts.metadata.row_group(number).num_rows
            if start < rows and count:
                slices.append(parts.read_row_group(number, columns).slice(max(start, 0), count))
                count -= slices[-1].num_rows
            start -= rows
    return pa.concat_tables(slices)
