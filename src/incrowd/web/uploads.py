"""Streams uploads to the private directory: a file is never in memory as a whole."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from incrowd.web.refusals import Refusal
from incrowd.web.upload_store import ending_of, shown_name
from incrowd.wording import data_size

_FIELD = b"file"
_MOST_HEADER = 8_000


async def receive_upload(content_type: str, body: AsyncIterator[bytes], folder: Path, most: int) -> str:
    """Write the form field `file` to the folder under a fixed name; returns the name of the upload.

    The folder is deleted on an error.
    """
    try:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if kind != b"multipart/form-data" or not boundary:
            raise Refusal(415, "send the file as a form (multipart/form-data) with the field 'file'")
        form = _Form(folder, most)
        parser = MultipartParser(boundary, form.callbacks())
        try:
            async for chunk in body:
                parser.write(chunk)
            parser.finalize()
        finally:
            form.close()
        if form.name is None or not form.whole:
            raise Refusal(400, "there is no whole file in what was sent; send it in the field 'file'")
        return form.name
    except FormParserError:
        shutil.rmtree(folder, ignore_errors=True)
        raise Refusal(400, "what was sent is not a form that can be read") from None
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise Refusal(413, f"the file cannot be kept: {error.strerror or 'the disk refused it'}") from None
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class _Form:
    """Callbacks of the form parser; only the part with the file is written."""

    def __init__(self, folder: Path, most: int) -> None:
        self._folder, self._most = folder, most
        self._seen = 0
        self._header_name = self._header_value = b""
        self._disposition = b""
        self._file: Any = None
        self.name: str | None = None
        self.whole = False

    def callbacks(self) -> Any:
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._field,
            "on_header_value": self._value,
            "on_header_end": self._header,
            "on_headers_finished": self._headers,
            "on_part_data": self._data,
            "on_part_end": self._end,
        }

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _begin(self) -> None:
        self._header_name = self._header_value = self._disposition = b""

    def _field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]
        self._check_header()

    def _value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]
        self._check_header()

    def _check_header(self) -> None:
        if len(self._header_name) + len(self._header_value) > _MOST_HEADER:
            raise Refusal(400, "what was sent is not a form that can be read")

    def _header(self) -> None:
        if self._header_name.lower() == b"content-disposition":
            self._disposition = self._header_value
        self._header_name = self._header_value = b""

    def _headers(self) -> None:
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

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._file is None:
            return
        self._seen += end - start
        if self._seen > self._most:
            raise Refusal(413, f"the file is larger than the {data_size(self._most)} that are taken")
        self._file.write(data[start:end])

    def _end(self) -> None:
        if self._file is not None:
            self.close()
            self.whole = True
