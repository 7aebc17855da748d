"""Translation of errors of engines and disks into errors of this package; messages of engines may quote cells."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from incrowd.backends.spark.session import reason_of
from incrowd.errors import IncrowdError, InputError, UnsupportedError

_DISK_FULL = re.compile("No space left|File too large|[Qq]uota exceeded")  # of the disk, a file, or the user


@contextmanager
def engine_errors(table: str) -> Iterator[None]:
    """Replace any error of an engine by an error about the named table."""
    try:
        yield
    except IncrowdError:
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryException" or _DISK_FULL.search(str(error)):
            raise UnsupportedError(
                f"{table}: memory and temporary disk space ran out; nothing was kept: give more memory, free space, or "
                "name a folder on a larger disk in TMPDIR",
                hint="memory",
            ) from None
        cells = "look for cells that are not valid in their column's type"
        raise InputError(
            f"{table} cannot be counted by its engine ({type(error).__name__}); {reason_of(error) or cells}"
        ) from None


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Replace OSError, from a disk that is full or not writable, by InputError."""
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno).lower() if error.errno else "a write failed"
        raise InputError(
            f"a private copy of the table cannot be written to {folder}: {why}; nothing was kept: free space "
            "there, or name a folder on a larger disk in TMPDIR"
        ) from None
