"""Detection of the dialect of a delimited file from its beginning: encoding, separator and header."""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from incrowd.errors import InputError
from incrowd.tables.headers import check_header, join_header

Read = TypeVar("Read")

BLOCK_BYTES = 1 << 24  # bytes read at a time; no line may be longer
SNIFFED_BYTES = 256 * 1024  # bytes read to find the separator
_SEPARATORS = ",;\t|:"
_FALLBACK_ENCODINGS = ("cp1252", "latin-1")  # the second decodes any bytes
_NOT_OF_FILES = ("idna", "punycode")  # codecs of domain names, which change or refuse longer texts


@dataclass(frozen=True, slots=True)
class Dialect:
    """The dialect of a delimited file."""

    separator: str
    columns: list[str]
    encoding: str
    header_lines: int  # lines up to the end of the header
    has_row_names: bool = False  # the first column has no name, as R and pandas write it


def candidate_encodings(path: str, encoding: str | None) -> list[str]:
    """The encodings to try in turn: only the stated one; otherwise UTF-16 by its mark, or UTF-8 and then Western ones.

    The first encoding that decodes the whole file is used.
    """
    if encoding is not None:
        try:
            "".encode(encoding)
            if codecs.lookup(encoding).name in _NOT_OF_FILES:
                raise LookupError
        except (LookupError, ValueError):  # "undefined" is a codec that encodes nothing
            raise InputError(f"encoding {encoding!r} is not known; try utf-8, cp1252, latin-1 or utf-16") from None
        if codecs.lookup(encoding).name != "utf-8":
            return [codecs.lookup(encoding).name]
    with open(path, "rb") as file:
        head = file.read(SNIFFED_BYTES)
    if encoding is None and head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ["utf-16"]
    if b"\x00" in head and (encoding is None or _is_utf8(head)):
        raise InputError(
            f"{os.path.basename(path)} holds zero bytes, so it is not text in an encoding that can be guessed; "
            "give the encoding, or check that it is a CSV file",
            hint="encoding",
        )
    utf8 = "utf-8-sig" if head.startswith(codecs.BOM_UTF8) else "utf-8"
    return [utf8] if encoding is not None else [utf8, *_FALLBACK_ENCODINGS]


def read_in_encoding(path: str, encoding: str | None, name: str, read: Callable[[str], Read]) -> tuple[str, Read]:
    """Read a file in the first of the candidate encodings that decodes it; also returns the encoding.

    Args:
        path: the file, or the first file of a table.
        encoding: the stated encoding; None if it is not known.
        name: the table's name in messages.
        read: callback that reads in an encoding; raises UnicodeError if the file is in another one.
    """
    for candidate in candidate_encodings(path, encoding):
        with suppress(UnicodeError):
            return candidate, read(candidate)
    raise InputError(f"{name} cannot be read as {candidate}; try another encoding", hint="encoding")


def _is_utf8(head: bytes) -> bool:
    """True if the beginning of a file is UTF-8; its last character may be incomplete."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeError:
        return False
    return True


def sniff_dialect(path: str, separator: str | None, encoding: str, header_rows: int = 1) -> Dialect:
    """Find the separator with which most lines have as many cells as the header.

    Raises a `UnicodeError` if the beginning of the file is in another encoding.
    """
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n'):
        raise InputError(f"separator {separator!r} must be one plain character, such as , or ;", hint="separator")
    with open(path, encoding=encoding, newline="") as file:
        top = file.readline(BLOCK_BYTES)
        while not top.strip() and (following := file.readline(BLOCK_BYTES)):  # lines before the header may be blank
            top += following
        text = file.read(SNIFFED_BYTES)
    if len(text) == SNIFFED_BYTES:
        text = text[: text.rfind("\n") + 1]  # the last line may be cut
    text = top + text
    best_score: tuple[float, int] = (-1.0, 0)
    best: Dialect | None = None
    best_rows: list[tuple[int, int, list[str]]] = []
    for candidate in separator or _SEPARATORS:
        try:
            rows = list(parse_rows(io.StringIO(text, newline=""), candidate))
        except csv.Error as error:
            longest = f"{BLOCK_BYTES >> 20} MB"
            raise InputError(f"{os.path.basename(path)} begins with a cell of more than {longest}: no table") from error
        if len(rows) < header_rows:
            raise InputError(f"{os.path.basename(path)} has no header and no rows")
        _, end, _ = rows[header_rows - 1]
        names = join_header([row for _, _, row in rows[:header_rows]])
        if len(names) > 1 and all(len(row) == len(names) + 1 for _, _, row in rows[1:]) and len(rows) > 1:
            names = ["", *names]  # R leaves out the name of the first column
        agreement = sum(len(row) == len(names) for _, _, row in rows) / len(rows)
        score = (agreement * min(len(names) - 1, 1), len(names))
        if score > best_score:
            best_score, best, best_rows = score, Dialect(candidate, names, encoding, end), rows
    assert best is not None
    columns = best.columns
    if len(columns) > 1 and not columns[0] and all(columns[1:]):
        free = next(name for name in ("row names", "row names of the file") if name not in columns)
        best = replace(best, columns=[free, *columns[1:]], has_row_names=True)
    check_header(best.columns, (row for _, _, row in best_rows[header_rows:]), os.path.basename(path))
    return best


def parse_rows(file: Iterable[str], separator: str, *, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the rows that are not blank, each with its first and last line number.

    A cell of more than 16 MB is a `csv.Error`; if `strict`, so is a quote at an unexpected place.

    >>> list(parse_rows(["a,b"], ","))
    [(1, 1, ['a', 'b'])]
    """
    csv.field_size_limit(max(csv.field_size_limit(), BLOCK_BYTES))  # cells may be long
    reader = csv.reader(file, delimiter=separator, strict=strict)
    start = 1
    for row in reader:
        if row:
            yield start, reader.line_num, row
        start = reader.line_num + 1
