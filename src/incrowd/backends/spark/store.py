"""Stores that a cluster writes to: local disks, HDFS, S3 and others of Hadoop. Output is complete, or not there."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from incrowd._support.addresses import masked
from incrowd.backends.spark.session import spark_errors
from incrowd.errors import IncrowdError, InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def written_by_spark(frame: DataFrame, out: str, *, force: bool = False) -> Iterator[str]:
    """Let the workers write a frame to a folder of Parquet files, which gets its name `out` if the block succeeds.

    Yields the folder's temporary name, so that the block can check the files. `out` is a path that every worker can
    write to, or an address of a store that Spark supports.
    """
    target = out if "://" in out else os.path.abspath(out)
    temporary = f"{target.rstrip('/')}.{uuid.uuid4().hex[:12]}.writing"
    store = _store(frame.sparkSession, target)
    with spark_errors(masked(out), "its store does not tell whether it is there"):
        exists = store.exists(target)
    if exists and not force:
        raise InputError(
            f"{masked(out)} exists already; name another folder, or say that it may be replaced", hint="force"
        )
    if exists and store.holds(target, frame.inputFiles()):
        raise InputError(f"{masked(out)} is the table that is read; it is never overwritten, name another place")
    try:
        with spark_errors(masked(out), "the cluster could not write it"):
            frame.write.parquet(temporary)
        yield temporary
        with spark_errors(masked(out), "it was written, but could not be given its name"):
            store.put(temporary, target)
    except BaseException as error:
        _give_up(store, temporary, error)
        raise


def check_writable(folder: str) -> None:
    """Raise InputError if a folder of this machine is not writable; a folder may also exist on the workers only."""
    if os.path.isdir(folder) and not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"cannot write to {folder}: no permission; name another folder")


def _give_up(store: _Store, temporary: str, error: BaseException) -> None:
    """Remove the temporary folder; if that fails, raise the original error with the folder's name added."""
    try:
        store.delete(temporary)
    except Exception:  # the cluster is lost, and its store with it
        if not _removed_here(temporary) and isinstance(error, IncrowdError):
            name = temporary.rpartition("/")[2]
            raise type(error)(f"{error}; what was written until then is left as {name}, remove it") from None


def _removed_here(folder: str) -> bool:
    """Remove a folder without the cluster, if it is on this machine; True if it does not exist afterwards."""
    path = _plain(folder).removeprefix("file:")
    if "://" in path:
        return False
    shutil.rmtree(path, ignore_errors=True)
    return not os.path.lexists(path)


class _Store:
    """A Hadoop file system that Spark writes to."""

    def __init__(self, system: Any, path: Any) -> None:
        self._system, self._path = system, path

    def exists(self, name: str) -> bool:
        return bool(self._system.exists(self._path(name)))

    def holds(self, name: str, files: Iterable[str]) -> bool:
        """True if one of the files is this one, or lies in this folder."""
        place = _plain(self._system.makeQualified(self._path(name)).toUri().toString())
        return any(f"{_plain(file)}/".startswith(f"{place}/") for file in files)

    def delete(self, name: str) -> None:
        self._system.delete(self._path(name), True)

    def put(self, name: str, target: str) -> None:
        """Rename a folder to `target`; an existing `target` is deleted only after the rename succeeded."""
        backup = f"{target}.{uuid.uuid4().hex[:12]}.before"
        replaced = self.exists(target) and self._system.rename(self._path(target), self._path(backup))
        if not self._system.rename(self._path(name), self._path(target)):
            if replaced:
                self._system.rename(self._path(backup), self._path(target))
            raise OSError("rename")
        if replaced:
            self.delete(backup)


def _plain(address: str) -> str:
    """One spelling of a local address: Hadoop writes both `file:/` and `file:///`."""
    return address.rstrip("/").replace("file:///", "file:/", 1)


def _store(session: SparkSession, target: str) -> _Store:
    jvm, context = session.sparkContext._jvm, session.sparkContext._jsc
    path = jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr]
    with spark_errors(target, "Spark knows no store by this address"):
        return _Store(path(target).getFileSystem(context.hadoopConfiguration()), path)
