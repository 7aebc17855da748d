"""CSV and its cousins: how they are written is found by looking, and nothing is lost in reading.

A file is read once, in blocks, into a private Parquet file of text; a column gets a type only if every cell of it says
its value in the one plain way. So memory stays bounded whatever the file, and `00501` stays `00501`.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.errors import InputError
from incrowd.table.readers import DatasetReader, Workspace, quoted
from incrowd.table.table import refuse_repeated

if TYPE_CHECKING:
    import pyarrow as pa

_SEPARATORS = ",;\t|:"
_SNIFFED = 256 * 1024  # bytes looked at to find the separator
_BLOCK = 1 << 24  # bytes read at a time; no line may be longer
_BAD_LINES_SHOWN = 5
_GUESSED_ENCODINGS = ("cp1252", "latin-1")  # the second reads anything
_WHOLE, _NUMBER = r"-?(0|[1-9][0-9]{0,17})", r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_SHAPES = {  # type to the shape its cells must have; a double keeps 15 digits, so longer decimals stay text
    "int64": rf"^{_WHOLE}$",
    "double": rf"^{_NUMBER}$",
    "date32": rf"^{_DAY}$",
    "timestamp[s]": rf"^{_DAY}[ T][0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}$",
}
_LONGEST_NUMBER = 16


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a file is written."""

    separator: str
    columns: list[str]
    encoding: str


def open_delimited(
    path: str, separator: str | None, encoding: str | None, null: str | None, skip_bad_lines: bool, memory: int
) -> tuple[DelimitedReader, list[str]]:
    """Load a delimited file; also what a user should know about how it was read."""
    notes: list[str] = []
    used = _encoding_of(path, encoding)
    if encoding is None and not used.startswith("utf-8"):
        notes.append(f"the file is not UTF-8; it was read as {used} (say which with encoding=)")
    dialect = _look(path, separator, used)
    workspace = Workspace(memory)
    types, bad = _load(path, dialect, null, workspace.folder / "cells.parquet")
    if bad:
        _report_bad_lines(path, dialect, bad, skip_bad_lines, notes)
    return DelimitedReader(workspace, types, memory), notes


class DelimitedReader(DatasetReader):
    """The loaded cells as text, and the type of each column."""

    def __init__(self, workspace: Workspace, types: dict[str, str | None], memory: int) -> None:
        super().__init__([str(workspace.folder / "cells.parquet")], "parquet", memory)
        self._workspace = workspace  # the cells are gone when the reader is
        self._types = types

    def _columns(self, names: list[str]) -> list[pa.ChunkedArray]:
        return [self._typed(name, text) for name, text in zip(names, super()._columns(names), strict=True)]

    def _typed(self, name: str, text: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow as pa

        kind = self._types[name]
        if kind is None:
            return text
        cells = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in text.chunks]
        return pa.chunked_array(cells, pa.type_for_alias(kind))

    def _selection(self) -> str:
        names = {"int64": "BIGINT", "double": "DOUBLE", "date32": "DATE", "timestamp[s]": "TIMESTAMP"}
        return ", ".join(
            quoted(name) if kind is None else f"CAST({quoted(name)} AS {names[kind]}) AS {quoted(name)}"
            for name, kind in self._types.items()
        )


def _encoding_of(path: str, asked: str | None) -> str:
    """The encoding asked for if it reads the file; else UTF-8, UTF-16 by its mark, or a Western one."""
    if asked is not None:
        try:
            codecs.lookup(asked)
        except LookupError:
            raise InputError(f"encoding {asked!r} is not known; try utf-8, cp1252, latin-1 or utf-16") from None
        if not _reads(path, asked):
            raise InputError(f"{os.path.basename(path)} cannot be read as {asked}; try another encoding")
        return codecs.lookup(asked).name
    with open(path, "rb") as file:
        head = file.read(_SNIFFED)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x00" in head:
        raise InputError(
            f"{os.path.basename(path)} holds zero bytes, so it is not text in an encoding that can be guessed; "
            "say encoding=, or check that it is a CSV file"
        )
    if _reads(path, "utf-8"):
        return "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"
    return next(guess for guess in _GUESSED_ENCODINGS if _reads(path, guess))


def _reads(path: str, encoding: str) -> bool:
    """Whether the whole file is text in that encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        with open(path, "rb") as file:
            while block := file.read(1 << 22):
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _look(path: str, separator: str | None, encoding: str) -> _Dialect:
    """The separator under which most lines have as many fields as the header, and the header."""
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise InputError(f"separator {separator!r} must be one character, such as , or ;")
    with open(path, encoding=encoding, newline="") as file:
        header = file.readline(_BLOCK)
        text = file.read(_SNIFFED)
    if len(text) == _SNIFFED:
        text = text[: text.rfind("\n") + 1]  # the last line may be cut
    text = header + text
    best: tuple[float, int] = (-1.0, 0)
    found: _Dialect | None = None
    for candidate in separator or _SEPARATORS:
        rows = [row for _, row in _rows(io.StringIO(text, newline=""), candidate)]
        if not rows:
            raise InputError(f"{os.path.basename(path)} has no header and no rows")
        width = len(rows[0])
        agree = sum(len(row) == width for row in rows) / len(rows)
        score = (agree * min(width - 1, 1), width)
        if score > best:
            best, found = score, _Dialect(candidate, rows[0], encoding)
    assert found is not None
    return _named(found, path)


def _named(dialect: _Dialect, path: str) -> _Dialect:
    """The dialect if every column has a name of its own."""
    blank = [str(position) for position, name in enumerate(dialect.columns, 1) if not name.strip()]
    if blank:
        raise InputError(f"{os.path.basename(path)}: column {', '.join(blank[:5])} has no name in the header")
    refuse_repeated(dialect.columns, os.path.basename(path))
    return dialect


def _load(path: str, dialect: _Dialect, null: str | None, cells: Path) -> tuple[dict[str, str | None], int]:
    """Write the cells as text to a Parquet file; the type every column allows, and how many lines did not fit."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, tuple[str, ...]] = dict.fromkeys(dialect.columns, tuple(_SHAPES))
    filled = dict.fromkeys(dialect.columns, False)
    schema = pa.schema([(name, pa.string()) for name in dialect.columns])
    bad: list[int] = []
    last = None
    try:
        with pq.ParquetWriter(cells, schema, compression="lz4") as writer:
            for batch in _batches(path, dialect, null, bad):
                writer.write_batch(batch)
                last = batch if batch.num_rows else last
                for name, column in zip(dialect.columns, batch.columns, strict=True):
                    if kinds[name]:
                        distinct = column.unique().drop_null()
                        filled[name] |= len(distinct) > 0
                        kinds[name] = tuple(kind for kind in kinds[name] if _fits(distinct, kind))
    except (pa.ArrowInvalid, UnicodeError) as error:
        raise InputError(  # Arrow's own words quote the file's cells
            f"{os.path.basename(path)} cannot be read as a table separated by {dialect.separator!r} "
            f"({type(error).__name__}); say separator= or encoding=, or look for a line of more than 16 MB"
        ) from None
    if last is not None and _ends_in_an_open_quote(path, last):
        raise InputError(f"{os.path.basename(path)}: a quote is opened and never closed; mend it")
    return {name: kinds[name][0] if kinds[name] and filled[name] else None for name in dialect.columns}, len(bad)


def _batches(path: str, dialect: _Dialect, null: str | None, bad: list[int]) -> Iterator[pa.RecordBatch]:
    """The file in blocks, every cell as text; lines that do not fit are counted and left out."""
    import pyarrow as pa
    import pyarrow.csv

    def leave_out(row: Any) -> str:
        bad.append(row.actual_columns)
        return "skip"

    reading = pyarrow.csv.ReadOptions(
        block_size=_BLOCK, column_names=dialect.columns, skip_rows_after_names=1, encoding=dialect.encoding
    )
    parsing = pyarrow.csv.ParseOptions(
        delimiter=dialect.separator, newlines_in_values=True, invalid_row_handler=leave_out
    )
    converting = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(dialect.columns, pa.string()),
        null_values=["", null] if null else [""],
        strings_can_be_null=True,
        check_utf8=False,  # the whole file was decoded before
    )
    yield from pyarrow.csv.open_csv(path, reading, parsing, converting)


def _fits(distinct: pa.Array, kind: str) -> bool:
    """Whether all these texts are values of the type, written in its one plain way."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(distinct):
        return True
    if not pc.all(pc.match_substring_regex(distinct, _SHAPES[kind])).as_py():
        return False
    if kind == "double" and pc.max(pc.binary_length(distinct)).as_py() > _LONGEST_NUMBER:
        return False
    try:
        values = distinct.cast(kind)
    except pa.ArrowInvalid:
        return False
    return kind != "double" or bool(pc.all(pc.is_finite(values)).as_py())


def _ends_in_an_open_quote(path: str, last: pa.RecordBatch) -> bool:
    """Whether the last cell runs over lines and the file's quotes do not come in pairs."""
    if not any("\n" in str(column[last.num_rows - 1].as_py()) for column in last.columns):
        return False
    quotes = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            quotes += block.count(b'"')
    return quotes % 2 == 1


def _report_bad_lines(path: str, dialect: _Dialect, bad: int, skip: bool, notes: list[str]) -> None:
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


def _first_bad_lines(path: str, dialect: _Dialect) -> list[tuple[int, int]]:
    """Where the first lines that do not fit are, and how many cells they have."""
    found: list[tuple[int, int]] = []
    with open(path, encoding=dialect.encoding, newline="") as file:
        for start, row in _rows(file, dialect.separator):
            if len(row) != len(dialect.columns):
                found.append((start, len(row)))
                if len(found) == _BAD_LINES_SHOWN:
                    break
    return found


def _rows(file: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line it starts on."""
    usual = csv.field_size_limit(_BLOCK)
    try:
        reader = csv.reader(file, delimiter=separator)
        start = 1
        for row in reader:
            if row:
                yield start, row
            start = reader.line_num + 1
    finally:
        csv.field_size_limit(usual)
