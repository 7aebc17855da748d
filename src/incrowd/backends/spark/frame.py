"""Frames of a Spark cluster: columns by any name, text by its bytes, files that must not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incrowd.backends.spark.session import send_to_spark, spark_errors
from incrowd.errors import InputError, UnsupportedError
from incrowd.tables.frames import FrameReader

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame


class ClusterReader(FrameReader):
    """A frame whose rows stay in a cluster; `files` are those that it reads, where it was opened here."""

    def __init__(self, frame: nw.DataFrame[Any] | nw.LazyFrame[Any], files: Sequence[str] = ()) -> None:
        super().__init__(frame)
        self._files = files
        self._seen = self._state()

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns; narwhals would read a dot in a name as a field of a record."""
        import narwhals.stable.v2 as nw

        if not self._frame.implementation.is_pyspark():
            return super().lazy(names)
        native: DataFrame = self._frame.to_native()
        with spark_errors("the frame", "its columns cannot be read"):
            columns = [_by_bytes(native, name).alias(f"c{place}") for place, name in enumerate(names)]
            found: nw.LazyFrame[Any] = nw.from_native(native.select(*columns))
        return found

    def beside(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """The rows in the same cluster."""
        import narwhals.stable.v2 as nw

        if not self._frame.implementation.is_pyspark():
            raise UnsupportedError("only Spark writes a table record by record; give the file, or a Spark frame")
        return nw.from_native(send_to_spark(rows, self._frame.to_native().sparkSession))

    def confirm(self) -> None:
        """Stop if a file that the cluster reads is not what it was when it was opened."""
        if self._state() != self._seen:
            raise InputError("a file changed while the cluster read it; nothing of it can be trusted, read it again")

    def _state(self) -> dict[str, tuple[int, int]]:
        """How long each file is and when it was written, as its store tells; those that are gone are left out."""
        if not self._files:
            return {}
        session = self._frame.to_native().sparkSession
        jvm, settings = session.sparkContext._jvm, session.sparkContext._jsc.hadoopConfiguration()
        found = {}
        with spark_errors("the files", "their store does not tell whether they changed"):
            paths = [jvm.org.apache.hadoop.fs.Path(jvm.java.net.URI(file)) for file in self._files]
            folders = {path.getParent().toString(): path.getParent() for path in paths}
            for folder in folders.values():
                system = folder.getFileSystem(settings)
                for status in system.listStatus(folder) if system.exists(folder) else ():
                    name = status.getPath().toUri().toString()
                    found[name] = (int(status.getLen()), int(status.getModificationTime()))
            names = {path.toUri().toString() for path in paths}
        return {name: state for name, state in found.items() if name in names}


def _by_bytes(frame: DataFrame, name: str) -> Column:
    """A column by its name, whatever is in that; text without its collation, which would make one of `a` and `A`."""
    from pyspark.sql import functions as sql

    column = sql.col(quoted(name))
    collation = getattr(frame.schema[name].dataType, "collation", "UTF8_BINARY")
    return column if collation == "UTF8_BINARY" else sql.collate(column, "UTF8_BINARY")


def quoted(name: str) -> str:
    """A column's name as Spark reads it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"


def type_of(frame: DataFrame) -> str:
    """The columns and types of a frame, as Spark is told them."""
    return ", ".join(f"{quoted(name)} {kind}" for name, kind in frame.dtypes)


def with_type(frame: DataFrame, name: str, kind: str) -> str:
    """The same with one column more."""
    return f"{type_of(frame)}, {quoted(name)} {kind}"
