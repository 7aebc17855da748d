"""Files that are compared with what their rows are written as: an equal file holds nothing but these rows."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

UNLIKE = "bytes beside its rows, or as this program does not write them"
NOT_COMPARED = "bytes that could not be compared with its rows within the limits of memory and time"


class ComparedFile(io.RawIOBase):
    """A file to write to, which compares what is written with another file and keeps nothing.

    >>> with ComparedFile(Path(__file__)) as written:
    ...     _ = written.write(b'"another text"')
    ...     written.is_alike()
    False
    """

    def __init__(self, path: str | Path) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 - closed with this object
        self._same = True

    def writable(self) -> bool:
        """Always true: the comparison is made by writing."""
        return True

    def write(self, data: Any) -> int:
        """Compare the next bytes."""
        block = bytes(data)
        self._same = self._same and self._file.read(len(block)) == block
        return len(block)

    def is_alike(self) -> bool:
        """True if the other file is what was written, and no more."""
        return self._same and not self._file.read(1)

    def close(self) -> None:
        """Close the other file."""
        self._file.close()
        super().close()
