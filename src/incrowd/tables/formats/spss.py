"""SPSS files: .sav and .zsav, and portable .por files."""

from __future__ import annotations

import re
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

_KINDS: dict[str, Temporal] = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE"), "date"),
    **dict.fromkeys(("DATETIME", "YMDHMS"), "timestamp"),
    **dict.fromkeys(("TIME", "DTIME"), "time"),
}
_LONGEST_LABEL = 120  # bytes of a value label


def _temporal(written: str) -> tuple[Temporal, float] | None:
    """SPSS stores dates, timestamps and times as seconds."""
    kind = _KINDS.get(re.sub(r"[\d.]+$", "", written))
    return None if kind is None else (kind, 1.0)


PACKAGE = Package("SPSS files", date(1582, 10, 14), _temporal)


def copy_spss(paths: list[str], *request: Any) -> dict[str, Any]:
    """Copy the cells of files, with the user-defined missing values of a .sav; runs in a process that may crash."""
    if paths[0].lower().endswith(".por"):
        return copy_cells("read_por", PACKAGE, paths, *request)
    return copy_cells("read_sav", PACKAGE, paths, *request, user_missing=True)


def write_sav(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write a file with labels, compressed where it is a .zsav."""
    numbers = [
        field.name for field in table.schema if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    ]
    formats = {key: text for key, text in codebook.formats.items() if key in numbers and re.match(r"F\d", text)}
    ordered = {key: "ordinal" for key, scale in codebook.scales.items() if scale.kind == "ordered"}
    measures = ordered | {key: "nominal" for key, scale in codebook.scales.items() if scale.kind == "nominal"}
    write_statistics(
        "write_sav",
        table,
        file,
        codebook,
        longest_label=_LONGEST_LABEL,
        compress=file.suffix.lower() == ".zsav",
        variable_format=formats or None,
        variable_measure={key: kind for key, kind in measures.items() if key in table.column_names} or None,
    )


FORMAT = FileFormat(
    description="SPSS files",
    extensions=(".sav", ".zsav", ".por"),
    open=partial(open_statistics, copy_spss, PACKAGE),
    options=("encoding", "null"),
    magic=b"$FL2",
    several_files=True,
    write={".sav": write_sav, ".zsav": write_sav},
)
