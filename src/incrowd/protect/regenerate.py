"""Algorithm S1: fill masked cells from published counts of the values behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from incrowd.engines import encode
from incrowd.errors import InputError
from incrowd.protect.recoding import as_text
from incrowd.table import parse_generalised, read_table, to_native


def regenerate(data: Any, counts: Mapping[str, Mapping[Any, int]], *, seed: int = 0) -> Any:
    """The table with masked cells replaced by original values drawn without replacement from `counts`.

    `counts` gives, for every column to fill, how many masked cells hid each value. A cell is masked where it is a
    wildcard, a range, a set or a prefix. The marginals of the result are then exactly those published.

    >>> out = regenerate({"race": ["*", "1", "*"]}, {"race": {"1": 1, "2": 1}}, seed=1)
    >>> sorted(out["race"].to_pylist())
    ['1', '1', '2']
    """
    import pyarrow as pa

    table = read_table(data)
    table.require(list(counts), "columns with counts")
    filled = table.to_arrow()
    generator = np.random.default_rng(seed)
    for name, originals in counts.items():
        (column,) = encode(table, [name])
        texts = as_text(column.values).to_pylist()
        hidden = np.array([text is not None and parse_generalised(text) is not None for text in texts])
        cells = np.flatnonzero(hidden[column.codes])
        drawn = _drawn(name, originals, cells.size, generator)
        values = (
            pa.array(texts, pa.string()).take(pa.array(column.codes.astype(np.int64))).to_numpy(zero_copy_only=False)
        )
        values = values.astype(object)
        values[cells] = drawn
        filled = filled.set_column(filled.column_names.index(name), name, pa.array(values, pa.string()))
    return to_native(filled, table.native)


def _drawn(name: str, originals: Mapping[Any, int], masked: int, generator: np.random.Generator) -> Any:
    """The values to fill in, in random order."""
    if any(not isinstance(count, int | np.integer) or count < 0 for count in originals.values()):
        raise InputError(f"counts for {name!r} must be whole numbers of 0 or more")
    total = sum(originals.values())
    if total != masked:
        raise InputError(
            f"{name!r} has {masked:,} masked cells, but the counts add up to {total:,}; they must be the same"
        )
    values = np.repeat(np.array([str(value) for value in originals], dtype=object), list(originals.values()))
    return generator.permutation(values)
