"""CSV, TSV and other delimited text: dialect and types are inferred, and reading loses nothing.

A file is read once, in blocks. Each block is checked (encoding, quotes), parsed by Arrow and written as text to a
private Parquet file while the types of its columns are inferred. So memory stays bounded however large the file is.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from incrowd.backends.duckdb_backend import FileBackend, Workspace
from incrowd.backends.engine_errors import disk_errors
from incrowd.errors import InputError, TooLargeError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.infer_types import DAY_FIRST, DECIMAL_COMMA, THOUSANDS_POINTS, TypeInference, candidate_types
from incrowd.tables.sniff_dialect import (
    BLOCK_BYTES,
    SNIFFED_BYTES,
    Dialect,
    candidate_encodings,
    parse_rows,
    sniff_dialect,
)

_CHECKED_BYTES = 1 << 20  # decoded at a time
_BAD_LINES_SHOWN = 5
_NAMES_SHOWN = 8
_SEPARATOR_NAMES = {";": "semicolons", "|": "bars", ":": "colons", " ": "spaces"}
_NOTATIONS = {
    DECIMAL_COMMA: "numbers with a decimal comma",
    THOUSANDS_POINTS: "numbers with points between thousands and a decimal comma",
    DAY_FIRST: "dates, the day before the month",
}
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def open_delimited(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Load a delimited file into a private Parquet file of typed columns."""
    (path,) = paths
    workspace = Workspace(options.memory)
    cells = workspace.folder / "cells.parquet"
    for encoding in candidate_encodings(path, options.encoding):
        try:
            dialect = sniff_dialect(path, options.separator, encoding)
            _check_width(dialect, options.most_columns)
            inference, bad_lines = _load(path, dialect, options.null, cells)
        except UnicodeError:
            continue  # not in this encoding
        break
    else:
        raise InputError(f"{name} cannot be read as {options.encoding}; try another encoding", hint="encoding")
    types = inference.types()
    notes: list[str] = []
    if options.encoding is None and not encoding.startswith("utf-8"):
        notes.append(f"the file is not UTF-8; it was read as {encoding} (give the encoding if it is another)")
    if bad_lines:
        notes.append(_describe_bad_lines(path, dialect, bad_lines, options.skip_bad_lines))
    notes += _notes_on_types(types)
    conventions = [words for kind, words in _NOTATIONS.items() if kind in types.values()]
    if dialect.separator not in ",\t":
        conventions.insert(0, f"cells parted by {_SEPARATOR_NAMES.get(dialect.separator, dialect.separator)}")
    rows = FileBackend(
        [str(cells)],
        "parquet",
        name=name,
        memory=options.memory,
        conversions=inference.conversions(),
        workspace=workspace,
    )
    return FileContents(rows, notes, ", ".join(conventions))


def _check_width(dialect: Dialect, most_columns: int | None) -> None:
    if most_columns is not None and len(dialect.columns) > most_columns:
        raise TooLargeError(f"{len(dialect.columns):,} columns, and at most {most_columns:,} are taken; leave some out")


def _notes_on_types(types: dict[str, str | None]) -> list[str]:
    """Notes on columns in another notation than programs use, and how they were understood."""
    notes = []
    for kind, words in _NOTATIONS.items():
        if names := [name for name, inferred in types.items() if inferred == kind]:
            more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
            notes.append(f"read as {words}: {', '.join(names[:_NAMES_SHOWN])}{more}")
    return notes


def _load(path: str, dialect: Dialect, null: str | None, cells: Path) -> tuple[TypeInference, int]:
    """Write the cells as text to a Parquet file; the types of its columns, and how many lines did not fit.

    Raises:
        UnicodeError: if the file is not in the dialect's encoding.
    """
    inference = TypeInference(dict.fromkeys(dialect.columns, candidate_types(dialect.separator)))
    schema = pa.schema([(name, pa.string()) for name in dialect.columns])
    bad_lines: list[int] = []
    with CheckedFile(path, dialect) as file:
        try:
            with disk_errors(cells.parent.parent), pq.ParquetWriter(cells, schema, compression="lz4") as writer:
                for batch in _batches(file, dialect, null, bad_lines):
                    writer.write_batch(batch)
                    inference.observe(batch)
        except (pa.ArrowInvalid, UnicodeError):
            if file.wrong_encoding:
                raise UnicodeError("not in this encoding") from None
            raise InputError(  # Arrow's own words quote the file's cells
                f"{os.path.basename(path)} cannot be read as a table separated by {dialect.separator!r}; "
                "give the separator or the encoding, or look for a line of more than 16 MB",
                hint=("separator", "encoding"),
            ) from None
    if not file.quotes.regular and (_last_line_has_a_quote(path) or _has_line_breaks(cells)):
        _check_quotes(path, dialect)
    return inference, len(bad_lines)


def _batches(file: CheckedFile, dialect: Dialect, null: str | None, bad_lines: list[int]) -> Iterator[pa.RecordBatch]:
    """The file in blocks, every cell as text; lines that do not fit are counted and left out."""

    def leave_out(row: Any) -> str:
        bad_lines.append(row.actual_columns)
        return "skip"

    reading = pyarrow.csv.ReadOptions(
        block_size=BLOCK_BYTES, column_names=dialect.columns, skip_rows=dialect.header_lines, encoding=dialect.encoding
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
        check_utf8=False,  # CheckedFile decodes every block
    )
    yield from pyarrow.csv.open_csv(file, reading, parsing, converting)
    file.read_to_end()


class CheckedFile(io.RawIOBase):
    """A file whose bytes are checked as they are read: that they are in the dialect's encoding, and its quotes.

    Args:
        path: the file.
        dialect: its encoding and separator.
    """

    def __init__(self, path: str, dialect: Dialect) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed with this object
        self._decoder = codecs.getincrementaldecoder(dialect.encoding)()
        self._is_utf8 = dialect.encoding == "utf-8"
        self.wrong_encoding = False
        self.quotes = QuoteCheck(dialect.separator)

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes as they are in the file.

        Raises:
            UnicodeError: if they are not in the encoding.
        """
        block = self._file.read(size)
        for start in range(0, max(1, len(block)), _CHECKED_BYTES):
            part = block[start : start + _CHECKED_BYTES]
            try:
                text = self._decoder.decode(part, final=not block)
            except UnicodeError:
                self.wrong_encoding = True
                raise
            self.quotes.observe(part if self._is_utf8 else text.encode("utf-8", "surrogatepass"))
        return block

    def read_to_end(self) -> None:
        """Check what nobody has read."""
        while self.read(BLOCK_BYTES):
            pass

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


class QuoteCheck:
    """Whether quotes only enclose cells, and are doubled inside them, in text that comes block by block.

    Then every second quote opens a cell or is the second of a pair, and the others close one or are the first of a
    pair; a few comparisons of neighbouring bytes tell. Where they fail, a quote may be literal, or never closed:
    `_check_quotes` decides that, slowly.

    Args:
        separator: the character between cells.

    >>> check = QuoteCheck(",")
    >>> check.observe(b'a,b\\n"x, y","say ""hi"" twice"\\n')
    >>> check.regular
    True
    """

    def __init__(self, separator: str) -> None:
        self._neighbours = np.zeros(256, bool)  # what may stand before an opening and after a closing quote
        self._neighbours[list(f'{separator}\r\n"'.encode())] = True
        self._fits = True
        self._quotes = 0
        self._last = ord("\n")

    @property
    def regular(self) -> bool:
        """Whether all quotes so far are regular, and each that opens is closed."""
        return self._fits and self._quotes % 2 == 0

    def observe(self, block: bytes) -> None:
        """Check the next bytes of the text, in UTF-8."""
        if not block or not self._fits:
            return
        text = np.frombuffer(block, np.uint8)
        allowed = self._neighbours
        last_closes = self._last == ord('"') and self._quotes % 2 == 0
        if last_closes and not allowed[text[0]]:
            self._fits = False
        places = np.flatnonzero(text == ord('"'))
        opening, closing = places[self._quotes % 2 :: 2], places[1 - self._quotes % 2 :: 2]
        if len(opening):
            before = text[opening - 1]
            if opening[0] == 0:
                before[0] = self._last
            self._fits &= bool(allowed[before].all())
        closing = closing[closing + 1 < len(text)]
        self._fits &= bool(allowed[text[closing + 1]].all())
        self._quotes += len(places)
        self._last = block[-1]


def _has_line_breaks(cells: Path) -> bool:
    batches = pq.ParquetFile(cells).iter_batches()
    return any(pc.any(pc.match_substring(column, "\n")).as_py() for batch in batches for column in batch.columns)


def _last_line_has_a_quote(path: str) -> bool:
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - SNIFFED_BYTES))
        return b'"' in file.read().rstrip().rpartition(b"\n")[2]


def _check_quotes(path: str, dialect: Dialect) -> None:
    """Refuse a quote that is never closed: it would swallow the lines up to the next quote, or to the end."""
    last_good = 0
    with open(path, encoding=dialect.encoding, newline="") as file:
        try:
            for _, end, _ in parse_rows(file, dialect.separator, strict=True):
                last_good = end
        except csv.Error:
            raise InputError(
                f"{os.path.basename(path)}: a quote that is opened after line {last_good} is never closed, or closed "
                "in the middle of a cell; mend it"
            ) from None


def _describe_bad_lines(path: str, dialect: Dialect, count: int, skip: bool) -> str:
    """The note on lines that were left out; an error where they may not be."""
    shown = ", ".join(f"{line} ({cells} cells)" for line, cells in _first_bad_lines(path, dialect))
    more = f" and {count - _BAD_LINES_SHOWN:,} more" if count > _BAD_LINES_SHOWN else ""
    lines = f"{count:,} line{'s do' if count > 1 else ' does'} not fit the header of {len(dialect.columns):,} columns"
    if not skip:
        raise InputError(
            f"{os.path.basename(path)}: {lines}: line {shown}{more}; mend them, or leave them out",
            hint="skip_bad_lines",
        )
    return f"{lines}, left out: line {shown}{more}"


def _first_bad_lines(path: str, dialect: Dialect) -> list[tuple[int, int]]:
    """The numbers of the first lines that do not fit, and how many cells each has."""
    bad: list[tuple[int, int]] = []
    with open(path, encoding=dialect.encoding, newline="") as file:
        for start, _, row in parse_rows(file, dialect.separator):
            if len(row) != len(dialect.columns):
                bad.append((start, len(row)))
                if len(bad) == _BAD_LINES_SHOWN:
                    break
    return bad


def write_csv(table: pa.Table, file: Path, separator: str = ",") -> None:
    """Write delimited text; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    pyarrow.csv.write_csv(_escape_formulas(table), file, pyarrow.csv.WriteOptions(delimiter=separator))


def write_tsv(table: pa.Table, file: Path) -> None:
    """Write delimited text with tabs between cells."""
    write_csv(table, file, "\t")


def csv_blocks(parts: Iterable[pa.Table]) -> Iterator[bytes]:
    """The parts of a table as the CSV that `write_csv` writes, a block for each; the first has the header."""
    for index, part in enumerate(parts):
        block = io.BytesIO()
        pyarrow.csv.write_csv(_escape_formulas(part), block, pyarrow.csv.WriteOptions(include_header=index == 0))
        yield block.getvalue()


def escape_formula(name: str) -> str:
    """A column's name as CSV has it: with an apostrophe before it where a spreadsheet would run it.

    Args:
        name: the column's name.

    Returns:
        The name, escaped where it must be.

    >>> escape_formula("=x"), escape_formula("x")
    ("'=x", 'x')
    """
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _escape_formulas(table: pa.Table) -> pa.Table:
    """The table with an apostrophe before text cells and names that a spreadsheet would run as a formula."""
    table = table.rename_columns([escape_formula(name) for name in table.column_names])
    for index, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        column = table.column(index).cast(kind)
        risky = pc.is_in(pc.utf8_slice_codeunits(column, 0, 1), value_set=pa.array(_FORMULA_STARTS, kind))
        number = pc.match_substring_regex(column, r"^[+-]?[0-9]+(\.[0-9]+)?$")
        escaped = pc.binary_join_element_wise(pa.scalar("'", kind), column, pa.scalar("", kind))
        safe = pc.if_else(pc.and_(risky, pc.invert(number)), escaped, column)
        table = table.set_column(index, field.name, safe)
    return table


FORMAT = FileFormat(
    description="CSV and TSV files",
    extensions=(".csv", ".tsv", ".txt", ".tab"),
    open=open_delimited,
    options=("separator", "encoding", "null", "skip_bad_lines"),
    write={".csv": write_csv, ".tsv": write_tsv},
)
