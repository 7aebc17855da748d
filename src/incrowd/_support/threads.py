"""Work on parts of a list, in threads where that pays."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Part = TypeVar("Part")
Found = TypeVar("Found")


def map_in_threads(
    work: Callable[[Part], Found], parts: Iterable[Part], *, small: bool, threads: int | None = None
) -> Iterator[Found]:
    """Call a function for every part; yield the results in the order of the parts.

    Args:
        work: function of a part.
        parts: what it is called with.
        small: whether all parts together take less time than starting threads; they are then done in this one.
        threads: how many threads; one per processor unless given.
    """
    if small:
        yield from map(work, parts)
        return
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        yield from pool.map(work, parts)
