"""PostgreSQL through ADBC: one read-only transaction with one snapshot, rows as Arrow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.addresses import masked
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
from incrowd.errors import IncrowdError, InputError, UnsupportedError

_TIMEOUTS = {  # seconds to wait for a server or a lost connection: default, and the variable that overrides it
    "connect_timeout": ("10", "PGCONNECT_TIMEOUT"),
    "keepalives_idle": ("30", None),
    "keepalives_interval": ("10", None),
    "keepalives_count": ("3", None),
}
_NO_CONNECTION = (  # libpq's messages are replaced, because they may quote a part of the password
    (r"password authentication failed|no password supplied|authentication failed", "refuses the user or the password"),
    (r"no pg_hba.conf entry", "does not let this user in from here"),
    (r"could not translate host name", "has no such host"),
    (r"timeout expired", "does not answer in time"),
    (r"Connection refused|No such file or directory", "does not answer; is the server running there?"),
    (r"database .* does not exist", "has no such database"),
    (r"role .* does not exist", "has no such user"),
    (r"does not support SSL", "has no TLS, which sslmode asks for; ask its keeper, or leave sslmode out"),
    (r"certificate|SSL error", "shows a certificate that is not trusted here; look at sslmode and sslrootcert"),
    (r"definition of service", "names a service that is not in the service file"),
    (r"invalid|missing|unexpected|unterminated|extra", "is not a valid address; write % and @ in it as %25 and %40"),
)
_FIRST_DAY = -2_440_589  # days from 1970 to PostgreSQL's first date, 4714-11-24 BC, minus one
_ABOUT_CREDENTIALS = ("refuses the user", "does not let this user in", "has no such user")
_STATES = (  # SQLSTATE; text of the server's message if there is no SQLSTATE, as during streaming; our message
    (("42501",), "permission denied", "no permission to read {what}; ask for SELECT on it"),
    (("57014",), "canceling statement", "{what}: a statement took too long and was stopped; give a longer time limit"),
    (("25006",), "read-only transaction", "the query would write; only reading is possible, give a SELECT"),
    (("0A000",), "data-modifying", "the query would write or does what a SELECT cannot; give a plain SELECT"),
    (("25P02",), "transaction is aborted", "an earlier error ended the reading of {what}; open it again"),
    (("53100",), "No space left|disk full", "{what}: the server's disk is full; nothing was kept"),
    (("53200",), "out of memory", "{what}: the server ran out of memory; nothing was kept"),
    (("40001", "40P01"), "could not serialize", "{what} was changed in a way its server cannot hide; read it again"),
)
_LOST = (  # last alternative: libpq's message is empty if the connection was lost before
    r"server closed the connection|terminating connection|no connection to the server|SSL|"
    r"could not (?:receive|send) data|Failed to prepare query: *\n"
)
_STORED = ("r", "p", "m")  # tables and materialised views, whose rows are repeatable; a view may call random()
_TABLES = """
SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind::text AS kind,
       pg_table_is_visible(c.oid) AS visible,
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') AS readable
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY 1, 2
"""


class Postgres(Transaction):
    """A transaction on a PostgreSQL server."""

    def __init__(self, address: str, table: str | None, query: str | None, timeout: float | None) -> None:
        self._label = masked(address)
        self.name = f"a query of {self._label}"
        self._what, self._by_query = "the rows of the query", query is not None
        self._connection = _connect(address, self._label)
        try:
            self._begin(timeout)
            self.table = None if query is not None else self._find(table)
            if query is not None:
                self.relation, self.repeatable = subquery(query), False
            self.columns = self._describe()
        except IncrowdError:
            self.close()
            raise

    def stream(self, columns: Sequence[DatabaseColumn]) -> Iterator[pa.RecordBatch]:
        """All rows of the relation, in batches of some megabytes."""
        for batch in self._batches(select_columns(columns, self.relation)):
            self._refuse_wrapped(batch)
            yield batch

    def _refuse_wrapped(self, batch: pa.RecordBatch) -> None:
        """Raise UnsupportedError for dates and times that Arrow cannot represent: 'infinity', and very late ones.

        In the driver they overflow, so they are earlier than PostgreSQL's first date.
        """
        for column in batch.columns:
            kind = column.type
            if not (pa.types.is_date32(kind) or pa.types.is_timestamp(kind)):
                continue
            day = pa.types.is_date32(kind)
            lowest = pc.min(column.cast(pa.int32() if day else pa.int64())).as_py()
            if lowest is not None and lowest < (_FIRST_DAY if day else _FIRST_DAY * 86_400_000_000):
                raise UnsupportedError(
                    f"{self._what} has a date or a time that Arrow cannot hold, such as 'infinity'; leave it out, or "
                    "make it null, with a query"
                )

    def _begin(self, timeout: float | None) -> None:
        self._execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._execute("SET LOCAL TimeZone = 'UTC'")
        self._execute("SET LOCAL DateStyle = 'ISO, YMD'")  # for types that are compared as text
        if timeout is not None:
            self._execute(f"SET LOCAL statement_timeout = {max(1, round(timeout * 1000))}")

    def _execute(self, sql: str) -> None:
        with self._cursor() as cursor:
            cursor.execute(sql)

    def _find(self, table: str | None) -> str:
        """Find the table in the catalogue and return its name there; the user's text never becomes part of SQL."""
        tables = self.fetch(_TABLES).to_pylist()
        short = {row["name"] for row in tables if row["visible"]}
        if table in short:
            match = next(row for row in tables if row["visible"] and row["name"] == table)
        else:
            full = [f"{row['schema']}.{row['name']}" for row in tables]
            readable = [row for row in tables if row["readable"]]
            if table in full:
                match = tables[full.index(table)]
            else:
                match = readable[choose_table(table, _shown(readable), self._label)]
        self.relation = f"{quote_name(match['schema'])}.{quote_name(match['name'])}"
        self.repeatable = match["kind"] in _STORED
        (name,) = _shown([match])
        self._what = name
        self.name = f"{name} in {self._label}"
        return name

    def _describe(self) -> dict[str, DatabaseColumn]:
        with self._cursor() as cursor:
            schema = cursor.adbc_execute_schema(f"SELECT * FROM {self.relation} AS r")
        names = [field.name for field in schema]
        if len(set(names)) < len(names):
            raise InputError(f"{self.name}: some column names appear more than once; rename them with AS")
        return {field.name: _column(field) for field in schema}

    def _explain(self, error: Exception) -> NoReturn:
        """Raise InputError for a driver's error; the server's message is shown only if it is about the query itself.

        Other messages of the server may quote cells.
        """
        state, text = getattr(error, "sqlstate", None) or "", str(error)
        for states, pattern, message in _STATES:
            if state in states or (not state and re.search(pattern, text)):
                raise InputError(message.format(what=self._what)) from None
        if state.startswith("42") and self._by_query:
            reason = re.search(r"ERROR:\s+(.*)", text)
            raise InputError(f"the query is not understood: {reason[1] if reason else state}") from None
        if state.startswith("22"):
            raise InputError(
                f"{self._what}: the server cannot compute a value (SQLSTATE {state}); look for cells that do not fit"
            ) from None
        if state and not state.startswith(("08", "57P")):
            raise InputError(f"{self._what} cannot be read by its server (SQLSTATE {state})") from None
        if state or re.search(_LOST, text):
            raise InputError(
                f"the connection to {self._label} was lost while reading {self._what}; nothing was kept, try again"
            ) from None
        raise InputError(  # during streaming the driver gives no SQLSTATE
            f"{self._what}: the server stopped in the middle, most likely at a value that it cannot compute; nothing "
            "was kept: look for cells that do not fit, such as a division by zero"
        ) from None


def _shown(tables: Sequence[dict[str, Any]]) -> list[str]:
    """Names of tables, with the schema if it is not on the search path."""
    return [str(row["name"]) if row["visible"] else f"{row['schema']}.{row['name']}" for row in tables]


def _connect(address: str, label: str) -> Any:
    dbapi = driver("adbc_driver_postgresql")
    scheme, _, rest = address.partition(":")
    address = f"{scheme.lower()}:{rest}"  # libpq accepts a scheme in small letters only
    given = address.partition("?")[2]
    extra = [
        f"{name}={value}"
        for name, (value, variable) in _TIMEOUTS.items()
        if f"{name}=" not in given and (variable is None or variable not in os.environ)
    ]
    try:
        return dbapi.connect(address + ("&" if "?" in address else "?") + "&".join(extra), autocommit=True)
    except Exception as error:
        text = str(error)
    why = next((message for pattern, message in _NO_CONNECTION if re.search(pattern, text)), "cannot be reached")
    credentials = f" ({_credentials_used(address)})" if why.startswith(_ABOUT_CREDENTIALS) else ""
    raise InputError(f"{label} {why}{credentials}") from None


def _credentials_used(address: str) -> str:
    """Source of the user and the password, in the order in which libpq looks.

    >>> _credentials_used("postgresql://ann:secret@db.example/clinic")
    'user and password are those in the address'
    """
    authority, _, options = re.split(r"://", address, maxsplit=1)[-1].partition("?")
    user = authority.rpartition("@")[0]
    there = "in the address"
    service = "that of the service" if "service=" in options or os.environ.get("PGSERVICE") else None
    named, secret = bool(user) or "user=" in options, ":" in user or "password=" in options
    if named and secret:
        return f"user and password are those {there}"
    who = f"the one {there}" if named else service or ("PGUSER" if os.environ.get("PGUSER") else "you on this machine")
    if secret:
        how = f"the password the one {there}"
    elif service:
        how = "the password that of the service, or else from PGPASSWORD or ~/.pgpass"
    elif os.environ.get("PGPASSWORD"):
        how = "the password that of PGPASSWORD"
    else:
        how = "there is no password in the address or in PGPASSWORD, and ~/.pgpass is looked at last"
    return f"the user is {who}, {how}"


def _column(field: pa.Field) -> DatabaseColumn:
    """SQL that reads a column so that equality is the same as in other engines: by bytes for text, NaN as null."""
    kind, plain = field.type, qualified_name(field.name)
    metadata = field.metadata or {}
    native = (metadata.get(b"POSTGRESQL:type") or metadata.get(b"ADBC:postgresql:typname") or b"").decode()
    if pa.types.is_floating(kind):
        return DatabaseColumn(f"NULLIF({plain}, 'NaN')")
    if native == "numeric":  # 1.0 and 1.00 are the same number
        return DatabaseColumn(f"trim_scale(NULLIF({plain}, 'NaN'))::text COLLATE \"C\"", ("int64", "double"))
    simple = pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind)
    simple = simple or pa.types.is_timestamp(kind) or pa.types.is_time(kind)
    if simple or (pa.types.is_binary(kind) and native in {"", "bytea"}):
        return DatabaseColumn(plain)
    return DatabaseColumn(f'{plain}::text COLLATE "C"')
