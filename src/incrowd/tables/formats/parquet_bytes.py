"""The bytes of a Parquet file that no row accounts for: gaps, pages without values, fields that the format lacks."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeAlias

_MAGIC = b"PAR1"
_TRAILER = 8  # bytes at the end: the length of the footer, and the magic
_LONGEST_WRITER = 100  # characters of the name and version of the program that wrote a file
_DEEPEST = 20  # levels of structures in structures
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12  # types of Thrift
_INTEGERS = (4, 5, 6)
_DICTIONARY_PAGE = 2
_PAGE_HEADERS = (5, 7, 8)  # fields of a page's header: of values, of a dictionary, of values in the second version

Struct: TypeAlias = "dict[int, Any]"


class _UnknownError(Exception):
    """The bytes are not what the format says."""


class _Compact:
    """A reader of Thrift's compact protocol. A structure becomes a dictionary by field numbers."""

    def __init__(self, data: mmap.mmap, place: int, end: int) -> None:
        self._data, self.place, self._end = data, place, end

    def struct(self, depth: int = 0) -> Struct:
        """Read one structure."""
        if depth > _DEEPEST:
            raise _UnknownError
        fields: Struct = {}
        number = 0
        while head := self._bytes(1)[0]:
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number in fields:
                raise _UnknownError
            kind = head & 15
            fields[number] = kind == _TRUE if kind in (_TRUE, _FALSE) else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind == _STRUCT:
            return self.struct(depth)
        if kind in (_LIST, _SET) and depth <= _DEEPEST:
            head = self._bytes(1)[0]
            length = head >> 4 if head >> 4 != 15 else self._unsigned()
            return [self._value(head & 15, depth + 1) for _ in range(length)]
        if kind in (_TRUE, _FALSE, _BYTE):  # of a list, whose entries have a byte each
            return self._bytes(1)[0]
        if kind == _DOUBLE:
            return self._bytes(8)
        raise _UnknownError

    def _integer(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _unsigned(self) -> int:
        number = shift = 0
        while True:
            byte = self._bytes(1)[0]
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise _UnknownError

    def _bytes(self, size: int) -> bytes:
        place, self.place = self.place, self.place + size
        if self.place > self._end:
            raise _UnknownError
        return self._data[place : self.place]


# the structures of the format: their fields, and the structures that some of them hold
_FIELDS: Mapping[str, tuple[int, Mapping[int, str]]] = {
    "file": (9, {2: "element", 4: "group", 5: "pair", 7: "any", 8: "any"}),
    "element": (10, {10: "any"}),
    "group": (7, {1: "chunk", 4: "any"}),
    "chunk": (9, {3: "column", 8: "any"}),
    "column": (17, {8: "pair", 12: "statistics", 13: "any", 16: "any", 17: "any"}),
    "statistics": (9, {}),
    "pair": (2, {}),
    "page": (8, {5: "values", 6: "any", 7: "values", 8: "values"}),
    "values": (8, {5: "statistics", 8: "statistics"}),
}


def _check_fields(fields: Struct, name: str) -> None:
    """Raise _UnknownError if a structure has a field that the format lacks: readers skip it."""
    if name == "any":
        return
    most, inner = _FIELDS[name]
    if any(not 0 < number <= most for number in fields):
        raise _UnknownError
    for number, kind in inner.items():
        value = fields.get(number, [])
        for struct in value if isinstance(value, list) else [value]:
            if isinstance(struct, dict):
                _check_fields(struct, kind)


def describe_gaps(path: str) -> list[str]:
    """Describe the bytes of a Parquet file that its footer and its pages do not account for."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            ranges, texts = _read_ranges(data)
        except (_UnknownError, KeyError, TypeError, IndexError):
            return ["bytes that are not as the Parquet format says"]
        unused = sum(
            after - before
            for (_, before), (after, _) in pairwise(sorted(ranges))
            if after > before and data[before:after].strip(b"\0")
        )
        overlap = any(after < before for (_, before), (after, _) in pairwise(sorted(ranges)))
    found = ["bytes that two columns share"] if overlap else []
    return [*found, *([f"{unused:,} bytes that no column refers to"] if unused else []), *texts]


def _read_ranges(data: mmap.mmap) -> tuple[list[tuple[int, int]], list[str]]:
    """The ranges of bytes that the footer refers to, and descriptions of texts in the footer that are no cells."""
    size = len(data)
    end = size - _TRAILER
    start = end - int.from_bytes(data[end : end + 4], "little")
    if data[:4] != _MAGIC or data[-4:] != _MAGIC or start < len(_MAGIC):
        raise _UnknownError
    reader = _Compact(data, start, end)
    footer = reader.struct()
    _check_fields(footer, "file")
    ranges = [(0, len(_MAGIC)), (start, reader.place), (end, size)]
    texts = ["a long name of the writing program"] if len(footer.get(6, b"")) > _LONGEST_WRITER else []
    for group in footer.get(4, []):
        for chunk in group[1]:
            if 1 in chunk:
                texts.append("columns in other files")
            if chunk[3].get(8):
                texts.append("metadata of columns")
            ranges += _ranges_of_chunk(data, chunk, start)
    return ranges, list(dict.fromkeys(texts))


def _ranges_of_chunk(data: mmap.mmap, chunk: Struct, end: int) -> Iterator[tuple[int, int]]:
    """The ranges of a column in a row group: its pages, its indexes and its filter."""
    column = chunk[3]
    first = min(place for place in (column.get(11), column[9]) if place)
    last = _end_of_pages(data, first, min(first + column[7], end), column[5])
    yield first, last
    yield last, _end_of_copy(data, last, end, column)
    for place, length in ((chunk.get(4), chunk.get(5)), (chunk.get(6), chunk.get(7))):
        if place:
            yield place, place + length
    if column.get(14):
        yield column[14], column[14] + (column.get(15) or _size_of_filter(data, column[14], end))


def _end_of_copy(data: mmap.mmap, place: int, end: int, column: Struct) -> int:
    """The end of a copy of a column's part of the footer, which some writers put behind its pages."""
    reader = _Compact(data, place, end)
    try:
        is_copy = reader.struct() == column
    except _UnknownError:
        is_copy = False
    return reader.place if is_copy else place


def _size_of_filter(data: mmap.mmap, place: int, end: int) -> int:
    reader = _Compact(data, place, end)
    bits = int(reader.struct()[1])
    return reader.place - place + bits


def _end_of_pages(data: mmap.mmap, place: int, end: int, values: int) -> int:
    """The end of a column's pages: at most one dictionary, then pages until they hold all values."""
    is_first = True
    while values > 0 or place < end:
        reader = _Compact(data, place, end)
        page = reader.struct()
        _check_fields(page, "page")
        place = reader.place + page[3]
        if page[1] == _DICTIONARY_PAGE and not is_first:
            raise _UnknownError
        if page[1] != _DICTIONARY_PAGE:
            (count,) = (page[number][1] for number in _PAGE_HEADERS if number in page)
            if not 0 < count <= values:
                raise _UnknownError
            values -= count
        is_first = False
    if place != end:
        raise _UnknownError
    return place
