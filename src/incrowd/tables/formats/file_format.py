"""The description of a file format: extensions, reader, reading options, writer."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from incrowd.errors import InputError, MissingDependencyError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.missing_codes import MissingCodes
from incrowd.wording import counted, listed

if TYPE_CHECKING:
    from incrowd.backends import Backend
    from incrowd.backends.duckdb_backend import Workspace


GENERAL = ("memory", "most_columns", "workspace")  # options that every format receives


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of `read_table`; `workspace` holds temporary files that exist as long as the table."""

    memory: int
    most_columns: int | None = None
    separator: str | None = None
    encoding: str | None = None
    null: str | None = None
    skip_bad_lines: bool = False
    sheet: str | int | None = None
    layout: str | None = None
    header_rows: int | None = None
    dates: str | None = None
    workspace: Workspace | None = None

    def given(self) -> dict[str, Any]:
        """The format-specific options that differ from their defaults, in a fixed order."""
        special = [option.name for option in fields(self) if option.name not in GENERAL]
        return {name: getattr(self, name) for name in special if getattr(self, name) not in (None, False)}

    @property
    def missing(self) -> MissingCodes:
        """The texts and codes for a missing value, in addition to the empty cell."""
        return MissingCodes.parse(self.null)


@dataclass(frozen=True, slots=True)
class FileContents:
    """An opened file: a backend that holds its rows, or the rows themselves if the format is read whole."""

    rows: Backend | pa.Table
    notes: list[str] = field(default_factory=list)  # how the file was understood, for the user
    codebook: FileCodebook = field(default_factory=FileCodebook)  # the metadata of the file
    # what the file holds in addition to the rows, in words; it is not judged, so the file gets no yes
    not_counted: list[str] = field(default_factory=list)
    # counts of the missing codes that were stated for single columns
    code_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    members: list[str] = field(default_factory=list)  # the names of the file's tables


@dataclass(frozen=True, slots=True)
class StoredBeside:
    """The contents of a file in addition to its cells: metadata keys, and columns with their stored dictionaries."""

    metadata: frozenset[bytes] = frozenset()
    columns: pa.Table | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FileFormat:
    """One file format: all that reading and writing a table needs to know about it."""

    description: str  # the files of this format, in the plural, for messages
    extensions: tuple[str, ...]  # endings of file names, in lower case, with the dot
    # opens the files of one table (one path unless `several_files`), given its name for messages
    open: Callable[[list[str], str, ReadOptions], FileContents]
    options: tuple[str, ...] = ()  # the names of the fields of `ReadOptions` that the format takes
    magic: bytes = b""  # the first bytes of its files, to recognise standard input; empty if they are not fixed
    several_files: bool = False  # a folder or a pattern of files may be one table
    # cells are texts, and their types are inferred: by `read_table` if `open` returns a table, by `open` itself if it
    # returns a backend
    infers_types: bool = False
    # writers by extension; empty if the format is only read
    write: Mapping[str, Callable[[pa.Table, Path, FileCodebook], None]] = field(default_factory=dict)
    zipped: tuple[str, ...] = ()  # the extensions whose files are ZIP archives
    # reads what a file stores in addition to its cells; None if it can only store labels
    stored: Callable[[Path], StoredBeside] | None = None
    # describes the bytes of the files of one table that belong to no row; None if every byte is read
    describe_unread: Callable[[list[str], str, ReadOptions], list[str]] | None = None


def require_package(package: str, name: str) -> Any:
    """Import an optional package that a format needs."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingDependencyError(
            f"{name} needs the package {package}, which is not installed; pip install 'incrowd[stats]'"
        ) from None


def choose_member(members: list[str], wanted: str | int | None, name: str, what: str) -> str:
    """Choose one of several tables in a file: the only one, or the one given by name or position.

    `wanted` is a name or a position from 0; `what` is the word for a table in this format.

    >>> choose_member(["people"], None, "all.zip", "file")
    'people'
    """
    if isinstance(wanted, int) and 0 <= wanted < len(members):
        return members[wanted]
    if wanted is None and len(members) == 1:
        return members[0]
    if wanted is None:
        words = f"{name} holds {len(members):,} {what}s; ask for one of: {listed(members, 20)}"
        raise InputError(words, hint="sheet", choices=members)
    if str(wanted) not in members:
        words = f"{name} has no {what} {wanted!r}; it has: {listed(members, 20)}"
        raise InputError(words, hint="sheet", choices=members)
    return str(wanted)


def describe_others(members: list[str], read: str, what: str) -> list[str]:
    """Describe the other tables of a file in words; empty if there are none.

    >>> describe_others(["people", "names"], "people", "sheet")
    ['1 other sheet, names']
    """
    others = [member for member in members if member != read]
    return [f"{counted(len(others), f'other {what}', f'other {what}s')}, {listed(others, 5)}"] if others else []
