"""Parquet files: one file, a folder of parts or a pattern that matches them, read column by column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from incrowd.backends.arrow_columns import count_entries, is_text
from incrowd.backends.duckdb_backend import FileBackend
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, StoredBeside
from incrowd.tables.formats.parquet_bytes import describe_gaps
from incrowd.wording import listed

_COLUMNS_OF_FOLDERS = ("columns in the names of folders",)
_TYPES = {b"ARROW:schema"}
_METADATA = {  # types and versions, no values
    *_TYPES,
    b"PARQUET:field_id",
    b"pandas",
    b"org.apache.spark.sql.parquet.row.metadata",
    b"org.apache.spark.version",
    b"parquet.avro.schema",
    b"writer.model.name",
}


def open_parquet(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Open the parts of one table; nothing is read before a column is needed."""
    rows = FileBackend(paths, "parquet", name=name, memory=options.memory, workspace=options.workspace)
    partitions = describe_partitions(paths)
    not_counted = [*_COLUMNS_OF_FOLDERS] if partitions else []
    return FileContents(rows, partitions, not_counted=[*not_counted, *describe_metadata(map(pq.read_schema, paths))])


def describe_metadata(schemas: Iterable[pa.Schema]) -> list[str]:
    """Describe the metadata of files, except what programs need to read them; it may hold texts that nobody has judged.

    >>> describe_metadata([pa.schema([("age", pa.int64())], metadata={"contacts": "somebody"})])
    ['metadata (contacts)']
    """
    keys: dict[str, None] = {}
    for schema in schemas:
        for place in (schema, *schema):
            for key, value in (place.metadata or {}).items():
                if key not in _METADATA or (key == b"pandas" and b'"attributes": {"' in value):
                    keys[key.decode(errors="replace")] = None
    return [f"metadata ({listed(keys, 5)})"] if keys else []


def describe_partitions(paths: Sequence[str]) -> list[str]:
    """A note on columns that exist only in folder names, such as `year=2024`."""
    keys = dict.fromkeys(part.partition("=")[0] for path in paths for part in Path(path).parts[:-1] if "=" in part)
    if not keys:
        return []
    return [f"folders named {', '.join(key + '=…' for key in keys)} are not read as columns; write them into the files"]


def describe_unread(paths: list[str], name: str, options: ReadOptions) -> list[str]:
    """Describe the bytes of files that belong to no row: gaps, and entries of dictionaries that no cell has."""
    found = [words for path in paths for words in describe_gaps(path)]
    try:
        unused = dict.fromkeys(column for path in paths for column in _with_unused_entries(path))
    except (pa.ArrowException, OSError, ValueError, IndexError):
        return [*found, "columns that cannot be read"]
    if unused:
        found.append(f"values that no row has in the dictionary of {listed(unused, 5)}")
    return list(dict.fromkeys(found))


def _with_unused_entries(path: str) -> Iterator[str]:
    """The columns of text with a dictionary that holds an entry that no cell has."""
    names = [column.name for column in pq.read_schema(path) if is_text(column.type)]
    with pq.ParquetFile(path, read_dictionary=names) as opened:
        for group in range(opened.num_row_groups):
            for name in names:
                column = opened.read_row_group(group, [name]).column(0)
                if pa.types.is_dictionary(column.type) and column.num_chunks and not count_entries(column)[1].all():
                    yield name


def stored_parquet(file: Path) -> StoredBeside:
    """The metadata of a file and of its columns, and its columns of text with their dictionaries."""
    with pq.ParquetFile(file) as opened:
        schema, keys = opened.schema_arrow, set(opened.metadata.metadata or ())
    names = [column.name for column in schema if is_text(column.type)]
    columns = pq.ParquetFile(file, read_dictionary=names).read(names) if names else None
    return StoredBeside(frozenset(keys - _TYPES | metadata_keys(schema)), columns)


def metadata_keys(schema: pa.Schema) -> set[bytes]:
    """The keys of all metadata of a schema and its columns, except those that store Arrow types."""
    return {*(schema.metadata or ())} - _TYPES | {key for column in schema for key in column.metadata or ()}


def write_parquet(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write one file, compressed."""
    pq.write_table(table, file, compression="zstd")


FORMAT = FileFormat(
    description="Parquet files",
    extensions=(".parquet", ".pq"),
    open=open_parquet,
    magic=b"PAR1",
    several_files=True,
    write={".parquet": write_parquet, ".pq": write_parquet},
    stored=stored_parquet,
    describe_unread=describe_unread,
)
