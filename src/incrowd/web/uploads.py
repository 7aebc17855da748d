"""Uploads: the private directory they are streamed to, their names, and the limit on their unpacked size."""

from __future__ import annotations

import lzma
import re
import shutil
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from incrowd._support.compressed_files import COMPRESSIONS, ZIP, full_suffix
from incrowd._support.private_folders import PrivateFolder
from incrowd.tables.formats import ZIPPED, described_formats, format_of
from incrowd.web.refusals import Refusal
from incrowd.wording import data_size

_PREFIX = "table-"
TABLE_FOLDER = re.compile(_PREFIX + r"[a-z0-9_]{8}")
"""Name of the folder of a table."""
_LONGEST_NAME = 120  # characters
_BLOCK = 1 << 20  # bytes
_FIELD = b"file"  # the form field with the upload
_MAX_HEADER = 8_000  # bytes of a header of a part of the form


class Store:
    """The folders of tables. The directory `scratch` is deleted when the server ends, or when the next one starts.

    Tables are in `scratch` too, unless `folder` names another directory, whose tables are kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._private = PrivateFolder("web-")
        self.scratch = self._private.path
        self.folder = folder or self.scratch

    def new_folder(self) -> Path:
        """Create a directory for one table or one download."""
        return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self.folder))

    def free(self, left: int) -> int:
        """Number of bytes that may still be written if `left` bytes, or a twentieth of a small disk, stay free."""
        disk = shutil.disk_usage(self.folder)
        return disk.free - min(left, disk.total // 20)

    def close(self) -> None:
        """Delete the directory `scratch`."""
        self._private.close()


def shown_name(given: str) -> str:
    """The name of an uploaded file without folders and control characters, shortened if it is long.

    >>> shown_name("C:\\\\data\\\\..\\\\patients.csv"), shown_name("../../etc/passwd"), shown_name("")
    ('patients.csv', 'passwd', 'table')
    """
    last = PurePosixPath(given.replace("\\", "/")).name
    clean = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C").strip()
    if len(clean) > _LONGEST_NAME:
        ending = PurePosixPath(clean).suffix[:12]
        clean = clean[: _LONGEST_NAME - len(ending) - 1] + "…" + ending
    return clean if clean.strip(".") else "table"


def ending_of(name: str) -> str:
    """The ending of a file name, such as .csv or .csv.gz; refused unless tables are read from such files."""
    ending = full_suffix(Path(name)).lower()
    if ending != ZIP and format_of(name) is None:
        raise Refusal(
            415, f"{name} is not a kind of file that tables are read from; use {described_formats()}, also compressed"
        )
    return ending


def check_unpacked(path: Path, most: int) -> None:
    """Refuse a compressed file that unpacks to more than `most` bytes. All of it is unpacked, since headers can lie."""
    ending = path.suffix.lower()
    with _refusing_damage(path):
        if ending in COMPRESSIONS:
            with COMPRESSIONS[ending](path, "rb") as file:
                _count_bytes(file, most, 0)
        elif ending in ZIPPED:
            with zipfile.ZipFile(path) as packed:
                unpacked = 0
                for one in packed.infolist():
                    if one.filename.lower().endswith((*COMPRESSIONS, ZIP)):
                        raise Refusal(415, "a compressed file inside a compressed file is not opened; unpack it first")
                    with packed.open(one) as file:
                        unpacked = _count_bytes(file, most, unpacked)


def list_members(path: Path) -> list[str]:
    """Names of the tables in a .zip file; an empty list for other files."""
    if path.suffix.lower() != ZIP:
        return []
    with _refusing_damage(path), zipfile.ZipFile(path) as packed:
        return [one.filename for one in packed.infolist() if format_of(one.filename) and not one.is_dir()]


def _count_bytes(file: IO[bytes] | Any, most: int, unpacked: int) -> int:
    """`unpacked` plus the bytes of a file; refused as soon as there are more than `most`."""
    while block := file.read(_BLOCK):
        unpacked += len(block)
        if unpacked > most:
            raise Refusal(413, f"this file unpacks to more than {data_size(most)}; save it as CSV or Parquet")
    return unpacked


@contextmanager
def _refusing_damage(path: Path) -> Iterator[None]:
    """Refuse a file whose unpacking fails."""
    what = "file" if path.suffix.lower() in (*COMPRESSIONS, ZIP) else "workbook"
    try:
        yield
    except (
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
        *(NotImplementedError, RuntimeError, EOFError, OSError, UnicodeDecodeError),
    ):
        raise Refusal(400, f"this {what} cannot be read; it may be damaged or need a password") from None


async def receive_upload(content_type: str, body: AsyncIterator[bytes], folder: Path, most: int) -> str:
    """Write the form field `file` to the folder under a fixed name; returns the name of the upload.

    The folder is deleted on an error.
    """
    try:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise Refusal(415, "send the file as a form (multipart/form-data) with the field 'file'")
        form = _UploadForm(folder, most)
        parser = MultipartParser(boundary, form.callbacks())
        try:
            async for chunk in body:
                parser.write(chunk)
            parser.finalize()
        finally:
            form.close()
        if form.name is None or not form.is_complete:
            raise Refusal(400, "there is no whole file in what was sent; send it in the field 'file'")
        return form.name
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, FormParserError):
            raise Refusal(400, "what was sent is not a form that can be read") from None
        if isinstance(error, OSError):
            raise Refusal(413, f"the file cannot be kept: {error.strerror or 'the disk refused it'}") from None
        raise


class _UploadForm:
    """Callbacks of the form parser. They write the part with the file and ignore the others."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._received = 0
        self._header_name = self._header_value = b""
        self._disposition = b""
        self._file: Any = None
        self.name: str | None = None
        self.is_complete = False

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin_part,
            "on_header_field": self._add_to_header_name,
            "on_header_value": self._add_to_header_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._end_headers,
            "on_part_data": self._write_data,
            "on_part_end": self._end_part,
        }

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin_part(self) -> None:
        self._header_name = self._header_value = self._disposition = b""

    def _add_to_header_name(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._check_header()

    def _add_to_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._check_header()

    def _check_header(self) -> None:
        if len(self._header_name) + len(self._header_value) > _MAX_HEADER:
            raise Refusal(400, "what was sent is not a form that can be read")

    def _end_header(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _end_headers(self) -> None:
        _, options = parse_options_header(self._disposition)
        if options.get(b"name") != _FIELD:
            return
        given = options.get(b"filename")
        if given is None:
            raise Refusal(400, "the field 'file' holds no file")
        if self.name is not None:
            raise Refusal(400, "send one file at a time")
        self.name = given.decode("utf-8", errors="replace")
        ending = ending_of(shown_name(self.name))
        self._file = open(self._folder / f"data{ending}", "xb")  # noqa: SIM115 - closed by close()

    def _write_data(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            return
        self._received += end - start
        if self._received > self._most:
            raise Refusal(413, f"the file is larger than the {data_size(self._most)} that are taken")
        self._file.write(data[start:end])

    def _end_part(self) -> None:
        if self._file is not None:
            self.close()
            self.is_complete = True
