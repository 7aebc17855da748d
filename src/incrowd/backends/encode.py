"""Dictionary encoding: every column becomes an array of small whole numbers (codes) and its distinct values."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends.arrow_columns import is_text
from incrowd.backends.scales import Scale, ScaleKind, scale_of_type
from incrowd.errors import InputError

_LARGE = 1 << 26  # bytes; the memory of larger columns is returned to the system after encoding
_MANY_ROWS = 10_000  # from this number of rows on, the next columns are encoded by threads
_DIRECT = 1 << 24  # widest range of whole numbers that is encoded by a lookup table instead of hashing


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Coded:
    """A dictionary-encoded column: row i has the value `values[codes[i]]`.

    `values` are distinct and in ascending order, or in the order of the scale's levels, so codes compare as the values
    do. A null, if there is one, is the last value. `stated` is the scale that the user stated, if any.
    """

    name: str
    codes: NDArray[Any]
    values: pa.Array
    stated: Scale | None = None

    @property
    def size(self) -> int:
        """Number of distinct values, null included."""
        return len(self.values)

    @property
    def has_null(self) -> bool:
        """True if the last value is the null."""
        return bool(self.values.null_count)

    @property
    def filled_size(self) -> int:
        """Number of distinct values without the null; smaller codes are values, a code of this size is the null."""
        return self.size - self.has_null

    @property
    def is_text(self) -> bool:
        """True if the values are texts."""
        return is_text(self.values.type)

    @property
    def tally(self) -> NDArray[np.int64]:
        """Number of rows of each value; the last number is that of the null, if there is one."""
        return np.bincount(self.codes, minlength=self.size)

    @property
    def is_filled(self) -> NDArray[np.bool_]:
        """Mask of the rows that are not null."""
        return np.asarray(self.codes < self.filled_size)

    @property
    def scale(self) -> ScaleKind:
        """Scale of the values: as stated, or else by their type."""
        return (self.stated or scale_of_type(self.values.type)).kind

    @property
    def has_distances(self) -> bool:
        """True if the values are numbers, dates or times, so that classes are intervals.

        Numbers on an ordered scale count as well: an interval of them says as much as a set.
        """
        quantity = scale_of_type(self.values.type).kind in ("numeric", "date")
        return quantity and self.scale in ("numeric", "date", "ordered")

    @property
    def has_order(self) -> bool:
        """True if values have an order, so that differences of ranks are distances."""
        return self.scale in ("ordered", "numeric", "date")

    def take(self, rows: NDArray[Any] | slice) -> Coded:
        """The column with some of its rows only; its values stay the same."""
        return replace(self, codes=self.codes[rows])


class EncodableColumns(Protocol):
    """Source of columns to encode: a table or a backend."""

    @property
    def name(self) -> str:
        """Name in messages."""

    @property
    def memory(self) -> int:
        """Memory limit in bytes."""

    @property
    def rows(self) -> int:
        """Number of rows."""

    @property
    def encoded(self) -> dict[str, Coded]:
        """Cache of encoded columns."""

    @property
    def scales(self) -> Mapping[str, Scale]:
        """Scales that differ from the default scale of the column's type."""

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        """Return the names as a list; raise an error if one does not exist."""

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The named columns, one at a time."""


def encode(table: EncodableColumns, names: Sequence[str]) -> list[Coded]:
    """Encode columns as small whole numbers.

    Args:
        table: a table or a backend.
        names: the columns.

    >>> from incrowd import read_table
    >>> encode(read_table({"a": ["x", "y", "x"]}), ["a"])[0].codes.tolist()
    [0, 1, 0]
    """
    return list(encode_each(table, names))


def encode_each(table: EncodableColumns, names: Sequence[str]) -> Iterator[Coded]:
    """Encode columns one after the other; threads encode the next columns while the caller uses one.

    Encoded columns are cached in `table.encoded`, unless the codes would take more than a quarter of the memory limit.

    Args:
        table: a table or a backend.
        names: the columns.
    """
    wanted = table.require(names)
    if not table.rows:
        raise InputError(f"{table.name} has columns but no rows")
    cached = table.encoded
    fits_cache = table.rows * 4 * (len(wanted) + len(cached)) <= table.memory / 4

    def encoded(name: str, columns: Iterator[tuple[str, pa.ChunkedArray]] | None = None) -> Coded:
        coded = cached.get(name) if columns is None else None
        if coded is None:
            _, column = next(columns or table.read([name]))
            coded, large = encode_column(name, column, table.scales.get(name)), column.nbytes > _LARGE
            del column
            if large:
                pa.default_memory_pool().release_unused()  # the pool would keep gigabytes for reuse
            if fits_cache:
                cached[name] = coded
        return coded

    new = [name for name in wanted if name not in cached]
    # for few rows or cached columns, starting threads and opening the file for each column would take longer
    if table.rows < _MANY_ROWS or not new:
        columns, is_new = table.read(new) if new else iter(()), {*new}
        yield from (encoded(name, columns if name in is_new else None) for name in wanted)
        return
    with ThreadPoolExecutor(2) as pool:
        ahead = deque(pool.submit(encoded, name) for name in wanted[:2])
        for position in range(len(wanted)):
            yield ahead.popleft().result()
            if position + 2 < len(wanted):
                ahead.append(pool.submit(encoded, wanted[position + 2]))


def encode_column(name: str, column: pa.ChunkedArray, scale: Scale | None = None) -> Coded:
    """One Arrow column as codes, with the scale that was stated for it."""
    if scale is not None:
        plain = encode_column(name, column)
        return replace(_by_levels(plain, scale.levels) if scale.levels else plain, stated=scale)

    if pa.types.is_nested(column.type):
        raise InputError(f"column {name!r} holds lists or records; give columns of single values")
    if pa.types.is_integer(column.type) and len(column) > column.null_count:
        coded = _encode_whole_numbers(name, column)
        if coded is not None:
            return coded
    return _encode_by_hash(name, column)


def _encode_whole_numbers(name: str, column: pa.ChunkedArray) -> Coded | None:
    """Encode whole numbers by a lookup table over their range; None if the range is too wide."""
    from incrowd.backends import kernels

    limits = pc.min_max(column)
    low, high = limits["min"].as_py(), limits["max"].as_py()
    width = high - low + 1
    if width > min(_DIRECT, max(1 << 16, 4 * len(column))) or high >= 2**63:
        return None
    seen = np.zeros(width, dtype=np.bool_)
    parts = [_filled(chunk, low) for chunk in column.chunks if len(chunk)]
    for values, missing in parts:
        kernels.mark(values, missing, low, seen)
    present = np.flatnonzero(seen)
    distinct = present.size + bool(column.null_count)
    position = np.zeros(width, dtype=code_type(distinct))
    position[present] = np.arange(present.size)
    codes = np.empty(len(column), dtype=position.dtype)
    start = 0
    for values, missing in parts:
        kernels.look_up(values, missing, low, position, present.size, codes[start : start + values.size])
        start += values.size
    distinct_values = pa.array(present + low, pa.int64()).cast(column.type)
    return Coded(name, codes, _with_null(distinct_values) if column.null_count else distinct_values)


def _filled(chunk: pa.Array, low: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A chunk as numpy with nulls replaced by `low`, and the mask of its nulls (an empty array if there are none)."""
    missing = np.empty(0, dtype=np.bool_)
    if chunk.null_count:
        missing = chunk.is_null().to_numpy(zero_copy_only=False)
        chunk = chunk.fill_null(low)
    values = chunk.to_numpy()
    return values.view(np.int64) if values.dtype == np.uint64 else values, missing


def _encode_by_hash(name: str, column: pa.ChunkedArray) -> Coded:
    """Encode any type by Arrow's dictionary encoding, then sort the dictionary."""
    dictionaries = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = dictionaries.unify_dictionaries().chunks
    raw = chunks[0].dictionary
    wide = pa.int64() if len(raw) >= 1 << 31 else pa.int32()  # the code of the null may not fit the indices' own type
    parts = [chunk.indices.cast(wide).fill_null(len(raw)).to_numpy(zero_copy_only=False) for chunk in chunks]
    seen = np.zeros(len(raw) + 1, dtype=np.bool_)
    for numbers in parts:
        seen[numbers] = True
    used = np.flatnonzero(seen)
    has_null = bool(seen[-1])
    entries = raw.take(pa.array(used[: used.size - has_null], pa.int64()))
    distinct, order = _in_order(entries)
    rank = np.append(order, len(distinct)) if has_null else order
    codes_of = np.zeros(len(raw) + 1, dtype=code_type(len(distinct) + has_null))
    codes_of[used] = rank
    codes = np.concatenate([codes_of[numbers] for numbers in parts])
    return Coded(name, codes, _with_null(distinct) if has_null else distinct)


def _by_levels(coded: Coded, levels: Sequence[str]) -> Coded:
    """The column with its values in the order of the levels; raises InputError for a value that is not a level."""
    filled = coded.values.slice(0, coded.filled_size)
    places = pc.index_in(filled.cast(pa.string()), value_set=pa.array(levels, pa.string()))
    if places.null_count:
        raise InputError(
            f"{coded.name!r} has {places.null_count:,} values that are none of its {len(levels):,} levels; name all",
            hint="scales",
        )
    order = pc.sort_indices(places)
    rank = np.empty(coded.size, dtype=coded.codes.dtype)
    rank[order.to_numpy()] = np.arange(len(filled))
    if coded.has_null:
        rank[-1] = len(filled)
    values = filled.take(order)
    return replace(coded, codes=rank[coded.codes], values=_with_null(values) if coded.has_null else values)


def _in_order(entries: pa.Array) -> tuple[pa.Array, NDArray[np.int64]]:
    """Distinct entries in ascending order, and the rank of each entry among them (-0.0 is 0.0)."""
    if pa.types.is_floating(entries.type):
        entries = pc.add(entries, pa.scalar(0.0, entries.type))
    distinct = entries.unique()
    distinct = distinct.take(pc.sort_indices(distinct))
    return distinct, pc.index_in(entries, value_set=distinct).to_numpy(zero_copy_only=False).astype(np.int64)


def _with_null(values: pa.Array) -> pa.Array:
    return pa.concat_arrays([values, pa.nulls(1, values.type)])


def codes_among(column: Coded, values: pa.Array) -> NDArray[Any]:
    """Convert the codes of some rows to codes of the whole table's values.

    Args:
        column: some rows of a column.
        values: the values of the column in the whole table, in order.

    Raises:
        InputError: a row has another value, because the table changed.
    """
    try:
        place = pc.index_in(column.values.cast(values.type), value_set=values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        place = pa.nulls(1)
    if place.null_count:
        raise InputError(
            f"{column.name} has a value that was not there when its values were counted: the table changed while it "
            "was read, or gives other rows each time; write it to a file and give that"
        )
    codes: NDArray[Any] = place.to_numpy().astype(code_type(len(values)))[column.codes]
    return codes


def code_type(size: int) -> Any:
    """The smallest unsigned type for `size` different codes."""
    return np.uint8 if size <= 1 << 8 else np.uint16 if size <= 1 << 16 else np.uint32
