"""Addresses of databases: what is one, and how it is shown without its credentials."""

from __future__ import annotations

import os
import re
from pathlib import Path

from incrowd.errors import InputError

DATABASES = frozenset({"postgresql", "postgres", "sqlite"})
SQLITE_FILES = frozenset({".db", ".sqlite", ".sqlite3"})
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")  # two letters or more: C:/ is a drive
_ONE_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[\w.%-]*)(?::[0-9]+)?"
_PLAIN = re.compile(rf"[^:]+://(?:[^/?#@]*@)?({_ONE_HOST}(?:,{_ONE_HOST})*)(/[^/?#@]*)?(?:\?[^@]*)?")


def scheme_of(source: str) -> str | None:
    """What comes before `://`, in small letters, or "sqlite" for a file that ends like one; None for other files."""
    if Path(source).suffix.lower() in SQLITE_FILES and not _SCHEME.match(source):
        return "sqlite"
    found = _SCHEME.match(source)
    return found[1].lower() if found and not os.path.exists(source) else None


def masked(source: str) -> str:
    """An address as it may be shown: host and database. Where a password might hide in them, not even those.

    >>> masked("postgresql://ann:secret@db.example:5432/clinic?sslmode=require")
    'postgresql://db.example:5432/clinic'
    >>> masked("postgresql://ann:sec/ret@db.example/clinic"), masked("patients.csv")
    ('postgresql://…', 'patients.csv')
    """
    scheme = scheme_of(source)
    if scheme == "sqlite":
        return source
    if scheme is None:
        return "…" if re.search(r"passw", source, re.IGNORECASE) and not os.path.exists(source) else source
    plain = _PLAIN.fullmatch(source)
    return f"{scheme}://{plain[1]}{plain[2] or ''}" if plain else f"{scheme}://…"


def sqlite_file(source: str) -> str:
    """The file that `sqlite:///path`, or a path as it is, names; four slashes, or three, begin an absolute path."""
    if not _SCHEME.match(source):
        return source
    path = source.partition("://")[2]
    relative = path.removeprefix("/")
    if not relative:
        raise InputError("a database in memory has nothing to read; name a file: sqlite:///people.db")
    return relative if os.path.exists(relative) or not os.path.exists(path) else path
