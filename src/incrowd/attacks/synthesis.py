"""Synthetic tables with a known amount of leakage, and holdouts to attack them with.

A row is drawn from the crowd model or a copula, or column by column, or is a copy of an original row; the share of
copies is the knob by which attacks are calibrated. It gives no guarantee: attack the result before it goes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd._support.progress import Progress, silent
from incrowd.attacks.api import attack_release, kinds_for
from incrowd.attacks.copula_sampling import draw_from_copula
from incrowd.attacks.report import ReleaseAttacks
from incrowd.backends import Coded, encode
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations.crowd_growth import grow
from incrowd.populations.crowd_model import fit_crowd_model
from incrowd.protection.problem import as_floats, is_number, offset_of
from incrowd.results import Result
from incrowd.tables import read_table

Model = Literal["crowd", "copula", "independent"]

_MOST_VALUES = 50  # of a column of numbers that are drawn as they are; more are drawn as ranges and then within them
_MOST_TEXTS = 0.5  # of the rows that may have a text of their own; more are names, which no model should repeat


@dataclass(frozen=True, slots=True, eq=False)
class Synthetic(Result):
    """A synthetic table, how it was made, and the attacks on it, where they were asked for."""

    table: pa.Table
    rows: int
    model: Model
    copied: float
    seed: int
    attacks: ReleaseAttacks | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"table"})


def synthesise(
    data: Any,
    *,
    rows: int | None = None,
    columns: Sequence[str] | None = None,
    model: Model = "crowd",
    copied: float = 0.0,
    seed: int = 0,
    attacked: bool = False,
    secret: str | None = None,
    holdout: Any = None,
    progress: Progress = silent,
) -> Synthetic:
    """Make a synthetic table.

    Args:
        data: the original.
        rows: how many rows to make; as many as the original has unless given.
        columns: the columns to make; all unless given.
        model: "crowd" draws every column given those before it, "copula" pairs of columns that depend on each other as
            in a normal distribution, "independent" every column by itself.
        copied: the share of rows that are copies of original rows, from 0 to 1: leakage on purpose, for calibration.
        seed: of every random choice.
        attacked: whether to attack the result, which `attacks` then tells; a table that is to go out should be.
        secret: for the attacks, a column that the attacker wants to know.
        holdout: for the attacks, people of the same population who are not in the original.
        progress: told how far the attacks are.

    Returns:
        The table; columns of numbers with many values have new values within the ranges of old ones.

    Raises:
        InputError: the number of rows or the share makes no sense.
        UnsupportedError: a column of text has a value of its own in most rows.

    >>> made = synthesise({"age": [30, 31, 31, 62, 64], "sex": ["f", "m", "m", "f", "m"]}, rows=3, seed=1)
    >>> made.table.num_rows, made.table.column_names
    (3, ['age', 'sex'])
    """
    if model not in get_args(Model):
        raise InputError(f"there is no model {model!r}; there are: {', '.join(get_args(Model))}", hint="model")
    if not 0 <= copied <= 1:
        raise InputError(f"the share of copied rows is from 0 to 1; {copied} was given")
    table = read_table(data)
    wanted = table.rows if rows is None else rows
    if wanted < 1 or wanted != int(wanted):
        raise InputError(f"the number of rows is a whole number of 1 or more; {wanted} was given")
    coded = encode(table, table.columns if columns is None else table.require(columns))
    draws = np.random.default_rng([seed, 0x5E7])
    binned = [_binned(column) for column in coded]
    codes = _drawn([one for one, _ in binned], [is_number(one) for one in coded], wanted, model, seed, draws)
    made = [_values(column, bins, code, draws) for column, (_, bins), code in zip(coded, binned, codes, strict=True)]
    copies = draws.random(wanted) < copied
    source = draws.permutation(table.rows) if wanted <= table.rows else draws.integers(0, table.rows, wanted)
    taken = pa.array(np.where(copies, source[:wanted], -1))
    made_table = pa.table({one.name: _with_copies(one, values, taken) for one, values in zip(coded, made, strict=True)})
    attacks = None
    if attacked:
        kinds = kinds_for([secret] if secret else [], synthetic=True)
        attacks = attack_release(
            table, made_table, secret=secret, holdout=holdout, seed=seed, kinds=kinds, progress=progress
        )
    return Synthetic(made_table, wanted, model, copied, seed, attacks)


def split_table(
    data: Any, *, holdout: float = 0.2, seed: int = 0, person: str | None = None
) -> tuple[pa.Table, pa.Table]:
    """Split a table before a release is made of it: the part to make it from, and people who are kept back.

    Args:
        data: the original.
        holdout: the share of people who are kept back.
        seed: of the draw.
        person: the column that says whose record it is, so that nobody is in both parts.

    Returns:
        The part to release from, and the holdout, each with rows in their order.

    Raises:
        InputError: the share leaves one part without people.

    >>> kept, back = split_table({"age": [30, 31, 31, 62, 64]}, holdout=0.4)
    >>> kept.num_rows, back.num_rows
    (3, 2)
    """
    table = read_table(data)
    table.require_order()
    whose = np.arange(table.rows) if person is None else encode(table, table.require([person]))[0].codes
    people = int(whose.max()) + 1
    size = round(holdout * people) if 0 < holdout < 1 else 0
    if not 0 < size < people:
        raise InputError(f"a holdout of {holdout} of {people:,} people leaves a part without any; give a share between")
    back = np.zeros(people, dtype=np.bool_)
    back[np.random.default_rng([seed, 0x591]).choice(people, size, replace=False)] = True
    mask = back[whose]
    whole = table.to_arrow()
    return whole.filter(pa.array(~mask)), whole.filter(pa.array(mask))


def _binned(column: Coded) -> tuple[NDArray[np.int64], NDArray[np.int64] | None]:
    """The codes a model learns, and for a column of many numbers the first value of each bin and the end."""
    filled = column.size - column.has_null
    if not is_number(column) or filled <= _MOST_VALUES:
        if filled > max(_MOST_VALUES, _MOST_TEXTS * column.codes.size):
            raise UnsupportedError(
                f"column {column.name!r} has a value of its own in most rows, as names have; leave it out"
            )
        return column.codes.astype(np.int64), None
    tally = np.bincount(column.codes, minlength=column.size)[:filled]
    reached = (np.cumsum(tally) - tally) * _MOST_VALUES // tally.sum()
    starts = np.flatnonzero(np.diff(reached, prepend=-1))
    bin_of = np.append(np.repeat(np.arange(starts.size), np.diff(starts, append=filled)), starts.size)
    return bin_of[column.codes], np.append(starts, filled)


def _drawn(
    columns: list[NDArray[np.int64]],
    ordered: Sequence[bool],
    rows: int,
    model: Model,
    seed: int,
    draws: np.random.Generator,
) -> list[NDArray[np.int64]]:
    """Codes of new rows, column by column."""
    people = columns[0].size
    alone = [column[draws.integers(0, people, rows)] for column in columns]
    telling = [place for place, column in enumerate(columns) if column.min() != column.max()]
    if model == "independent" or not telling:
        return alone
    if model == "copula":
        values, codes = zip(*(np.unique(columns[place], return_inverse=True) for place in telling), strict=True)
        drawn = draw_from_copula(codes, [ordered[place] for place in telling], rows, draws)
        for place, one, code in zip(telling, values, drawn, strict=True):
            alone[place] = one[code]
        return alone
    fitted = fit_crowd_model([columns[place] for place in telling])
    grown = grow(fitted, people + rows, seed=(seed, 0x5E7)).values
    for place in telling:
        dense = np.unique(columns[place], return_inverse=True)
        at = next(at for at, codes in enumerate(fitted.codes) if np.array_equal(codes, dense[1]))
        found = grown[at, people:]
        seen = found < dense[0].size
        # what nobody has yet cannot be named: such a cell has the value of a random person
        alone[place] = np.where(seen, dense[0][np.where(seen, found, 0)], alone[place])
    return alone


def _values(
    column: Coded, bins: NDArray[np.int64] | None, codes: NDArray[np.int64], draws: np.random.Generator
) -> pa.Array:
    """Values for codes; for a bin a number anywhere between its first and its last value, as exact as theirs are."""
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
        found = draws.integers(low.astype(np.int64), high.astype(np.int64), endpoint=True)
        return pa.array(found + first, unit, mask=null).cast(kind, safe=False)
    return pa.array(draws.uniform(low, high), pa.float64(), mask=null).cast(kind, safe=False)


def _with_copies(column: Coded, made: pa.Array, taken: pa.Array) -> pa.Array:
    """The made values, and those of the original where a row is taken from it."""
    rows = taken.to_numpy()
    own = column.values.take(pa.array(column.codes[np.maximum(rows, 0)]))
    return pc.if_else(pa.array(rows >= 0), own, made)
