"""Choice of the engine by name, and of the backend that opens a source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd._support.addresses import masked
from incrowd.backends.frame_backend import FrameBackend
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.backends.base import Backend
    from incrowd.backends.spark.backend import SparkBackend

ENGINES = (None, "duckdb", "spark")


def choose_engine(engine: str | None, master: str | None = None) -> Engine:
    """The engine with this name.

    Args:
        engine: "duckdb" or "spark"; None if the place of the table decides.
        master: for Spark, the address of the cluster.
    """
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}; use duckdb or spark")
    if engine == "spark":
        return SparkEngine(master)
    if master is not None:
        raise InputError(
            f"a master ({masked(master)}) is for engine='spark'; leave it out or say so", hint="engine=spark"
        )
    return Engine(is_asked_for=engine is not None)


class Engine:
    """This machine: rows are read here, and grouped by an embedded DuckDB if they do not fit into memory.

    `is_asked_for` is True if the user named the engine; then a source that needs another engine is refused.
    """

    slow_start = ""
    """Name to show to a waiting user if the engine takes long to start."""
    opens_store = False
    """True if addresses such as `hdfs://…` can be read and written."""

    def __init__(self, *, is_asked_for: bool = False) -> None:
        self._is_asked_for = is_asked_for

    def check_database(self) -> None:
        """Raise InputError if this engine cannot count tables of databases."""

    def open_in_place(self, paths: Sequence[str], *, name: str, memory: int) -> SparkBackend | None:
        """A backend for files that the engine reads itself; None if they are read on this machine."""
        return None

    def take_over(self, backend: Backend) -> SparkBackend | None:
        """Move rows that were opened on this machine to the engine; None if they stay on this machine."""
        if self._is_asked_for and not backend.rows_are_local:
            raise InputError("a Spark frame stays in its cluster; leave out engine='duckdb', or give the file")
        return None


class SparkEngine(Engine):
    """A Spark cluster: its workers read Parquet; other files are read on this machine and sent.

    `master` is the address of the cluster; None is the one in Spark's own configuration.
    """

    slow_start = "Spark"
    opens_store = True  # every store that Hadoop knows

    def __init__(self, master: str | None) -> None:
        super().__init__(is_asked_for=True)
        self._master = master

    def check_database(self) -> None:
        """Raise InputError: a database counts its tables itself."""
        raise InputError("a database counts its tables itself; leave out the engine", hint="engine")

    def open_in_place(self, paths: Sequence[str], *, name: str, memory: int) -> SparkBackend | None:
        """A backend for addresses and Parquet files, which every worker must be able to open; None for other files."""
        if "://" not in paths[0] and Path(paths[0]).suffix.lower() not in {".parquet", ".pq"}:
            return None
        from incrowd.backends.spark.backend import SparkBackend
        from incrowd.backends.spark.session import open_on_spark, start_session

        session = start_session(self._master, memory)
        frame = open_on_spark([path if "://" in path else os.path.abspath(path) for path in paths], session)
        return SparkBackend(nw.from_native(frame), name=name, memory=memory, files=list(frame.inputFiles()))

    def take_over(self, backend: Backend) -> SparkBackend | None:
        """Send the rows to the cluster, unless they are in one already."""
        if not backend.rows_are_local:
            return None
        from incrowd.backends.spark.backend import SparkBackend
        from incrowd.backends.spark.session import send_to_spark, start_session

        rows = pa.table(dict(backend.read(backend.columns)))
        frame = send_to_spark(rows, start_session(self._master, backend.memory))
        return SparkBackend(nw.from_native(frame), name=backend.name, memory=backend.memory)


def open_frame(frame: Any, *, name: str, memory: int) -> FrameBackend:
    """The backend of a frame; a Spark frame stays in its cluster.

    Args:
        frame: the frame, wrapped by narwhals.
    """
    if frame.implementation.is_spark_like():
        from incrowd.backends.spark.backend import SparkBackend

        return SparkBackend(frame, name=name, memory=memory)
    return FrameBackend(frame, name=name, memory=memory)
