"""Compressed files, opened for reading or writing by the ending of their names."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any


def _open_gzip(path: str | Path, mode: str) -> Any:
    import pyarrow as pa  # reads in two thirds of the time that Python takes

    return pa.CompressedInputStream(pa.OSFile(str(path)), "gzip") if mode == "rb" else gzip.open(path, mode)


def _open_zstandard(path: str | Path, mode: str) -> Any:
    import pyarrow as pa  # Python has no Zstandard before 3.14

    if mode == "rb":
        return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")
    return pa.CompressedOutputStream(pa.OSFile(str(path), "wb"), "zstd")


COMPRESSIONS: dict[str, Callable[[Any, Any], IO[bytes]]] = {
    ".gz": _open_gzip,
    ".bz2": bz2.open,
    ".xz": lzma.open,
    ".zst": _open_zstandard,
}
"""By ending, a function of path and mode ("rb" or "wb") that opens the file."""

_STRICT: dict[str, Callable[[], Any]] = {".bz2": bz2.BZ2Decompressor, ".xz": lzma.LZMADecompressor}

MAGIC: dict[str, bytes] = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ", ".zst": b"\x28\xb5\x2f\xfd"}
"""By ending, the first bytes of a file with that compression."""

ZIP = ".zip"
_BLOCK = 1 << 20  # bytes that are unpacked at a time
_MOST_EXTRA = 64  # bytes about a member besides its name: times, owners, sizes
_LENGTHS = 26  # where a member's header has the lengths of its name and of further fields
_HAS_SUMS = 8  # flag of a member whose sizes and checksum follow it
_SUMS, _LONGEST_SUMS = (12, 16, 20, 24), 28  # their lengths, with the next record's first bytes
_NEXT_RECORDS = (b"PK\x03\x04", b"PK\x01\x02")
_GZIP_TEXTS = 4 | 16  # flags of a gzip file: further fields, a comment


def unpacked_blocks(path: str | Path, ending: str) -> Iterator[bytes]:
    """The content of a compressed file in blocks.

    Raises:
        OSError, EOFError, lzma.LZMAError: it is damaged or cut short, or other bytes follow it.
    """
    if ending not in _STRICT:  # the others read over what follows
        with COMPRESSIONS[ending](path, "rb") as stream:
            while block := stream.read(_BLOCK):
                yield block
        return
    with open(path, "rb") as file:
        unpacker, packed = _STRICT[ending](), file.read(_BLOCK)
        while packed:
            if unpacker.eof:
                unpacker = _STRICT[ending]()
            yield unpacker.decompress(packed)
            packed = unpacker.unused_data or file.read(_BLOCK)
        if not unpacker.eof:
            raise EOFError


def describe_zip(path: str | Path, archive: zipfile.ZipFile) -> list[str]:
    """Describe the bytes of a ZIP archive besides its members: texts about them, and what lies between them."""
    members = sorted(archive.infolist(), key=lambda member: member.header_offset)
    has_texts = archive.comment or any(member.comment or len(member.extra) > _MOST_EXTRA for member in members)
    place, unused = 0, 0
    with open(path, "rb") as file:
        for member in members:
            unused += member.header_offset != place
            file.seek(member.header_offset + _LENGTHS)
            name, extra = (int.from_bytes(file.read(2), "little") for _ in range(2))
            has_texts = has_texts or extra > _MOST_EXTRA
            place = member.header_offset + _LENGTHS + 4 + name + extra + member.compress_size
            if member.flag_bits & _HAS_SUMS:
                file.seek(place)
                sums = file.read(_LONGEST_SUMS)
                place += next((size for size in _SUMS if sums[size : size + 4] in _NEXT_RECORDS), 0)
    unused += archive.start_dir != place
    found = ["comments or further fields of its members"] if has_texts else []
    return [*found, *(["bytes between its members"] if unused else [])]


def describe_header(path: str | Path) -> list[str]:
    """Describe the texts in the header of a compressed file besides its name."""
    with open(path, "rb") as file:
        head = file.read(4)
    return ["texts in the header of the compressed file"] if head[:2] == MAGIC[".gz"] and head[3] & _GZIP_TEXTS else []


def full_suffix(path: Path) -> str:
    """Return the ending of a file name, including the one before a compression suffix.

    >>> full_suffix(Path("people.2024.csv.gz")), full_suffix(Path("people.2024.csv"))
    ('.csv.gz', '.csv')
    """
    last = path.suffix
    return path.with_suffix("").suffix + last if last.lower() in COMPRESSIONS else last
