"""SQLite: the cells of one column may have several types."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from incrowd._support.addresses import masked, sqlite_file
from incrowd._support.compared_files import NOT_COMPARED, UNLIKE, ComparedFile
from incrowd._support.private_folders import PrivateFolder
from incrowd.backends.sql.transaction import (
    DatabaseColumn,
    DatabaseKind,
    Meaning,
    Opened,
    Transaction,
    driver,
    qualified_name,
)
from incrowd.errors import InputError

_MAGIC = b"SQLite format 3\x00"
_HEADER = 100  # bytes at the beginning of a file
_COUNTERS = (24, 40, 92, 96)  # of changes and versions, in the header
_COMPARED = 1 << 20  # bytes that are compared at a time
_COLUMNS_AT_ONCE = 200  # columns examined by one statement, which may have at most 2000 results
_DAY = "'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'"


def _connect(source: str) -> Opened:
    """Open a file for reading; what reading leaves beside it is removed when it is closed."""
    path = sqlite_file(source)
    label, log = os.path.basename(path), Path(f"{path}-wal")
    if not os.path.isfile(path):
        raise InputError(f"there is no file {masked(path)}; check the name and the folder you are in")
    if not os.access(path, os.R_OK):
        raise InputError(f"{path} cannot be read: no permission")
    with Path(path).open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise InputError(f"{label} is not an SQLite database")
    had_log = log.exists()
    dbapi = driver("adbc_driver_sqlite")
    try:
        connection = dbapi.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", autocommit=True)
    except Exception:
        raise InputError(f"{label} cannot be opened; check that you may read it") from None

    def remove_empty_log() -> None:
        # SQLite removes the log when the last connection with write access closes, so such a connection is opened
        if not had_log and log.exists() and not log.stat().st_size and os.access(path, os.W_OK):
            with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as writer:
                writer.execute("SELECT 1 FROM sqlite_master").fetchall()

    return Opened(connection, label, path, remove_empty_log)


def _columns(transaction: Transaction) -> dict[str, DatabaseColumn]:
    """The way to read each column, from the types of its cells: SQLite does not enforce declared types.

    The smallest and the largest cell tell them: numbers sort before texts, and blobs last.
    """
    transaction.fetch("PRAGMA query_only = 1")  # rows that had to be kept are kept by now
    with transaction.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {transaction.relation} AS r LIMIT 0")
        names = transaction.distinct_names(cursor.fetch_record_batch().schema.names, str.lower)
    low, high = "min({0} COLLATE BINARY)", "max({0} COLLATE BINARY)"
    are_days = f"{low} GLOB {_DAY} AND {high} GLOB {_DAY}"
    extremes = _ask(transaction, names, f"typeof({low})", f"typeof({high})", are_days)
    numbers = [name for name, (_, highest, _) in extremes.items() if highest in {"integer", "real"}]
    broken = {
        name for name, (is_broken,) in _ask(transaction, numbers, "max(typeof({0}) = 'real')").items() if is_broken
    }
    too_large = f"max(typeof({{0}}) = 'integer' AND abs({{0}} / 2) >= {1 << 52})"  # for a double
    large = {name for name, (is_large,) in _ask(transaction, [*broken], too_large).items() if is_large}
    moments = [name for name, (lowest, highest, days) in extremes.items() if lowest == highest == "text" and days]
    form = "length({0}) || substr({0}, 11, 1)"
    alike = _ask(transaction, moments, f"min({form}) = max({form})")
    uniform = {name for name, (is_uniform,) in alike.items() if is_uniform}
    return {
        name: _column(name, lowest, highest, name in broken, name in large, name in uniform)
        for name, (lowest, highest, _) in extremes.items()
    }


def _ask(transaction: Transaction, names: Sequence[str], *questions: str) -> dict[str, tuple[Any, ...]]:
    """The values of SQL aggregates for each of these columns; one pass over the table covers many columns."""
    answers: dict[str, tuple[Any, ...]] = {}
    for start in range(0, len(names), _COLUMNS_AT_ONCE):
        part = names[start : start + _COLUMNS_AT_ONCE]
        expressions = [question.format(qualified_name(name)) for name in part for question in questions]
        numbered = ", ".join(f"{sql} AS a{place}" for place, sql in enumerate(expressions))
        (row,) = transaction.fetch(f"SELECT {numbered} FROM {transaction.relation} AS r").to_pylist()
        results = iter(row.values())
        answers |= {name: tuple(next(results) for _ in questions) for name in part}
    return answers


def _column(name: str, lowest: str, highest: str, is_broken: bool, is_large: bool, is_uniform: bool) -> DatabaseColumn:
    """SQL that reads a column so that equality is the same as in other engines.

    Args:
        name: the column.
        lowest: the type of the smallest cell.
        highest: that of the largest.
        is_broken: for numbers, some are not of type integer.
        is_large: and some integers are too large for a double.
        is_uniform: for texts that begin with a date, they all have one format.
    """
    plain = qualified_name(name)
    if lowest == "blob":
        return DatabaseColumn(f"{plain} COLLATE BINARY", example="x''")
    if highest == "blob":
        text = f"CASE typeof({plain}) WHEN 'blob' THEN 'blob ' || hex({plain}) ELSE {_as_text(plain)} END"
        return DatabaseColumn(f"{text} COLLATE BINARY")
    if lowest == "text":
        moments = ("timestamp[s]",) if is_uniform else ()  # one moment in two spellings is two texts to a GROUP BY
        return DatabaseColumn(f"{plain} COLLATE BINARY", ("date32", *moments))  # days are text there
    if highest == "text":
        return DatabaseColumn(f"{_as_text(plain)} COLLATE BINARY")
    if is_large:  # no type holds large integers and fractions: both become text, a whole number without a point
        bare = f"({plain} COLLATE BINARY)"
        within = f"{bare} >= {-(2.0**63)!r} AND {bare} < {2.0**63!r}"
        whole = f"typeof({plain}) = 'real' AND {within} AND {bare} = CAST({plain} AS INTEGER)"
        text = f"CASE WHEN {whole} THEN CAST(CAST({plain} AS INTEGER) AS TEXT) ELSE {_as_text(plain)} END"
        return DatabaseColumn(f"{text} COLLATE BINARY")
    if is_broken:
        return DatabaseColumn(f"CAST({plain} AS REAL) COLLATE BINARY", example="0.0")
    if highest == "integer":
        return DatabaseColumn(f"{plain} COLLATE BINARY", example="0")
    return DatabaseColumn(f"CAST({plain} AS TEXT) COLLATE BINARY")


def _as_text(plain: str) -> str:
    """SQL for a value as text; a double is written with all its digits."""
    return f"CASE typeof({plain}) WHEN 'real' THEN printf('%!.17g', {plain}) ELSE CAST({plain} AS TEXT) END"


def describe_unread(path: str) -> list[str]:
    """Describe the bytes of a database that are not as SQLite's VACUUM writes its tables, such as deleted rows."""
    private = PrivateFolder()
    try:
        copy = private.path / "copy.sqlite"
        with closing(sqlite3.connect(f"file:{quote(os.path.abspath(path))}?mode=ro", uri=True)) as opened:
            opened.execute("VACUUM INTO ?", (str(copy),))
        with ComparedFile(path) as written, copy.open("rb") as file, Path(path).open("rb") as original:
            header = bytearray(file.read(_HEADER))
            stated = original.read(_HEADER)
            for place in _COUNTERS:
                header[place : place + 4] = stated[place : place + 4]
            written.write(header)
            while block := file.read(_COMPARED):
                written.write(block)
            return [] if written.is_alike() else [f"{UNLIKE}; SQLite's VACUUM removes what was deleted"]
    except (sqlite3.Error, OSError):
        return [NOT_COMPARED]
    finally:
        private.close()


SQLITE = DatabaseKind(
    connect=_connect,
    begin=("PRAGMA busy_timeout = 5000", "BEGIN"),  # milliseconds for a writer to release the file
    tables=r"SELECT 'main' AS schema, name, type = 'table' AS stored, 1 AS visible, 1 AS readable FROM sqlite_master "
    r"WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name",
    columns=_columns,
    keeps_rows=True,
    stream={"adbc.sqlite.query.batch_rows": "65536"},
    needs_example=True,
    meanings=(
        Meaning("locked|busy", "{label} is being written to and stays locked; try again when the writer is done"),
        Meaning(
            "disk is full",
            "{label}: the temporary disk is full; nothing was kept: free space, or name a folder in TMPDIR",
        ),
        Meaning("malformed|not a database|disk I/O", "{label} is damaged or cannot be read"),
        Meaning("readonly|query_only", "the query would write; only reading is possible, give a SELECT"),
        Meaning("Failed to prepare query: ([^\n]*)", "the query is not understood: {reason}", of_query=True),
        Meaning("", "{what} in {label} cannot be read to the end; nothing was kept"),
    ),
)
