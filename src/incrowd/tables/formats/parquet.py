"""Parquet files: one file, a folder of parts or a pattern that matches them, read column by column."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.backends.duckdb_backend import FileBackend
from incrowd.tables.codebook import Codebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions


def open_parquet(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of one table; nothing is read before a column is needed."""
    rows = FileBackend(paths, "parquet", name=name, memory=options.memory, workspace=options.workspace)
    return FileContents(rows, notes=describe_partitions(paths))


def describe_partitions(paths: Sequence[str]) -> list[str]:
    """A note on columns that exist only in the names of folders, such as `year=2024`."""
    keys = dict.fromkeys(part.partition("=")[0] for path in paths for part in Path(path).parts[:-1] if "=" in part)
    if not keys:
        return []
    return [f"folders named {', '.join(key + '=…' for key in keys)} are not read as columns; write them into the files"]


def write_parquet(table: pa.Table, file: Path, codebook: Codebook) -> None:
    """Write one file, compressed."""
    pq.write_table(table, file, compression="zstd")


FORMAT = FileFormat(
    description="Parquet files",
    extensions=(".parquet", ".pq"),
    open=open_parquet,
    magic=b"PAR1",
    several_files=True,
    write={".parquet": write_parquet, ".pq": write_parquet},
)
