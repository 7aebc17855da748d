"""What a file format is: its extensions, how to open its files, the reading options it takes, how to write it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from incrowd.backends import Backend


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How to read a file, as `read_table` is told."""

    memory: int
    most_columns: int | None = None
    separator: str | None = None
    encoding: str | None = None
    null: str | None = None
    skip_bad_lines: bool = False
    sheet: str | int | None = None

    def given(self) -> dict[str, Any]:
        """The options that only some formats take and that differ from their defaults, in a fixed order."""
        special = [option.name for option in fields(self) if option.name not in ("memory", "most_columns")]
        return {name: getattr(self, name) for name in special if getattr(self, name) not in (None, False)}


@dataclass(frozen=True, slots=True)
class FileContents:
    """An opened file: a backend that holds its rows, or the rows themselves where the format is read whole.

    `notes` tell a user how the file was understood; `conventions` names what is lost when the table is written again.
    """

    rows: Backend | pa.Table
    notes: list[str] = field(default_factory=list)
    conventions: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class FileFormat:
    """One file format: everything that reading and writing tables need to know about it.

    Attributes:
        description: the files of this format, in the plural, as messages name them.
        extensions: how their names end, in lower case, with the dot.
        open: opens the files of one table (one path unless `several_files`), given the name it has in messages.
        options: the names of the fields of `ReadOptions` that the format takes.
        several_files: whether a folder or a pattern of files may be one table.
        write: how a table is written, by extension; empty where the format is only read.
    """

    description: str
    extensions: tuple[str, ...]
    open: Callable[[list[str], str, ReadOptions], FileContents]
    options: tuple[str, ...] = ()
    several_files: bool = False
    write: Mapping[str, Callable[[pa.Table, Path], None]] = field(default_factory=dict)
