"""How a delimited file is written: its encoding, its separator and its header, found by looking."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from incrowd.backends.base import refuse_repeated
from incrowd.errors import InputError

BLOCK = 1 << 24  # bytes read at a time; no line may be longer
SNIFFED = 256 * 1024  # bytes looked at to find the separator
DAY = r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
NUMBER = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_SEPARATORS = ",;\t|:"
_GUESSED_ENCODINGS = ("cp1252", "latin-1")  # the second reads anything


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is written."""

    separator: str
    columns: list[str]
    encoding: str
    header_lines: int  # lines up to the end of the header


def encoding_of(path: str, asked: str | None) -> str:
    """The encoding asked for if it reads the file; else UTF-8, UTF-16 by its mark, or a Western one."""
    if asked is not None:
        try:
            "".encode(asked)
        except (LookupError, UnicodeError):  # "undefined" is a codec that encodes nothing
            raise InputError(f"encoding {asked!r} is not known; try utf-8, cp1252, latin-1 or utf-16") from None
        if not _reads(path, asked):
            raise InputError(f"{os.path.basename(path)} cannot be read as {asked}; try another encoding")
    with open(path, "rb") as file:
        head = file.read(SNIFFED)
    if asked is not None and codecs.lookup(asked).name != "utf-8":
        return codecs.lookup(asked).name
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\x00" in head:
        raise InputError(
            f"{os.path.basename(path)} holds zero bytes, so it is not text in an encoding that can be guessed; "
            "say the encoding (--encoding), or check that it is a CSV file"
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


def look(path: str, separator: str | None, encoding: str) -> Dialect:
    """The separator under which most lines have as many fields as the header, and the header."""
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise InputError(f"separator {separator!r} must be one plain character, such as , or ;")
    with open(path, encoding=encoding, newline="") as file:
        top = file.readline(BLOCK)
        while not top.strip() and (following := file.readline(BLOCK)):  # lines before the header may be blank
            top += following
        text = file.read(SNIFFED)
    if len(text) == SNIFFED:
        text = text[: text.rfind("\n") + 1]  # the last line may be cut
    text = top + text
    best: tuple[float, int] = (-1.0, 0)
    found: Dialect | None = None
    for candidate in separator or _SEPARATORS:
        rows = list(rows_of(io.StringIO(text, newline=""), candidate))
        if not rows:
            raise InputError(f"{os.path.basename(path)} has no header and no rows")
        _, end, header = rows[0]
        names = [name.strip() for name in header]
        agree = sum(len(row) == len(names) for _, _, row in rows) / len(rows)
        score = (agree * min(len(names) - 1, 1), len(names))
        if score > best:
            best, found = score, Dialect(candidate, names, encoding, end)
    assert found is not None
    return _named(found, path)


def _named(dialect: Dialect, path: str) -> Dialect:
    """The dialect if every column has a name of its own."""
    blank = [str(position) for position, name in enumerate(dialect.columns, 1) if not name]
    if blank:
        raise InputError(f"{os.path.basename(path)}: column {', '.join(blank[:5])} has no name in the header")
    refuse_repeated(dialect.columns, os.path.basename(path))
    values = [name for name in dialect.columns if re.fullmatch(rf"{DAY}|{NUMBER}", name)]
    if len(values) > len(dialect.columns) / 2 or any(re.fullmatch(DAY, name) for name in values):
        raise InputError(  # the cells are not shown: they would be somebody's
            f"{os.path.basename(path)}: the first line holds values, not column names; put a line of names before it"
        )
    return dialect


def rows_of(file: Iterable[str], separator: str, *, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
    """The rows that are not blank, each with the lines it starts and ends on."""
    csv.field_size_limit(max(csv.field_size_limit(), BLOCK))  # cells may be long
    reader = csv.reader(file, delimiter=separator, strict=strict)
    start = 1
    for row in reader:
        if row:
            yield start, reader.line_num, row
        start = reader.line_num + 1
