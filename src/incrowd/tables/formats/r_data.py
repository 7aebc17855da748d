"""R files: one object in a .rds, several in a .rda or .RData; data frames are read whole."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.backends.counts import refuse_repeated
from incrowd.backends.scales import Scale
from incrowd.errors import InputError
from incrowd.tables.file_codebook import FileCodebook, label_texts
from incrowd.tables.formats.file_format import (
    FileContents,
    FileFormat,
    ReadOptions,
    choose_member,
    describe_others,
    require_package,
)
from incrowd.tables.formats.limited_reading import load_limited, save_cells

_BYTES_A_SECOND = 20_000  # slowest reading that is allowed; files are compressed, and texts are parsed one by one
_UNREADABLE = "{name} cannot be read as an R file; it may be damaged or cut short"


def open_r(paths: list[str], name: str, options: ReadOptions) -> FileContents:
    """Read one data frame; factors become text, and ordered factors keep the order of their levels.

    A child process with limited memory reads it, because a file of some KB can unpack to many GB.
    """
    require_package("rdata", name)
    rows, metadata = load_limited(
        copy_frame,
        *(paths[0], name, options.sheet, options.encoding),
        paths=paths,
        name=name,
        options=options,
        bytes_a_second=_BYTES_A_SECOND,
        unreadable=_UNREADABLE.format(name=name),
        advice="an R file is read whole; save it as CSV or Parquet, or give more memory",
        imports=("rdata",),
    )
    codebook = FileCodebook(
        metadata["descriptions"],
        {column: dict(texts) for column, texts in metadata["value_labels"]},
        scales={column: Scale(kind, tuple(levels)) for column, kind, levels in metadata["scales"]},
    )
    return FileContents(
        rows, metadata["notes"], codebook=codebook, not_counted=metadata["not_counted"], members=metadata["members"]
    )


def copy_frame(path: str, name: str, sheet: str | int | None, encoding: str | None, file: str) -> dict[str, Any]:
    """Write one data frame as an Arrow file and return its metadata; runs in a process that may crash."""
    frame, members, not_counted = _frame(path, name, sheet, encoding)
    contents = _contents(frame, name)
    assert isinstance(contents.rows, pa.Table)
    save_cells(contents.rows, file)
    codebook = contents.codebook
    return {
        "notes": contents.notes,
        "not_counted": not_counted,
        "members": members,
        "descriptions": codebook.descriptions,
        "value_labels": [(column, list(texts.items())) for column, texts in codebook.value_labels.items()],
        "scales": [(column, scale.kind, scale.levels) for column, scale in codebook.scales.items()],
    }


def _frame(path: str, name: str, sheet: str | int | None, encoding: str | None) -> tuple[_Frame, list[str], list[str]]:
    """Return the requested data frame, the names of all of them, and the other contents of the file."""
    rdata = require_package("rdata", name)
    classes = {
        **rdata.conversion.DEFAULT_CLASS_MAP,
        "data.frame": _Frame,
        "factor": _Factor,
        "ordered": _OrderedFactor,
        "Date": _Days,
        "POSIXct": _Seconds,
        "haven_labelled": _Labelled,
        "difftime": _Plain,
    }
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on classes of objects that are no data frames
            parsed = rdata.parser.parse_file(path, extension=None)
            converted = rdata.conversion.convert(parsed, classes, default_encoding=encoding or "utf-8")
    except MemoryError:
        raise
    except Exception:  # the parser raises any Python error
        raise InputError(_UNREADABLE.format(name=name)) from None
    objects = converted if isinstance(converted, dict) else {"": converted}
    frames = {key: value for key, value in objects.items() if isinstance(value, _Frame)}
    if not frames:
        raise InputError(f"{name} holds no data frame; save one with saveRDS() or save()")
    wanted = choose_member(list(frames), sheet, name, "data frame")
    return frames[wanted], list(frames), describe_others(list(objects), wanted, "object")


class _NotPlainError(ValueError):
    """A column that is a list, a matrix or complex numbers."""


class _Plain:
    """A vector with its attributes."""

    def __init__(self, values: Any, attributes: Mapping[str, Any]) -> None:
        self.values, self.attributes = values, attributes

    def column(self) -> pa.Array:
        """The values as Arrow."""
        return _vector(self.values)


class _Frame(_Plain):
    """A data frame: a list of columns."""


class _Factor(_Plain):
    """Codes from 1 and their levels."""

    def column(self) -> pa.Array:
        codes, levels = _vector(self.values), pa.array(self.levels, pa.string())
        if len(codes) > codes.null_count and not min(codes.drop_null().to_pylist()) >= 1:
            raise ValueError("a code below 1")
        places = pa.array([None if code is None else code - 1 for code in codes.to_pylist()], pa.int32())
        return levels.take(places)  # raises where a code has no level

    @property
    def levels(self) -> list[str]:
        """The levels, in their order."""
        return [str(level) for level in self.attributes["levels"]]


class _OrderedFactor(_Factor):
    """A factor whose levels have an order."""


class _Days(_Plain):
    """Dates, as days since 1970."""

    def column(self) -> pa.Array:
        return _vector(np.floor(np.ma.asarray(self.values, dtype=float))).cast(pa.int32()).cast(pa.date32())


class _Seconds(_Plain):
    """Times, as seconds since 1970."""

    def column(self) -> pa.Array:
        ticks = np.ma.asarray(self.values, dtype=float) * 1e6
        zone = self.attributes.get("tzone")
        named = str(zone[0]) if zone is not None and len(zone) and zone[0] else None
        return _vector(np.round(ticks)).cast(pa.int64()).cast(pa.timestamp("us", named))


class _Labelled(_Plain):
    """Codes with labels, as in the R package haven."""

    def column(self) -> pa.Array:
        codes = _vector(self.values)
        texts = self.texts(codes)
        return codes if texts is None else pa.array([texts.get(code) for code in codes.to_pylist()], pa.string())

    def texts(self, codes: pa.Array) -> dict[Any, str] | None:
        """The label of every code that occurs; None if some codes have none."""
        labels = self.attributes.get("labels")
        if labels is None:
            return None
        names = labels.coords["dim_0"].values.tolist()  # a vector with names
        known = dict(zip(np.asarray(labels).tolist(), map(str, names), strict=True))
        used = codes.unique().drop_null().to_pylist()
        return label_texts(known, sorted(used)) if used and set(used) <= set(known) else None


def _vector(values: Any) -> pa.Array:
    """Convert an R vector to Arrow: NA and NaN are null; doubles become integers if all are whole numbers."""
    if isinstance(values, np.ma.MaskedArray):
        return pa.array(values.data, mask=np.ma.getmaskarray(values) | _nan(values.data), from_pandas=True)
    if isinstance(values, list | dict | _Plain):
        raise _NotPlainError
    array = np.asarray(getattr(values, "values", values))
    if array.ndim == 1 and array.dtype.kind in "OUS":
        return pa.array([None if value is None else str(value) for value in array.tolist()], pa.string())
    if array.ndim != 1 or array.dtype.kind not in "biuf":
        raise _NotPlainError
    return pa.array(array, from_pandas=True)


def _nan(values: Any) -> Any:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)


def _contents(frame: _Frame, name: str) -> FileContents:
    columns: dict[str, pa.Array] = {}
    value_labels, scales, descriptions = {}, {}, {}
    set_aside: list[str] = []
    refuse_repeated([str(key) for key in frame.values], name)
    for key, value in ((str(key), value) for key, value in frame.values.items()):
        vector = value if isinstance(value, _Plain) else _Plain(value, {})
        try:
            columns[key] = _whole(vector.column())
        except _NotPlainError:
            set_aside.append(key)
            continue
        except MemoryError:  # Arrow's is an ArrowException too
            raise
        except (ValueError, TypeError, KeyError, IndexError, pa.ArrowException):
            raise InputError(f"{name}: column {key!r} holds values that do not fit its class; it is damaged") from None
        if isinstance(vector, _OrderedFactor):
            scales[key] = Scale("ordered", tuple(vector.levels))
        if isinstance(vector, _Labelled) and (texts := vector.texts(_vector(vector.values))) is not None:
            value_labels[key] = texts
        described = vector.attributes.get("label")
        if described is not None:
            descriptions[key] = str(np.asarray(described).ravel()[0])
    notes = [f"labels are shown in place of codes: {', '.join(value_labels)}"] if value_labels else []
    if set_aside:
        notes.append(f"set aside, because they are no plain vectors: {', '.join(set_aside)}")
    try:
        rows = pa.table(columns)
    except (pa.ArrowInvalid, ValueError):
        raise InputError(f"{name}: the columns of the data frame differ in length; it may be damaged") from None
    return FileContents(rows, notes, codebook=FileCodebook(descriptions, value_labels, scales=scales))


def _whole(column: pa.Array) -> pa.Array:
    """Convert doubles to integers if all of them are whole numbers."""
    if not pa.types.is_floating(column.type) or len(column) == column.null_count:
        return column
    values = column.drop_null().to_numpy(zero_copy_only=False)
    exact = np.isfinite(values).all() and (np.floor(values) == values).all() and np.abs(values).max() <= 2.0**53
    return column.cast(pa.int64()) if exact else column


FORMAT = FileFormat(
    description="R files",
    extensions=(".rds", ".rda", ".rdata"),
    open=open_r,
    options=("encoding", "sheet"),
)
