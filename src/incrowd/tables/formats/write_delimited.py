"""Writing of delimited text in which a spreadsheet runs no formula."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from incrowd.backends.arrow_columns import is_text, value_type
from incrowd.tables.file_codebook import FileCodebook
from incrowd.tables.text_dialect import TextDialect, has_decimals, number_texts

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last are full-width
_ROWS = 50_000  # rows that are converted to text at a time


def write_csv(table: pa.Table, file: Path, codebook: FileCodebook) -> None:
    """Write delimited text in the dialect of the original; text that a spreadsheet would run is escaped."""
    dialect = codebook.dialect.for_file([table], file.suffix.lower())
    with open(file, "wb") as target:
        starts = range(0, max(table.num_rows, 1), _ROWS)  # an empty table has one block, for its header
        target.writelines(csv_blocks((table.slice(start, _ROWS) for start in starts), dialect))


def csv_blocks(parts: Iterable[pa.Table], dialect: TextDialect = TextDialect()) -> Iterator[bytes]:  # noqa: B008
    """Yield a table as the text that `write_csv` writes, block by block; the first block has the header.

    Text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    for index, part in enumerate(parts):
        rows, block = _escape_formulas(part), io.BytesIO()
        for place, field in enumerate(rows.schema):
            if dialect.decimal != "." and has_decimals(field.type):
                rows = rows.set_column(place, field.name, number_texts(rows.column(place), dialect.decimal))
        how = pyarrow.csv.WriteOptions(include_header=index == 0, delimiter=dialect.separator)
        pyarrow.csv.write_csv(rows, block, how)
        yield block.getvalue() if dialect.encoding == "utf-8" else encoder.encode(block.getvalue().decode())


def escape_formula(name: str) -> str:
    """A column name as written to CSV, with an apostrophe if a spreadsheet would run it as a formula.

    Args:
        name: the name of the column.

    >>> escape_formula("=x"), escape_formula("x")
    ("'=x", 'x')
    """
    return f"'{name}" if name.startswith(_FORMULA_STARTS) else name


def _as_text(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Text, or bytes that are UTF-8; other bytes as hexadecimal digits."""
    try:
        return column.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.chunked_array([pa.array([None if cell is None else cell.hex() for cell in column.to_pylist()], kind)])


def _escape_formulas(table: pa.Table) -> pa.Table:
    """The table with an apostrophe before text cells and names that a spreadsheet would run as a formula."""
    table = table.rename_columns([escape_formula(name) for name in table.column_names])
    for index, field in enumerate(table.schema):
        kind = value_type(field.type)
        if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
            kind = pa.large_string()
        if not is_text(kind):
            continue
        column = _as_text(table.column(index), kind)
        risky = pc.is_in(pc.utf8_slice_codeunits(column, 0, 1), value_set=pa.array(_FORMULA_STARTS, kind))
        number = pc.match_substring_regex(column, r"^[+-]?[0-9]+(\.[0-9]+)?$")
        escaped = pc.binary_join_element_wise(pa.scalar("'", kind), column, pa.scalar("", kind))
        safe = pc.if_else(pc.and_(risky, pc.invert(number)), escaped, column)
        table = table.set_column(index, field.name, safe)
    return table
