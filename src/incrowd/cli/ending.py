"""How a command ends when it is told to: with nothing of the table left on the disk."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from incrowd.private import remove_all

_PATIENCE = 8.0  # seconds that the work has to end by itself


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the block as an error would, so that temporary files are removed.

    A signal that is ignored (as by nohup) stays so. Signals reach the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    wanted = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = [one for one in wanted if signal.getsignal(one) is signal.SIG_DFL]
    ending = threading.Event()

    def leave(number: int, frame: FrameType | None) -> None:
        if ending.is_set():  # a closed terminal may say so twice
            return
        ending.set()
        late = threading.Timer(_PATIENCE, _end_now, [number])
        late.daemon = True
        late.start()
        sys.exit(128 + number)

    for one in ours:
        signal.signal(one, leave)
    try:
        yield
    finally:
        if not ending.is_set():
            for one in ours:
                signal.signal(one, signal.SIG_DFL)


def _end_now(number: int) -> None:
    remove_all()
    os._exit(128 + number)  # something does not end
