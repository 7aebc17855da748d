"""Writing a table: whole or not at all, and safe to open in a spreadsheet."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd._support.files import written_whole
from incrowd.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_table(table: pa.Table, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write Parquet, Feather or CSV by the path's ending; text a spreadsheet would run is escaped in CSV."""
    target = Path(path)
    with written_whole(target, force=force) as temporary:
        write_into(table, temporary)
    return target


def write_into(table: pa.Table, file: Path) -> None:
    """The same for a file that whoever asks takes care of: one that is cut short may be left."""
    import pyarrow.csv
    import pyarrow.feather
    import pyarrow.parquet

    kind = file.suffix.lower()
    if kind in {".parquet", ".pq"}:
        pyarrow.parquet.write_table(table, file, compression="zstd")
    elif kind in {".feather", ".arrow"}:
        pyarrow.feather.write_feather(table, str(file))
    elif kind in {".csv", ".tsv"}:
        options = pyarrow.csv.WriteOptions(delimiter="\t" if kind == ".tsv" else ",")
        pyarrow.csv.write_csv(_without_formulas(table), file, options)
    else:
        raise InputError(f"a table cannot be written as {kind or 'a file without ending'!r}; use .parquet or .csv")


def csv_blocks(parts: Iterable[pa.Table]) -> Iterator[bytes]:
    """The parts of a table as the CSV that `write_table` writes, a block for each; the first has the header."""
    import pyarrow.csv

    for index, part in enumerate(parts):
        block = io.BytesIO()
        pyarrow.csv.write_csv(_without_formulas(part), block, pyarrow.csv.WriteOptions(include_header=index == 0))
        yield block.getvalue()


def without_formula(name: str) -> str:
    """A column's name as CSV has it: with an apostrophe before it where a spreadsheet would run it.

    >>> without_formula("=x"), without_formula("x")
    ("'=x", 'x')
    """
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _without_formulas(table: pa.Table) -> pa.Table:
    """Text cells that a spreadsheet would run as a formula, with an apostrophe before them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    table = table.rename_columns([without_formula(name) for name in table.column_names])
    for index, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            continue
        column = table.column(index).cast(kind)
        risky = pc.is_in(pc.utf8_slice_codeunits(column, 0, 1), value_set=pa.array(_FORMULA_STARTS, kind))
        number = pc.match_substring_regex(column, r"^[+-]?[0-9]+(\.[0-9]+)?$")
        escaped = pc.binary_join_element_wise(pa.scalar("'", kind), column, pa.scalar("", kind))
        safe = pc.if_else(pc.and_(risky, pc.invert(number)), escaped, column)
        table = table.set_column(index, field.name, safe)
    return table


def to_native(table: pa.Table, like: Any, *, index: bool = True) -> Any:
    """An Arrow table as the kind of frame `like` is; Arrow stays Arrow.

    With `index`, rows that are those of `like` keep the index that pandas gave them.
    """
    import narwhals.stable.v2 as nw

    if like is None:
        return table
    kind = nw.from_native(like).implementation
    if kind.is_pyarrow():
        return table
    if kind.is_pandas():
        frame = table.to_pandas()
        if index and len(like) == len(frame):
            frame.index = like.index
        return frame
    if kind.is_polars():
        import polars as pl

        rows = pl.DataFrame(table)
        return rows.lazy() if isinstance(like, pl.LazyFrame) else rows
    return table
