"""CSV and its cousins: how they are written is found by looking, and nothing is lost in reading.

A file is read once, in blocks, into a private Parquet file of text; its columns then get types (shapes.py). So
memory stays bounded whatever the file.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.backends.duckdb_backend import FileBackend, Workspace
from incrowd.backends.engine_errors import disk_errors
from incrowd.errors import InputError, TooLargeError
from incrowd.tables.infer_types import COMMA, DOTTED, POINTS, Shapes, kinds_of_text
from incrowd.tables.sniff_dialect import BLOCK, SNIFFED, Dialect, encoding_of, look, rows_of

if TYPE_CHECKING:
    import pyarrow as pa

_BAD_LINES_SHOWN = 5
_NAMES_SHOWN = 8
_SEPARATORS = {";": "semicolons", "|": "bars", ":": "colons", " ": "spaces"}
_UNDERSTOOD = {
    COMMA: "numbers with a decimal comma",
    POINTS: "numbers with points between thousands and a decimal comma",
    DOTTED: "dates, the day before the month",
}


def open_delimited(
    path: str,
    separator: str | None,
    encoding: str | None,
    null: str | None,
    skip_bad_lines: bool,
    memory: int,
    most_columns: int | None = None,
) -> tuple[FileBackend, list[str], str]:
    """Load a delimited file; also what a user should know about how it was read, and how it is written.

    The last is said of files that `write_table` would write in another way, and empty for others.
    """
    notes: list[str] = []
    used = encoding_of(path, encoding)
    if encoding is None and not used.startswith("utf-8"):
        notes.append(f"the file is not UTF-8; it was read as {used} (say which with --encoding if it is not)")
    dialect = look(path, separator, used)
    if most_columns is not None and len(dialect.columns) > most_columns:
        raise TooLargeError(f"{len(dialect.columns):,} columns, and at most {most_columns:,} are taken; leave some out")
    workspace = Workspace(memory)
    cells = workspace.folder / "cells.parquet"
    shapes, bad = _load(path, dialect, null, cells)
    types = shapes.types()
    if bad:
        _report_bad_lines(path, dialect, bad, skip_bad_lines, notes)
    notes += _notes_on_types(types)
    foreign = [f"cells parted by {_SEPARATORS.get(dialect.separator, dialect.separator)}"]
    foreign = foreign if dialect.separator not in ",\t" else []
    foreign += [words for kind, words in _UNDERSTOOD.items() if kind in types.values()]
    backend = FileBackend(
        [str(cells)],
        "parquet",
        name=os.path.basename(path),
        memory=memory,
        conversions=shapes.conversions(),
        workspace=workspace,
    )
    return backend, notes, ", ".join(foreign)


def _notes_on_types(types: dict[str, str | None]) -> list[str]:
    """Which columns are not written as programs write them, and how they were understood."""
    notes = []
    for kind, words in _UNDERSTOOD.items():
        if names := [name for name, found in types.items() if found == kind]:
            more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
            notes.append(f"read as {words}: {', '.join(names[:_NAMES_SHOWN])}{more}")
    return notes


def _load(path: str, dialect: Dialect, null: str | None, cells: Path) -> tuple[Shapes, int]:
    """Write the cells as text to a Parquet file; the types that columns allow, and how many lines did not fit."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    shapes = Shapes(dict.fromkeys(dialect.columns, kinds_of_text(dialect.separator)))
    schema = pa.schema([(name, pa.string()) for name in dialect.columns])
    bad: list[int] = []
    over_lines = False
    try:
        with disk_errors(cells.parent.parent), pq.ParquetWriter(cells, schema, compression="lz4") as writer:
            for batch in _batches(path, dialect, null, bad):
                writer.write_batch(batch)
                over_lines = over_lines or any(_has_line_break(column) for column in batch.columns)
                shapes.see(batch)
    except (pa.ArrowInvalid, UnicodeError):
        raise InputError(  # Arrow's own words quote the file's cells
            f"{os.path.basename(path)} cannot be read as a table separated by {dialect.separator!r}; "
            "say the separator or the encoding (--separator, --encoding), or look for a line of more than 16 MB"
        ) from None
    if over_lines or _last_line_has_a_quote(path):
        _check_quotes(path, dialect)
    return shapes, len(bad)


def _batches(path: str, dialect: Dialect, null: str | None, bad: list[int]) -> Iterator[pa.RecordBatch]:
    """The file in blocks, every cell as text; lines that do not fit are counted and left out."""
    import pyarrow as pa
    import pyarrow.csv

    def leave_out(row: Any) -> str:
        bad.append(row.actual_columns)
        return "skip"

    reading = pyarrow.csv.ReadOptions(
        block_size=BLOCK, column_names=dialect.columns, skip_rows=dialect.header_lines, encoding=dialect.encoding
    )
    parsing = pyarrow.csv.ParseOptions(
        delimiter=dialect.separator,
        newlines_in_values=True,
        invalid_row_handler=leave_out,
        ignore_empty_lines=len(dialect.columns) > 1,  # in a single column an empty line is an empty cell
    )
    converting = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(dialect.columns, pa.string()),
        null_values=["", null] if null else [""],
        strings_can_be_null=True,
        check_utf8=False,  # the whole file was decoded before
    )
    yield from pyarrow.csv.open_csv(path, reading, parsing, converting)


def _has_line_break(column: pa.Array) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring(column, "\n")).as_py())


def _last_line_has_a_quote(path: str) -> bool:
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - SNIFFED))
        return b'"' in file.read().rstrip().rpartition(b"\n")[2]


def _check_quotes(path: str, dialect: Dialect) -> None:
    """Stop at a quote that is never closed: it would swallow the lines up to the next quote, or to the end."""
    good = 0
    with open(path, encoding=dialect.encoding, newline="") as file:
        try:
            for _, end, _ in rows_of(file, dialect.separator, strict=True):
                good = end
        except csv.Error:
            raise InputError(
                f"{os.path.basename(path)}: a quote that is opened after line {good} is never closed, or closed in the "
                "middle of a cell; mend it"
            ) from None


def _report_bad_lines(path: str, dialect: Dialect, bad: int, skip: bool, notes: list[str]) -> None:
    """Stop at lines that do not fit, or say how many were left out."""
    shown = ", ".join(f"{line} ({cells} cells)" for line, cells in _first_bad_lines(path, dialect))
    more = f" and {bad - _BAD_LINES_SHOWN:,} more" if bad > _BAD_LINES_SHOWN else ""
    lines = f"{bad:,} line{'s do' if bad > 1 else ' does'} not fit the header of {len(dialect.columns):,} columns"
    if not skip:
        raise InputError(
            f"{os.path.basename(path)}: {lines}: line {shown}{more}; "
            "mend them, or leave them out with skip_bad_lines=True (--skip-bad-lines)"
        )
    notes.append(f"{lines}, left out: line {shown}{more}")


def _first_bad_lines(path: str, dialect: Dialect) -> list[tuple[int, int]]:
    """Where the first lines that do not fit are, and how many cells they have."""
    found: list[tuple[int, int]] = []
    with open(path, encoding=dialect.encoding, newline="") as file:
        for start, _, row in rows_of(file, dialect.separator):
            if len(row) != len(dialect.columns):
                found.append((start, len(row)))
                if len(found) == _BAD_LINES_SHOWN:
                    break
    return found
