"""SQLite through ADBC: one read-only transaction; cells of one column may have several types there."""

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
_TOGETHER = 200  # columns looked at in one statement, which may have 2000 results
_NUMBERS = ("integer", "real")
_DAY = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'"
_KEPT = '"rows of the query, kept by incrowd"'  # a name that no query of the user's has


class _Held(NamedTuple):
    """Content of a column: the kinds of its extremes (numbers sort before texts, blobs last), and more for some."""

    lowest: str
    highest: str
    real: bool  # of numbers: some are not whole
    large: bool  # of those: some are, and too large for a double
    uniform: bool  # of texts that may be moments: all are written in one form


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
        """End the transaction and the connection; a log that reading made beside the file is removed.

        A reader may not remove it. The last connection that could write does, and writes nothing as the log is empty.
        """
        super().close()
        log = Path(f"{self.file}-wal")
        if not self._had_log and log.exists() and not log.stat().st_size and os.access(self.file, os.W_OK):
            with suppress(sqlite3.Error), closing(sqlite3.connect(self.file)) as connection:
                connection.execute("SELECT 1 FROM sqlite_master").fetchall()

    def stream(self, columns: Sequence[DatabaseColumn]) -> Iterator[pa.RecordBatch]:
        """All rows of the relation, in batches.

        The driver takes a column's type from its first rows, which may be null: a first row with a value of every
        column's type goes before them, and is left out again.
        """
        typed = "SELECT " + ", ".join(column.example for column in columns)
        sql = f"{typed} UNION ALL {select_columns(columns, self.relation)}"
        skipped = 1
        for batch in self._batches(sql, {"adbc.sqlite.query.batch_rows": "65536"}):
            yield batch.slice(skipped)
            skipped = 0

    def _find(self, table: str | None) -> str:
        known = self.fetch(
            "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        ).to_pylist()
        names = [row["name"] for row in known]
        chosen = known[choose_table(table, names, self._label)]
        found_table = str(chosen["name"])
        self.others = tuple(name for name in names if name != found_table)
        self.relation = f"main.{quote_name(found_table)}"
        self.name = f"{found_table} in {self._label}"
        if chosen["type"] == "view":
            self._materialise()
        return found_table

    def _materialise(self) -> None:
        """Run a query or a view once and keep its rows: run again, random() and LIMIT would give others.

        They are kept in SQLite's own temporary file, which has no name and goes with the connection. Its columns have
        no types, so that every cell stays what it is.
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
        """Every column by what its cells are: a declared type binds nobody."""
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
                name, _Held(lowest, highest, name in broken, large.get(name) == (1,), uniform.get(name) == (1,))
            )
            for name, (lowest, highest, _) in extremes.items()
        }

    def _ask(self, names: Sequence[str], *questions: str) -> dict[str, tuple[Any, ...]]:
        """The answers to aggregates about each of these columns, the table gone through once for many of them."""
        answers: dict[str, tuple[Any, ...]] = {}
        for start in range(0, len(names), _TOGETHER):
            part = [qualified_name(name) for name in names[start : start + _TOGETHER]]
            asked = [question.format(value) for value in part for question in questions]
            numbered = ", ".join(f"{sql} AS a{place}" for place, sql in enumerate(asked))
            (row,) = self.fetch(f"SELECT {numbered} FROM {self.relation} AS r").to_pylist()
            told = iter(row.values())
            answers |= {name: tuple(next(told) for _ in questions) for name in names[start : start + _TOGETHER]}
        return answers

    def _explain(self, error: Exception) -> NoReturn:
        """An error in our words; SQLite's own are passed on only where they are about the query."""
        text = str(error)
        if re.search(r"locked|busy", text):
            told = f"{self._label} is being written to and stays locked; try again when the writer is done"
        elif re.search(r"disk is full", text):
            told = f"{self.name}: the temporary disk is full; nothing was kept: free space, or name a folder in TMPDIR"
        elif re.search(r"malformed|not a database|disk I/O", text):
            told = f"{self._label} is damaged or cannot be read"
        elif re.search(r"readonly|query_only", text):
            told = "the query would write; only reading is possible, give a SELECT"
        elif self._by_query and (reason := re.search(r"Failed to prepare query: (.*)", text)):
            told = f"the query is not understood: {reason[1]}"
        else:
            told = f"{self.name} cannot be read to its end ({type(error).__name__}); nothing was kept"
        raise InputError(told) from None


def _check_file(path: str) -> None:
    """Stop where there is no database to read."""
    name = os.path.basename(path)
    if not os.path.isfile(path):
        raise InputError(f"there is no file {masked(path)}; check the name and the folder you are in")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path} cannot be read: no permission")
    with Path(path).open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{name} is not an SQLite database")


def _column(name: str, held: _Held) -> DatabaseColumn:
    """SQL that reads a column so that equal values are equal everywhere."""
    plain = qualified_name(name)
    if held.lowest == "blob":
        return DatabaseColumn(f"{plain} COLLATE BINARY", example="x''")
    if held.highest == "blob":
        text = f"CASE typeof({plain}) WHEN 'blob' THEN 'blob ' || hex({plain}) ELSE {_as_text(plain)} END"
        return DatabaseColumn(f"{text} COLLATE BINARY")
    if held.lowest == "text":
        moments = ("timestamp[s]",) if held.uniform else ()  # one moment in two spellings is two texts to a GROUP BY
        return DatabaseColumn(f"{plain} COLLATE BINARY", ("date32", *moments))  # days are text there
    if held.highest == "text":
        return DatabaseColumn(f"{_as_text(plain)} COLLATE BINARY")
    if held.large:  # no type holds both kinds of numbers: as text, a whole number without a point
        bare = f"({plain} COLLATE BINARY)"
        within = f"{bare} >= {-(2.0**63)!r} AND {bare} < {2.0**63!r}"
        whole = f"typeof({plain}) = 'real' AND {within} AND {bare} = CAST({plain} AS INTEGER)"
        text = f"CASE WHEN {whole} THEN CAST(CAST({plain} AS INTEGER) AS TEXT) ELSE {_as_text(plain)} END"
        return DatabaseColumn(f"{text} COLLATE BINARY")
    if held.real:
        return DatabaseColumn(f"CAST({plain} AS REAL) COLLATE BINARY", example="0.0")
    if held.highest == "integer":
        return DatabaseColumn(f"{plain} COLLATE BINARY", example="0")
    return DatabaseColumn(f"CAST({plain} AS TEXT) COLLATE BINARY")


def _as_text(plain: str) -> str:
    """A value as text, a double with all its digits."""
    return f"CASE typeof({plain}) WHEN 'real' THEN printf('%!.17g', {plain}) ELSE CAST({plain} AS TEXT) END"
