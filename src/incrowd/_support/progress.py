"""Progress reporting for long-running work."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it that is done, from 0 to 1."""


def silent(doing: str, share: float) -> None:
    """Report nothing: the default in the library."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """A progress callback for one step of several, which takes the share from `start` to `stop` of the whole."""

    def tell(doing: str, share: float) -> None:
        progress(doing, start + (stop - start) * share)

    return tell
