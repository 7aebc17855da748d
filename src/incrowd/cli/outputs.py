"""Output files, checked before the work is done."""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import TYPE_CHECKING

from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.table import Table

TABLES = frozenset({".parquet", ".pq", ".feather", ".arrow", ".csv", ".tsv"})
FIGURES = frozenset({".html", ".svg", ".png", ".json"})


def check_table(table: Table, out: Path, force: bool) -> None:
    """Refuse a place for a table: the input is never overwritten, and nothing else without being told."""
    _check(table, out, force)
    if out.suffix.lower() not in TABLES:
        raise InputError(
            f"a table cannot be written as {out.suffix or 'a file without ending'!r}; use .parquet or .csv"
        )


def check_figure(table: Table, out: Path, force: bool) -> None:
    """The same for a figure."""
    _check(table, out, force)
    if out.suffix.lower() not in FIGURES:
        raise InputError(
            f"a figure cannot be written as {out.suffix or 'a file without ending'!r}; use .html, .svg or .png"
        )


def _check(table: Table, out: Path, force: bool) -> None:
    if out.exists() and any(os.path.samefile(part, out) for part in _files(table.source)):
        raise InputError(f"{out} is the table that is read; it is never overwritten, name another file")
    if out.exists() and not force:
        raise InputError(f"{out} exists already; name another file, or say that it may be replaced (--force)")


def _files(source: str | None) -> list[str]:
    """The files a table was read from: one, the parts in a folder, or those a pattern matches."""
    if source is None:
        return []
    if os.path.isdir(source):
        return [str(part) for part in Path(source).rglob("*.parquet")]
    return [source] if os.path.isfile(source) else glob.glob(source, recursive=True)
