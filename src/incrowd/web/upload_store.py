"""The private temporary directory of a server, which holds uploads and protected tables."""

from __future__ import annotations

import re
import shutil
import tempfile
import unicodedata
from pathlib import Path, PurePosixPath

from incrowd._support.compressed_files import ZIP, full_suffix
from incrowd._support.private_folders import PrivateFolder
from incrowd.tables.formats import described_formats, format_of
from incrowd.web.refusals import Refusal

_LONGEST = 120
_PREFIX = "table-"
TABLE_FOLDER = re.compile(_PREFIX + r"[a-z0-9_]{8}")
"""What the folder of a table is called."""


class Store:
    """The folders of uploaded tables. `scratch` is deleted when the server ends, or when the next one starts.

    Tables are in it too, unless they are to be kept in another folder.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._private = PrivateFolder("web-")
        self.scratch = self._private.path
        self.folder = folder or self.scratch

    def new_folder(self) -> Path:
        """Make a directory for one table or one job."""
        return Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self.folder))

    def free(self, left: int) -> int:
        """Bytes that may still be written so that `left` bytes, or a twentieth of a small disk, stay free."""
        disk = shutil.disk_usage(self.folder)
        return disk.free - min(left, disk.total // 20)

    def close(self) -> None:
        """Delete everything that is not to be kept."""
        self._private.close()


def shown_name(given: str) -> str:
    """The name of an uploaded file without folders and control characters, and of limited length.

    >>> shown_name("C:\\\\data\\\\..\\\\patients.csv"), shown_name("../../etc/passwd"), shown_name("")
    ('patients.csv', 'passwd', 'table')
    """
    last = PurePosixPath(given.replace("\\", "/")).name
    clean = "".join(letter for letter in last if unicodedata.category(letter)[0] != "C").strip()
    if len(clean) > _LONGEST:
        ending = PurePosixPath(clean).suffix[:12]
        clean = clean[: _LONGEST - len(ending) - 1] + "…" + ending
    return clean if clean.strip(".") else "table"


def ending_of(name: str) -> str:
    """The ending of a file name, with that before a compression; refused unless tables are read from such files."""
    ending = full_suffix(Path(name)).lower()
    if ending != ZIP and format_of(name) is None:
        raise Refusal(
            415, f"{name} is not a kind of file that tables are read from; use {described_formats()}, also compressed"
        )
    return ending
