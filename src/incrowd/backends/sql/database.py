"""Tables in databases: counted where they are, copied in batches where rows are needed.

Everything is read in one transaction that cannot write and sees one state of the database, however long it takes. What
needs only counts is one grouping in SQL; what needs rows streams them once into a private Parquet file, and the
connection is closed. A query that might give other rows when it is run again is run once, and its rows are kept.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from incrowd._support.addresses import DATABASES, masked, scheme_of
from incrowd.errors import InputError
from incrowd.tables.infer_types import TypeInference
from incrowd.tables.readers import Workspace, disk_errors, quoted
from incrowd.tables.table import Table
from incrowd.tables.typed_text import TypedTextReader

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa

_LISTED = 30
_TOKENS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/|;|\w+|[^\s\w]|\s+""", re.DOTALL
)


class Column(NamedTuple):
    """How a column is read: SQL that says its value in one way, types its text may turn out to be, a value like it."""

    sql: str
    shapes: tuple[str, ...] = ()
    example: str = "''"


class Session:
    """An open transaction on one database: a table or query of it, and how each of its columns is read."""

    name: str
    table: str | None
    relation: str
    columns: dict[str, Column]
    repeatable: bool = True
    """Whether the relation has the same rows every time it is asked in this transaction."""
    _connection: Any

    def fetch(self, sql: str) -> pa.Table:
        """A small answer."""
        with self._told() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    def stream(self, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
        """All rows of the relation, in batches."""
        raise NotImplementedError

    def close(self) -> None:
        """End the transaction and the connection."""
        self._connection.close()

    def _batches(self, sql: str, options: dict[str, str] | None = None) -> Iterator[pa.RecordBatch]:
        """A large answer; only the driver's errors are told in its name, not those of whoever takes the batches."""
        with self._connection.cursor(adbc_stmt_kwargs=options) as cursor:
            try:
                cursor.execute(sql)
                batches = iter(cursor.fetch_record_batch())
                batch = next(batches, None)
            except Exception as error:
                self._explain(error)
            while batch is not None:
                yield batch
                try:
                    batch = next(batches, None)
                except Exception as error:
                    self._explain(error)

    @contextmanager
    def _told(self, options: dict[str, str] | None = None) -> Iterator[Any]:
        """A cursor whose errors are told in our words."""
        with self._connection.cursor(adbc_stmt_kwargs=options) as cursor:
            try:
                yield cursor
            except Exception as error:
                self._explain(error)

    def _explain(self, error: Exception) -> NoReturn:
        """An error of the driver in our words: its own may quote cells."""
        raise NotImplementedError


def driver(package: str) -> Any:
    """An ADBC driver, or the word on how to get it."""
    try:
        import_module(package)
        return import_module(f"{package}.dbapi")
    except ImportError:
        raise InputError("reading a database needs an extra: pip install 'incrowd[database]'") from None


def open_database(source: str, table: str | None, query: str | None, timeout: float | None, memory: int) -> Table:
    """A `Table` of a database's table or view, or of the rows of a SELECT."""
    scheme = scheme_of(source)
    if scheme not in DATABASES:
        raise InputError(f"{scheme}:// is not a database that can be read; use postgresql://… or sqlite:///…")
    if table is not None and query is not None:
        raise InputError("give a table or a query, not both")
    if timeout is not None and not timeout > 0:
        raise InputError(f"a time limit of {timeout:g} seconds; give one above 0")
    checked = None if query is None else one_select(query)
    database: Any
    if scheme == "sqlite":
        from incrowd.backends.sql.sqlite import Sqlite

        if timeout is not None:
            raise InputError("a time limit for statements works with PostgreSQL only; leave it out")
        database = Sqlite(source, table, checked)
    else:
        from incrowd.backends.sql.postgresql import Postgres

        database = Postgres(source, table, checked, timeout)
    what = ("--table", database.table) if checked is None else ("--query", query)
    file = database.file if scheme == "sqlite" else None
    return Table(
        DatabaseReader(database, memory),
        name=database.name,
        memory=memory,
        source=file,
        named=(file or masked(source), *what),
        engine="database",
    )


class DatabaseReader:
    """A table of a database: grouped there, or copied here once when its rows are asked for."""

    def __init__(self, database: Session, memory: int) -> None:
        self._database: Session | None = database
        self._relation, self._described = database.relation, database.columns
        self._name, self._memory = database.name, memory
        self._using = RLock()  # a connection does one thing at a time
        self._copy: TypedTextReader | None = None
        self._repeatable = database.repeatable
        self._counted: int | None = None
        self._cleaner = weakref.finalize(self, database.close)
        self.columns = tuple(database.columns)

    @property
    def copied(self) -> bool:
        """Whether the rows are here by now, or come here before anything is asked of them."""
        return self._copy is not None or not self._repeatable

    def rows(self) -> int:
        """Counted in the database."""
        with self._using:
            if self.copied:
                return self._copied().rows()
            found = self._open().fetch(f"SELECT count(*) AS n FROM {self._relation} AS r")
            self._counted = int(found["n"][0].as_py())
        return self._counted

    def count_classes(self, names: Sequence[str]) -> pa.Table:
        """Distinct class sizes and how many classes have each; null is a value and NaN is null."""
        values = ", ".join(f"{self._described[name].sql} AS c{place}" for place, name in enumerate(names))
        groups = ", ".join(f"c{place}" for place in range(len(names)))
        sizes = f"SELECT count(*) AS size FROM (SELECT {values} FROM {self._relation} AS r) AS v GROUP BY {groups}"
        with self._using:
            return self._open().fetch(
                f"SELECT size, count(*) AS classes FROM ({sizes}) AS s GROUP BY size ORDER BY size"
            )

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """From the copy."""
        return self._copied().read(names)

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """From the copy, through DuckDB."""
        return self._copied().lazy(names)

    def beside(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A short table as a relation of the engine that has the copy."""
        return self._copied().beside(rows)

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """Nothing here, until there is a copy."""
        return self._copied().bytes_to_count(names) if self.copied else None

    def confirm(self) -> None:
        """One transaction saw one state: nothing can have changed."""

    def _open(self) -> Session:
        assert self._database is not None, "the connection is closed once there is a copy"
        return self._database

    def _copied(self) -> TypedTextReader:
        with self._using:
            if self._copy is None:
                self._copy = self._stream()
                self._open().close()
                self._database = None
            return self._copy

    def _stream(self) -> TypedTextReader:
        """Copy the rows batch by batch into a private file; it is gone if anything goes wrong."""
        workspace = Workspace(self._memory)
        try:
            copy = self._stream_into(workspace)
            if self._counted not in (None, copy.rows()):
                raise InputError(
                    f"{self._name} gave {self._counted:,} rows when they were counted and {copy.rows():,} when they "
                    "were copied, within one transaction; it is not the same table twice: store its rows in a table"
                )
            return copy
        except BaseException:
            workspace.close()
            raise

    def _stream_into(self, workspace: Workspace) -> TypedTextReader:
        import pyarrow as pa
        import pyarrow.parquet as pq

        shapes = TypeInference({name: column.shapes for name, column in self._described.items() if column.shapes})
        batches = self._open().stream(list(self._described.values()))
        writer = None
        try:
            for batch in batches:
                plain = pa.RecordBatch.from_arrays(batch.columns, names=list(self.columns))
                with disk_errors(workspace.folder.parent):
                    if writer is None:
                        writer = pq.ParquetWriter(workspace.folder / "cells.parquet", plain.schema, compression="lz4")
                    writer.write_batch(plain)
                shapes.observe(plain)
        finally:
            if writer is not None:
                with disk_errors(workspace.folder.parent):
                    writer.close()
        if writer is None:
            raise InputError(f"{self._name} has no rows")
        return TypedTextReader(workspace, dict.fromkeys(self.columns) | shapes.types(), self._memory)


def one_select(query: str) -> str:
    """The query, if it is one SELECT; whatever else it is, a transaction that only reads would refuse it late."""
    words = [found for found in _TOKENS.finditer(query) if found[0].strip() and not found[0].startswith(("--", "/*"))]
    first = next((word[0].lower() for word in words if word[0] != "("), "")
    if first not in {"select", "with", "values", "table"}:
        raise InputError("the query is not a SELECT; only reading is possible, give a SELECT")
    ends = [word.start() for word in words if word[0] == ";"]
    if any(word[0] != ";" and word.start() > ends[0] for word in words if ends):
        raise InputError("the query has several statements; give one SELECT")
    return query[: ends[0]] if ends else query


def choose(table: str | None, existing: Sequence[str], where: str) -> int:
    """Which of the existing tables is meant; the only one needs no name."""
    shown = ", ".join(existing[:_LISTED]) + (
        f", … and {len(existing) - _LISTED} more" if len(existing) > _LISTED else ""
    )
    listed = f"there are: {shown}" if existing else "there are none that you may read"
    if table is None:
        if len(existing) == 1:
            return 0
        raise InputError(
            f"which table of {where}? name it (table=, --table) or give a query (query=, --query); {listed}"
        )
    if table not in existing:
        raise InputError(f"{where} has no table {table!r}; {listed}")
    return existing.index(table)


def subquery(query: str) -> str:
    """A query as a relation; on lines of its own, so that a comment at its end ends there."""
    return f"(\n{query}\n)"


def selected(columns: Sequence[Column], relation: str) -> str:
    """A SELECT of columns by number: what they are called does not matter to whoever asked."""
    return (
        f"SELECT {', '.join(f'{column.sql} AS c{place}' for place, column in enumerate(columns))} FROM {relation} AS r"
    )


def in_relation(name: str) -> str:
    """A column of the relation as SQL writes it."""
    return f"r.{quoted(name)}"
