"""Addresses of databases and stores: recognition, and display without credentials."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path

from incrowd.errors import InputError

DATABASES = frozenset({"postgresql", "postgres", "sqlite"})
SQLITE_FILES = frozenset({".db", ".sqlite", ".sqlite3"})
_SERVERS = frozenset({"spark", "k8s", "http", "https"})  # named by host and port alone
_SCHEME = re.compile(r"((?:jdbc:)?[A-Za-z][A-Za-z0-9+.-]+):/", re.IGNORECASE)  # two letters or more: C:/ is a drive
_ONE_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[\w.%-]*)(?::[0-9]{1,5})?"
_PLAIN = re.compile(rf".+?://(?:[^/?#@]*@)?({_ONE_HOST}(?:,{_ONE_HOST})*)((?:/[^/?#@;]*)*)(?:\?[^@]*)?")
_PORT_OR_PASSWORD = re.compile(r"[^:@]+:[0-9]+")
_SECRET = re.compile(r":.*@|passw|(pwd|secret|token)\w*\s*=", re.IGNORECASE | re.DOTALL)


def scheme_of(source: str) -> str | None:
    """Return the scheme before `://` in lower case, "sqlite" for a file with an SQLite ending, None for other files."""
    if Path(source).suffix.lower() in SQLITE_FILES and not _SCHEME.match(source):
        return "sqlite"
    scheme = _SCHEME.match(source)
    return scheme[1].lower() if scheme and not os.path.exists(source) else None


def is_address(source: str | os.PathLike[str]) -> bool:
    """True for the address of a database or a store, also if a `Path` reduced its two slashes to one; False for a file.

    >>> is_address("s3a://bucket/a.csv"), is_address(Path("postgresql://host/db")), is_address("C:/people.csv")
    (True, True, False)
    """
    return _SCHEME.match(os.fspath(source)) is not None


def masked(source: str) -> str:
    """Return a path or an address in a form that may be shown: host and path, without user, password and options.

    If host or path may contain a password, only the scheme is returned. A text that is neither a file nor an address
    becomes "…" if it may contain a password. All code that shows or stores where a table is calls this function.

    >>> masked("postgresql://ann:secret@db.example:5432/clinic?sslmode=require"), masked("s3a://key:secret@bucket/a/b")
    ('postgresql://db.example:5432/clinic', 's3a://bucket/a/b')
    >>> masked("postgresql://ann:sec/ret@db.example/clinic"), masked("postgres://ann:12345"), masked("ann:secret@host")
    ('postgresql://…', 'postgres://…', '…')
    >>> masked("patients.csv")
    'patients.csv'
    """
    if _is_here(source):
        return source
    address = _SCHEME.match(source)
    if address is None:
        return "…" if _SECRET.search(source) else source
    scheme = address[1].lower()
    plain = _PLAIN.fullmatch(source)
    if plain is None or (not plain[2] and scheme not in _SERVERS and _PORT_OR_PASSWORD.fullmatch(plain[1])):
        return f"{scheme}://…"
    return f"{scheme}://{plain[1]}{plain[2]}"


def _is_here(source: str) -> bool:
    """True for an existing file or folder, or a pattern that matches some."""
    try:
        return os.path.exists(source) or (glob.has_magic(source) and any(glob.iglob(source, recursive=True)))
    except ValueError:  # a NUL in it
        return False


def sqlite_file(source: str) -> str:
    """Return the file that `sqlite:///path` or a plain path names; three or four slashes begin an absolute path."""
    if not _SCHEME.match(source):
        return source
    path = source.partition("://")[2]
    relative = path.removeprefix("/")
    if not relative:
        raise InputError("a database in memory has nothing to read; name a file: sqlite:///people.db")
    return relative if os.path.exists(relative) or not os.path.exists(path) else path
