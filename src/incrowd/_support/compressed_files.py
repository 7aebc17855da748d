"""Compressed files, opened for reading or writing by the ending of their names."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
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

MAGIC: dict[str, bytes] = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ", ".zst": b"\x28\xb5\x2f\xfd"}
"""By ending, the first bytes of a file with that compression."""

ZIP = ".zip"


def full_suffix(path: Path) -> str:
    """Return the ending of a file name, including the one before a compression suffix.

    >>> full_suffix(Path("people.2024.csv.gz")), full_suffix(Path("people.2024.csv"))
    ('.csv.gz', '.csv')
    """
    last = path.suffix
    return path.with_suffix("").suffix + last if last.lower() in COMPRESSIONS else last
