"""Engines by the name a user gives: which backend opens a source."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import pyarrow as pa

from incrowd._support.addresses import masked
from incrowd.backends.frame_backend import FrameBackend
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.backends.base import Backend
    from incrowd.backends.spark.backend import SparkBackend

ENGINES = (None, "duckdb", "spark")


def choose_engine(engine: str | None, master: str | None = None) -> Engine:
    """The engine of this name.

    Args:
        engine: "duckdb" or "spark"; None chooses by where the table is.
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
    """This machine: rows are read here, and grouped by an embedded DuckDB past the memory limit.

    `is_asked_for` where the user named the engine, so that a source which needs another one is refused.
    """

    slow_start = ""
    """The name of an engine that takes long to start, for whoever waits."""
    opens_store = False
    """True if addresses such as `hdfs://…` can be read and written."""

    def __init__(self, *, is_asked_for: bool = False) -> None:
        self._is_asked_for = is_asked_for

    def check_database(self) -> None:
        """Stop where tables of databases are not counted by this engine."""

    def open_in_place(self, paths: Sequence[str], *, name: str, memory: int) -> SparkBackend | None:
        """Files that the engine reads itself; None where they are read here."""
        return None

    def take_over(self, backend: Backend) -> SparkBackend | None:
        """Rows that were opened here as the engine holds them; None where they stay as they are."""
        if self._is_asked_for and not backend.rows_are_local:
            raise InputError("a Spark frame stays in its cluster; leave out engine='duckdb', or give the file")
        return None


class SparkEngine(Engine):
    """A Spark cluster: Parquet is read by its workers, everything else is read here and sent.

    `master` says where the cluster is; None is wherever Spark is set up to run.
    """

    slow_start = "Spark"
    opens_store = True  # every store that Hadoop knows

    def __init__(self, master: str | None) -> None:
        super().__init__(is_asked_for=True)
        self._master = master

    def check_database(self) -> None:
        """Stop: a database counts its tables itself."""
        raise InputError("a database counts its tables itself; leave out the engine", hint="engine")

    def open_in_place(self, paths: Sequence[str], *, name: str, memory: int) -> SparkBackend | None:
        """Addresses and Parquet files, which every worker must see under these names; None for other files."""
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
    """A frame that narwhals wraps, as a backend: a Spark frame stays in its cluster.

    Args:
        frame: the frame, wrapped by narwhals.
        name: how messages call it.
        memory: the memory limit in bytes.
    """
    if frame.implementation.is_spark_like():
        from incrowd.backends.spark.backend import SparkBackend

        return SparkBackend(frame, name=name, memory=memory)
    return FrameBackend(frame, name=name, memory=memory)
