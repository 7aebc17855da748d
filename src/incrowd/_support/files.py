"""Output files: written whole or not at all, and never over an existing file by accident."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from incrowd._support.addresses import is_address, masked
from incrowd._support.compressed_files import full_suffix
from incrowd._support.private_folders import PrivateFolder, locked
from incrowd.errors import InputError

_HIDDEN = ".incrowd-draft-"  # prefix of the names of unfinished files, on systems where such files need a name
_DRAFT = re.compile(re.escape(_HIDDEN) + r"[0-9a-f]{16}(\..*)?")  # no other file is ours to delete
_ATTEMPTS = 20
_LARGEST_SMALL = 256 << 20
_umask_lock = threading.Lock()


def check_free(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Raise InputError if a file cannot be written to a path: it exists, or is an address, a folder or a device."""
    target = Path(path)
    if is_address(target):
        raise InputError(f"{masked(os.fspath(path))} is an address; name a file")
    if target.exists() and not target.is_file():  # writing would replace a device or a pipe
        raise InputError(f"{target} is {'a folder' if target.is_dir() else 'no plain file'}; name a file to write")
    if target.exists() and not force:
        raise _taken(target)


def read_small(path: str | os.PathLike[str]) -> bytes:
    """The content of a file that is held in memory, such as settings, labels or a key.

    Raises:
        OSError: it cannot be read, or is larger than any such file: a device may have no end.
    """
    with open(path, "rb") as opened:
        content = opened.read(_LARGEST_SMALL + 1)
    if len(content) > _LARGEST_SMALL:
        raise OSError(errno.EFBIG, f"it is larger than {_LARGEST_SMALL >> 20} MB", os.fspath(path))
    return content


def read_small_text(path: str | os.PathLike[str]) -> io.StringIO:
    """The UTF-8 text of a small file, as an open file for readers of lines; a byte order mark is left out."""
    return io.StringIO(read_small(path).decode("utf-8-sig"), newline="")


def file_hash(path: str | os.PathLike[str]) -> str:
    """The SHA-256 of a file."""
    with open(path, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def file_state(path: str | os.PathLike[str]) -> tuple[int, ...] | None:
    """Modification time, length and inode of a file, to see whether it changed; None if it does not exist."""
    try:
        state = os.stat(path)
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


@contextmanager
def written_whole(path: str | os.PathLike[str], *, force: bool = False, private: bool = False) -> Iterator[Path]:
    """Yield a path to write to; its file becomes `path` if the block succeeds, and is deleted if it fails.

    The file has no name until it is complete, so a killed process leaves nothing behind. On systems without nameless
    files, it has a hidden name and a lock, and the next write to the folder removes an abandoned one. A `private` file
    is readable by its owner only.
    """
    check_free(path, force=force)
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(target.parent)
        draft = _new_draft(target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    try:
        yield draft.path
        os.chmod(draft.path, 0o600 if private else 0o666 & ~_umask())  # by its path: not every system has fchmod
        os.fsync(draft.descriptor)
        draft.publish(force=force)
    except OSError as error:
        full = error.errno == errno.ENOSPC or "No space left" in str(error)
        why = "the disk is full; free space, or name another place" if full else error.strerror or str(error)
        raise InputError(f"cannot write {target}: {why}") from error
    finally:
        draft.close()


@contextmanager
def locked_target(path: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other programs that do so, too, from writing files of this name during the block.

    The lock is a hidden file. If the process is killed, the next file that is written to the folder removes it. On file
    systems without locks nobody is kept away.
    """
    target = Path(path)
    name = hashlib.sha256(target.name.casefold().encode(errors="surrogateescape")).hexdigest()[:16]
    lock = target.parent / f"{_HIDDEN}{name}.lock"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor = _held_lock(lock)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    if descriptor is None:
        raise InputError(f"another program writes {target} now; wait for it, or name another file")
    try:
        yield
    finally:
        if os.name == "nt":  # where an open file cannot be removed
            os.close(descriptor)
        with suppress(OSError):  # the next file that is written to the folder removes it
            lock.unlink()
        if os.name != "nt":
            os.close(descriptor)


def _held_lock(lock: Path) -> int | None:
    """An open lock file that this process holds; None if another one holds it."""
    for _ in range(_ATTEMPTS):
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with suppress(FileNotFoundError):  # its holder removed it before it was free
            if locked(descriptor) is not False and os.path.samestat(os.fstat(descriptor), os.stat(lock)):
                return descriptor
        os.close(descriptor)
        time.sleep(0.05)  # it may be held by a program that removes abandoned ones
    return None


class _HiddenDraft:
    """A file with a hidden name next to its target, locked while it is written."""

    def __init__(self, target: Path) -> None:
        self._target = target
        while True:
            self.path = _hidden(target)
            self.descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            self._is_locked = locked(self.descriptor)
            if self._is_locked is not False and self.path.exists():
                break
            os.close(self.descriptor)  # another process found it before it was locked, and removes it

    def publish(self, *, force: bool) -> None:
        """Give the file its name."""
        if not force and self._target.exists():
            raise _taken(self._target)
        if self._is_locked is None:
            self._close_descriptor()  # Windows renames no open file; elsewhere the lock is kept until it has its name
        os.replace(self.path, self._target)

    def close(self) -> None:
        """Delete the file if it has not been published."""
        self._close_descriptor()
        self.path.unlink(missing_ok=True)

    def _close_descriptor(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class _NamelessDraft:
    """A file without a name in the folder of its target; writers reach it by a link in a private folder."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self._private = PrivateFolder()
        self.descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, 0o600)
        self.path = self._private.path / f"draft{full_suffix(target)}"
        self._link = f"/proc/{os.getpid()}/fd/{self.descriptor}"
        try:
            self.path.symlink_to(self._link)
            if not self.path.exists():
                raise OSError(errno.ENOSYS, "this system does not show the files that a process has open")
        except OSError:
            self.close()
            raise

    def publish(self, *, force: bool) -> None:
        """Give the file its name; a file that exists is replaced in one step."""
        if not self.path.is_symlink():
            raise OSError(errno.EIO, "the file was replaced while it was written")
        try:
            self._name(self._target)
        except FileExistsError:
            if not force:
                raise _taken(self._target) from None
            locked(self.descriptor)
            hidden = _hidden(self._target)
            self._name(hidden)
            try:
                os.replace(hidden, self._target)
            finally:
                hidden.unlink(missing_ok=True)

    def _name(self, path: Path) -> None:
        # os.link follows a symbolic link only if it is given a directory descriptor
        os.link(self._link, path, src_dir_fd=self.descriptor, follow_symlinks=True)

    def close(self) -> None:
        """Delete the file if it has not been published."""
        os.close(self.descriptor)
        self._private.close()


def _new_draft(target: Path) -> _NamelessDraft | _HiddenDraft:
    try:
        return _NamelessDraft(target)
    except (AttributeError, OSError, InputError):  # no nameless files in this system or folder, or no private folder
        return _HiddenDraft(target)


def _taken(target: Path) -> InputError:
    return InputError(f"{target} exists already; name another file, or say that it may be replaced", hint="force")


def _hidden(target: Path) -> Path:
    return target.parent / f"{_HIDDEN}{secrets.token_hex(8)}{full_suffix(target)}"


def _remove_abandoned(folder: Path) -> None:
    """Delete unfinished files of processes that were killed: their lock is free."""
    for file in folder.glob(f"{_HIDDEN}*"):
        if not _DRAFT.fullmatch(file.name):
            continue
        try:
            descriptor = os.open(file, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            continue  # another user's, or just removed
        try:
            if locked(descriptor):
                file.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    with _umask_lock:
        mask = os.umask(0o077)
        os.umask(mask)
    return mask
