"""Memory of the machine and its container, and memory limits as users write them."""

from __future__ import annotations

import ctypes
import errno
import math
import os
import re
import sys
from functools import cache
from pathlib import Path

from incrowd.errors import InputError, UnsupportedError
from incrowd.wording import data_size

_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SHARE = 0.75
BUFFERS = 120_000_000
"""Bytes that engines and buffers may take above the memory limit."""
LIBRARIES = 200_000_000
"""Bytes of a process that has loaded the libraries and does nothing."""
_SMALLEST, _LARGEST = 50_000_000, 10**15
_NO_ROOM = re.compile("map segment|shared object|thread|allocate", re.IGNORECASE)  # what libraries say without memory
_LEAST_ADDRESS_SPACE = 10**9  # bytes that the libraries reserve when they are loaded, on a machine of few cores
_A_CORE = 250_000_000  # bytes that the threads of the libraries reserve for each core, at most
NO_RESERVE = {"OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1"}
"""Environment of a process under a limit of its address space: what allocators reserve counts against it."""
_MALLOC_OPTIONS = {-3: 1 << 16, -1: 1 << 16, -8: 1}  # malloc.h: M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_ARENA_MAX


def memory_in_bytes(limit: str | float | None) -> int:
    """Convert a memory limit to bytes.

    Args:
        limit: a number of bytes, a text such as "2GB", or None for `default_memory()`.

    Raises:
        InputError: the text is not understood, or the limit is too small to work in.

    >>> memory_in_bytes("2GB")
    2000000000
    """
    if limit is None:
        return default_memory()
    if isinstance(limit, int | float):
        size = int(limit) if abs(limit) < math.inf else _LARGEST + 1
    else:
        parts = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?i?B?)\s*", limit, re.IGNORECASE)
        try:
            number, unit = float(parts[1]), parts[2].upper()  # type: ignore[index]
            size = int(number * _UNITS[unit if unit.endswith("B") else unit + "B"])
        except (TypeError, ValueError, KeyError, OverflowError):
            raise InputError(f"memory limit {limit!r} is not understood; write it like 2GB or 500MB") from None
    if size > _LARGEST:
        raise InputError("a memory limit of more than 1,000 TB; write it like 2GB or 500MB")
    if size < _SMALLEST:
        raise InputError(f"a memory limit of {size:,} bytes is too small to work in; give 50MB or more")
    return size


def require_memory(doing: str, needed: int, limit: int) -> None:
    """Raise UnsupportedError if work needs more memory than the limit; `doing` is the subject of the message."""
    if needed > limit:
        raise UnsupportedError(
            f"{doing} takes about {data_size(needed)}, more than the memory limit of {data_size(limit)}; give more "
            "memory, or a table of fewer rows or columns",
            hint="memory",
        )


def is_out_of_memory(error: Exception) -> bool:
    """True if memory ran out, also if a library or a thread did not start because the address space is limited."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return _address_space() is not None and _NO_ROOM.search(str(error)) is not None


def _address_space() -> int | None:
    """The limit in bytes of this process's address space, as set by `ulimit -v`; None without one."""
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _ample_address_space() -> int:
    """Bytes of address space from which the libraries may reserve as much as they do without a limit."""
    return max(8 * _LEAST_ADDRESS_SPACE, (os.cpu_count() or 1) * _A_CORE)


def prepare_address_space() -> None:
    """Under a small limit of the address space, keep libraries that are loaded later from reserving more than they use.

    They are slower then: linear algebra has one thread, and threads share one arena of memory.

    Raises:
        UnsupportedError: the limit is too small to load them; OpenBLAS would end the process, and threads that do not
            start can keep it waiting.
    """
    limit = _address_space()
    if limit is None or limit >= _ample_address_space():
        return
    if limit < _LEAST_ADDRESS_SPACE:
        raise UnsupportedError(
            f"out of memory; the address space of this process is limited to {data_size(limit)} (ulimit -v), and the "
            f"libraries reserve about {data_size(_LEAST_ADDRESS_SPACE)} when they are loaded; raise that limit, and "
            "limit the memory of the work instead",
            hint="memory",
        )
    for name, value in NO_RESERVE.items():
        os.environ.setdefault(name, value)
    _set_malloc_options()


def return_freed_memory() -> None:
    """Let this process give freed memory back to the system at once.

    By default, Arrow's memory pool and the C library keep freed memory for reuse, in every thread: up to twice the
    memory in use, which counts against the process's limit. Returning it makes work with many large arrays slower.
    """
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())
    _set_malloc_options()


def _set_malloc_options() -> None:
    """Keep the C library from reserving memory, and from keeping what was freed."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        for parameter, value in _MALLOC_OPTIONS.items():
            libc.mallopt(parameter, value)


@cache
def default_memory() -> int:
    """Three quarters of the physical memory, or of the container's limit if that is smaller.

    A container that takes more is ended, so libraries and buffers must fit beside it.
    """
    limit = _limit_of_container()
    if limit is not None:
        return int(max(_SMALLEST, min(limit * _SHARE, limit - LIBRARIES - BUFFERS)))
    return int(_physical_memory() * _SHARE)


def is_limited_by_container() -> bool:
    """True if this process is in a container that may take less than the physical memory."""
    return _limit_of_container() is not None


def _limit_of_container() -> int | None:
    limit = container_memory()
    return None if limit is None or limit >= _physical_memory() else limit


def _physical_memory() -> int:
    import psutil  # loads libraries that no other command needs

    return psutil.virtual_memory().total


def container_memory(membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")) -> int | None:
    """The smallest memory limit of the control groups (version 1 and 2) this process is in; None without one."""
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    limits: list[int] = []
    for line in lines:
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        if controllers == "":
            limits += _limits_up_to(mount, group, "memory.max")
        elif "memory" in controllers.split(","):
            limits += _limits_up_to(mount / "memory", group, "memory.limit_in_bytes")
    return min(limits, default=None)


def _limits_up_to(root: Path, group: str, file: str) -> list[int]:
    """The limits of a control group and of all its parents; inside a container, its own group may be the root."""
    place = root / group.lstrip("/")
    limits = []
    for folder in [place, *place.parents]:
        if folder.is_relative_to(root):
            try:
                text = (folder / file).read_text(encoding="utf-8").strip()
            except OSError:
                continue
            if text.isdigit():  # "max" is no limit
                limits.append(int(text))
    return limits
