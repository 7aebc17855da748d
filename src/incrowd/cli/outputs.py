"""Output files, checked before the work is done."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd._support.addresses import masked
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.tables import Table

TABLES = frozenset({".parquet", ".pq", ".feather", ".arrow", ".csv", ".tsv"})
FIGURES = frozenset({".html", ".svg", ".png", ".json"})


def check_table(table: Table, out: Path, force: bool) -> None:
    """Refuse a place for a table: the input is never overwritten, and nothing else without being told."""
    check_place(table, out, force)
    if out.suffix.lower() not in TABLES:
        raise InputError(
            f"a table cannot be written as {out.suffix or 'a file without ending'!r}; use .parquet or .csv"
        )


def table_place(table: Table, out: str, force: bool) -> str | Path:
    """The same, and the place: a path, or an address of a store, which only a cluster writes to.

    An address is no path: two slashes would become one.
    """
    if "://" not in out:
        check_table(table, Path(out), force)
        return Path(out)
    if not table.backend.writes_to_stores:
        raise InputError(
            f"{masked(out)} is an address, and only a cluster writes to one: name a file, or give --engine spark"
        )
    return out


def check_figure(table: Table, out: Path, force: bool) -> None:
    """The same for a figure."""
    check_place(table, out, force)
    if out.suffix.lower() not in FIGURES:
        raise InputError(
            f"a figure cannot be written as {out.suffix or 'a file without ending'!r}; use .html, .svg or .png"
        )


def check_place(table: Table, out: Path, force: bool) -> None:
    """The same for any other file."""
    if table.is_at(out):
        raise InputError(f"{out} is the table that is read; it is never overwritten, name another file")
    if _would_join(table.source, out):
        raise InputError(f"{out} would become part of the table that is read; write it to another folder")
    if out.exists() and not force:
        raise InputError(f"{out} exists already; name another file, or say that it may be replaced (--force)")


def _would_join(source: str | None, out: Path) -> bool:
    """Whether a file of that name would be read as part of the source: it is in its folder, or its pattern fits."""
    if source is None or os.path.isfile(source):
        return False
    target, place = out.resolve(), Path(source).resolve()
    if place.is_dir():
        return target.is_relative_to(place)
    if "**" in place.parts:
        return fnmatch.fnmatch(str(target), str(place))
    pairs = zip(target.parts, place.parts, strict=False)
    return len(target.parts) == len(place.parts) and all(fnmatch.fnmatch(part, wanted) for part, wanted in pairs)
