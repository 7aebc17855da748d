"""Resolution of a user's source to local files: folders, patterns, compressed files, standard input, addresses."""

from __future__ import annotations

import glob
import itertools
import lzma
import os
import re
import shutil
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from incrowd._support.addresses import masked
from incrowd._support.compressed_files import COMPRESSIONS, MAGIC, ZIP, describe_header, describe_zip, unpacked_blocks
from incrowd.backends.duckdb_backend import Workspace
from incrowd.backends.engine_errors import disk_errors
from incrowd.errors import InputError
from incrowd.tables.formats import ENDINGS, FORMATS, format_of
from incrowd.tables.formats.file_format import choose_member, describe_others
from incrowd.wording import listed

STANDARD_INPUT = "-"
WEB = frozenset({"http", "https"})
STORES = frozenset({"s3", "gs", "gcs", "abfs", "abfss", "az"})
_LIBPQ = re.compile(r"(^|\s)(host|dbname)\s*=")  # libpq's notation of a PostgreSQL address
_COPIED_BYTES = 1 << 20  # bytes that are copied at a time
_LEAST_FREE = 1 << 28  # bytes that a private copy must leave free on the disk
_SUCCESS, _CHECKSUMS = "_SUCCESS", ".crc"
_SUMMED_BYTES = 512  # bytes with a checksum of their own in a file of checksums
_CHECKSUM_HEAD = b"crc\0" + _SUMMED_BYTES.to_bytes(4, "big")
_TIMEOUT = 60.0  # seconds to wait for the next bytes of an address


class _Room:
    """Room for the private copies of one table: together they take at most half of what was free on the disk."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._left = folder, shutil.disk_usage(folder).free // 2

    def write(self, blocks: Iterable[bytes], file: IO[bytes]) -> None:
        """Write blocks to a file, and stop before the disk is full: a stream may have no end."""
        for block in blocks:
            self._left -= len(block)
            if self._left < 0:
                raise InputError(
                    "private copies of the table would take more than half of what is free on the disk of "
                    f"{self._folder.parent}, and work on it needs room, too; free space, or name a folder on a larger "
                    "disk in TMPDIR"
                )
            if shutil.disk_usage(self._folder).free < _LEAST_FREE:
                raise InputError(
                    "a private copy of the table would fill the disk; free space, or name a folder on a larger disk in "
                    "TMPDIR"
                )
            file.write(block)


@dataclass(frozen=True, slots=True)
class Files:
    """The files of one table, the private folder if they are copies, and the other contents of their archives."""

    paths: list[str]
    workspace: Workspace | None = None
    not_counted: tuple[str, ...] = ()


def find_files(path: str) -> list[str]:
    """Return the file itself, or the parts of a table in a folder or behind a pattern."""
    if os.path.isdir(path):
        inside = (part.relative_to(path) for part in Path(path).rglob("*"))
        named = (part for part in inside if not any(step.startswith(("_", ".")) for step in part.parts))
        parts = sorted(os.path.join(path, part) for part in named if part.name.lower().endswith(ENDINGS))
        if not parts:
            raise InputError(f"{path} is a folder without Parquet, CSV or other files of a known kind; name a file")
        return _of_one_format(parts, path)
    if os.path.isfile(path):
        if not os.access(path, os.R_OK):
            raise InputError(f"{path} cannot be read: no permission")
        return [path]
    if glob.has_magic(path):
        return _of_one_format(sorted(glob.glob(path, recursive=True)), path)
    if os.path.exists(path):
        raise InputError(f"{path} is not a regular file; name a file")
    if _LIBPQ.search(path):
        raise InputError("there is no such file; write the address of a database as postgresql://host:port/name")
    raise InputError(f"there is no file {masked(path)}; check the name and the folder you are in")


def describe_folder(path: str, parts: Sequence[str]) -> list[str]:
    """Describe everything in a folder that is no part of its table, also what its name hides; empty for a file."""
    others = []
    for folder, links, names in os.walk(path):
        held = [name for name in (*names, *links) if name in names or os.path.islink(os.path.join(folder, name))]
        places = (os.path.join(folder, name) for name in sorted(held))
        others += [os.path.relpath(place, path) for place in places if place not in parts and not _tells_nothing(place)]
    return describe_others(others, "", "file")


def _tells_nothing(place: str) -> bool:
    """True for the files that Hadoop's writers leave: an empty one, and the checksums of another file."""
    folder, name = os.path.split(place)
    if name == _SUCCESS:
        return os.path.isfile(place) and not os.path.getsize(place)
    summed = os.path.join(folder, name[1:].removesuffix(_CHECKSUMS))
    if not (name.startswith(".") and name.endswith(_CHECKSUMS) and os.path.isfile(place) and os.path.isfile(summed)):
        return False
    with open(place, "rb") as sums, open(summed, "rb") as file:
        head = sums.read(len(_CHECKSUM_HEAD))
        same = head == _CHECKSUM_HEAD
        while same and (block := file.read(_SUMMED_BYTES)):
            same = sums.read(4) == zlib.crc32(block).to_bytes(4, "big")
        return same and not sums.read(1)


def _of_one_format(parts: list[str], path: str) -> list[str]:
    formats = {format_of(part) for part in parts}
    if len(formats) == 1 and (known := formats.pop()) is not None and (known.several_files or len(parts) == 1):
        return parts
    names = listed(os.path.basename(part) for part in parts)
    raise InputError(
        f"{masked(path)}: {len(parts)} files match, {names}; name one, or files of one kind that can be one table, "
        "such as Parquet or CSV files"
    )


def fetch(path: str, memory: int, sheet: str | int | None, *, allow_network: bool) -> tuple[Files, bool]:
    """Return local files of a table; compressed, piped or remote sources are copied to a private folder.

    Also returns whether `sheet` was used to choose the member of a .zip file.
    """
    scheme = re.match(r"([a-z0-9]+)://", path.lower())
    is_remote = scheme is not None and scheme[1] in WEB | STORES
    if is_remote and not allow_network:
        raise InputError(
            f"{masked(path)} is an address; nothing is fetched over the network unless you allow it",
            hint="allow_network",
        )
    is_copied = path == STANDARD_INPUT or is_remote
    found = [] if is_copied else find_files(path)
    if not is_copied and not any(part.lower().endswith((*COMPRESSIONS, ZIP)) for part in found):
        return Files(found, not_counted=tuple(describe_folder(path, found))), False
    workspace = Workspace(memory)
    try:
        folder, room = workspace.folder, _Room(workspace.folder)
        if is_copied:
            found = [(_copy_address if is_remote else _copy_standard_input)(path, folder, room)]
        others = describe_folder(path, found)
        unpacked = [_unpack(part, folder / str(place), room, sheet, others) for place, part in enumerate(found)]
    except BaseException:
        workspace.close()  # now, not when nobody holds the error any more
        raise
    return Files(unpacked, workspace, tuple(others)), any(part.lower().endswith(ZIP) for part in found)


def _copy_standard_input(_: str, folder: Path, room: _Room) -> str:
    """Copy standard input to a file; its first bytes give the format, and CSV is the default."""
    stream: Any = sys.stdin.buffer
    head = stream.read(16)
    if not head:
        raise InputError("standard input is empty: it has no header and no rows")
    endings = {known.magic: known.extensions[0] for known in FORMATS if known.magic}
    endings |= {magic: f".csv{ending}" for ending, magic in MAGIC.items()}  # compressed data is taken for CSV
    ending = next((ending for magic, ending in endings.items() if head.startswith(magic)), ".csv")
    target = folder / f"standard input{ending}"
    with disk_errors(folder.parent), open(target, "wb") as file:
        room.write(itertools.chain([head], _blocks(stream)), file)
    return str(target)


def _copy_address(address: str, folder: Path, room: _Room) -> str:
    """Copy the contents of an address to a file of the same name."""
    name = Path(re.split(r"[?#]", address.partition("://")[2])[0]).name
    if not name.lower().endswith(ENDINGS):
        raise InputError(f"{masked(address)}: the ending of the name is not that of a known file format")
    target = folder / name
    with disk_errors(folder.parent), open(target, "wb") as file, _opened(address) as stream:
        room.write(_download(stream, address), file)
    return str(target)


def _download(stream: Any, address: str) -> Iterator[bytes]:
    """The blocks of an opened address; what fails here is the connection, never the disk."""
    from http.client import HTTPException  # slow to import

    broke_off = InputError(f"{masked(address)} broke off; try again")
    try:
        yield from _blocks(stream)
    except (OSError, ValueError, HTTPException, pa.ArrowException):
        raise broke_off from None
    if getattr(stream, "length", None):  # bytes that a server promised and did not send
        raise broke_off


@contextmanager
def _opened(address: str) -> Iterator[Any]:
    """Open the bytes of an address: web addresses with Python, stores with Arrow."""
    from http.client import HTTPException  # slow to import

    from pyarrow import fs

    try:
        if address.lower().startswith(("http://", "https://")):
            import urllib.request  # slow to import

            stream: Any = urllib.request.urlopen(address, timeout=_TIMEOUT)  # its scheme was checked
        else:
            system, path = fs.FileSystem.from_uri(address)
            stream = system.open_input_stream(path)
    except (OSError, ValueError, HTTPException, pa.ArrowException) as error:  # their words may hold credentials
        if hasattr(error, "close"):  # the refusal of a server is an open answer
            error.close()
        raise InputError(f"{masked(address)} cannot be opened; check the address and your access to it") from None
    with stream:
        yield stream


def _unpack(path: str, folder: Path, room: _Room, sheet: str | int | None, others: list[str]) -> str:
    """Unpack a compressed file; return any other file unchanged. `others` collects the other members of an archive."""
    name = os.path.basename(path)
    ending = os.path.splitext(path)[1].lower()
    if ending == ZIP:
        return _unpack_member(path, folder, room, sheet, others)
    if ending not in COMPRESSIONS:
        return path
    if format_of(path) is None:
        raise InputError(
            f"{name}: the name does not show the format of the compressed file; name it like people.csv{ending}"
        )
    folder.mkdir(exist_ok=True)
    target = folder / name[: -len(ending)]
    others += describe_header(path)
    with open(target, "wb") as file, _damage(name):
        room.write(unpacked_blocks(path, ending), file)
    return str(target)


def _unpack_member(path: str, folder: Path, room: _Room, sheet: str | int | None, others: list[str]) -> str:
    name = os.path.basename(path)
    with _damage(name), zipfile.ZipFile(path) as archive:
        files = [one.filename for one in archive.infolist() if not one.is_dir()]
        members = [one for one in files if format_of(one) and not one.startswith("__MACOSX/")]
        if not members:
            raise InputError(f"{name} holds no file of a known kind; put a CSV or Parquet file into it")
        member = choose_member(members, sheet, name, "file")
        others += describe_others(files, member, "file")
        others += describe_zip(path, archive)
        folder.mkdir(exist_ok=True)
        target = folder / os.path.basename(member)  # never the member's own path, which may lead elsewhere
        with open(target, "wb") as file, archive.open(member) as stream:
            room.write(_blocks(stream), file)
    return _unpack(str(target), folder / "inner", room, None, others)


@contextmanager
def _damage(name: str) -> Iterator[None]:
    """Convert the errors of decompressors on damaged bytes to one error."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        lzma.LZMAError,
        EOFError,
        OSError,
        RuntimeError,
        NotImplementedError,
        UnicodeDecodeError,  # of the names in an archive
    ) as error:
        if isinstance(error, OSError) and error.errno is not None and error.errno > 0 and error.filename is None:
            raise InputError(f"{name} cannot be unpacked: {os.strerror(error.errno).lower()}") from None
        raise InputError(f"{name} cannot be unpacked; it may be damaged, cut short or need a password") from None


def _blocks(stream: Any) -> Iterator[bytes]:
    """The contents of a stream in blocks."""
    while block := stream.read(_COPIED_BYTES):
        yield block
