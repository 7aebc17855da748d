"""Numba's compiler, with a place for compiled code in installations that cannot be written to."""

from __future__ import annotations

from typing import Any

import numba

from incrowd._support.private_folders import PrivateFolder
from incrowd.errors import InputError

__all__ = ["njit", "numba"]

_private: PrivateFolder | None = None  # of this process; removed with it


def _probe() -> None:
    """A function that is never called."""


def _is_cached() -> bool:
    """Whether compiled code can be kept: beside the package, in the user's cache, or else for this process alone."""
    global _private
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:  # no folder can be written to
        try:
            _private = PrivateFolder("compiled-")
        except (OSError, InputError):
            return False
        numba.config.CACHE_DIR = str(_private.path)
    return True


_CACHED = _is_cached()


def njit(*, cache: bool, **options: Any) -> Any:
    """`numba.njit`, which keeps compiled code only where there is a place for it."""
    return numba.njit(cache=cache and _CACHED, **options)
