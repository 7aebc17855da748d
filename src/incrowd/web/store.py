"""The private folder of a server: uploads and protected tables lie in it, and go when they are not needed."""

from __future__ import annotations

import shutil
import tempfile
import time
import unicodedata
import weakref
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from incrowd.table.read import FORMATS
from incrowd.web.problems import Refusal

_BLOCK = 1 << 20
_ZIPPED = {".xlsx", ".xlsb", ".ods"}
_LONGEST = 120
_PREFIX, _LOCK = "incrowd-web-", "lock"
_ATTEMPTS = 20


class Store:
    """A folder that this user alone can read; gone when the server ends.

    Where a server was killed, its folder goes when the next one starts: the lock in it is then nobody's.
    """

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX))  # mode 0700
        lock = open(self.folder / _LOCK, "w")  # noqa: SIM115 - held as long as the folder is
        _locked(lock)
        self._cleaner = weakref.finalize(self, _remove, self.folder, lock)

    def new_folder(self) -> Path:
        """A folder in it for one table or one job."""
        return Path(tempfile.mkdtemp(dir=self.folder))

    def free(self, left: int) -> int:
        """Bytes that may still be written, so that `left` are left to others; of a small disk, a twentieth of it."""
        disk = shutil.disk_usage(self.folder)
        return disk.free - min(left, disk.total // 20)

    def close(self) -> None:
        """Delete everything."""
        self._cleaner()


def _locked(file: IO[str]) -> bool:
    """Whether the lock was free and is ours now; where the system has no such locks, none is ever free."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_abandoned(place: Path) -> None:
    """Delete the folders of servers that were killed."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            with open(folder / _LOCK, "r+") as lock:
                if _locked(lock):
                    _remove(folder, lock)
        except OSError:
            continue  # not ours, or just being made or removed


def _remove(folder: Path, lock: IO[str]) -> None:
    """Delete a folder in which a thread may still be writing."""
    for _ in range(_ATTEMPTS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.05)
    lock.close()


def shown_name(given: str) -> str:
    """The name of an uploaded file as it may be shown: no folders, no control letters, not endless.

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
    """The ending of a file's name, if tables are read from such files."""
    ending = PurePosixPath(name).suffix.lower()
    if ending not in FORMATS:
        kinds = "CSV, TSV, Parquet, Feather, Excel, OpenDocument or JSON lines"
        raise Refusal(415, f"{name} is not a kind of file that tables are read from; use {kinds}")
    return ending


def check_unpacked(path: Path, most: int) -> None:
    """Refuse a workbook that is small on disk and huge in memory. It is unpacked for it, because headers can lie."""
    if path.suffix.lower() not in _ZIPPED:
        return
    try:
        with zipfile.ZipFile(path) as packed:
            if sum(one.file_size for one in packed.infolist()) > most:
                raise _too_large(most)
            unpacked = 0
            for one in packed.infolist():
                with packed.open(one) as file:
                    while block := file.read(_BLOCK):
                        unpacked += len(block)
                        if unpacked > most:
                            raise _too_large(most)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error):
        raise Refusal(400, "this workbook cannot be read; it may be damaged or need a password") from None


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"this workbook unpacks to more than {most / 1e6:,.0f} MB; save it as CSV or Parquet")
