"""Algorithm S1: fill masked cells with values drawn from published counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd._support.seed import require_seed
from incrowd.backends import encode
from incrowd.errors import InputError
from incrowd.tables import TableLike, parse_generalised, read_table, to_native
from incrowd.tables.released_values import as_text

_COLUMNS = ("column", "value", "count")


def regenerate(data: TableLike, counts: Mapping[str, Mapping[Any, int]], *, seed: int = 0) -> Any:
    """Replace masked cells by original values drawn without replacement from published counts.

    A cell is masked where it is a wildcard, a range, a set or a prefix. The marginals of the result are exactly those
    published.

    Args:
        data: the masked table.
        counts: for every column to fill, how many masked cells hid each value.
        seed: of the draws.

    Returns:
        The filled table, in the caller's kind of frame.

    Raises:
        InputError: the counts of a column do not add up to its masked cells.

    >>> out = regenerate({"race": ["*", "1", "*"]}, {"race": {"1": 1, "2": 1}}, seed=1)
    >>> sorted(out["race"].to_pylist())
    ['1', '1', '2']
    """
    table = read_table(data)
    table.require(list(counts), "columns with counts")
    filled = table.to_arrow()
    generator = np.random.default_rng(require_seed(seed))
    for name, originals in counts.items():
        (column,) = encode(table, [name])
        texts = as_text(column.values).to_pylist()
        is_masked = np.array([text is not None and parse_generalised(text) is not None for text in texts])
        masked_rows = np.flatnonzero(is_masked[column.codes])
        code_of = {text: code for code, text in enumerate(texts)}
        drawn = _draw_values(name, originals, masked_rows.size, generator, code_of)
        codes = column.codes.astype(np.int64)
        codes[masked_rows] = drawn
        values = pa.array(list(code_of), pa.string()).take(pa.array(codes))
        filled = filled.set_column(filled.column_names.index(name), name, values)
    return to_native(filled, table.native)


def read_counts(data: Any) -> dict[str, dict[str, int]]:
    """Published counts by column and value, from a table of column, value and count.

    A value that is listed twice counts twice.

    Returns:
        For every column, how many masked cells hid each value.

    Raises:
        InputError: a column of the table is missing, or a row has no value or no whole number.

    >>> read_counts({"column": ["race", "race"], "value": [1, 2], "count": [3, 1]})
    {'race': {'1': 3, '2': 1}}
    """
    table = read_table(data)
    missing = [name for name in _COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f"the counts have no column {', '.join(missing)}; they need column, value and count")
    counts_by_column: dict[str, dict[str, int]] = {}
    rows = zip(*(table.to_arrow([name])[name].to_pylist() for name in _COLUMNS), strict=True)
    for number, (column, value, count) in enumerate(rows, start=1):
        if value is None or not isinstance(count, int):
            raise InputError(f"row {number} of the counts has no value or no whole number; fill it in")
        values = counts_by_column.setdefault(str(column), {})
        values[str(value)] = values.get(str(value), 0) + count
    return counts_by_column


def _draw_values(
    name: str,
    originals: Mapping[Any, int],
    masked: int,
    generator: np.random.Generator,
    code_of: dict[str | None, int],
) -> NDArray[np.int64]:
    """Codes of the values to fill in, in random order; values without a code are added to `code_of`."""
    if any(not isinstance(count, int | np.integer) or count < 0 for count in originals.values()):
        raise InputError(f"counts for {name!r} must be whole numbers of 0 or more")
    total = sum(originals.values())
    if total != masked:
        raise InputError(
            f"{name!r} has {masked:,} masked cells, but the counts add up to {total:,}; they must be the same"
        )
    codes = [code_of.setdefault(str(value), len(code_of)) for value in originals]
    return generator.permutation(np.repeat(np.array(codes, dtype=np.int64), list(originals.values())))
