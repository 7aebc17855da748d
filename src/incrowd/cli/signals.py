"""How a command ends when it is told to: with nothing of the table left on the disk."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from incrowd._support.private_folders import remove_all

_PATIENCE = 8.0  # seconds that the work has to end by itself


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as an error would, so that temporary files are removed.

    A signal that is ignored (as by nohup) stays so. Signals reach the main thread only, and that between two lines of
    Python: a thread hears of them at once, and does not wait for ever for compiled code that runs meanwhile.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = [one for one in wanted if signal.getsignal(one) is signal.SIG_DFL]
    ending = threading.Event()

    def leave(number: int, frame: FrameType | None) -> None:
        if ending.is_set():  # a closed terminal may say so twice
            return
        ending.set()
        sys.exit(128 + number)

    for one in ours:
        signal.signal(one, leave)
    heard, told = os.pipe()
    os.set_blocking(told, False)
    before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=_end_late, args=(heard, ours), daemon=True).start()
    try:
        yield
    finally:
        if not ending.is_set():
            signal.set_wakeup_fd(before)
            os.close(told)
            for one in ours:
                signal.signal(one, signal.SIG_DFL)


def _end_late(heard: int, ours: Sequence[int]) -> None:
    """End the process if it is told to and does not within a while."""
    while number := os.read(heard, 1):
        if number[0] in ours:
            time.sleep(_PATIENCE)
            remove_all()
            os._exit(128 + number[0])
    os.close(heard)
