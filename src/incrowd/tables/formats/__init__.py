"""File formats: one a file. To add one, write its file with a `FORMAT` and name it in the tuple below."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from incrowd.tables.formats import delimited, excel, feather, json_lines, parquet
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions

FORMATS: tuple[FileFormat, ...] = (
    delimited.FORMAT,
    parquet.FORMAT,
    feather.FORMAT,
    excel.FORMAT,
    json_lines.FORMAT,
)
EXTENSIONS: dict[str, FileFormat] = {extension: known for known in FORMATS for extension in known.extensions}

__all__ = ["EXTENSIONS", "FORMATS", "FileContents", "FileFormat", "ReadOptions", "format_of", "takes_option"]


def format_of(source: Any) -> FileFormat | None:
    """The format of a file by its extension, or None where the extension is unknown or the source is no path.

    Args:
        source: anything that `read_table` takes.

    Returns:
        The registered format, or None.

    >>> format_of("people.CSV").description
    'CSV and TSV files'
    """
    return EXTENSIONS.get(Path(source).suffix.lower()) if isinstance(source, str | os.PathLike) else None


def takes_option(source: Any, option: str) -> bool:
    """Whether an option of `read_table` applies to a source.

    Args:
        source: anything that `read_table` takes.
        option: the name of the option; one that belongs to no format in particular applies to every source.

    Returns:
        False where the option belongs to a format and the source is not a file of that format.

    >>> takes_option("people.csv", "null"), takes_option("people.parquet", "null"), takes_option("people.csv", "memory")
    (True, False, True)
    """
    formats = [known for known in FORMATS if option in known.options]
    return not formats or format_of(source) in formats
