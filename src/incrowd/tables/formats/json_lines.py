"""JSON lines (one object per line) and JSON files that hold one array of objects, read whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, TextIO

from incrowd.errors import InputError, TooLargeError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.python_cells import table_of_cells
from incrowd.wording import data_size

_BYTES_A_BYTE = 14  # memory for each byte of the file, measured for objects of a few short values


def open_json_lines(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Read all objects; one column per key, and a null if an object lacks the key."""
    if (needed := _BYTES_A_BYTE * os.path.getsize(paths[0])) > options.memory:
        raise TooLargeError(
            f"{name} is read whole, which takes about {data_size(needed)}; give that much memory, or save it as CSV or "
            "Parquet",
            hint="memory",
        )
    with open(paths[0], encoding="utf-8-sig") as file:
        try:
            records = list(_objects(file, name))
        except UnicodeDecodeError:
            raise InputError(f"{name} is not UTF-8, which JSON must be") from None
    header = list(dict.fromkeys(key for record in records for key in record))
    if not header:
        raise InputError(f"{name} has no objects with keys; write one JSON object a line")
    return FileContents(table_of_cells(header, [[record.get(key) for record in records] for key in header], name))


def _objects(file: TextIO, name: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of the file in order; an error names a line that is no object."""
    for number, text in enumerate(file, 1):
        if not text.strip():
            continue
        if number == 1 and text.lstrip().startswith("["):
            yield from _objects_of_array(text + file.read(), name)
            return
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError(f"{name}: line {number} is not JSON; write one object a line") from None
        if not isinstance(record, dict):
            raise InputError(f"{name}: line {number} is not a JSON object; write one object a line")
        yield record


def _objects_of_array(text: str, name: str) -> list[dict[str, Any]]:
    try:
        records = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{name} is neither JSON lines nor one JSON array") from None
    if not all(isinstance(record, dict) for record in records):
        raise InputError(f"{name}: an array must hold objects only")
    return list(records)


FORMAT = FileFormat(description="JSON files", extensions=(".jsonl", ".ndjson", ".json"), open=open_json_lines)
