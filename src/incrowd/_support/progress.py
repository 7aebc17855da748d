"""Progress reporting for long-running work."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

Progress = Callable[[str, float], None]
"""Callback that receives the current step and the share done, from 0 to 1."""


def silent(doing: str, share: float) -> None:
    """Report nothing: the default in the library."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """Return a progress callback for one of several steps, which maps its share to the range from `start` to `stop`."""

    def tell(doing: str, share: float) -> None:
        progress(doing, start + (stop - start) * share)

    return tell


class Stopped(Exception):  # noqa: N818
    """Raised in cancelled work at its next progress report."""


@contextmanager
def stoppable_threads(workers: int, progress: Progress) -> Iterator[tuple[ThreadPoolExecutor, Progress, Progress]]:
    """Run threads that all stop as soon as the progress callback raises in one of them, or the block is left.

    Yields:
        The thread pool; a progress callback for the block, whose shares never decrease; and one for the work in the
        threads, which ignores its arguments and repeats the block's last report, so that the user's callback can raise.
    """
    lock = Lock()
    last_report = ("", 0.0)
    ended: BaseException | None = None

    def repeat(doing: str = "", share: float = 0.0) -> None:
        nonlocal ended
        with lock:
            if ended is not None:
                raise ended
            try:
                progress(*last_report)
            except BaseException as error:
                ended = error
                raise

    def tell(doing: str, share: float) -> None:
        nonlocal last_report
        with lock:
            last_report = doing, max(share, last_report[1])
        repeat()

    pool = ThreadPoolExecutor(workers)
    try:
        yield pool, tell, repeat
        if ended is not None:
            raise ended
    finally:
        with lock:
            ended = ended or Stopped()
        pool.shutdown(cancel_futures=True)
