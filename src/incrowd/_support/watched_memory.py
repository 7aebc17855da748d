"""A last guard of the memory limit: whatever code takes the memory, the command ends, and says which limit it met."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from incrowd._support.memory import BUFFERS, LIBRARIES, memory_in_bytes
from incrowd._support.private_folders import remove_all
from incrowd.errors import TooLargeError
from incrowd.wording import data_size

_SIZES = Path("/proc/self/statm")
_COMPILING = 80_000_000  # bytes that a first run takes to compile its loops
_SECONDS = 0.05  # between two looks
_PATIENCE = 3.0  # seconds for the work to end


@contextmanager
def watched_memory(limit: str | float | None) -> Iterator[None]:
    """End the block if this process takes more than the limit and what engines and libraries may take beside it.

    Compiled code that does not return in time is ended together with the process. Nothing is watched without a limit,
    outside the main thread, and on systems that do not tell what a process takes.

    Raises:
        TooLargeError: the process took more.
    """
    if limit is None or not _SIZES.exists() or threading.current_thread() is not threading.main_thread():
        yield
        return
    size = memory_in_bytes(limit)
    most = _resident() + size + BUFFERS + LIBRARIES + _COMPILING
    ended, is_late = threading.Event(), threading.Event()
    words = (
        f"the work took more than its memory limit of {data_size(size)} and {data_size(most - size)} for libraries and "
        "engines, and was ended; give more memory, or a table of fewer columns or shorter cells"
    )

    def leave(number: int, frame: FrameType | None) -> None:
        raise TooLargeError(words, hint="memory")

    before = signal.signal(signal.SIGUSR1, leave)
    threading.Thread(target=_watch, args=(most, ended, is_late, words), daemon=True).start()
    try:
        yield
    except Exception:
        if is_late.is_set():  # an engine may have put its own words in place of these
            raise TooLargeError(words, hint="memory") from None
        raise
    finally:
        ended.set()
        signal.signal(signal.SIGUSR1, before)


def _resident() -> int:
    """Bytes of memory that this process takes now."""
    return int(_SIZES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _watch(most: int, ended: threading.Event, is_late: threading.Event, words: str) -> None:
    """Interrupt the main thread once the process takes more; end the process if that does not end the work."""
    while not ended.wait(_SECONDS):
        if _resident() <= most:
            continue
        is_late.set()
        os.kill(os.getpid(), signal.SIGUSR1)
        if not ended.wait(_PATIENCE):
            os.write(2, f"error: {words}\n".encode())
            remove_all()
            os._exit(2)
