"""Tables in databases: counted by the database, copied in batches only if rows are needed.

Everything is read in one read-only transaction with one snapshot of the database. Class sizes are counted by one GROUP
BY in SQL. If rows are needed, they are streamed once into a temporary Parquet file, and the connection is closed. A
query that may return other rows when it is repeated is run once and copied.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import RLock
from typing import Any, Protocol

import pyarrow as pa

from incrowd._support import frames as nw
from incrowd._support.addresses import DATABASES, scheme_of
from incrowd._support.private_folders import PrivateFolder
from incrowd.backends.base import Backend
from incrowd.backends.counts import ClassCounts
from incrowd.backends.duckdb_backend import Conversion, FileBackend, Workspace
from incrowd.backends.relational import class_counts
from incrowd.backends.spool import spool
from incrowd.backends.sql.postgresql import POSTGRESQL
from incrowd.backends.sql.sqlite import SQLITE
from incrowd.backends.sql.transaction import Transaction
from incrowd.errors import InputError

_LONGEST = 2_147_483  # seconds of a statement: PostgreSQL holds milliseconds in 31 bits
_TOKENS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$.*?\$\1\$|--[^\n]*|/\*.*?\*/|;|\w+|[^\s\w]|\s+""", re.DOTALL
)


class CellTypeInference(Protocol):
    """Infers types of columns that are stored as text: `observe` takes every batch, then there are `conversions`."""

    def observe(self, batch: pa.RecordBatch) -> None: ...

    def conversions(self) -> Mapping[str, Conversion]: ...


InferTypes = Callable[[dict[str, tuple[str, ...]]], CellTypeInference]  # given the types that each column may have


def open_database(
    source: str,
    *,
    table: str | None,
    query: str | None,
    timeout: float | None,
    memory: int,
    infer_types: InferTypes,
) -> DatabaseBackend:
    """Open a database's table or view, or the rows of a SELECT.

    Args:
        source: the address: `postgresql://…`, `sqlite:///…`, or the path of an SQLite file.
        table: the table or view; None if the database has only one.
        query: a SELECT, instead of a table.
        timeout: seconds that a statement may take (PostgreSQL).
        infer_types: starts the type inference for columns that the database sends as text.

    Returns:
        The rows, in one read-only transaction.

    Raises:
        InputError: the database, the table or the query cannot be read; the message says what to change.
    """
    scheme = scheme_of(source)
    if scheme not in DATABASES:
        raise InputError(f"{scheme}:// is not a database that can be read; use postgresql://… or sqlite:///…")
    if table is not None and query is not None:
        raise InputError("give a table or a query, not both")
    if timeout is not None and not 0 < timeout <= _LONGEST:
        raise InputError(f"a time limit of {timeout:g} seconds; give one above 0 and at most {_LONGEST:,}")
    checked = None if query is None else check_select(query)
    if scheme == "sqlite" and timeout is not None:
        raise InputError("a time limit for statements works with PostgreSQL only; leave it out")
    limits = [] if timeout is None else [f"SET LOCAL statement_timeout = {max(1, round(timeout * 1000))}"]
    kind = SQLITE if scheme == "sqlite" else POSTGRESQL
    return DatabaseBackend(Transaction(kind, source, table, checked, *limits), memory=memory, infer_types=infer_types)


class DatabaseBackend(Backend):
    """A table of a database: grouped there, or copied here once if its rows are needed.

    `table` is its name in the database (None for a query). For SQLite, `file` is the database file and `others` are the
    other tables in it.
    """

    def __init__(self, database: Transaction, *, memory: int, infer_types: InferTypes) -> None:
        super().__init__(tuple(database.columns), name=database.name, memory=memory)
        self.table, self.file, self.others = database.table, database.file, database.others
        self.needs_credentials = database.file is None
        self.database: Transaction | None = database
        self._infer_types = infer_types
        self._relation, self._described = database.relation, database.columns
        self._using = RLock()  # a connection does one thing at a time
        self._copy: FileBackend | None = None
        self._repeatable = database.repeatable
        self._counted: int | None = None
        self._cleaner = weakref.finalize(self, database.close)

    @property
    def counts_in_database(self) -> bool:
        """True if the database groups the rows: they were not copied, and a repeated query returns the same rows."""
        return self._copy is None and self._repeatable

    def _count_rows(self) -> int:
        with self._using:
            if not self.counts_in_database:
                return self._copied().rows
            counted = self._open().fetch(f"SELECT count(*) AS n FROM {self._relation} AS r")
            self._counted = int(counted["n"][0].as_py())
        return self._counted

    def _count_classes(self, names: Sequence[str], person: str | None) -> ClassCounts:
        if person is not None or not self.counts_in_database:
            return super()._count_classes(names, person)
        values = ", ".join(f"{self._described[name].sql} AS c{place}" for place, name in enumerate(names))
        groups = ", ".join(f"c{place}" for place in range(len(names)))
        sizes = f"SELECT count(*) AS size FROM (SELECT {values} FROM {self._relation} AS r) AS v GROUP BY {groups}"
        with self._using:
            tally = self._open().fetch(
                f"SELECT size, count(*) AS classes FROM ({sizes}) AS s GROUP BY size ORDER BY size"
            )
        return class_counts(tally, self.name)

    def _counts_in_engine(self, names: Sequence[str]) -> bool:
        return self.counts_in_database or super()._counts_in_engine(names)

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        return self._copied().read(names)

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns of the copy, through DuckDB."""
        return self._copied().lazy(names)

    def relation_of(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A small table as a relation of the DuckDB that reads the copy, to be joined with it."""
        return self._copied().relation_of(rows)

    def folder_to_write(self) -> PrivateFolder:
        """A folder that the DuckDB that reads the copy may write to."""
        return self._copied().folder_to_write()

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """Estimated memory for counting the copy; None while the database counts."""
        return None if self.counts_in_database else self._copied().bytes_to_count(names)

    def _open(self) -> Transaction:
        assert self.database is not None, "the connection is closed once there is a copy"
        return self.database

    def _copied(self) -> FileBackend:
        with self._using:
            if self._copy is None:
                self._copy = self._stream()
                self._open().close()
                self.database = None
            return self._copy

    def _stream(self) -> FileBackend:
        """Copy the rows batch by batch into a temporary file, which is removed if an error occurs."""
        workspace = Workspace(self.memory)
        try:
            copy = self._stream_into(workspace)
            if self._counted not in (None, copy.rows):
                raise InputError(
                    f"{self.name} gave {self._counted:,} rows when they were counted and {copy.rows:,} when they "
                    "were copied, within one transaction; it is not the same table twice: store its rows in a table"
                )
            return copy
        except BaseException:
            workspace.close()
            raise

    def _stream_into(self, workspace: Workspace) -> FileBackend:
        types = self._infer_types({name: column.shapes for name, column in self._described.items() if column.shapes})

        def observed() -> Iterator[pa.RecordBatch]:
            for batch in self._open().stream():
                plain = pa.RecordBatch.from_arrays(batch.columns, names=list(self.columns))
                yield plain
                types.observe(plain)

        copy = spool(observed(), workspace.folder, self.name)
        return FileBackend(  # not `is_own`: text may not be valid UTF-8, so cells are validated
            [str(copy)],
            "parquet",
            name=self.name,
            memory=self.memory,
            workspace=workspace,
            needs=self.needs,
            conversions=types.conversions(),
        )


def check_select(query: str) -> str:
    """Return the query if it is one SELECT, otherwise raise InputError before anything is sent to the database."""
    tokens = [token for token in _TOKENS.finditer(query) if token[0].strip() and not token[0].startswith(("--", "/*"))]
    first = next((word[0].lower() for word in tokens if word[0] != "("), "")
    if first not in {"select", "with", "values", "table"}:
        raise InputError("the query is not a SELECT; only reading is possible, give a SELECT")
    ends = [word.start() for word in tokens if word[0] == ";"]
    if any(word[0] != ";" and word.start() > ends[0] for word in tokens if ends):
        raise InputError("the query has several statements; give one SELECT")
    return query[: ends[0]] if ends else query
