"""Feather (Arrow IPC) files, read column by column."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather

from incrowd._support.limited_process import ChildError, call_limited
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.errors import InputError, TooLargeError
from incrowd.tables.codebook import Codebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.parquet import describe_partitions
from incrowd.wording import data_size

_SECONDS, _BYTES_A_SECOND = 60, 10_000_000  # of processor time, and more for a large file
_UNREADABLE = "{name} is not a feather file that can be read; it may be damaged or cut short"


def open_feather(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of a table, once a child process has checked them: Arrow trusts what such files say."""
    seconds = _SECONDS + sum(os.path.getsize(path) for path in paths) // _BYTES_A_SECOND
    try:
        call_limited(f"{__name__}:check_feather", paths, name, memory=options.memory, seconds=seconds)
    except ChildError as error:
        if error.reason == "crash":
            raise InputError(_UNREADABLE.format(name=name)) from None
        size = data_size(options.memory)
        raise TooLargeError(f"{name} cannot be read within the memory limit of {size}", hint="memory") from None
    rows = FileBackend(paths, "feather", name=name, memory=options.memory, workspace=options.workspace)
    return FileContents(rows, notes=describe_partitions(paths))


def check_feather(paths: list[str], name: str) -> None:
    """Read every cell and check that it is one; for a process that may crash."""
    try:
        rows = ds.dataset(paths, format="feather")
        for batch in rows.to_batches(use_threads=False, batch_readahead=0, fragment_readahead=0):
            batch.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        if isinstance(error, MemoryError):
            raise
        raise InputError(_UNREADABLE.format(name=name)) from None


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
