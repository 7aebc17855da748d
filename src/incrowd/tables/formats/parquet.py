"""Parquet files: one file, a folder of parts or a pattern that matches them, read column by column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.readers import DatasetReader


def open_parquet(paths: list[str], options: ReadOptions) -> FileContents:
    """Open the parts of one table; nothing is read before a column is needed."""
    return FileContents(DatasetReader(paths, "parquet", options.memory), notes=describe_partitions(paths))


def describe_partitions(paths: list[str]) -> list[str]:
    """A note on columns that exist only in the names of folders, such as `year=2024`."""
    keys = dict.fromkeys(part.partition("=")[0] for path in paths for part in Path(path).parts[:-1] if "=" in part)
    if not keys:
        return []
    return [f"folders named {', '.join(key + '=…' for key in keys)} are not read as columns; write them into the files"]


def write_parquet(table: pa.Table, file: Path) -> None:
    """Write one file, compressed."""
    pq.write_table(table, file, compression="zstd")


FORMAT = FileFormat(
    description="Parquet files",
    extensions=(".parquet", ".pq"),
    open=open_parquet,
    several_files=True,
    write={".parquet": write_parquet, ".pq": write_parquet},
)
