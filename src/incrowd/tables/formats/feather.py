"""Feather (Arrow IPC) files, read column by column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather

from incrowd.backends.duckdb_backend import FileBackend
from incrowd.tables.codebook import Codebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.parquet import describe_partitions


def open_feather(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of one table; nothing is read before a column is needed."""
    rows = FileBackend(paths, "feather", name=name, memory=options.memory, workspace=options.workspace)
    return FileContents(rows, notes=describe_partitions(paths))


def write_feather(table: pa.Table, file: Path, codebook: Codebook) -> None:
    """Write one file, compressed as Arrow does by default."""
    pyarrow.feather.write_feather(table, str(file))


FORMAT = FileFormat(
    description="Feather files",
    extensions=(".feather", ".arrow", ".ipc"),
    open=open_feather,
    several_files=True,
    write={".feather": write_feather, ".arrow": write_feather},
)
