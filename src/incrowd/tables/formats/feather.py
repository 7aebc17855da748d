"""Feather (Arrow IPC) files, read column by column."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd._support.compared_files import ComparedFile
from incrowd.backends.arrow_columns import count_entries
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, StoredBeside
from incrowd.tables.formats.limited_reading import describe_unlike, read_limited
from incrowd.tables.formats.parquet import describe_metadata, describe_partitions, metadata_keys

_COMPRESSIONS = ("lz4", "zstd", None)
_BATCH_ROWS = 1 << 16
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


def describe_unread(paths: list[str], name: str, options: ReadOptions) -> list[str]:
    """Describe the bytes of files that are not as Arrow writes their rows, such as values under nulls."""
    return describe_unlike(is_as_written, paths, name, options)


def is_as_written(path: str) -> bool:
    """True if a file equals what Arrow writes of its rows, and every entry of its dictionaries is used."""
    with pa.OSFile(path) as source:
        reader = pa.ipc.open_file(source)
        columns = zip(reader.schema, reader.read_all().columns, strict=True)
        coded = [column for field, column in columns if pa.types.is_dictionary(field.type) and column.num_chunks]
        if not all(count_entries(column)[1].all() for column in coded):
            return False
        return any(_equals_written(reader, path, compression) for compression in _COMPRESSIONS)


def _equals_written(reader: pa.ipc.RecordBatchFileReader, path: str, compression: str | None) -> bool:
    """True if a file equals what is written with a compression, batch by batch."""
    with ComparedFile(path) as written:
        batches = map(reader.get_batch, range(reader.num_record_batches))
        _write_batches(batches, reader.schema, pa.PythonFile(written, "w"), compression)
        return written.is_alike()


def _write_batches(batches: Iterable[pa.RecordBatch], schema: pa.Schema, sink: Any, compression: str | None) -> None:
    """Write batches without what no cell shows: values under nulls, and text of the rows before and after."""
    with pa.ipc.new_file(sink, schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        for batch in batches:
            writer.write_batch(batch.take(pa.array(np.arange(batch.num_rows))))


def stored_feather(file: Path) -> StoredBeside:
    """The metadata of a file and of its columns, and all columns with their dictionaries."""
    with pa.memory_map(str(file)) as source:
        table = pa.ipc.open_file(source).read_all()
    return StoredBeside(frozenset(metadata_keys(table.schema)), table)


def write_feather(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write one file, compressed as Arrow does by default."""
    batches = table.unify_dictionaries().to_batches(max_chunksize=_BATCH_ROWS)
    _write_batches(batches, table.schema, str(file), _COMPRESSIONS[0])


FORMAT = FileFormat(
    description="Feather files",
    extensions=(".feather", ".arrow", ".ipc"),
    open=open_feather,
    magic=b"ARROW1",
    several_files=True,
    write={".feather": write_feather, ".arrow": write_feather},
    stored=stored_feather,
    describe_unread=describe_unread,
)
