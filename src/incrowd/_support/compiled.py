"""Numba's compiler, with a cache that also works in read-only or upgraded installations."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from incrowd._support.private_folders import PrivateFolder
from incrowd.errors import InputError


def _import_numba() -> Any:
    """Import Numba so that no file of the current folder sets its options.

    Numba reads `.numba_config.yaml` of the current folder when it is imported and before each compilation. It unpickles
    what it finds in the cache that is named there. Without a YAML parser it leaves the file closed.
    """
    parser = sys.modules.get("yaml")
    sys.modules["yaml"] = None  # type: ignore[assignment]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A Numba config file is found")
            numba = importlib.import_module("numba")
    finally:
        if parser is None:
            del sys.modules["yaml"]
        else:
            sys.modules["yaml"] = parser
    numba.config._config_fname = ""
    folder = os.environ.get("NUMBA_CACHE_DIR", "")
    numba.config.CACHE_DIR = folder if os.path.isabs(folder) else ""  # else one of wherever the process works
    if numba.config.DISABLE_JIT:
        raise InputError("NUMBA_DISABLE_JIT is set, and without compiled code nothing can be counted; unset it")
    return numba


numba = _import_numba()
from numba.core.caching import IndexDataCacheFile  # noqa: E402 - after the import that leaves found files closed
from numba.core.types.misc import unliteral  # noqa: E402

_private: PrivateFolder | None = None  # cache directory of this process only; removed when the process ends


def _probe() -> None:
    """A function that is never called."""


def _is_cached() -> bool:
    """Find a directory for compiled code: the package's, the user's cache, or a private one; False if there is none."""
    global _private
    if _finds_directory():
        return True
    try:
        _private = PrivateFolder("compiled-")
    except (OSError, InputError):
        return False
    numba.config.CACHE_DIR = str(_private.path)
    return _finds_directory()  # none serves a wheel that is not unpacked: its functions have no file


def _finds_directory() -> bool:
    """True if Numba finds a directory that it can write to, for functions of this package."""
    try:
        numba.njit(cache=True)(_probe)
    except RuntimeError:
        return False
    return True


_CACHED = _is_cached()


class _CacheFile(IndexDataCacheFile):  # type: ignore[misc]
    """An index of cached compiled code, which reads as empty if an earlier version of the package wrote it.

    The index names the types of arguments. Numba reads them before it checks whether the code is out of date, and fails
    if the module of a named tuple no longer exists.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except (ImportError, AttributeError):
            return {}


def _compile_by_type(compiled: Any) -> None:
    """Compile a loop once for the type of a constant argument; Numba would compile it again for each value."""
    by_value = compiled.get_call_template

    def get_call_template(args: Any, kws: dict[str, Any]) -> Any:
        return by_value(tuple(map(unliteral, args)), {name: unliteral(kind) for name, kind in kws.items()})

    compiled.get_call_template = get_call_template


def njit(*, cache: bool, **options: Any) -> Callable[[Any], Any]:
    """`numba.njit` that caches compiled code only if a directory is writable, and ignores caches it cannot read."""

    def compile_later(function: Any) -> Any:
        # nothing calls a loop through a C pointer: to compile that entry too takes 7 % more time
        compiled = numba.njit(cache=cache and _CACHED, no_cfunc_wrapper=True, **options)(function)
        _compile_by_type(compiled)
        cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
        if type(cache_file) is IndexDataCacheFile:
            cache_file.__class__ = _CacheFile
        return compiled

    return compile_later
