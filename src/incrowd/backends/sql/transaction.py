"""Base class of the transactions of each database, and SQL fragments that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from incrowd.backends.relational import quote_name
from incrowd.errors import InputError, MissingDependencyError

_LISTED = 30  # tables that a message lists


class DatabaseColumn(NamedTuple):
    """The way to read a column in SQL."""

    sql: str  # expression that gives equal values one notation
    shapes: tuple[str, ...] = ()  # types that may be inferred if the column is read as text
    example: str = "''"  # SQL literal of the column's type


class Transaction:
    """An open transaction on one database: one table or query (`relation`), and how its columns are read."""

    name: str
    table: str | None
    file: str | None = None
    others: tuple[str, ...] = ()
    """The other tables of a database that is one file."""
    relation: str
    columns: dict[str, DatabaseColumn]
    repeatable: bool = True
    """True if the relation has the same rows every time it is asked in this transaction."""
    _connection: Any

    def fetch(self, sql: str) -> pa.Table:
        """Run a statement and return its result, which must be small."""
        with self._cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    def stream(self, columns: Sequence[DatabaseColumn]) -> Iterator[pa.RecordBatch]:
        """All rows of the relation, in batches."""
        raise NotImplementedError

    def close(self) -> None:
        """End the transaction and the connection."""
        self._connection.close()

    def _batches(self, sql: str, options: dict[str, str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield a large result in batches; errors of the driver are translated, those of the caller are not."""
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
    def _cursor(self) -> Iterator[Any]:
        """A cursor whose errors are translated by `_explain`."""
        with self._connection.cursor() as cursor:
            try:
                yield cursor
            except Exception as error:
                self._explain(error)

    def _explain(self, error: Exception) -> NoReturn:
        """Raise InputError for a driver's error, whose message may quote cells."""
        raise NotImplementedError


def driver(package: str) -> Any:
    """Import an ADBC driver; the error says how to install it."""
    try:
        import_module(package)
        return import_module(f"{package}.dbapi")
    except ImportError:
        raise MissingDependencyError("reading a database needs an extra: pip install 'incrowd[database]'") from None


def choose_table(table: str | None, existing: Sequence[str], where: str) -> int:
    """Index of the named table; None stands for the only table."""
    shown = ", ".join(existing[:_LISTED]) + (
        f", … and {len(existing) - _LISTED} more" if len(existing) > _LISTED else ""
    )
    listed = f"there are: {shown}" if existing else "there are none that you may read"
    if table is None:
        if len(existing) == 1:
            return 0
        raise InputError(f"which table of {where}? name the table or give a query; {listed}", hint=("table", "query"))
    if table not in existing:
        raise InputError(f"{where} has no table {table!r}; {listed}")
    return existing.index(table)


def subquery(query: str) -> str:
    """A query as a relation; the line break ends a comment in the query's last line."""
    return f"(\n{query}\n)"


def select_columns(columns: Sequence[DatabaseColumn], relation: str) -> str:
    """A SELECT of columns, renamed c0, c1, …"""
    return (
        f"SELECT {', '.join(f'{column.sql} AS c{place}' for place, column in enumerate(columns))} FROM {relation} AS r"
    )


def qualified_name(name: str) -> str:
    """A column of the relation as a quoted SQL identifier."""
    return f"r.{quote_name(name)}"
