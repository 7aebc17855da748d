"""Temporary directories for rows in clear text: private to the user, and removed however the work ends."""

from __future__ import annotations

import importlib
import os
import re
import secrets
import shutil
import tempfile
import time
import weakref
from pathlib import Path
from typing import IO, Any

from incrowd.errors import InputError

_PREFIX, _LOCK = "incrowd-", ".incrowd-lock"
_OURS = re.compile(_PREFIX + r"([a-z]+-)?[0-9a-f]{16}")  # folders with other names are never deleted
_ATTEMPTS = 20
_LOCKED_BYTE = (1 << 31) - 2  # the last that Windows locks for a C program
_YOUNG = 60.0  # seconds; a folder without a lock that is younger may still be in creation


class PrivateFolder:
    """A directory that only this user can read; removed with this object, or at the end of the process.

    Each directory has a lock. If its process is killed, the lock becomes free. Before a process makes its first
    directory, it removes those with a free lock.

    Args:
        kind: a part of its name.
        inside: another private directory to make it in; without one, the system's for temporary files.
    """

    def __init__(self, kind: str = "", *, inside: Path | None = None) -> None:
        named = os.environ.get("TMPDIR")
        if named and not (os.path.isdir(named) and os.access(named, os.W_OK | os.X_OK)):
            raise InputError(f"TMPDIR names {named} for temporary files, which is no folder that can be written to")
        place = Path(tempfile.gettempdir()) if inside is None else inside
        if inside is None and place not in _swept:
            _swept.add(place)
            _remove_abandoned(place)
        self.path, lock = _new_folder(place, _PREFIX + kind)
        self._cleaner = weakref.finalize(self, _remove, self.path, lock, os.getpid())
        _held.add(self)

    def close(self) -> None:
        """Delete everything in it now."""
        self._cleaner()


_swept: set[Path] = set()
_held: weakref.WeakSet[PrivateFolder] = weakref.WeakSet()


def remove_all() -> None:
    """Delete every private folder of this process, even if a thread still uses it."""
    for folder in list(_held):
        folder.close()


def _new_folder(place: Path, prefix: str) -> tuple[Path, IO[str]]:
    """Make a directory and its lock, which is held as long as the directory exists."""
    while True:
        path = place / (prefix + secrets.token_hex(8))
        path.mkdir(mode=0o700)
        try:
            lock = open(path / _LOCK, "w")  # noqa: SIM115 - stays open as long as the directory exists
        except OSError:
            path.rmdir()
            raise
        if locked(lock) is not False and (path / _LOCK).exists():
            return path, lock
        lock.close()  # another process found it before it was locked, and removes it


def locked(file: IO[str] | int) -> bool | None:
    """Try to lock an open file: True if the lock was free and is now held, None if the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return _locked_in_windows(file if isinstance(file, int) else file.fileno())
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


def _locked_in_windows(descriptor: int) -> bool | None:
    """The same by the locks of Windows, which keep others from reading the locked byte: it is one that no file has."""
    try:
        msvcrt: Any = importlib.import_module("msvcrt")
    except ImportError:
        return None
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except PermissionError:
        return False
    except OSError:
        return None
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)
    return True


def _remove_abandoned(place: Path) -> None:
    """Delete the folders of processes that were killed."""
    for folder in place.glob(f"{_PREFIX}*"):
        if not _OURS.fullmatch(folder.name):
            continue
        try:
            if hasattr(os, "getuid") and folder.lstat().st_uid != os.getuid():
                continue  # another user's
            if not (folder / _LOCK).exists():
                if time.time() - folder.stat().st_mtime > _YOUNG:
                    folder.rmdir()  # its process was killed before it made the lock, so the folder is empty
                continue
            with open(folder / _LOCK, "r+") as lock:
                is_free = locked(lock)
                if is_free:
                    shutil.rmtree(folder, ignore_errors=True)
            if is_free:
                shutil.rmtree(folder, ignore_errors=True)  # Windows does not remove an open file
        except OSError:
            continue  # another user's, or another process removes it now


def _remove(folder: Path, lock: IO[str], owner: int) -> None:
    """Delete a folder to which a thread may still be writing; a forked child leaves it to its parent."""
    lock.close()  # first: Windows does not remove an open file
    for _ in range(_ATTEMPTS if os.getpid() == owner else 0):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.05)
