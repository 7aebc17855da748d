"""Writing of files for statistics packages with pyreadstat: codes with labels, numbers, text and dates."""

from __future__ import annotations

import errno
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from incrowd.backends.arrow_columns import is_text, value_type
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.formats.file_format import require_package
from incrowd.tables.formats.statistics_files import MOST_EXACT
from incrowd.wording import listed


def write_statistics(
    writer: str,
    table: pa.Table,
    file: Path,
    codebook: FileCodebook,
    *,
    longest_label: int = 0,
    **how: Any,
) -> None:
    """Write a table with pyreadstat; columns that were read with value labels get their codes and labels again.

    Labels of values that no longer occur are left out. New values get codes after the known ones.

    Args:
        codebook: descriptions and labels of the columns as they were read.
        longest_label: largest number of bytes of a label; 0 if the format has no labels.
    """
    write = getattr(require_package("pyreadstat", file.name), writer)
    columns: dict[str, Any] = {}
    labels: dict[str, dict[Any, str]] = {}
    for key, column in zip(table.column_names, table.columns, strict=True):
        coded = _as_codes(column, codebook.value_labels.get(key, {}), longest_label)
        if coded is not None:
            column, labels[key] = coded
        columns[key] = _as_series(key, column)
    if labels:
        how["variable_value_labels"] = labels
    descriptions = {key: text for key, text in codebook.descriptions.items() if key in columns}
    require_package("pandas", file.name)
    import pandas as pd

    try:
        write(pd.DataFrame(columns), str(file), column_labels=descriptions or None, **how)
    except Exception as error:
        if "unable to write" in str(error).lower():
            raise OSError(errno.EIO, "the disk may be full, or may take no file so large") from None
        what = "the name of" if "name" in str(error).lower() else "the cells of"
        refused = [repr(key) for key in columns if not _is_written(write, pd.DataFrame({key: columns[key]}), file)]
        raise InputError(
            f"{file.suffix} files cannot hold {what} {listed(refused) or 'all columns together'}; use plain names of "
            "letters, digits and _, and numbers, text or dates, or write Parquet"
        ) from None


def _is_written(write: Callable[..., None], column: Any, file: Path) -> bool:
    """True if pyreadstat can write a column by itself."""
    try:
        write(column, str(file))
    except Exception:
        return False
    return True


def _as_codes(
    column: pa.ChunkedArray, known: Mapping[Any, str], longest: int
) -> tuple[pa.Array, dict[Any, str]] | None:
    """A labelled column as codes and the labels in use; None if it has no labels or too long ones."""
    if (
        not known
        or not longest
        or not pa.types.is_string(value_type(column.type))
        or any(isinstance(code, str) for code in known)
    ):
        return None
    texts = column.cast(pa.string()).combine_chunks()
    used = texts.unique().drop_null().to_pylist()
    if any(len(text.encode()) > longest for text in used):
        return None
    code_of = {text: float(code) for code, text in known.items()}
    following = math.floor(max(code_of.values())) + 1
    for text in sorted(text for text in used if text not in code_of):
        code_of[text] = float(following)
        following += 1
    labels = {code_of[text]: text for text in sorted(used, key=lambda text: code_of[text])}
    places = pc.index_in(texts, value_set=pa.array(list(labels.values()), pa.string()))
    return pa.array(list(labels), pa.float64()).take(places), labels


def _as_series(name: str, column: Any) -> Any:
    """A column in the form pyreadstat takes: floats, texts, dates."""
    kind = value_type(column.type)
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise InputError(f"column {name!r} holds {kind}, which files of statistics packages cannot; leave it out")
    if is_text(kind):
        return np.array(column.cast(pa.string()).fill_null("").to_pylist(), dtype=object)
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us")).to_pandas()
    if pa.types.is_temporal(kind):
        return np.array(column.to_pylist(), dtype=object)
    if pa.types.is_integer(kind) and _beyond(column):
        return np.array([None if cell is None else str(cell) for cell in column.to_pylist()], dtype=object)
    if pa.types.is_integer(kind) and not column.null_count:
        return column.to_pandas().astype("float64" if column.type.bit_width > 32 else None)
    return column.cast(pa.float64()).to_pandas()


def _beyond(column: Any) -> bool:
    """True if a double cannot hold all whole numbers of a column."""
    limits = pc.min_max(column)
    return bool(limits["min"].is_valid) and max(abs(limits["min"].as_py()), abs(limits["max"].as_py())) > MOST_EXACT
