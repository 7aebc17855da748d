"""How long work tells whoever waits how far it is."""

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Called with what is being done and the share of it that is done, from 0 to 1."""


def silent(doing: str, share: float) -> None:
    """Tell nobody: the default in the library."""
