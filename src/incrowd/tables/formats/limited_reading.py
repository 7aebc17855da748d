"""Reading of files that may be hostile or unpack to many GB, in a child process with limited memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from incrowd._support.compared_files import NOT_COMPARED, UNLIKE
from incrowd._support.limited_process import ChildError, call_limited
from incrowd._support.private_folders import PrivateFolder
from incrowd.errors import IncrowdError, InputError, TooLargeError
from incrowd.tables.formats.file_format import ReadOptions
from incrowd.wording import data_size

_SECONDS = 60  # limit of processor time; more is added for a large file
_COMPARED_A_SECOND = 1_000_000  # bytes of a file that is compared with its rows, at the slowest


def read_limited(
    function: Callable[..., Any],
    *arguments: Any,
    paths: list[str],
    name: str,
    options: ReadOptions,
    bytes_a_second: int,
    unreadable: str,
    advice: str = "give more memory",
    imports: tuple[str, ...] = (),
) -> Any:
    """Call a function that reads files in a child process, within the memory limit.

    Args:
        function: the function; its arguments, and what it returns, are values of JSON.
        paths: the files, whose size bounds the time.
        bytes_a_second: the slowest reading that is allowed, in bytes of the files; sets the time limit.
        unreadable: the message if the reader crashes.
        advice: what to do about a file that takes more than the memory limit.
        imports: packages that do not count as memory of the call.

    Raises:
        InputError: the reader crashed.
        TooLargeError: it ran out of memory or time.
        IncrowdError: the one that the function raised.
    """
    seconds = _SECONDS + sum(os.path.getsize(path) for path in paths) // bytes_a_second
    try:
        where = f"{function.__module__}:{function.__name__}"
        return call_limited(where, *arguments, memory=options.memory, seconds=seconds, imports=imports)
    except ChildError as error:
        if error.reason == "crash":
            raise InputError(unreadable) from None
        raise too_large(name, options.memory, advice) from None


def describe_unlike(
    is_alike: Callable[..., bool], paths: list[str], name: str, options: ReadOptions, imports: tuple[str, ...] = ()
) -> list[str]:
    """Describe the bytes of files that are not as their rows are written; a child process asks `is_alike` of each."""
    try:
        alike = [
            read_limited(
                is_alike,
                path,
                paths=[path],
                name=name,
                options=options,
                bytes_a_second=_COMPARED_A_SECOND,
                unreadable=NOT_COMPARED,
                imports=imports,
            )
            for path in paths
        ]
    except IncrowdError:
        return [NOT_COMPARED]
    return [] if all(alike) else [UNLIKE]


def too_large(name: str, memory: int, advice: str) -> TooLargeError:
    """The error for a file that needs more than the memory limit."""
    return TooLargeError(f"{name} takes more than the memory limit of {data_size(memory)}; {advice}", hint="memory")


def save_cells(cells: pa.Table, file: str) -> None:
    """Write the cells that were read, for the parent process."""
    with pa.OSFile(file, "wb") as target, pa.ipc.new_file(target, cells.schema) as writer:
        writer.write_table(cells)


def load_limited(function: Callable[..., Any], *arguments: Any, **how: Any) -> tuple[pa.Table, Any]:
    """Return the cells that a function wrote with `save_cells` to its last argument, and its return value.

    The function is called by `read_limited`, with the same keywords.
    """
    private = PrivateFolder()
    try:
        file = str(private.path / "cells.arrow")
        returned = read_limited(function, *arguments, file, **how)
        with pa.OSFile(file) as source:
            return pa.ipc.open_file(source).read_all(), returned
    finally:
        private.close()
