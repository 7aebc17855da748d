"""ORC files, read column by column through Arrow."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from incrowd._support.compared_files import ComparedFile
from incrowd.backends.arrow_columns import value_type
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.limited_reading import describe_unlike
from incrowd.tables.formats.parquet import describe_partitions

_WIDER = {  # Arrow types that ORC lacks, and the ORC type that holds all their values
    pa.null(): pa.string(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
}


def open_orc(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of one table; nothing is read before a column is needed."""
    rows = FileBackend(paths, "orc", name=name, memory=options.memory, workspace=options.workspace)
    return FileContents(rows, notes=describe_partitions(paths))


def describe_unread(paths: list[str], name: str, options: ReadOptions) -> list[str]:
    """Describe the bytes of files that are not as Arrow writes their rows."""
    return describe_unlike(is_as_written, paths, name, options, imports=("pyarrow.orc",))


def is_as_written(path: str) -> bool:
    """True if a file equals what Arrow writes of its rows."""
    from pyarrow import orc

    stored = orc.ORCFile(path)
    with ComparedFile(path) as written:
        orc.write_table(stored.read(), written, compression=stored.compression.lower())
        return written.is_alike()


def write_orc(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write one file, compressed; ORC has no dictionaries, no unsigned numbers and no type of nulls."""
    from pyarrow import orc

    plain = ((field.name, value_type(field.type)) for field in table.schema)
    schema = pa.schema([(name, _WIDER.get(kind, kind)) for name, kind in plain])
    try:
        orc.write_table(table.cast(schema), str(file), compression="zstd")
    except pa.ArrowNotImplementedError as error:
        kind = str(error).rpartition(": ")[2]
        raise InputError(f"ORC files hold no columns of type {kind}; leave them out, or write Parquet") from None


FORMAT = FileFormat(
    description="ORC files",
    extensions=(".orc",),
    open=open_orc,
    magic=b"ORC",
    several_files=True,
    write={".orc": write_orc},
    describe_unread=describe_unread,
)
