"""Numba's compiler, with a place for compiled code in installations that cannot be written to or were upgraded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile
from numba.core.types.misc import unliteral

from incrowd._support.private_folders import PrivateFolder
from incrowd.errors import InputError

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


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """A list of compiled code, which is empty where an earlier version of the package wrote it.

    It names the types of arguments; Numba reads them before it sees that the code is out of date, and fails where the
    module of a named tuple is gone.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}


def _compile_by_type(compiled: Any) -> None:
    """Compile a loop once for the type of a constant that others call it with: Numba would once more for its value."""
    by_value = compiled.get_call_template

    def get_call_template(args: Any, kws: dict[str, Any]) -> Any:
        return by_value(tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})

    compiled.get_call_template = get_call_template


def njit(*, cache: bool, **options: Any) -> Callable[[Any], Any]:
    """`numba.njit`, which keeps compiled code only where there is a place for it, and reads only what can be read."""

    def compile_later(function: Any) -> Any:
        compiled = numba.njit(cache=cache and _CACHED, **options)(function)
        _compile_by_type(compiled)
        kept = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
        if type(kept) is IndexDataCacheFile:
            kept.__class__ = _CacheFile
        return compiled

    return compile_later
