"""Compressed files and files of several tables: how large they are unpacked, and what tables they hold."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from incrowd._support.compressed_files import COMPRESSIONS, ZIP
from incrowd.tables.formats import format_of
from incrowd.web.refusals import Refusal
from incrowd.wording import data_size

_BLOCK = 1 << 20
_ZIPPED = {".xlsx", ".xlsb", ".ods", ZIP}


def check_unpacked(path: Path, most: int) -> None:
    """Refuse a compressed file that unpacks to more than `most` bytes. It is unpacked, because headers can lie."""
    ending = path.suffix.lower()
    with _damage(path):
        if ending in COMPRESSIONS:
            with COMPRESSIONS[ending](path, "rb") as file:
                _count(file, most, 0)
        elif ending in _ZIPPED:
            with zipfile.ZipFile(path) as packed:
                unpacked = 0
                for one in packed.infolist():
                    if one.filename.lower().endswith((*COMPRESSIONS, ZIP)):
                        raise Refusal(415, "a compressed file inside a compressed file is not opened; unpack it first")
                    with packed.open(one) as file:
                        unpacked = _count(file, most, unpacked)


def list_members(path: Path) -> list[str]:
    """The tables that a .zip file holds, by name; of other files none."""
    if path.suffix.lower() != ZIP:
        return []
    with _damage(path), zipfile.ZipFile(path) as packed:
        return [one.filename for one in packed.infolist() if format_of(one.filename) and not one.is_dir()]


def _count(file: IO[bytes] | Any, most: int, unpacked: int) -> int:
    while block := file.read(_BLOCK):
        unpacked += len(block)
        if unpacked > most:
            raise Refusal(413, f"this file unpacks to more than {data_size(most)}; save it as CSV or Parquet")
    return unpacked


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    what = "file" if path.suffix.lower() in (*COMPRESSIONS, ZIP) else "workbook"
    try:
        yield
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error, lzma.LZMAError):
        raise Refusal(400, f"this {what} cannot be read; it may be damaged or need a password") from None
