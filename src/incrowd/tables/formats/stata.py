"""Stata files: .dta of all versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.tables.conversions import Temporal
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import FileFormat
from incrowd.tables.formats.statistics_cells import Package, copy_cells
from incrowd.tables.formats.statistics_files import open_statistics
from incrowd.tables.formats.write_statistics import write_statistics

_LONGEST_LABEL = 32_000  # bytes of a value label
_LONGEST_DESCRIPTION = 80  # characters of the description of a column


def _temporal(written: str) -> tuple[Temporal, float] | None:
    """Stata stores days or milliseconds; weeks, months, quarters and years stay numbers."""
    if written.startswith(("%td", "%-td", "%d")):
        return "date", 86_400.0
    if written.startswith(("%tcHH:MM", "%tcHH:MM:SS")):
        return "time", 0.001
    return ("timestamp", 0.001) if written.startswith(("%tc", "%tC", "%-tc")) else None


PACKAGE = Package("Stata files", date(1960, 1, 1), _temporal)


def copy_stata(paths: list[str], *request: Any) -> dict[str, Any]:
    """Copy the cells of files with their kinds of missing values, .a to .z; runs in a process that may crash."""
    return copy_cells("read_dta", PACKAGE, paths, *request, user_missing=True)


def write_dta(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write a file of version 15 with labels; a description that is too long ends in "…"."""
    descriptions = {
        key: text if len(text) <= _LONGEST_DESCRIPTION else f"{text[: _LONGEST_DESCRIPTION - 1]}…"
        for key, text in codebook.descriptions.items()
    }
    shortened = replace(codebook, descriptions=descriptions)
    write_statistics("write_dta", table, file, shortened, longest_label=_LONGEST_LABEL)


FORMAT = FileFormat(
    description="Stata files",
    extensions=(".dta",),
    open=partial(open_statistics, copy_stata, PACKAGE),
    options=("encoding", "null"),
    several_files=True,
    write={".dta": write_dta},
)
