"""SQLite through ADBC: one read-only transaction. In SQLite, the cells of one column may have several types."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn
from urllib.parse import quote

import pyarrow as pa

from incrowd._support.addresses import masked, sqlite_file
from incrowd.backends.relational import quote_name
from incrowd.backends.sql.transaction import (
    DatabaseColumn,
    Transaction,
    choose_table,
    driver,
    qualified_name,
    select_columns,
    subquery,
)
from incrowd.errors import IncrowdError, InputError

_MAGIC = b"SQLite format 3\x00"
_COLUMNS_AT_ONCE = 200  # columns examined by one statement, which may have at most 2000 results
_NUMBERS = ("integer", "real")
_DAY = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'"
_KEPT = '"rows of the query, kept by incrowd"'  # temporary table; no query of a user has this name


class _CellTypes(NamedTuple):
    """Types of the cells of a column, from its minimum and maximum: numbers sort before texts, and blobs last."""

    lowest: str
    highest: str
    real: bool  # a column of numbers has some that are not of type integer
    large: bool  # a column with `real` also has integers too large for a double
    uniform: bool  # a column of texts that begin with a date has them all in one format


class Sqlite(Transaction):
    """A transaction on an SQLite file.

    It waits `wait` milliseconds for a writer to release the file.
    """

    def __init__(self, source: str, table: str | None, query: str | None, *, wait: int = 5_000) -> None:
        self.file: str = sqlite_file(source)
        self._label = os.path.basename(self.file)
        self.name = f"a query of {self._label}"
        self._by_query = query is not None
        _check_file(self.file)
        self._had_log = os.path.exists(f"{self.file}-wal")
        dbapi = driver("adbc_driver_sqlite")
        try:
            self._connection = dbapi.connect(f"file:{quote(os.path.abspath(self.file))}?mode=ro", autocommit=True)
        except Exception:
            raise InputError(f"{self._label} cannot be opened; check that you may read it") from None
        try:
            for statement in (f"PRAGMA busy_timeout = {wait}", "BEGIN"):
                self.fetch(statement)
            self.table = None if query is not None else self._find(table)
            if query is not None:
                self.relation = subquery(query)
                self._materialise()
            self.fetch("PRAGMA query_only = 1")
            self.columns = self._describe()
        except IncrowdError:
            self.close()
            raise

    def close(self) -> None:
        """End the transaction and the connection, and remove an empty write-ahead log that reading created.

        SQLite removes the log when the last connection with write access closes, so such a connection is opened.
        """
        super().close()
        log = Path(f"{self.file}-wal")
        if not self._had_log and log.exists() and not log.stat().st_size and os.access(self.file, os.W_OK):
            with suppress(sqlite3.Error), closing(sqlite3.connect(self.file)) as connection:
                connection.execute("SELECT 1 FROM sqlite_master").fetchall()

    def stream(self, columns: Sequence[DatabaseColumn]) -> Iterator[pa.RecordBatch]:
        """All rows of the relation, in batches.

        The driver infers a column's type from its first rows, which may be null. So the query returns an additional
        first row with a value of every column's type, which is skipped.
        """
        typed = "SELECT " + ", ".join(column.example for column in columns)
        sql = f"{typed} UNION ALL {select_columns(columns, self.relation)}"
        skipped = 1
        for batch in self._batches(sql, {"adbc.sqlite.query.batch_rows": "65536"}):
            yield batch.slice(skipped)
            skipped = 0

    def _find(self, table: str | None) -> str:
        tables = self.fetch(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        ).to_pylist()
        names = [row["name"] for row in tables]
        chosen = tables[choose_table(table, names, self._label)]
        found_table = str(chosen["name"])
        self.others = tuple(name for name in names if name != found_table)
        self.relation = f"main.{quote_name(found_table)}"
        self.name = f"{found_table} in {self._label}"
        if chosen["type"] == "view":
            self._materialise()
        return found_table

    def _materialise(self) -> None:
        """Run a query or a view once and store its rows, because random() and LIMIT may return others if repeated.

        They are stored in a temporary table, which SQLite deletes with the connection. Its columns have no types, so
        that cells are not converted.
        """
        columns = ", ".join(quote_name(name) for name in self._names())
        self.fetch(f"CREATE TEMP TABLE {_KEPT} ({columns})")
        self.fetch(f"INSERT INTO temp.{_KEPT} SELECT * FROM {self.relation} AS r")
        self.relation = f"temp.{_KEPT}"

    def _names(self) -> list[str]:
        with self._cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.relation} AS r LIMIT 0")
            names = list(cursor.fetch_record_batch().schema.names)
        if len({name.lower() for name in names}) < len(names):
            raise InputError(f"{self.name}: some column names appear more than once; rename them with AS")
        return names

    def _describe(self) -> dict[str, DatabaseColumn]:
        """The way to read each column, from the types of its cells: SQLite does not enforce declared types."""
        names = self._names()
        low, high = "min({0} COLLATE BINARY)", "max({0} COLLATE BINARY)"
        extremes = self._ask(names, f"typeof({low})", f"typeof({high})", f"{low} GLOB {_DAY} AND {high} GLOB {_DAY}")
        numbers = [name for name, (_, highest, _) in extremes.items() if highest in _NUMBERS]
        broken = [name for name, (real,) in self._ask(numbers, "max(typeof({0}) = 'real')").items() if real]
        large = self._ask(broken, f"max(typeof({{0}}) = 'integer' AND abs({{0}} / 2) >= {1 << 52})")
        form = "length({0}) || substr({0}, 11, 1)"
        moments = [name for name, (lowest, highest, days) in extremes.items() if lowest == highest == "text" and days]
        uniform = self._ask(moments, f"min({form}) = max({form})")
        return {
            name: _column(
                name, _CellTypes(lowest, highest, name in broken, large.get(name) == (1,), uniform.get(name) == (1,))
            )
            for name, (lowest, highest, _) in extremes.items()
        }

    def _ask(self, names: Sequence[str], *questions: str) -> dict[str, tuple[Any, ...]]:
        """The values of SQL aggregates for each of these columns; one pass over the table covers many columns."""
        answers: dict[str, tuple[Any, ...]] = {}
        for start in range(0, len(names), _COLUMNS_AT_ONCE):
            part = [qualified_name(name) for name in names[start : start + _COLUMNS_AT_ONCE]]
            expressions = [question.format(value) for value in part for question in questions]
            numbered = ", ".join(f"{sql} AS a{place}" for place, sql in enumerate(expressions))
            (row,) = self.fetch(f"SELECT {numbered} FROM {self.relation} AS r").to_pylist()
            results = iter(row.values())
            for name in names[start : start + _COLUMNS_AT_ONCE]:
                answers[name] = tuple(next(results) for _ in questions)
        return answers

    def _explain(self, error: Exception) -> NoReturn:
        """Raise InputError for a driver's error; SQLite's message is shown only if it is about the query itself."""
        text = str(error)
        if re.search(r"locked|busy", text):
            message = f"{self._label} is being written to and stays locked; try again when the writer is done"
        elif re.search(r"disk is full", text):
            message = (
                f"{self.name}: the temporary disk is full; nothing was kept: free space, or name a folder in TMPDIR"
            )
        elif re.search(r"malformed|not a database|disk I/O", text):
            message = f"{self._label} is damaged or cannot be read"
        elif re.search(r"readonly|query_only", text):
            message = "the query would write; only reading is possible, give a SELECT"
        elif self._by_query and (reason := re.search(r"Failed to prepare query: (.*)", text)):
            message = f"the query is not understood: {reason[1]}"
        else:
            message = f"{self.name} cannot be read to its end ({type(error).__name__}); nothing was kept"
        raise InputError(message) from None


def _check_file(path: str) -> None:
    """Raise InputError if the file does not exist, is not readable or is not an SQLite database."""
    name = os.path.basename(path)
    if not os.path.isfile(path):
        raise InputError(f"there is no file {masked(path)}; check the name and the folder you are in")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path} cannot be read: no permission")
    with Path(path).open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{name} is not an SQLite database")


def _column(name: str, types: _CellTypes) -> DatabaseColumn:
    """SQL that reads a column so that equality is the same as in other engines."""
    plain = qualified_name(name)
    if types.lowest == "blob":
        return DatabaseColumn(f"{plain} COLLATE BINARY", example="x''")
    if types.highest == "blob":
        text = f"CASE typeof({plain}) WHEN 'blob' THEN 'blob ' || hex({plain}) ELSE {_as_text(plain)} END"
        return DatabaseColumn(f"{text} COLLATE BINARY")
    if types.lowest == "text":
        moments = ("timestamp[s]",) if types.uniform else ()  # one moment in two spellings is two texts to a GROUP BY
        return DatabaseColumn(f"{plain} COLLATE BINARY", ("date32", *moments))  # days are text there
    if types.highest == "text":
        return DatabaseColumn(f"{_as_text(plain)} COLLATE BINARY")
    if types.large:  # no type holds large integers and fractions: both become text, a whole number without a point
        bare = f"({plain} COLLATE BINARY)"
        within = f"{bare} >= {-(2.0**63)!r} AND {bare} < {2.0**63!r}"
        whole = f"typeof({plain}) = 'real' AND {within} AND {bare} = CAST({plain} AS INTEGER)"
        text = f"CASE WHEN {whole} THEN CAST(CAST({plain} AS INTEGER) AS TEXT) ELSE {_as_text(plain)} END"
        return DatabaseColumn(f"{text} COLLATE BINARY")
    if types.real:
        return DatabaseColumn(f"CAST({plain} AS REAL) COLLATE BINARY", example="0.0")
    if types.highest == "integer":
        return DatabaseColumn(f"{plain} COLLATE BINARY", example="0")
    return DatabaseColumn(f"CAST({plain} AS TEXT) COLLATE BINARY")


def _as_text(plain: str) -> str:
    """SQL for a value as text; a double is written with all its digits."""
    return f"CASE typeof({plain}) WHEN 'real' THEN printf('%!.17g', {plain}) ELSE CAST({plain} AS TEXT) END"
