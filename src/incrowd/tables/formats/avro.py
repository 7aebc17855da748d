"""Avro files, read in batches of records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.backends.duckdb_backend import Workspace
from incrowd.backends.spool import spool, spooled_rows
from incrowd.errors import InputError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions, require_package
from incrowd.tables.formats.limited_reading import read_limited

_MOST_RECORDS, _FEWEST_RECORDS = 50_000, 100  # records of a batch
_BYTES_A_CELL = 300  # memory for a cell of a batch: the Python value in its record and column, and the Arrow cell
_BYTES_A_SECOND = 100_000  # slowest reading that is allowed
_UNREADABLE = "{name} cannot be read as an Avro file; it may be damaged or cut short"
_TYPES: dict[str, pa.DataType] = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "string": pa.string(),
    "enum": pa.string(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
}
_LOGICAL: dict[str, pa.DataType] = {
    "date": pa.date32(),
    "time-millis": pa.time64("us"),
    "time-micros": pa.time64("us"),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "uuid": pa.string(),
}


def open_avro(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Read records into a private Parquet file; a nested type, or a union of several types, becomes text.

    A child process with limited memory reads them, because a block of some KB can unpack to many GB.
    """
    require_package("fastavro", name)
    workspace = options.workspace or Workspace(options.memory)
    cells = read_limited(
        copy_records,
        *(paths, name, options.memory, str(workspace.folder)),
        paths=paths,
        name=name,
        options=options,
        bytes_a_second=_BYTES_A_SECOND,
        unreadable=_UNREADABLE.format(name=name),
        imports=("fastavro",),
    )
    return FileContents(spooled_rows([Path(cells)], name=name, memory=options.memory, workspace=workspace))


def copy_records(paths: list[str], name: str, memory: int, folder: str) -> str:
    """Write the records of files to a Parquet file and return its path; runs in a process that may crash."""
    return str(spool((batch for path in paths for batch in _batches(path, name, memory)), Path(folder), name))


def _batches(path: str, name: str, memory: int) -> Iterator[pa.Table]:
    """Yield the records of a file in batches; an empty file has one batch without rows."""
    fastavro = require_package("fastavro", name)
    try:
        with open(path, "rb") as file:
            records = fastavro.reader(file)
            written = records.writer_schema
            if not isinstance(written, dict) or written.get("type") != "record":
                raise InputError(f"{name} holds no records")
            schema = pa.schema([(field["name"], _arrow_type(field["type"])) for field in written["fields"]])
            fitting = memory // 4 // (_BYTES_A_CELL * max(1, len(schema)))
            most = min(_MOST_RECORDS, max(_FEWEST_RECORDS, fitting))
            while True:
                batch = list(islice(records, most))
                columns = [[_cell(record.get(field.name), field.type) for record in batch] for field in schema]
                yield pa.table(
                    [pa.array(cells, field.type) for cells, field in zip(columns, schema, strict=True)], schema
                )
                if len(batch) < most:
                    return
    except (InputError, MemoryError):
        raise
    except Exception:  # on damaged bytes the reader raises any Python error
        raise InputError(_UNREADABLE.format(name=name)) from None


def _arrow_type(kind: Any) -> pa.DataType:
    """The type of a field; text for nested ones and for unions of several."""
    if isinstance(kind, list):
        others = [one for one in kind if one != "null"]
        return _arrow_type(others[0]) if len(others) == 1 else pa.string()
    if isinstance(kind, dict):
        logical = kind.get("logicalType")
        if logical == "decimal" and kind.get("precision", 99) <= 38:
            return pa.decimal128(kind["precision"], kind.get("scale", 0))
        return _LOGICAL.get(logical or "") or _arrow_type(kind["type"])
    return _TYPES.get(kind, pa.string())


def _cell(value: Any, kind: pa.DataType) -> Any:
    """Convert a value to the type of its column; in a text column, other values become text."""
    if value is None or not pa.types.is_string(kind) or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)


FORMAT = FileFormat(
    description="Avro files", extensions=(".avro",), open=open_avro, magic=b"Obj\x01", several_files=True
)
