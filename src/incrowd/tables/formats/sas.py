"""SAS files: .sas7bdat, with labels from a catalogue next to it, and transport files, .xpt."""

from __future__ import annotations

import os
import re
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.errors import InputError
from incrowd.tables.conversions import Temporal
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import FileFormat, require_package
from incrowd.tables.formats.statistics_cells import Package, copy_cells
from incrowd.tables.formats.statistics_files import open_statistics
from incrowd.tables.formats.write_statistics import write_statistics

_RECORD = 80  # bytes of a record of a transport file
_DATES = re.compile(r"(WEEKDAT[EX]|DATE|(MMDDYY|DDMMYY|YYMMDD)[BCDNPS]?|(IS|E|B)8601DA)")
_TIMESTAMPS = re.compile(r"(DATETIME|DTDATE|DATEAMPM|MDYAMPM|(IS|E|B)8601D[TN])")
_TIMES = re.compile(r"(TIME|HHMM|TOD|TIMEAMPM|(IS|E|B)8601TM)")


def _temporal(written: str) -> tuple[Temporal, float] | None:
    """SAS stores dates as days, and timestamps and times as seconds."""
    name = re.sub(r"\d*(\.\d*)?$", "", written.upper())
    if _DATES.fullmatch(name):
        return "date", 86_400.0
    if _TIMESTAMPS.fullmatch(name):
        return "timestamp", 1.0
    return ("time", 1.0) if _TIMES.fullmatch(name) else None


PACKAGE = Package("SAS files", date(1960, 1, 1), _temporal)


def copy_sas(paths: list[str], name: str, *request: Any) -> dict[str, Any]:
    """Copy the cells of files, with labels from a .sas7bcat of the same name, or formats.sas7bcat, in the same folder.

    Runs in a process that may crash.
    """
    if paths[0].lower().endswith(".xpt"):
        if any(os.path.getsize(path) % _RECORD for path in paths):
            raise InputError(f"{name} is cut short: a transport file has records of {_RECORD} bytes")
        return copy_cells("read_xport", PACKAGE, paths, name, *request)
    labels, *others = (_labels_beside(Path(path)) for path in paths)
    if any(other != labels for other in others):
        raise InputError(f"{name}: the files have catalogues with different labels; read them one by one")
    return copy_cells("read_sas7bdat", PACKAGE, paths, name, *request, catalogue=labels, user_missing=True)


def _labels_beside(file: Path) -> dict[str, dict[Any, str]]:
    """Value labels by the name of their format, from a catalogue next to the file; empty if there is none."""
    pyreadstat = require_package("pyreadstat", file.name)
    for catalogue in (file.with_suffix(".sas7bcat"), file.with_name("formats.sas7bcat")):
        if catalogue.exists():
            try:
                return dict(pyreadstat.read_sas7bcat(str(catalogue))[1].value_labels)
            except Exception:
                raise InputError(
                    f"{catalogue.name}, the catalogue of labels, cannot be read; replace or move it"
                ) from None
    return {}


def write_xpt(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write a transport file of version 8, which has no value labels: labelled columns are text."""
    write_statistics("write_xport", table, file, codebook, file_format_version=8)


FORMAT = FileFormat(
    description="SAS files",
    extensions=(".sas7bdat", ".xpt"),
    open=partial(open_statistics, copy_sas, PACKAGE),
    options=("encoding", "null"),
    several_files=True,
    write={".xpt": write_xpt},
)
