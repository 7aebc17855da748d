"""Files of statistics packages, read with pyreadstat: value labels, missing codes, dates.

SPSS, Stata and SAS store numbers as doubles, dates as numbers with a format, and categories as codes with labels. A
file is copied in chunks, unchanged, into a private Parquet file. The conversion of each column is decided after all
cells were seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.duckdb_backend import Conversion, Workspace
from incrowd.backends.scales import Scale
from incrowd.backends.spool import spool, spooled_rows
from incrowd.errors import InputError
from incrowd.tables.conversions import LabelConversion, Temporal, TemporalConversion, WholeConversion
from incrowd.tables.file_codebook import FileCodebook, code_text, label_texts
from incrowd.tables.formats.file_format import FileContents, ReadOptions, require_package
from incrowd.tables.missing_codes import ColumnCodes
from incrowd.wording import listed

_BYTES_A_CELL = 80  # of a chunk: the Python value and its place in a list, and the Arrow cell
_FEWEST_ROWS = 20_000  # of a chunk
_MOST_CODES = 2_000  # a column with more different codes is a quantity
MOST_EXACT = 2.0**53  # up to it a double holds every whole number


@dataclass(frozen=True, slots=True)
class Package:
    """Conventions of one statistics package.

    Attributes:
        description: its files, in the plural, for messages.
        origin: day 0 of its dates.
        temporal: maps a format to date, timestamp or time, and to the seconds of one unit.
    """

    description: str
    origin: date
    temporal: Callable[[str], tuple[Temporal, float] | None]


@dataclass(slots=True)
class _Column:
    """Findings about a column, collected over its chunks."""

    numeric: bool
    labels: Mapping[Any, str]
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


def open_statistics(
    reader: str,
    package: Package,
    paths: list[str],
    name: str,
    options: ReadOptions,
    catalogue: Mapping[str, Mapping[Any, str]] | None = None,
    **how: Any,
) -> FileContents:
    """Read files of one table, in chunks, into a private Parquet file.

    Args:
        reader: the name of the function of pyreadstat.
        package: the statistics package of the files.
        paths: the files; all have the same columns, labels, formats and missing ranges, or they are refused.
        name: how messages call the table.
        options: encoding and missing values.
        catalogue: value labels by the name of a format, from another file.
        how: further keywords of the function.
    """
    read = getattr(require_package("pyreadstat", name), reader)
    workspace = options.workspace or Workspace(options.memory)
    if options.encoding is not None:
        how["encoding"] = options.encoding
    seen: dict[str, _Column] = {}
    codes = ColumnCodes(options.missing.by_column)
    first: Any = None

    def batches() -> Iterator[pa.Table]:
        nonlocal first
        for path in paths:
            checked = False
            for chunk, meta in _chunks(read, path, package, name, options, how):
                if not checked:
                    columns = _columns(meta, catalogue or {}, name)
                    if first is None:
                        first = meta
                        seen.update(columns)
                    _refuse_others(_meanings(seen, first, package), _meanings(columns, meta, package), path, name)
                    checked = True
                yield pa.table({key: _cells(chunk[key], seen[key], key, meta, options, codes) for key in chunk})

    cells = spool(batches(), workspace.folder, name)
    contents = _contents(cells, workspace, seen, first, package, name, options)
    return replace(contents, code_counts=codes.counts)


def _meanings(columns: dict[str, _Column], meta: Any, package: Package) -> dict[str, tuple[Any, ...]]:
    """Metadata that defines the meaning of each column's cells; without text widths and decimals."""
    return {
        key: (
            column.numeric,
            column.labels,
            package.temporal(meta.original_variable_types.get(key) or ""),
            meta.missing_ranges.get(key) or [],
            meta.variable_measure.get(key),
        )
        for key, column in columns.items()
    }


def _refuse_others(first: dict[str, tuple[Any, ...]], other: dict[str, tuple[Any, ...]], path: str, name: str) -> None:
    """Refuse a file whose columns, or the meanings of their codes, differ from those of the first file."""
    if list(first) != list(other):
        raise InputError(f"{name}: {Path(path).name} has other columns than the first file")
    if differing := [key for key in first if first[key] != other[key]]:
        raise InputError(
            f"{name}: the types, labels, date formats, missing values or measurement levels in {Path(path).name} are "
            f"not those of the first file: {listed(differing)}; make them the same, or read the files one by one"
        )


def _chunks(
    read: Callable[..., Any], path: str, package: Package, name: str, options: ReadOptions, how: dict[str, Any]
) -> Iterator[tuple[dict[str, list[Any]], Any]]:
    """Yield the rows of one file as lists, in chunks that fit into an eighth of the memory."""
    most = _FEWEST_ROWS
    start, first = 0, True
    while True:
        try:
            if first:
                _, meta = read(path, metadataonly=True, **how)
                most = max(_FEWEST_ROWS, options.memory // 8 // (_BYTES_A_CELL * max(1, meta.number_columns)))
            chunk, meta = read(
                path, output_format="dict", disable_datetime_conversion=True, row_offset=start, row_limit=most, **how
            )
        except InputError:
            raise
        except Exception:  # pyreadstat raises its own errors, those of codecs, of Python and of narwhals
            raise InputError(
                f"{name} cannot be read as one of the {package.description}; it may be damaged, cut short or in "
                "another encoding",
                hint="encoding",
            ) from None
        rows = len(next(iter(chunk.values()), ()))
        if rows or first:
            yield chunk, meta
        start, first = start + rows, False
        if rows < most:
            if isinstance(meta.number_rows, int) and 0 < start < meta.number_rows:
                raise InputError(f"{name} is cut short: {start:,} of its {meta.number_rows:,} rows are there")
            return


def _columns(meta: Any, catalogue: Mapping[str, Mapping[Any, str]], name: str) -> dict[str, _Column]:
    if not meta.column_names:
        raise InputError(f"{name}: there are no columns")
    kinds, by_format = meta.readstat_variable_types, meta.variable_to_label
    labels = {key: catalogue.get(by_format.get(key, ""), {}) for key in meta.column_names} | meta.variable_value_labels
    return {key: _Column(not kinds[key].startswith("string"), labels[key]) for key in meta.column_names}


def _cells(
    values: list[Any], column: _Column, name: str, meta: Any, options: ReadOptions, codes: ColumnCodes
) -> pa.Array:
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
    stated = codes.find(name, cells)
    gone = _missing(cells, column, meta.missing_ranges.get(name, ()), options.missing.everywhere, stated)
    if gone is not None:
        for entry in cells.filter(gone).value_counts().to_pylist():
            column.missing[_kind(column, entry["values"])] += entry["counts"]
        cells = pc.if_else(gone, pa.scalar(None, cells.type), cells)
    column.observe(cells)
    return cells


def _missing(
    cells: pa.Array, column: _Column, ranges: Any, nulls: tuple[str, ...], gone: pa.Array | None
) -> pa.Array | None:
    """Mark the cells with a code for a missing value, except those that are `gone`; None if there is no such code."""
    codes: list[Any] = list(nulls)
    if column.numeric:
        codes = [float(word) for word in nulls if _is_number(word)]
    spans = [(span["lo"], span["hi"]) for span in ranges] + [(code, code) for code in codes]
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


def _kind(column: _Column, code: Any) -> str:
    """The reason why a value is missing: the label of its code, or the code."""
    return column.labels.get(code) or (f".{code}" if column.numeric and isinstance(code, str) else code_text(code))


def _contents(
    cells: Path,
    workspace: Workspace,
    seen: dict[str, _Column],
    meta: Any,
    package: Package,
    name: str,
    options: ReadOptions,
) -> FileContents:
    """The table of the private file, with labels, dates and whole numbers in place of stored values."""
    conversions: dict[str, Conversion] = {}
    shown: dict[str, dict[Any, str]] = {}
    scales: dict[str, Scale] = {}
    partly: list[str] = []
    formats = {column: text for column, text in meta.original_variable_types.items() if text}
    for key, column in seen.items():
        measure = meta.variable_measure.get(key)
        labelled = column.codes is not None and bool(column.codes) and column.codes <= set(column.labels)
        if labelled:
            assert column.codes is not None
            texts = label_texts(column.labels, sorted(column.codes))
            shown[key] = texts
            conversions[key] = LabelConversion(texts, pa.float64() if column.numeric else pa.string())
            if measure == "ordinal":
                scales[key] = Scale("ordered", tuple(texts.values()))
            continue
        if column.codes and any(code in column.labels for code in column.codes):
            partly.append(key)
        if column.numeric:
            conversion = _number_conversion(column, package, formats.get(key, ""))
            if conversion is not None:
                conversions[key] = conversion
            if not isinstance(conversion, TemporalConversion) and measure in ("nominal", "ordinal"):
                scales[key] = Scale("nominal" if measure == "nominal" else "ordered")
    notes = [f"labels are shown in place of codes: {listed(shown)}"] if shown else []
    if partly:
        notes.append(f"only some values have labels, so the codes are kept: {listed(partly)}")
    missing = {key: dict(column.missing) for key, column in seen.items() if column.missing}
    if missing:
        notes.append(f"codes for missing values are read as missing: {listed(missing)}")
    descriptions = {key: text for key, text in meta.column_names_to_labels.items() if text}
    rows = spooled_rows([cells], name=name, memory=options.memory, workspace=workspace, conversions=conversions)
    unused = tuple(key for key, column in seen.items() if set(column.labels) - (column.codes or set()))
    several = [key for key, kinds in missing.items() if len(kinds) > 1]
    return FileContents(
        rows,
        notes,
        codebook=FileCodebook(descriptions, shown, missing, scales, formats, unused),
        not_counted=[f"codes that were read as one missing value in {listed(several)}"] if several else [],
    )


def _number_conversion(column: _Column, package: Package, written: str) -> Conversion | None:
    """The conversion of a number column: dates and times by their format, integers if all numbers are whole."""
    if column.low > column.high:
        return None  # nothing but missing values
    temporal = package.temporal(written)
    if temporal is not None:
        conversion = TemporalConversion(*temporal, package.origin)
        if conversion.fits(column.low, column.high):
            return conversion
    whole = column.whole and max(abs(column.low), abs(column.high)) <= MOST_EXACT
    return WholeConversion() if whole else None
