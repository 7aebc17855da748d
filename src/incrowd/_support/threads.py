"""Work on parts of a list, in threads where that pays."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Found = TypeVar("Found")


def map_in_threads(
    work: Callable[[Part], Found], parts: Iterable[Part], *, small: bool, threads: int | None = None
) -> Iterator[Found]:
    """Call a function for every part; yield the results in the order of the parts.

    Only a few parts are begun ahead of the result that is waited for: a caller that raises may keep this generator open
    as long as somebody holds the error, and work nobody waits for would go on meanwhile.

    Args:
        work: function of a part.
        parts: what it is called with.
        small: whether all parts together take less time than starting threads; they are then done in this one.
        threads: how many threads; one per processor unless given.
    """
    if small:
        yield from map(work, parts)
        return
    workers = threads or os.cpu_count() or 1
    pool, begun = ThreadPoolExecutor(workers), deque[Future[Found]]()
    try:
        for part in parts:
            begun.append(pool.submit(work, part))
            if len(begun) == 2 * workers:  # so that no thread waits for the slowest
                yield begun.popleft().result()
        while begun:
            yield begun.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
