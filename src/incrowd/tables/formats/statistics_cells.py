"""Cells of statistics files, copied with pyreadstat in a child process: chunks, missing codes, facts about columns.

pyreadstat is C code, which a hostile file can crash, so it reads files only in a process that may end badly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.spool import spool
from incrowd.errors import InputError
from incrowd.tables.conversions import Temporal
from incrowd.tables.file_codebook import code_text
from incrowd.tables.formats.file_format import ReadOptions, require_package
from incrowd.tables.missing_codes import ColumnCodes
from incrowd.wording import listed

_BYTES_A_CELL = 80  # memory for a cell of a chunk: the Python value, its entry in a list, and the Arrow cell
_FEWEST_ROWS = 10_000  # rows of a chunk, at least; some formats are read from the beginning for each chunk
_MOST_CODES = 2_000  # distinct codes, above which a column is a quantity
_NO_MEMORY = "Unable to allocate memory"  # part of pyreadstat's message


@dataclass(frozen=True, slots=True)
class Package:
    """Conventions of one statistics package."""

    description: str  # its files, in the plural, for messages
    origin: date  # day 0 of its dates
    # maps a format to date, timestamp or time, and to the seconds of one unit
    temporal: Callable[[str], tuple[Temporal, float] | None]

    def unreadable(self, name: str) -> str:
        """The message about a file that pyreadstat cannot read."""
        return (
            f"{name} cannot be read as one of the {self.description}; it may be damaged, cut short, in another "
            "encoding, or need more memory"
        )


@dataclass(slots=True)
class StoredColumn:
    """The metadata of a column, and findings about its cells, collected over its chunks."""

    numeric: bool
    labels: dict[Any, str]
    format: str
    measure: str | None
    description: str
    ranges: list[dict[str, Any]]  # of missing codes
    low: float = math.inf
    high: float = -math.inf
    whole: bool = True
    codes: set[Any] | None = field(default_factory=set)  # None: too many
    missing: Counter[str] = field(default_factory=Counter)

    def observe(self, cells: pa.Array) -> None:
        if self.numeric:
            limits = pc.min_max(cells)
            if limits["min"].is_valid:
                self.low = min(self.low, limits["min"].as_py())
                self.high = max(self.high, limits["max"].as_py())
                values = cells.drop_null().to_numpy(zero_copy_only=False)
                self.whole = self.whole and bool((np.floor(values) == values).all())
        if self.labels and self.codes is not None:
            self.codes |= set(cells.unique().drop_null().to_pylist())
            if len(self.codes) > _MOST_CODES:
                self.codes = None

    def meaning(self, package: Package) -> tuple[Any, ...]:
        """Metadata that defines the meaning of the cells; without text widths and decimals."""
        return self.numeric, self.labels, package.temporal(self.format), self.ranges, self.measure

    def to_json(self) -> dict[str, Any]:
        """The fields as values of JSON, whose keys are texts: labels are pairs."""
        codes = None if self.codes is None else sorted(self.codes)
        stored = {one.name: getattr(self, one.name) for one in fields(self)}
        return stored | {"labels": list(self.labels.items()), "codes": codes}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> StoredColumn:
        """The column of which `to_json` gave the fields."""
        codes = None if stored["codes"] is None else set(stored["codes"])
        return cls(**stored | {"labels": dict(stored["labels"]), "codes": codes, "missing": Counter(stored["missing"])})


def copy_cells(
    reader: str,
    package: Package,
    paths: list[str],
    name: str,
    asked: dict[str, Any],
    folder: str,
    *,
    catalogue: Mapping[str, Mapping[Any, str]] | None = None,
    **how: Any,
) -> dict[str, Any]:
    """Write the cells of files of one table, unchanged but for missing codes, to a Parquet file.

    Args:
        paths: the files; all have the same columns, labels, formats and missing ranges, or they are refused.
        asked: memory, encoding and missing values, as in `ReadOptions`.
        catalogue: value labels by the name of a format, from another file.

    Returns:
        Values of JSON: the path of the Parquet file, the columns, and counts of the stated missing codes.
    """
    options = ReadOptions(**asked)
    read = getattr(require_package("pyreadstat", name), reader)
    if options.encoding is not None:
        how["encoding"] = options.encoding
    seen: dict[str, StoredColumn] = {}
    codes = ColumnCodes(options.missing.by_column)

    def batches() -> Iterator[pa.Table]:
        for path in paths:
            checked = False
            for chunk, meta in _chunks(read, path, package, name, options.memory, how):
                if not checked:
                    columns = _columns(meta, catalogue or {}, name)
                    if not seen:
                        seen.update(columns)
                    _refuse_others(seen, columns, package, path, name)
                    checked = True
                nulls = options.missing.everywhere
                yield pa.table({key: _cells(chunk[key], seen[key], key, nulls, codes) for key in chunk})

    cells = spool(batches(), Path(folder), name)
    return {
        "cells": str(cells),
        "columns": {key: column.to_json() for key, column in seen.items()},
        "code_counts": codes.counts,
    }


def _refuse_others(
    first: dict[str, StoredColumn], other: dict[str, StoredColumn], package: Package, path: str, name: str
) -> None:
    """Refuse a file whose columns, or the meanings of their codes, differ from those of the first file."""
    if list(first) != list(other):
        raise InputError(f"{name}: {Path(path).name} has other columns than the first file")
    if differing := [key for key in first if first[key].meaning(package) != other[key].meaning(package)]:
        raise InputError(
            f"{name}: the types, labels, date formats, missing values or measurement levels in {Path(path).name} are "
            f"not those of the first file: {listed(differing)}; make them the same, or read the files one by one"
        )


def _chunks(
    read: Callable[..., Any], path: str, package: Package, name: str, memory: int, how: dict[str, Any]
) -> Iterator[tuple[dict[str, list[Any]], Any]]:
    """Yield the rows of one file as lists, in chunks that fit into an eighth of the memory."""
    most = _FEWEST_ROWS
    start, first = 0, True
    while True:
        try:
            if first:
                _, meta = read(path, metadataonly=True, **how)
                row = _BYTES_A_CELL * max(1, meta.number_columns)
                most = max(memory // 8 // row, min(_FEWEST_ROWS, memory // 2 // row), 1)
            chunk, meta = read(
                path, output_format="dict", disable_datetime_conversion=True, row_offset=start, row_limit=most, **how
            )
        except (InputError, MemoryError):
            raise
        except Exception as error:  # pyreadstat raises its own errors, those of codecs, of Python and of narwhals
            if _NO_MEMORY in str(error):
                raise MemoryError from None
            raise InputError(package.unreadable(name), hint="encoding") from None
        rows = len(next(iter(chunk.values()), ()))
        if rows or first:
            yield chunk, meta
        start, first = start + rows, False
        if rows < most:
            if isinstance(meta.number_rows, int) and 0 < start < meta.number_rows:
                raise InputError(f"{name} is cut short: {start:,} of its {meta.number_rows:,} rows are there")
            return


def _columns(meta: Any, catalogue: Mapping[str, Mapping[Any, str]], name: str) -> dict[str, StoredColumn]:
    if not meta.column_names:
        raise InputError(f"{name}: there are no columns")
    kinds, by_format = meta.readstat_variable_types, meta.variable_to_label
    labels = {key: catalogue.get(by_format.get(key, ""), {}) for key in meta.column_names} | meta.variable_value_labels
    return {
        key: StoredColumn(
            not kinds[key].startswith("string"),
            dict(labels[key]),
            meta.original_variable_types.get(key) or "",
            meta.variable_measure.get(key),
            meta.column_names_to_labels.get(key) or "",
            meta.missing_ranges.get(key) or [],
        )
        for key in meta.column_names
    }


def _cells(values: list[Any], column: StoredColumn, name: str, nulls: tuple[str, ...], codes: ColumnCodes) -> pa.Array:
    """A column of a chunk with nulls in place of missing codes, which are counted by kind."""
    if not column.numeric:
        cells = pa.array([value or None for value in values], pa.string())
    else:
        try:
            cells = pa.array(values, pa.float64())
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # letters stand for Stata's and SAS's kinds of missing values
            letters = Counter(value for value in values if isinstance(value, str))
            column.missing.update({_kind(column, letter): times for letter, times in letters.items()})
            cells = pa.array([None if isinstance(value, str) else value for value in values], pa.float64())
        cells = pc.if_else(pc.is_finite(cells), cells, None)
    gone = _missing(cells, column, nulls, codes.find(name, cells))
    if gone is not None:
        for entry in cells.filter(gone).value_counts().to_pylist():
            column.missing[_kind(column, entry["values"])] += entry["counts"]
        cells = pc.if_else(gone, pa.scalar(None, cells.type), cells)
    column.observe(cells)
    return cells


def _missing(cells: pa.Array, column: StoredColumn, nulls: tuple[str, ...], gone: pa.Array | None) -> pa.Array | None:
    """Mark the cells with a code for a missing value, except those that are `gone`; None if there is no such code."""
    codes: list[Any] = list(nulls)
    if column.numeric:
        codes = [float(word) for word in nulls if _is_number(word)]
    spans = [(span["lo"], span["hi"]) for span in column.ranges] + [(code, code) for code in codes]
    for low, high in spans:
        within = pc.and_(pc.greater_equal(cells, pa.scalar(low, cells.type)), pc.less_equal(cells, high))
        within = pc.fill_null(within, False)
        gone = within if gone is None else pc.or_(gone, within)
    return gone if gone is not None and pc.any(gone).as_py() else None


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def _kind(column: StoredColumn, code: Any) -> str:
    """The reason why a value is missing: the label of its code, or the code."""
    return column.labels.get(code) or (f".{code}" if column.numeric and isinstance(code, str) else code_text(code))
