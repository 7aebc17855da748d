"""Output files: written whole or not at all, and never over an existing file by accident."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incrowd._support.compressed_files import full_suffix
from incrowd.errors import InputError


def check_free(path: str | os.PathLike[str], *, force: bool = False) -> None:
    """Refuse a path that is taken."""
    target = Path(path)
    if target.is_dir():
        raise InputError(f"{target} is a folder; name a file to write")
    if target.exists() and not force:
        raise InputError(f"{target} exists already; name another file, or say that it may be replaced", hint="force")


@contextmanager
def written_whole(path: str | os.PathLike[str], *, force: bool = False) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends well and removed when it does not."""
    check_free(path, force=force)
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.stem[:40]}-", suffix=full_suffix(target), dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except OSError as error:
        full = error.errno == errno.ENOSPC or "No space left" in str(error)
        why = "the disk is full; free space, or name another place" if full else error.strerror or str(error)
        raise InputError(f"cannot write {target}: {why}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    """The permissions new files do not get; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
