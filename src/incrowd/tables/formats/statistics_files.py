"""Files of statistics packages, opened as tables: value labels, missing codes, dates.

SPSS, Stata and SAS store numbers as doubles, dates as numbers with a format, and categories as codes with labels. A
child process copies a file in chunks, unchanged, into a private Parquet file (`statistics_cells.py`). The conversion
of each column is decided after all cells were seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from incrowd.backends.duckdb_backend import Conversion, Workspace
from incrowd.backends.scales import Scale
from incrowd.backends.spool import spooled_rows
from incrowd.tables.conversions import LabelConversion, TemporalConversion, WholeConversion
from incrowd.tables.file_codebook import FileCodebook, label_texts
from incrowd.tables.formats.file_format import FileContents, ReadOptions, require_package
from incrowd.tables.formats.limited_reading import read_limited
from incrowd.tables.formats.statistics_cells import Package, StoredColumn
from incrowd.wording import listed

_BYTES_A_SECOND = 20_000  # a file is read from its beginning for every chunk
MOST_EXACT = 2.0**53  # a double holds every whole number up to this one


def open_statistics(
    copy: Callable[..., dict[str, Any]], package: Package, paths: list[str], name: str, options: ReadOptions
) -> FileContents:
    """Read files of one table into a private Parquet file.

    Args:
        copy: calls `copy_cells` with what follows; it runs in a child process with limited memory and time.
    """
    require_package("pyreadstat", name)
    workspace = options.workspace or Workspace(options.memory)
    asked = {"memory": options.memory, "encoding": options.encoding, "null": options.null}
    copied = read_limited(
        copy,
        *(paths, name, asked, str(workspace.folder)),
        paths=paths,
        name=name,
        options=options,
        bytes_a_second=_BYTES_A_SECOND,
        unreadable=package.unreadable(name),
        imports=("pyreadstat",),
    )
    columns = {key: StoredColumn.from_json(stored) for key, stored in copied["columns"].items()}
    return _contents(Path(copied["cells"]), workspace, columns, package, name, options, copied["code_counts"])


def _contents(
    cells: Path,
    workspace: Workspace,
    columns: dict[str, StoredColumn],
    package: Package,
    name: str,
    options: ReadOptions,
    code_counts: Mapping[str, Mapping[str, int]],
) -> FileContents:
    """The table of the private file, with labels, dates and whole numbers in place of stored values."""
    conversions: dict[str, Conversion] = {}
    shown: dict[str, dict[Any, str]] = {}
    scales: dict[str, Scale] = {}
    partly: list[str] = []
    for key, column in columns.items():
        labelled = column.codes is not None and bool(column.codes) and column.codes <= set(column.labels)
        if labelled:
            assert column.codes is not None
            texts = label_texts(column.labels, sorted(column.codes))
            shown[key] = texts
            conversions[key] = LabelConversion(texts, pa.float64() if column.numeric else pa.string())
            if column.measure == "ordinal":
                scales[key] = Scale("ordered", tuple(texts.values()))
            continue
        if column.codes and any(code in column.labels for code in column.codes):
            partly.append(key)
        if column.numeric:
            conversion = _number_conversion(column, package)
            if conversion is not None:
                conversions[key] = conversion
            if not isinstance(conversion, TemporalConversion) and column.measure in ("nominal", "ordinal"):
                scales[key] = Scale("nominal" if column.measure == "nominal" else "ordered")
    notes = [f"labels are shown in place of codes: {listed(shown)}"] if shown else []
    if partly:
        notes.append(f"only some values have labels, so the codes are kept: {listed(partly)}")
    missing = {key: dict(column.missing) for key, column in columns.items() if column.missing}
    if missing:
        notes.append(f"codes for missing values are read as missing: {listed(missing)}")
    descriptions = {key: column.description for key, column in columns.items() if column.description}
    formats = {key: column.format for key, column in columns.items() if column.format}
    unused = tuple(key for key, column in columns.items() if set(column.labels) - (column.codes or set()))
    several = [key for key, kinds in missing.items() if len(kinds) > 1]
    return FileContents(
        spooled_rows([cells], name=name, memory=options.memory, workspace=workspace, conversions=conversions),
        notes,
        codebook=FileCodebook(descriptions, shown, missing, scales, formats, unused),
        not_counted=[f"codes that were read as one missing value in {listed(several)}"] if several else [],
        code_counts=code_counts,
    )


def _number_conversion(column: StoredColumn, package: Package) -> Conversion | None:
    """The conversion of a number column: dates and times by their format, integers if all numbers are whole."""
    if column.low > column.high:
        return None  # nothing but missing values
    temporal = package.temporal(column.format)
    if temporal is not None:
        conversion = TemporalConversion(*temporal, package.origin)
        if conversion.fits(column.low, column.high):
            return conversion
    whole = column.whole and max(abs(column.low), abs(column.high)) <= MOST_EXACT
    return WholeConversion() if whole else None
