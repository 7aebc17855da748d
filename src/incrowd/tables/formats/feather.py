"""Feather (Arrow IPC) files, read column by column."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather

from incrowd.backends.duckdb_backend import FileBackend
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, StoredBeside
from incrowd.tables.formats.limited_reading import read_limited
from incrowd.tables.formats.parquet import describe_metadata, describe_partitions, metadata_keys

_BYTES_A_SECOND = 10_000_000  # slowest reading that is allowed
_UNREADABLE = "{name} is not a feather file that can be read; it may be damaged or cut short"


def open_feather(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of a table after a child process has validated them: Arrow trusts the contents of such files."""
    not_counted = read_limited(
        check_feather,
        *(paths, name),
        paths=paths,
        name=name,
        options=options,
        bytes_a_second=_BYTES_A_SECOND,
        unreadable=_UNREADABLE.format(name=name),
        imports=("pyarrow.dataset",),
    )
    rows = FileBackend(paths, "feather", name=name, memory=options.memory, workspace=options.workspace)
    return FileContents(rows, describe_partitions(paths), not_counted=not_counted)


def check_feather(paths: list[str], name: str) -> list[str]:
    """Read and validate every cell, in a process that may crash; return the metadata of the files."""
    import pyarrow.dataset as ds  # imports pandas, which takes longer than the rest of reading a file

    try:
        rows = ds.dataset(paths, format="feather")
        for batch in rows.to_batches(use_threads=False, batch_readahead=0, fragment_readahead=0):
            batch.validate(full=True)
        return describe_metadata(part.physical_schema for part in rows.get_fragments())
    except (pa.ArrowException, OSError, ValueError, TypeError) as error:
        if isinstance(error, MemoryError):
            raise
        raise InputError(_UNREADABLE.format(name=name)) from None


def stored_feather(file: Path) -> StoredBeside:
    """The metadata of a file and of its columns, and all columns with their dictionaries."""
    with pa.memory_map(str(file)) as source:
        table = pa.ipc.open_file(source).read_all()
    return StoredBeside(frozenset(metadata_keys(table.schema)), table)


def write_feather(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write one file, compressed as Arrow does by default."""
    pyarrow.feather.write_feather(table, str(file))


FORMAT = FileFormat(
    description="Feather files",
    extensions=(".feather", ".arrow", ".ipc"),
    open=open_feather,
    magic=b"ARROW1",
    several_files=True,
    write={".feather": write_feather, ".arrow": write_feather},
    stored=stored_feather,
)
