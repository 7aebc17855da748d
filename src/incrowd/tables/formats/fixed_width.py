"""Fixed-width text: a layout file gives the character positions of each column."""

from __future__ import annotations

import codecs
import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.files import read_small_text
from incrowd.backends.counts import refuse_repeated
from incrowd.backends.duckdb_backend import Workspace
from incrowd.backends.spool import spool, spooled_rows
from incrowd.errors import InputError
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions
from incrowd.tables.infer_types import NULL_WORDS, TypeInference, candidate_types
from incrowd.tables.missing_codes import ColumnCodes
from incrowd.tables.sniff_dialect import BLOCK_BYTES, read_in_encoding
from incrowd.wording import counted

_LAYOUT = "a layout has a line for each column: name,start,end, or name,start,width; the first character is 1"
_LONGEST_LINE = 1_000_000  # characters, unless the layout has more


@dataclass(frozen=True, slots=True)
class Place:
    """A column and its character positions, from 0, without the end."""

    name: str
    start: int
    end: int


def read_layout(path: str) -> list[Place]:
    """Read a layout: a CSV file with the header name,start,end or name,start,width."""
    try:
        lines = [[cell.strip() for cell in line] for line in csv.reader(read_small_text(path)) if any(line)]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise InputError(f"the layout {os.path.basename(path)} cannot be read; {_LAYOUT}", hint="layout") from None
    header = [cell.lower() for cell in lines[0]] if lines else []
    if header not in (["name", "start", "end"], ["name", "start", "width"]):
        raise InputError(f"the layout {os.path.basename(path)} has another header; {_LAYOUT}", hint="layout")
    places = []
    for number, line in enumerate(lines[1:], 2):
        if len(line) != 3 or not line[0] or not all(re.fullmatch("[0-9]{1,9}", cell) for cell in line[1:]):
            raise InputError(f"line {number} of the layout is not understood; {_LAYOUT}", hint="layout")
        start, last = int(line[1]) - 1, int(line[2])
        end = last if header[2] == "end" else start + last
        if start < 0 or end <= start:
            raise InputError(f"line {number} of the layout names no characters; {_LAYOUT}", hint="layout")
        places.append(Place(line[0], start, end))
    refuse_repeated([place.name for place in places], os.path.basename(path))
    if not places:
        raise InputError(f"the layout {os.path.basename(path)} names no columns; {_LAYOUT}", hint="layout")
    return places


def open_fixed_width(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Cut the lines of files into columns and infer their types; blanks around a cell are removed."""
    if options.layout is None:
        raise InputError(f"{name} is fixed-width text, which needs a layout; {_LAYOUT}", hint="layout")
    places = read_layout(options.layout)
    workspace = options.workspace or Workspace(options.memory)

    def load(encoding: str) -> tuple[Path, TypeInference, ColumnCodes, list[int], list[int]]:
        inference = TypeInference({place.name: candidate_types(",") for place in places}, NULL_WORDS, options.dates)
        codes, cut_short, unread = ColumnCodes(options.missing.by_column), list[int](), list[int]()
        batches = _batches(paths, encoding, places, options, codes, inference, name, cut_short, unread)
        return spool(batches, workspace.folder, name), inference, codes, cut_short, unread

    _, (cells, inference, codes, cut_short, unread) = read_in_encoding(paths[0], options.encoding, name, load)
    conversions = codes.blank_numbers([cells], inference.conversions(), options.missing.everywhere)
    rows = spooled_rows([cells], name=name, memory=options.memory, workspace=workspace, conversions=conversions)
    notes = [f"read as fixed-width text by the layout {Path(options.layout).name}"]
    if short := sum(cut_short):
        lines = counted(short, "line ends", "lines end")
        notes.append(f"{lines} within the last column; check that its cells are whole")
    not_counted = ["characters outside the columns of the layout"] if any(unread) else []
    return FileContents(rows, notes, not_counted=not_counted, code_counts=codes.counts)


def _gaps(places: list[Place]) -> list[tuple[int, int | None]]:
    """The characters of a line that belong to no column; the last gap is open-ended.

    >>> _gaps([Place("age", 2, 4), Place("sex", 6, 7)])
    [(0, 2), (4, 6), (7, None)]
    """
    gaps: list[tuple[int, int | None]] = []
    end = 0
    for place in sorted(places, key=lambda one: one.start):
        if place.start > end:
            gaps.append((end, place.start))
        end = max(end, place.end)
    return [*gaps, (end, None)]


def _batches(
    paths: list[str],
    encoding: str,
    places: list[Place],
    options: ReadOptions,
    codes: ColumnCodes,
    inference: TypeInference,
    name: str,
    cut_short: list[int],
    unread: list[int],
) -> Iterator[pa.Table]:
    """Yield the lines of the files as columns of text, in blocks.

    `cut_short` counts lines that are too short, `unread` lines with characters outside all columns.
    """
    gaps = _gaps(places)
    shortest = max(place.start for place in places)
    whole = max(place.end for place in places)
    nulls = pa.array(["", *options.missing.everywhere])
    number = 0
    for path in paths:
        for lines in _lines(path, encoding, max(whole, _LONGEST_LINE), name):
            texts = pa.array(lines, pa.string())
            lengths = pc.utf8_length(texts)
            short = pc.less_equal(lengths, shortest)
            if pc.any(short).as_py():
                place = number + short.index(True).as_py() + 1
                raise InputError(
                    f"{name}: line {place:,} ends before the last column begins; check the layout", hint="layout"
                )
            number += len(lines)
            cut_short.append(pc.sum(pc.less(lengths, whole)).as_py())
            rest = [pc.utf8_trim_whitespace(pc.utf8_slice_codeunits(texts, *gap)) for gap in gaps]
            unread += [pc.sum(pc.not_equal(one, "")).as_py() for one in rest]
            columns = {}
            for one in places:
                cut = pc.utf8_trim_whitespace(pc.utf8_slice_codeunits(texts, one.start, one.end))
                filled = pc.if_else(pc.is_in(cut, value_set=nulls), pa.scalar(None, pa.string()), cut)
                columns[one.name] = codes.blank(one.name, filled)
            batch = pa.table(columns)
            for part in batch.to_batches():
                inference.observe(part)
            yield batch
    if not number:
        raise InputError(f"{name} has no lines")


def _lines(path: str, encoding: str, longest: int, name: str) -> Iterator[list[str]]:
    """Yield the non-blank lines of a file, in blocks."""
    decoder = codecs.getincrementaldecoder(encoding)()
    rest = ""
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            *lines, rest = (rest + decoder.decode(block)).split("\n")
            if max(map(len, (*lines, rest))) > longest:
                raise InputError(f"{name} has a line of more than {longest:,} characters; it may have no line ends")
            if kept := [line.rstrip("\r") for line in lines if line.strip()]:
                yield kept
    rest += decoder.decode(b"", final=True)
    if rest.strip():
        yield [rest.rstrip("\r")]


FORMAT = FileFormat(
    description="fixed-width files",
    extensions=(".fwf", ".dat"),
    open=open_fixed_width,
    options=("encoding", "null", "layout", "dates"),
    several_files=True,
    infers_types=True,
)
