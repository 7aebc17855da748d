"""ORC files, read column by column through Arrow."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from incrowd.backends.duckdb_backend import FileBackend
from incrowd.tables.codebook import Codebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.parquet import describe_partitions


def open_orc(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of one table; nothing is read before a column is needed."""
    rows = FileBackend(paths, "orc", name=name, memory=options.memory, workspace=options.workspace)
    return FileContents(rows, notes=describe_partitions(paths))


def write_orc(table: pa.Table, file: Path, codebook: Codebook) -> None:
    """Write one file, compressed; ORC has no dictionaries."""
    from pyarrow import orc

    plain = [field.type.value_type if pa.types.is_dictionary(field.type) else field.type for field in table.schema]
    schema = pa.schema(list(zip(table.column_names, plain, strict=True)))
    orc.write_table(table.cast(schema), str(file), compression="zstd")


FORMAT = FileFormat(
    description="ORC files", extensions=(".orc",), open=open_orc, several_files=True, write={".orc": write_orc}
)
