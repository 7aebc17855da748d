"""The file beside a released table (`NAME.incrowd`) in which `protect` keeps what only the original shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from incrowd._support.files import file_hash, read_small
from incrowd.errors import InputError
from incrowd.tables.table import Table

FAMILY = "incrowd/release"
SCHEMA = f"{FAMILY}/4"


def mark_of(file: Path) -> Path:
    """The path of the mark of a released file.

    >>> mark_of(Path("safe.csv")).name
    'safe.csv.incrowd'
    """
    return file.with_name(f"{file.name}.incrowd")


def read_mark_content(table: Table) -> dict[str, Any] | None:
    """What the mark beside a table's file says; None if there is no mark.

    Raises:
        InputError: the mark is damaged or of another version, or the file has changed since the mark was written.
    """
    file = Path(table.source or "")
    if table.source is None or not file.is_file() or not mark_of(file).is_file():
        return None
    mark = mark_of(file)
    try:
        content: dict[str, Any] = json.loads(read_small(mark), object_pairs_hook=_without_repeats)
        schema, made_for = content["schema"], content["sha256"]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError):
        raise InputError(f"{mark.name} cannot be read") from None
    if schema != SCHEMA:
        raise InputError(f"{mark.name} is of another version; protect the original again to renew it")
    if made_for != file_hash(file):
        raise InputError(f"{mark.name} is of another file, or the file was changed after it was written")
    return content


def is_shuffled(table: Table) -> bool:
    """True if the mark of a table says that its rows are in random order, or if the mark cannot be read."""
    try:
        content = read_mark_content(table)
    except InputError:
        return True
    return content is not None and content.get("shuffled", False) is not False


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; repeated keys are refused, because readers differ in which value they take."""
    read = dict(pairs)
    if len(read) < len(pairs):
        raise ValueError
    return read
