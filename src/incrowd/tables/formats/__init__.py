"""File formats, one per file. To add a format, write its file with a `FORMAT` and add it to the tuple below."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from incrowd._support.compressed_files import COMPRESSIONS, ZIP
from incrowd.tables.formats import (
    delimited,
    excel,
    feather,
    fixed_width,
    json_lines,
    orc,
    parquet,
    r_data,
    sas,
    spss,
    stata,
)
from incrowd.tables.formats.file_format import FileContents, FileFormat, ReadOptions

FORMATS: tuple[FileFormat, ...] = (
    delimited.FORMAT,
    parquet.FORMAT,
    feather.FORMAT,
    excel.FORMAT,
    json_lines.FORMAT,
    orc.FORMAT,
    spss.FORMAT,
    stata.FORMAT,
    sas.FORMAT,
    r_data.FORMAT,
    fixed_width.FORMAT,
)
EXTENSIONS: dict[str, FileFormat] = {extension: known for known in FORMATS for extension in known.extensions}
WRITERS = {extension: writer for known in FORMATS for extension, writer in known.write.items()}
"""Writers by the ending of the file name; text files may have a compression suffix after it."""

ZIPPED: frozenset[str] = frozenset({ZIP, *(extension for known in FORMATS for extension in known.zipped)})
"""Endings of file names that are ZIP archives."""

ENDINGS: tuple[str, ...] = (*EXTENSIONS, *COMPRESSIONS, ZIP)
"""Endings of file names that `read_table` opens: a format, or a compression of it."""

__all__ = [
    "ENDINGS",
    "EXTENSIONS",
    "FORMATS",
    "WRITERS",
    "ZIPPED",
    "FileContents",
    "FileFormat",
    "ReadOptions",
    "described_formats",
    "format_of",
    "takes_option",
]


def described_formats() -> str:
    """The formats in a sentence, such as "use CSV, Parquet or R files".

    >>> described_formats().split(", ")[-1]
    'R or fixed-width files'
    """
    *names, last = (known.description.removesuffix(" files") for known in FORMATS)
    return f"{', '.join(names)} or {last} files"


def format_of(source: Any) -> FileFormat | None:
    """Return the format of a file by its extension; None if the extension is unknown or the source is no path.

    `people.csv.gz` has the format of `people.csv`.

    >>> format_of("people.CSV").description
    'CSV and TSV files'
    """
    if not isinstance(source, str | os.PathLike):
        return None
    path = Path(source)
    return EXTENSIONS.get((path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path).suffix.lower())


def takes_option(source: Any, option: str) -> bool:
    """True if an option of `read_table` applies to a source.

    An option that belongs to no particular format applies to every source.

    >>> takes_option("people.csv", "null"), takes_option("people.parquet", "null"), takes_option("people.csv", "memory")
    (True, False, True)
    """
    formats = [known for known in FORMATS if option in known.options]
    return not formats or format_of(source) in formats
