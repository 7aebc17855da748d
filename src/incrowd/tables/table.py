"""A table at rest: where it is, what its columns are; values are read when they are asked for."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from incrowd._support.addresses import masked
from incrowd.errors import ColumnNotFoundError, InputError, UnsupportedError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa

_MEMORY_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


_BYTES_A_CELL = 24  # of a row that is brought out of a cluster


class Reader(Protocol):
    """What a source of rows must be able to do."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        ...

    def rows(self) -> int:
        """How many rows there are."""
        ...

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The named columns, one at a time, all in the same row order."""
        ...

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …, as a relation that an engine can group without bringing them here."""
        ...

    def beside(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A few rows as a relation of the same engine, to be joined with its own."""
        ...

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """About how much memory counting by these columns takes; None where the rows are in memory already."""
        ...

    def confirm(self) -> None:
        """Stop if the rows are not the ones they were when the table was opened."""
        ...


class Table:
    """Rows about people, from a file or from a frame the caller holds.

    `source` is the file's path as it was given, or an address without its credentials, and `native` the caller's own
    frame, whichever there is; `notes` tell what happened while reading that a user should know; `memory` is the limit
    in bytes that work on it keeps to.
    `engine` says where it is counted: "memory" where columns are read here, "frame" where a lazy frame groups them
    itself, "cluster" where rows stay in Spark: only counts come here, and rows only of a small table, "database" where
    a database groups them until they are copied. `named` is how a command line names the table, without credentials,
    and `written` what of a text file's ways (decimal commas, …) is lost when it is written again.
    """

    __slots__ = (
        "__weakref__",
        "_reader",
        "_rows",
        "columns",
        "engine",
        "memory",
        "name",
        "named",
        "native",
        "notes",
        "source",
        "written",
    )

    def __init__(
        self,
        reader: Reader,
        *,
        name: str,
        memory: int,
        native: Any = None,
        source: str | None = None,
        notes: Iterable[str] = (),
        engine: str = "memory",
        named: Sequence[str] = (),
        written: str = "",
    ) -> None:
        self._reader = reader
        self._rows: int | None = None
        self.name = name
        self.columns = reader.columns
        self.memory = memory
        self.native = native
        self.source = None if source is None else masked(source)  # a path as it is; an address without its credentials
        self.notes = tuple(notes)
        self.engine = engine
        self.named = tuple(named) or (self.source or "TABLE",)
        self.written = written
        refuse_repeated(self.columns, name)
        if not self.columns:
            raise InputError(f"{name}: there are no columns")

    @property
    def rows(self) -> int:
        """How many rows there are; counted once."""
        if self._rows is None:
            self._rows = self._reader.rows()
        return self._rows

    def is_at(self, place: str | os.PathLike[str]) -> bool:
        """Whether a path is the file that the table is read from, or one of its parts."""
        return os.path.exists(place) and any(os.path.samefile(part, place) for part in _files(self.source))

    def require(self, names: Sequence[str], what: str = "columns") -> list[str]:
        """The names, if all exist, none is repeated and there is one at least; else an error that lists what exists."""
        if isinstance(names, str):
            raise InputError(f"{what} must be a list of column names, not one text; write [{names!r}]")
        wanted = list(names)
        existing = set(self.columns)
        missing = [name for name in wanted if name not in existing]
        if missing:
            raise ColumnNotFoundError.of(missing, self.columns)
        if len(set(wanted)) < len(wanted):
            twice = sorted({name for name in wanted if wanted.count(name) > 1})
            raise InputError(f"{what} named more than once: {', '.join(twice)}; name each once")
        if not wanted:
            raise InputError(f"no {what} given; the table has: {', '.join(self.columns[:30])}")
        return wanted

    def read(self, names: Sequence[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
        """The named columns as Arrow, one at a time, all in the same row order; a NaN is a null."""
        wanted = self.require(names)
        if self.engine == "cluster":
            self._check_small()
        for name, column in self._reader.read(wanted):
            yield name, _plain(column)

    def _check_small(self) -> None:
        """Refuse to bring a table out of its cluster that is more than a quarter of the memory."""
        needed = self.rows * len(self.columns) * _BYTES_A_CELL
        if needed > self.memory / 4:
            raise UnsupportedError(
                f"{self.name} stays in its cluster, and this needs its rows here: about {needed / 1e6:,.0f} MB, more "
                f"than a quarter of the memory limit of {self.memory / 1e6:,.0f} MB; give a sample of the rows, fewer "
                "columns or more memory"
            )

    def to_arrow(self, names: Sequence[str] | None = None) -> pa.Table:
        """Some or all columns together as an Arrow table."""
        import pyarrow as pa

        wanted = list(self.columns) if names is None else list(names)
        return pa.table(dict(self.read(wanted)))

    def require_order(self) -> None:
        """Refuse a table whose rows have no order, for work that compares tables row by row."""
        if self.engine == "cluster":
            raise UnsupportedError(
                f"{self.name} is in a cluster, which keeps no order of rows, and this goes row by row; "
                "give the file or a sample of it, without the engine"
            )

    def lazy(self, names: Sequence[str]) -> nw.LazyFrame[Any]:
        """The named columns, renamed c0, c1, …, as a relation that an engine can group without bringing them here."""
        return self._reader.lazy(self.require(names))

    def beside(self, rows: pa.Table) -> nw.LazyFrame[Any]:
        """A few rows as a relation that can be joined with `lazy`."""
        return self._reader.beside(rows)

    @property
    def counted_in_engine(self) -> bool:
        """Whether rows stay where they are: a lazy frame, a cluster, a database they were not copied from yet."""
        return self.engine != "memory" and not getattr(self._reader, "copied", False)

    def count_classes(self, names: Sequence[str]) -> pa.Table | None:
        """The sizes of classes and how many have each, where a database counts them itself; None elsewhere."""
        count = getattr(self._reader, "count_classes", None) if self.counted_in_engine else None
        return None if count is None else count(self.require(names))

    def confirm(self) -> None:
        """Stop if the rows are not the ones they were when the table was opened."""
        self._reader.confirm()

    def fits(self, names: Sequence[str]) -> bool:
        """Whether counting by these columns keeps to the memory limit."""
        needed = self.bytes_to_count(names)
        return needed is None or needed <= self.memory

    def bytes_to_count(self, names: Sequence[str]) -> int | None:
        """About how much memory counting by these columns takes; None where the rows are in memory already."""
        return self._reader.bytes_to_count(names)

    def __repr__(self) -> str:
        return f"Table({self.name!r}, columns={len(self.columns)})"


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as every room expects it: a missing value is a null and nothing else, and types are the common ones.

    Not a number and not there are the same to an attacker, and frames disagree on how to write it.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(column.type, pa.BaseExtensionType):
        column = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    kind = column.type
    if pa.types.is_dictionary(kind):
        text = pa.types.is_string(kind.value_type) or pa.types.is_large_string(kind.value_type)
        if text and not any(chunk.dictionary.null_count for chunk in column.chunks):
            return column
        return _plain(column.cast(kind.value_type))  # other dictionaries may hold nulls, NaNs, zeros of both signs
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return column.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary())
    if pa.types.is_float16(kind):
        column = column.cast(pa.float32())
    if not pa.types.is_floating(column.type):
        return column
    nan = pc.is_nan(column)
    if not pc.any(nan).as_py():
        return column
    return pc.if_else(pc.fill_null(nan, False), pa.scalar(None, column.type), column)


def refuse_repeated(columns: Sequence[str], table: str) -> None:
    """Stop if a column's name is not its own."""
    same = [name for name, times in Counter(columns).items() if times > 1]
    if same:
        raise InputError(f"{table}: these column names appear more than once: {', '.join(same[:5])}; rename them")


def memory_in_bytes(limit: str | float | None) -> int:
    """A memory limit as users write it, in bytes; without one, three quarters of the machine's memory.

    >>> memory_in_bytes("2GB")
    2000000000
    """
    import os
    import re

    if limit is None:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 0.75)
    if isinstance(limit, int | float):
        found = int(limit)
    else:
        parts = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?i?B?)\s*", limit, re.IGNORECASE)
        try:
            number, unit = float(parts[1]), parts[2].upper()  # type: ignore[index]
            found = int(number * _MEMORY_UNITS[unit if unit.endswith("B") else unit + "B"])
        except (TypeError, ValueError, KeyError):
            raise InputError(f"memory limit {limit!r} is not understood; write it like 2GB or 500MB") from None
    if found < 50_000_000:
        raise InputError(f"a memory limit of {found:,} bytes is too small to work in; give 50MB or more")
    return found


def _files(source: str | None) -> list[str]:
    """The files a table was read from: one, the parts in a folder, or those a pattern matches."""
    if source is None:
        return []
    if os.path.isdir(source):
        return [str(part) for part in Path(source).rglob("*.parquet")]
    return [source] if os.path.isfile(source) else glob.glob(source, recursive=True)
