"""New rows drawn from a model of a table: the crowd model, a Gaussian copula, or independent columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.distinct import run_starts
from incrowd._support.seed import require_seed
from incrowd.attacks.copula_sampling import draw_from_copula
from incrowd.backends import Coded, encode
from incrowd.backends.arrow_columns import as_floats
from incrowd.errors import UnsupportedError
from incrowd.populations.crowd_growth import grow
from incrowd.populations.crowd_model import fit_crowd_model
from incrowd.tables import Table
from incrowd.tables.released_values import offset_of

GeneratorModel = Literal["crowd", "copula", "independent"]

_MOST_VALUES = 50  # distinct values; a column of more numbers is drawn as bins, and then uniformly within each bin
_MOST_TEXTS = 0.5  # largest ratio of distinct texts to rows; a column with more is a list of names, which is refused


def draw_rows(
    table: Table,
    names: Sequence[str],
    rows: int,
    *,
    model: GeneratorModel = "crowd",
    copied: float = 0.0,
    seed: int = 0,
) -> pa.Table:
    """Draw rows from a model of some columns, and copy others.

    Args:
        table: the table that the model is fitted to.
        model: how columns depend on each other; see `synthesise`.
        copied: the share of rows that are copies of rows of the table.

    Raises:
        UnsupportedError: a column of text has a value of its own in most rows.
    """
    coded = encode(table, list(names))
    draws = np.random.default_rng([require_seed(seed), 0x5E7])
    binned = [_binned(column) for column in coded]
    codes = _drawn([one for one, _ in binned], [one.has_distances for one in coded], rows, model, seed, draws)
    drawn = [_values(column, bins, code, draws) for column, (_, bins), code in zip(coded, binned, codes, strict=True)]
    copies = draws.random(rows) < copied
    source = draws.permutation(table.rows) if rows <= table.rows else draws.integers(0, table.rows, rows)
    source_rows = pa.array(np.where(copies, source[:rows], -1))
    return pa.table(
        {one.name: _with_copies(one, values, source_rows) for one, values in zip(coded, drawn, strict=True)}
    )


def _binned(column: Coded) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The codes that a model learns; for a column of many numbers also the first value of each bin and the end."""
    filled = column.filled_size
    if not column.has_distances or filled <= _MOST_VALUES:
        if filled > max(_MOST_VALUES, _MOST_TEXTS * column.codes.size):
            raise UnsupportedError(
                f"column {column.name!r} has a value of its own in most rows, as names have; leave it out"
            )
        return column.codes.astype(np.int64), None
    tally = column.tally[:filled]
    reached = (np.cumsum(tally) - tally) * _MOST_VALUES // tally.sum()
    starts = run_starts(reached)
    bin_of = np.append(np.repeat(np.arange(starts.size), np.diff(starts, append=filled)), starts.size)
    return bin_of[column.codes], np.append(starts, filled)


def _drawn(
    columns: list[NDArray[np.int64]],
    ordered: Sequence[bool],
    rows: int,
    model: GeneratorModel,
    seed: int,
    draws: np.random.Generator,
) -> list[NDArray[np.int64]]:
    """Codes of new rows, column by column."""
    people = columns[0].size
    result = [column[draws.integers(0, people, rows)] for column in columns]  # independent draws
    varying = [place for place, column in enumerate(columns) if column.min() != column.max()]
    if model == "independent" or not varying:
        return result
    if model == "copula":
        values, codes = zip(*(np.unique(columns[place], return_inverse=True) for place in varying), strict=True)
        drawn = draw_from_copula(codes, [ordered[place] for place in varying], rows, draws)
        for place, one, code in zip(varying, values, drawn, strict=True):
            result[place] = one[code]
        return result
    fitted = fit_crowd_model([columns[place] for place in varying])
    grown = grow(fitted, people + rows, seed=(seed, 0x5E7)).values
    for place in varying:
        dense = np.unique(columns[place], return_inverse=True)
        at = next(at for at, codes in enumerate(fitted.codes) if np.array_equal(codes, dense[1]))
        new_codes = grown[at, people:]
        seen = new_codes < dense[0].size
        # the model also draws values that nobody has; these have no name, so the independent draw is used
        result[place] = np.where(seen, dense[0][np.where(seen, new_codes, 0)], result[place])
    return result


def _values(
    column: Coded, bins: NDArray[np.int64] | None, codes: NDArray[np.int64], draws: np.random.Generator
) -> pa.Array:
    """Values for codes; for a bin, a number between its first and its last value, with the same precision."""
    if bins is None:
        return column.values.take(pa.array(codes))
    filled = column.values.slice(0, int(bins[-1]))
    place, first = as_floats(filled, offset_of(column)), offset_of(column)
    null = codes == bins.size - 1
    at = np.where(null, 0, codes)
    low, high = place[bins[at]], place[bins[at + 1] - 1]
    kind = filled.type
    if np.all(place == np.rint(place)):
        unit = pa.int32() if pa.types.is_date32(kind) or pa.types.is_time32(kind) else pa.int64()
        numbers = draws.integers(low.astype(np.int64), high.astype(np.int64), endpoint=True)
        return pa.array(numbers + first, unit, mask=null).cast(kind, safe=False)
    return pa.array(draws.uniform(low, high), pa.float64(), mask=null).cast(kind, safe=False)


def _with_copies(column: Coded, drawn: pa.Array, source_rows: pa.Array) -> pa.Array:
    """The drawn values, replaced by the values of `source_rows` where these are not -1."""
    rows = source_rows.to_numpy()
    copied = column.values.take(pa.array(column.codes[np.maximum(rows, 0)]))
    return pc.if_else(pa.array(rows >= 0), copied, drawn)
