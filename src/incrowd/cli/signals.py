"""Handling of signals that end a command; temporary files are removed first."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from incrowd._support.private_folders import remove_all

_PATIENCE = 8.0  # seconds that the work has to end by itself


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise SystemExit in the block on SIGTERM and SIGHUP, KeyboardInterrupt on SIGINT, so that it can clean up.

    An ignored signal (as by nohup) stays ignored. Python handles signals in the main thread between two instructions,
    so a second thread, which reads the wake-up file descriptor, ends the process if compiled code does not return. If
    an interrupted engine raises its own error, the exception of the signal is raised instead.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    default = {signal.SIG_DFL, signal.default_int_handler}
    before = {one: signal.getsignal(one) for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)}
    handled = [one for one, handler in before.items() if handler in default]
    raised: list[BaseException] = []

    def leave(number: int, frame: FrameType | None) -> None:
        if not raised:  # a closed terminal may send two signals
            raised.append(KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number))
            raise raised[0]

    for one in handled:
        signal.signal(one, leave)
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    wakeup_before = signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    threading.Thread(target=_end_late, args=(read_end, handled), daemon=True).start()
    try:
        yield
    except Exception:
        if raised:
            raise raised[0] from None
        raise
    finally:
        if not raised:
            signal.set_wakeup_fd(wakeup_before)
            os.close(write_end)
            for one in handled:
                signal.signal(one, before[one])


def _end_late(read_end: int, handled: Sequence[int]) -> None:
    """End the process a few seconds after a signal, if it has not ended by itself."""
    while number := os.read(read_end, 1):
        if number[0] in handled:
            time.sleep(_PATIENCE)
            remove_all()
            os._exit(128 + number[0])
    os.close(read_end)
