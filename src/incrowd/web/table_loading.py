"""Opening of tables for a session, within the server's limits."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from incrowd.errors import IncrowdError, InputError, TooLargeError
from incrowd.tables import SuggestedRole, Table, read_table, suggest_roles
from incrowd.web.refusals import Refusal
from incrowd.web.server_settings import ServerSettings
from incrowd.web.session_table import OpenTable, TableSource
from incrowd.web.uploads import list_members


def open_table(
    file: Path, name: str, source: TableSource, settings: ServerSettings, new_id: str, folder: Path | None
) -> OpenTable:
    """Open a table for a session, or refuse it. No message shows the name of an upload's file on this server."""
    try:
        table = read_table(file, memory=settings.memory, most_columns=settings.max_columns, **source.how)
        _check_size(table, settings)
        table.name = name
        if not table.rows:
            raise InputError(f"{name} has a header but no rows")
        columns = suggest_roles(table)
    except Refusal:
        raise
    except TooLargeError as error:
        raise Refusal(413, str(error)) from None
    except IncrowdError as error:
        sentence = _with_upload_name(str(error), folder, name)
        if error.choices:
            raise Refusal(400, sentence, error.choices) from None
        raise InputError(sentence, hint=error.hint) from None
    bytes_ = sum(file.stat().st_size for file in folder.iterdir()) if folder else 0
    opened = OpenTable(new_id, name, source, table, _with_unique_roles(columns), folder, bytes_)
    sheets = list_members(file) or list(table.members)
    opened.sheets = sheets if len(sheets) > 1 else []
    threading.Thread(target=_encode_ahead, args=(opened,), daemon=True, name="incrowd-encode").start()
    return opened


def _encode_ahead(table: OpenTable) -> None:
    try:
        table.encode_known()
    except (IncrowdError, MemoryError, OSError, RuntimeError):
        return  # the first count raises the same error, and its request reports it


def _check_size(table: Table, settings: ServerSettings) -> None:
    if len(table.columns) > settings.max_columns:
        raise Refusal(
            413, f"{len(table.columns):,} columns; this server takes {settings.max_columns:,}: leave some out"
        )
    if table.rows > settings.max_rows:
        raise Refusal(413, f"{table.rows:,} rows; this server takes {settings.max_rows:,}: use the command line")


def _with_unique_roles(columns: Sequence[SuggestedRole]) -> tuple[SuggestedRole, ...]:
    """The suggestions with at most one person column and one weight: the first that looks like it."""
    seen: set[str] = set()
    found = []
    for one in columns:
        if one.secondary or (one.role in ("person", "weight") and one.role in seen):
            one = replace(one, role="other", reason=f"looks like a second {one.role} column; there can be only one")
        seen.add(one.role)
        found.append(one)
    return tuple(found)


def _with_upload_name(text: str, folder: Path | None, name: str) -> str:
    """An error message with the name of the upload in place of its file on the server."""
    if folder is None:
        return text
    for file in folder.iterdir():
        text = text.replace(str(file), name).replace(file.name, name)
    return text.replace(str(folder), "")
