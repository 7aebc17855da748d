"""PostgreSQL: a server, where one snapshot is read."""

from __future__ import annotations

import os
import re

import pyarrow as pa
import pyarrow.compute as pc

from incrowd._support.addresses import masked
from incrowd.backends.sql.transaction import (
    DatabaseColumn,
    DatabaseKind,
    Meaning,
    Opened,
    Transaction,
    driver,
    qualified_name,
)
from incrowd.errors import InputError, UnsupportedError

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
    (r"", "cannot be reached"),
)
_ABOUT_CREDENTIALS = ("refuses the user", "does not let this user in", "has no such user")
_FIRST_DAY = -2_440_589  # days from 1970 to PostgreSQL's first date, 4714-11-24 BC, minus one


def _connect(address: str) -> Opened:
    dbapi, label = driver("adbc_driver_postgresql"), masked(address)
    scheme, _, rest = address.partition(":")
    address = f"{scheme.lower()}:{rest}"  # libpq accepts a scheme in small letters only
    given = address.partition("?")[2]
    extra = [
        f"{name}={value}"
        for name, (value, variable) in _TIMEOUTS.items()
        if f"{name}=" not in given and (variable is None or variable not in os.environ)
    ]
    try:
        return Opened(
            dbapi.connect(address + ("&" if "?" in address else "?") + "&".join(extra), autocommit=True), label
        )
    except Exception as error:
        text = str(error)
    why = next(message for pattern, message in _NO_CONNECTION if re.search(pattern, text))
    credentials = f" ({_credentials_used(address)})" if why.startswith(_ABOUT_CREDENTIALS) else ""
    raise InputError(f"{label} {why}{credentials}") from None


def _credentials_used(address: str) -> str:
    """Source of the user and the password, in the order in which libpq looks.

    >>> _credentials_used("postgresql://ann:secret@db.example/clinic")
    'the user is the one in the address, the password the one in the address'
    """
    authority, _, options = re.split(r"://", address, maxsplit=1)[-1].partition("?")
    user = authority.rpartition("@")[0]
    service = "service=" in options or bool(os.environ.get("PGSERVICE"))
    users = (
        (bool(user) or "user=" in options, "the one in the address"),
        (service, "that of the service"),
        (bool(os.environ.get("PGUSER")), "PGUSER"),
        (True, "you on this machine"),
    )
    passwords = (
        (":" in user or "password=" in options, "the password the one in the address"),
        (service, "the password that of the service, or else from PGPASSWORD or ~/.pgpass"),
        (bool(os.environ.get("PGPASSWORD")), "the password that of PGPASSWORD"),
        (True, "there is no password in the address or in PGPASSWORD, and ~/.pgpass is looked at last"),
    )
    who, how = (next(source for is_used, source in sources if is_used) for sources in (users, passwords))
    return f"the user is {who}, {how}"


def _columns(transaction: Transaction) -> dict[str, DatabaseColumn]:
    with transaction.cursor() as cursor:
        schema = cursor.adbc_execute_schema(f"SELECT * FROM {transaction.relation} AS r")
    transaction.distinct_names(schema.names)
    return {field.name: _column(field) for field in schema}


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


def _refuse_wrapped(batch: pa.RecordBatch, what: str) -> None:
    """Raise UnsupportedError for dates and times that Arrow cannot represent: 'infinity', and very late ones.

    In the driver they overflow, so they are earlier than PostgreSQL's first date.
    """
    for column in batch.columns:
        is_day = pa.types.is_date32(column.type)
        if not (is_day or pa.types.is_timestamp(column.type)):
            continue
        lowest = pc.min(column.cast(pa.int32() if is_day else pa.int64())).as_py()
        if lowest is not None and lowest < (_FIRST_DAY if is_day else _FIRST_DAY * 86_400_000_000):
            raise UnsupportedError(
                f"{what} has a date or a time that Arrow cannot hold, such as 'infinity'; leave it out, or make it "
                "null, with a query"
            )


# tables and materialised views are stored; a view may call random()
_TABLES = """
SELECT n.nspname::text AS schema, c.relname::text AS name, c.relkind IN ('r', 'p', 'm') AS stored,
       pg_table_is_visible(c.oid) AS visible,
       has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT') AS readable
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY 1, 2
"""
POSTGRESQL = DatabaseKind(
    connect=_connect,
    begin=(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        "SET LOCAL TimeZone = 'UTC'",
        "SET LOCAL DateStyle = 'ISO, YMD'",  # for types that are compared as text
    ),
    tables=_TABLES,
    columns=_columns,
    check=_refuse_wrapped,
    meanings=(
        Meaning("^42501|^:.*permission denied", "no permission to read {what}; ask for SELECT on it"),
        Meaning(
            "^57014|^:.*canceling statement",
            "{what}: a statement took too long and was stopped; give a longer time limit",
        ),
        Meaning("^25006|^:.*read-only transaction", "the query would write; only reading is possible, give a SELECT"),
        Meaning("^0A000|^:.*data-modifying", "the query would write or does what a SELECT cannot; give a plain SELECT"),
        Meaning("^25P02|^:.*transaction is aborted", "an earlier error ended the reading of {what}; open it again"),
        Meaning("^53100|^:.*(?:No space left|disk full)", "{what}: the server's disk is full; nothing was kept"),
        Meaning("^53200|^:.*out of memory", "{what}: the server ran out of memory; nothing was kept"),
        Meaning(
            "^40(?:001|P01)|^:.*could not serialize",
            "{what} was changed in a way its server cannot hide; read it again",
        ),
        Meaning(r"^42.*?ERROR:\s+([^\n]*)|^42...", "the query is not understood: {reason}", of_query=True),
        Meaning("^22", "{what}: the server cannot compute a value (SQLSTATE {state}); look for cells that do not fit"),
        Meaning("^(?!08|57P)[^:]", "{what} cannot be read by its server (SQLSTATE {state})"),
        Meaning(  # last alternative: libpq's message is empty if the connection was lost before
            r"^[^:]|server closed the connection|terminating connection|no connection to the server|SSL|"
            r"could not (?:receive|send) data|Failed to prepare query: *\n",
            "the connection to {label} was lost while reading {what}; nothing was kept, try again",
        ),
        Meaning(  # during streaming the driver gives no SQLSTATE
            "",
            "{what}: the server stopped in the middle, most likely at a value that it cannot compute; nothing was "
            "kept: look for cells that do not fit, such as a division by zero",
        ),
    ),
)
