"""A read-only transaction through ADBC, and what differs between databases as data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from incrowd.backends.relational import quote_name
from incrowd.errors import IncrowdError, InputError, MissingDependencyError

_LISTED = 30  # tables that a message lists
_KEPT = 'temp."rows of the query, kept by incrowd"'  # temporary table; no query of a user has this name


class DatabaseColumn(NamedTuple):
    """The way to read a column in SQL."""

    sql: str  # expression that gives equal values one notation
    shapes: tuple[str, ...] = ()  # types that may be inferred if the column is read as text
    example: str = "''"  # SQL literal of the column's type


class Meaning(NamedTuple):
    """Our message for a driver's errors, whose own may quote cells."""

    pattern: str  # searched in "SQLSTATE: text of the driver", which begins with ":" if there is no SQLSTATE
    message: str
    of_query: bool = False  # only for a user's query; its group is shown as {reason}


class Opened(NamedTuple):
    """A connection, its name for messages, its file if it has one, and what to do once it is closed."""

    connection: Any
    label: str
    file: str | None = None
    when_closed: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class DatabaseKind:
    """One kind of database.

    - `connect` opens an address, `begin` are the statements that follow.
    - `tables` is the query for schema and name of every table; whether its rows are stored, so that they are the same
      if read twice; whether its name needs no schema; whether it may be read.
    - `columns` describes how the columns of a transaction's relation are read.
    - `meanings` are the messages for errors: the first that matches.
    - `keeps_rows`: rows that are not stored are put into a temporary table, in place of being read once only.
    - `stream` are the driver's options for large results; with `needs_example`, it takes types from the first row.
    """

    connect: Callable[[str], Opened]
    begin: tuple[str, ...]
    tables: str
    columns: Callable[[Transaction], dict[str, DatabaseColumn]]
    meanings: tuple[Meaning, ...]
    keeps_rows: bool = False
    stream: dict[str, str] | None = None
    needs_example: bool = False
    check: Callable[[pa.RecordBatch, str], None] = lambda batch, what: None


class Transaction:
    """An open transaction on one database: one table or query (`relation`), and how its columns are read.

    `repeatable` is True if the relation has the same rows every time it is asked in this transaction. For a database
    that is a file, `others` are the other tables in it.
    """

    def __init__(self, kind: DatabaseKind, source: str, table: str | None, query: str | None, *more: str) -> None:
        self.kind, self._by_query = kind, query is not None
        self._connection, self.label, self.file, self._when_closed = kind.connect(source)
        self.table: str | None = None
        self.others: tuple[str, ...] = ()
        self.repeatable = False
        self.name, self.what = f"a query of {self.label}", "the rows of the query"
        try:
            for statement in (*kind.begin, *more):
                self.fetch(statement)
            if query is None:
                self._find(table)
            else:
                self.relation = f"(\n{query}\n)"  # the line break ends a comment in the query's last line
            if kind.keeps_rows and not self.repeatable:
                self._keep_rows()
            self.columns: dict[str, DatabaseColumn] = kind.columns(self)
        except IncrowdError:
            self.close()
            raise

    def fetch(self, sql: str) -> pa.Table:
        """Run a statement and return its result, which must be small."""
        with self.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_arrow_table()

    def stream(self) -> Iterator[pa.RecordBatch]:
        """All rows of the relation in batches of some megabytes, columns in order.

        Errors of the driver are translated, those of the caller are not.
        """
        columns = ", ".join(f"{column.sql} AS c{place}" for place, column in enumerate(self.columns.values()))
        sql = f"SELECT {columns} FROM {self.relation} AS r"
        skipped = 0
        if self.kind.needs_example:  # the first rows may be null
            sql = f"SELECT {', '.join(column.example for column in self.columns.values())} UNION ALL {sql}"
            skipped = 1
        with self._connection.cursor(adbc_stmt_kwargs=self.kind.stream) as cursor:
            try:
                cursor.execute(sql)
                batches = iter(cursor.fetch_record_batch())
                batch = next(batches, None)
            except Exception as error:
                self.explain(error)
            while batch is not None:
                self.kind.check(batch, self.what)
                yield batch.slice(skipped)
                skipped = 0
                try:
                    batch = next(batches, None)
                except Exception as error:
                    self.explain(error)

    def close(self) -> None:
        """End the transaction and the connection."""
        self._connection.close()
        self._when_closed()

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """A cursor whose errors are translated."""
        with self._connection.cursor() as cursor:
            try:
                yield cursor
            except InputError:
                raise
            except Exception as error:
                self.explain(error)

    def explain(self, error: Exception) -> NoReturn:
        """Raise InputError for a driver's error; the database's message is shown only if it is about the query."""
        state = getattr(error, "sqlstate", None) or ""
        for pattern, message, of_query in self.kind.meanings:
            match = re.search(pattern, f"{state}: {error}", re.DOTALL)
            if match is not None and (self._by_query or not of_query):
                names = {"what": self.what, "label": self.label, "state": state, "reason": match[match.lastindex or 0]}
                raise InputError(message.format(**names)) from None
        raise AssertionError("the last pattern matches every error")

    def distinct_names(self, names: Sequence[str], folded: Callable[[str], str] = str) -> list[str]:
        """The names, if they are all different."""
        if len({folded(name) for name in names}) < len(names):
            raise InputError(f"{self.name}: some column names appear more than once; rename them with AS")
        return list(names)

    def _find(self, table: str | None) -> None:
        """Find the table in the catalogue; the user's text never becomes part of SQL."""
        tables = self.fetch(self.kind.tables).to_pylist()
        by_name = {f"{row['schema']}.{row['name']}": row for row in tables}
        by_name |= {row["name"]: row for row in tables if row["visible"]}
        shown = {id(row): name for name, row in by_name.items()}  # the short name, if it has one
        readable = [shown[id(row)] for row in tables if row["readable"]]
        name = table if table in by_name else choose_table(table, readable, self.label)
        row = by_name[name]
        self.table = self.what = shown[id(row)]
        self.name = f"{self.what} in {self.label}"
        self.relation = f"{quote_name(row['schema'])}.{quote_name(row['name'])}"
        self.repeatable = bool(row["stored"])
        if self.file is not None:
            self.others = tuple(other for other in readable if other != self.table)

    def _keep_rows(self) -> None:
        """Run a query or a view once and store its rows, because random() and LIMIT may return others if repeated.

        The columns of the temporary table have no types, so that cells are not converted. The database deletes it with
        the connection.
        """
        with self.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.relation} AS r LIMIT 0")
            names = self.distinct_names(cursor.fetch_record_batch().schema.names, str.lower)
        self.fetch(f"CREATE TEMP TABLE {_KEPT.partition('.')[2]} ({', '.join(map(quote_name, names))})")
        self.fetch(f"INSERT INTO {_KEPT} SELECT * FROM {self.relation} AS r")
        self.relation, self.repeatable = _KEPT, True


def driver(package: str) -> Any:
    """Import an ADBC driver; the error says how to install it."""
    try:
        import_module(package)
        return import_module(f"{package}.dbapi")
    except ImportError:
        raise MissingDependencyError("reading a database needs an extra: pip install 'incrowd[database]'") from None


def choose_table(table: str | None, existing: Sequence[str], where: str) -> str:
    """The only table if none is named; otherwise an error that lists the tables."""
    if table is None and len(existing) == 1:
        return existing[0]
    more = f", … and {len(existing) - _LISTED} more" if len(existing) > _LISTED else ""
    shown = f"there are: {', '.join(existing[:_LISTED])}{more}"
    listed = shown if existing else "there are none that you may read"
    if table is None:
        raise InputError(f"which table of {where}? name the table or give a query; {listed}", hint=("table", "query"))
    raise InputError(f"{where} has no table {table!r}; {listed}")


def qualified_name(name: str) -> str:
    """A column of the relation as a quoted SQL identifier."""
    return f"r.{quote_name(name)}"
