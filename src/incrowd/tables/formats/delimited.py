"""CSV, TSV and other delimited text: dialect and types are inferred without loss.

A file is read once, in blocks. Each block is checked (encoding, quotes), parsed by Arrow, and written as text to a
private Parquet file while the types of its columns are inferred. So memory stays bounded, however large the file is.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from incrowd.backends.duckdb_backend import Workspace
from incrowd.backends.engine_errors import disk_errors
from incrowd.backends.scales import Scale
from incrowd.backends.spool import spooled_rows
from incrowd.errors import InputError, TooLargeError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.checked_file import CheckedFile
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.formats.write_delimited import write_csv
from incrowd.tables.infer_types import (
    DAY_FIRST,
    DAY_FIRST_HYPHENS,
    DAY_FIRST_SLASHES,
    DECIMAL_COMMA,
    MONTH_FIRST,
    MONTH_FIRST_HYPHENS,
    MONTH_NAMES,
    NULL_WORDS,
    THOUSANDS_COMMAS,
    THOUSANDS_POINTS,
    UNITS,
    YEAR_FIRST,
    TypeInference,
    candidate_types,
    repeats,
)
from incrowd.tables.missing_codes import ColumnCodes
from incrowd.tables.sniff_dialect import (
    BLOCK_BYTES,
    SNIFFED_BYTES,
    Dialect,
    parse_rows,
    read_in_encoding,
    sniff_dialect,
)
from incrowd.tables.text_dialect import TextDialect
from incrowd.wording import counted, listed

_BAD_LINES_SHOWN = 5  # line numbers in a message
_ODD_FORM = r"^\s|\s$|\p{M}"
_COPIED: dict[str, Any] = {"compression": "none", "write_statistics": False}
_NOTATIONS = {
    DECIMAL_COMMA: "numbers with a decimal comma",
    THOUSANDS_POINTS: "numbers with points between thousands and a decimal comma",
    THOUSANDS_COMMAS: "numbers with commas between thousands",
    **{kind: f"numbers with {unit}" for kind, unit in UNITS.items()},
    **dict.fromkeys((DAY_FIRST, DAY_FIRST_SLASHES, DAY_FIRST_HYPHENS), "dates, the day before the month"),
    **dict.fromkeys((MONTH_FIRST, MONTH_FIRST_HYPHENS), "dates, the month before the day"),
    YEAR_FIRST: "dates with slashes",
    MONTH_NAMES: "dates with the name of the month",
}


def open_delimited(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Load delimited files into private Parquet files of typed columns."""
    workspace = options.workspace or Workspace(options.memory)
    loaded = [_load_file(path, name, options, workspace, f"cells{place or ''}") for place, path in enumerate(paths)]
    first = loaded[0]
    for path, one in zip(paths[1:], loaded[1:], strict=True):
        if one.dialect.columns != first.dialect.columns:
            raise InputError(f"{name}: {os.path.basename(path)} has other columns than {os.path.basename(paths[0])}")
        first.inference.merge(one.inference)
        first.codes.merge(one.codes)
    notes = list(dict.fromkeys(note for one in loaded for note in one.notes))
    columns = first.dialect.columns
    bad_lines = sum(one.bad_lines for one in loaded)
    not_counted = [f"{counted(bad_lines, 'line', 'lines')} unlike its header"] if bad_lines else []
    if first.dialect.has_row_names:
        columns = columns[1:]
        not_counted.append("a first column of row names")
        notes.append("the first column has no name: it holds row names and is set aside; name it to keep it")
    inference = first.inference
    stored_as = dict(zip(columns, columns, strict=True))
    types = {key: kind for key, kind in inference.types().items() if key in stored_as}
    notes += _notes_on_types(types, inference)
    has_commas = {DECIMAL_COMMA, THOUSANDS_POINTS} & {*types.values()} and "double" not in types.values()
    dialect = TextDialect(
        first.dialect.separator,
        "," if has_commas else ".",
        first.dialect.encoding,
        tuple(words for kind, words in _NOTATIONS.items() if kind in types.values() and kind != DECIMAL_COMMA),
    )
    conversions = {key: one for key, one in inference.conversions().items() if key in stored_as}
    cells = [one.cells for one in loaded]
    conversions = first.codes.blank_numbers(cells, conversions, options.missing.everywhere)
    known: dict[str, Any] = {"conversions": conversions, "stored_as": stored_as}
    rows = spooled_rows(cells, name=name, memory=options.memory, workspace=workspace, **known)
    scales = {key: Scale("ordered") for key in inference.partial_dates() if key in stored_as}
    return FileContents(rows, notes, FileCodebook(scales=scales, dialect=dialect), not_counted, first.codes.counts)


@dataclass(frozen=True, slots=True)
class _Loaded:
    """One file and its private copy."""

    cells: Path
    dialect: Dialect
    codes: ColumnCodes
    inference: TypeInference
    bad_lines: int
    notes: list[str]


def _load_file(path: str, name: str, options: ReadOptions, workspace: Workspace, file: str) -> _Loaded:
    """Copy one file, in the first encoding that decodes it."""
    cells = workspace.folder / f"{file}.parquet"

    def load(encoding: str) -> _Loaded:
        dialect = sniff_dialect(path, options.separator, encoding, options.header_rows or 1)
        _check_width(dialect, options.most_columns)
        codes = ColumnCodes(options.missing.by_column)
        return _Loaded(cells, dialect, codes, *_load(path, dialect, options, codes, cells))

    encoding, loaded = read_in_encoding(path, options.encoding, name, load)
    if options.encoding is None and not encoding.startswith("utf-8"):
        loaded.notes.append(f"the file is not UTF-8; it was read as {encoding} (give the encoding if it is another)")
    if loaded.bad_lines:
        loaded.notes.append(_describe_bad_lines(path, loaded.dialect, loaded.bad_lines, options.skip_bad_lines))
    return loaded


def _check_width(dialect: Dialect, most_columns: int | None) -> None:
    if most_columns is not None and len(dialect.columns) > most_columns:
        raise TooLargeError(f"{len(dialect.columns):,} columns, and at most {most_columns:,} are taken; leave some out")


def _notes_on_types(types: dict[str, str | None], inference: TypeInference) -> list[str]:
    """Notes on columns with an unusual notation, and how it was understood."""
    notes = []
    for kind, words in _NOTATIONS.items():
        if names := [name for name, inferred in types.items() if inferred == kind]:
            notes.append(f"read as {words}: {listed(names)}")
    nulls = {name: words for name, words in inference.null_words().items() if name in types}
    if nulls:
        words = ", ".join(dict.fromkeys(word for found in nulls.values() for word in found))
        notes.append(
            f"read as missing values in columns that are otherwise numbers or dates: {words} in {listed(nulls)}"
        )
    if dates := [name for name in inference.ambiguous_dates() if name in types]:
        notes.append(f"dates in which day and month cannot be distinguished stay text: {listed(dates)}")
    if dates := [name for name in inference.partial_dates() if name in types]:
        notes.append(f"dates without a day or a month stay text, which sorts in date order: {listed(dates)}")
    return notes


def _load(
    path: str, dialect: Dialect, options: ReadOptions, codes: ColumnCodes, cells: Path
) -> tuple[TypeInference, int, list[str]]:
    """Write the cells as text to a Parquet file; return the column types, the number of bad lines, and a note.

    Raises:
        UnicodeError: if the file is not in the dialect's encoding.
    """
    types = candidate_types(dialect.separator)
    inference = TypeInference(dict.fromkeys(dialect.columns, types), NULL_WORDS, options.dates)
    schema = pa.schema([(name, pa.string()) for name in dialect.columns])
    bad_lines: list[int] = []
    with CheckedFile(path, dialect) as file:
        try:
            with disk_errors(cells.parent.parent), ExitStack() as opened:
                batches = _batches(file, dialect, options.missing.everywhere, bad_lines)
                first = next(batches, pa.record_batch([pa.nulls(0, pa.string())] * len(schema), schema=schema))
                repeating = [name for name in schema.names if repeats(first[name])]
                writer = opened.enter_context(pq.ParquetWriter(cells, schema, use_dictionary=repeating, **_COPIED))
                for batch in map(codes.blank_columns, chain([first], batches)):
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
    return inference, len(bad_lines), _notes_on_form(cells) if file.may_differ_in_form else []


def _notes_on_form(cells: Path) -> list[str]:
    """A note on columns with blanks at the ends of cells, or with accents separate from their letters."""
    odd: set[str] = set()
    for batch in pq.ParquetFile(cells).iter_batches():
        for name in [name for name in batch.schema.names if name not in odd]:
            if pc.any(pc.match_substring_regex(batch[name], _ODD_FORM)).as_py():
                odd.add(name)
    names = listed(name for name in pq.read_schema(cells).names if name in odd)
    note = f"cells with blanks at their ends, or separate accents, count as different values: {names}; fold joins them"
    return [note] if odd else []


def _batches(
    file: CheckedFile, dialect: Dialect, nulls: Sequence[str], bad_lines: list[int]
) -> Iterator[pa.RecordBatch]:
    """Yield the file in blocks, every cell as text; lines that do not fit are counted and skipped."""

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
        null_values=["", *nulls],
        strings_can_be_null=True,
        check_utf8=False,  # CheckedFile decodes every block
    )
    yield from pyarrow.csv.open_csv(file, reading, parsing, converting)
    file.read_to_end()


def _has_line_breaks(cells: Path) -> bool:
    batches = pq.ParquetFile(cells).iter_batches()
    return any(pc.any(pc.match_substring(column, "\n")).as_py() for batch in batches for column in batch.columns)


def _last_line_has_a_quote(path: str) -> bool:
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - SNIFFED_BYTES))
        return b'"' in file.read().rstrip().rpartition(b"\n")[2]


def _check_quotes(path: str, dialect: Dialect) -> None:
    """Refuse a quote that is never closed: it would include all text up to the next quote, or to the end."""
    last_good = 0
    with open(path, encoding=dialect.encoding, newline="") as file:
        try:
            for _, end, _ in parse_rows(file, dialect.separator, strict=True):
                last_good = end
        except csv.Error:
            raise InputError(
                f"{os.path.basename(path)}: a quote that is opened after line {last_good} is never closed, or closed "
                "in the middle of a cell; correct it"
            ) from None


def _describe_bad_lines(path: str, dialect: Dialect, count: int, skip: bool) -> str:
    """A note on skipped lines; an error if skipping is not allowed."""
    shown = ", ".join(f"{line} ({cells} cells)" for line, cells in _first_bad_lines(path, dialect))
    more = f" and {count - _BAD_LINES_SHOWN:,} more" if count > _BAD_LINES_SHOWN else ""
    lines = f"{count:,} line{'s do' if count > 1 else ' does'} not fit the header of {len(dialect.columns):,} columns"
    if not skip:
        raise InputError(
            f"{os.path.basename(path)}: {lines}: line {shown}{more}; correct them, or leave them out",
            hint="skip_bad_lines",
        )
    return f"{lines}, left out: line {shown}{more}"


def _first_bad_lines(path: str, dialect: Dialect) -> list[tuple[int, int]]:
    """The numbers of the first lines that do not fit, and the number of cells in each."""
    bad: list[tuple[int, int]] = []
    with open(path, encoding=dialect.encoding, newline="") as file, suppress(csv.Error):  # a cell that is too long
        for start, _, row in parse_rows(file, dialect.separator):
            if len(row) != len(dialect.columns):
                bad.append((start, len(row)))
                if len(bad) == _BAD_LINES_SHOWN:
                    break
    return bad


FORMAT = FileFormat(
    description="CSV and TSV files",
    extensions=(".csv", ".tsv", ".txt", ".tab"),
    open=open_delimited,
    options=("separator", "encoding", "null", "skip_bad_lines", "header_rows", "dates"),
    several_files=True,
    infers_types=True,
    write={".csv": write_csv, ".tsv": write_csv},
)
