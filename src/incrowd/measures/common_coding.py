"""The values of a column in an original and in its release, compared although the two files may be read differently."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded


def in_one_code(original: Coded, released: Coded) -> Coded:
    """The original and the released cells of a column in one coding; all cells are equal if they cannot be compared."""
    codes = codes_in(original, released)
    if codes is None:
        return Coded(original.name, np.zeros(original.codes.size + released.codes.size, np.int64), pa.nulls(1))
    return Coded(original.name, np.concatenate([original.codes, codes[released.codes]]), pa.nulls(original.size + 1))


def codes_in(original: Coded, released: Coded) -> NDArray[np.int64] | None:
    """The original code of every released value, and `original.size` for a new one; None if they cannot be compared."""
    values = of_one_type(original.values, released.values)
    if values is None:
        return None
    places = pc.fill_null(pc.index_in(values[1], value_set=values[0]), original.size)
    return np.asarray(places.to_numpy(zero_copy_only=False), dtype=np.int64)


def of_one_type(original: pa.Array, released: pa.Array) -> tuple[pa.Array, pa.Array] | None:
    """Values of a column in two files as one type; None if there is none.

    A file whose only fraction was left out is read as whole numbers.
    """
    if original.type == released.type:
        return original, released
    kinds = [pa.types.is_integer(one.type) or pa.types.is_floating(one.type) for one in (original, released)]
    common = pa.float64() if all(kinds) else pa.string()
    try:
        return original.cast(common, safe=False), released.cast(common, safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return None


def are_in(released: Coded, original: Coded, selected: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Mask of the released values that are among the selected original ones; all if they cannot be compared."""
    values = of_one_type(original.values, released.values)
    if values is None:
        return np.ones(released.size, dtype=bool)
    mask = pc.is_in(values[1], value_set=values[0].filter(pa.array(selected)))
    return np.asarray(mask.to_numpy(zero_copy_only=False), dtype=bool)
