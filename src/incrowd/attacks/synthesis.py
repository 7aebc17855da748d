"""Synthetic tables with a known amount of leakage, and holdouts to attack them with.

A row is drawn from the crowd model or a copula, or column by column, or is a copy of an original row. The share of
copies calibrates the attacks. There is no guarantee: the crowd model and the copula draw near and exact copies of
single people more often than chance does, so attack the result before you release it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
import pyarrow as pa

from incrowd._support.memory import require_memory
from incrowd._support.progress import Progress, silent
from incrowd._support.seed import require_seed
from incrowd.attacks.api import attack_release, kinds_for
from incrowd.attacks.generator import GeneratorModel, draw_rows
from incrowd.attacks.report import ReleaseAttacks
from incrowd.backends import encode
from incrowd.errors import InputError
from incrowd.results import Result
from incrowd.tables import TableLike, read_table
from incrowd.wording import number

_BYTES_A_CELL = 50  # memory, the same as for attacks


@dataclass(frozen=True, slots=True, eq=False)
class Synthetic(Result):
    """A synthetic table, how it was made, and the attacks on it, if they were requested."""

    table: pa.Table
    rows: int
    model: GeneratorModel
    copied: float
    seed: int
    attacks: ReleaseAttacks | None = None
    _hidden: ClassVar[frozenset[str]] = frozenset({"table"})


def synthesise(
    data: TableLike,
    *,
    rows: int | None = None,
    columns: Sequence[str] | None = None,
    model: GeneratorModel = "crowd",
    copied: float = 0.0,
    seed: int = 0,
    attacked: bool = False,
    secret: str | None = None,
    holdout: TableLike | None = None,
    progress: Progress = silent,
) -> Synthetic:
    """Make a synthetic table.

    Args:
        data: the original.
        rows: how many rows to make; as many as the original has unless given.
        columns: the columns to make; all unless given.
        model: "crowd" draws every column given those before it, "copula" draws from a Gaussian copula of the columns,
            "independent" draws every column by itself.
        copied: the share of rows that are copies of original rows, from 0 to 1: intended leakage, for calibration.
        seed: seed of every random choice.
        attacked: also attack the result (`attacks`); use it for a table that is to be released.
        secret: for the attacks, a column that the attacker wants to know.
        holdout: for the attacks, people of the same population who are not in the original.
        progress: callback that receives the current step and the share done.

    Returns:
        The table; columns of numbers with many values have new values within the ranges of old ones.

    Raises:
        InputError: the number of rows or the share makes no sense.
        UnsupportedError: a column of text has a value of its own in most rows.

    >>> made = synthesise({"age": [30, 31, 31, 62, 64], "sex": ["f", "m", "m", "f", "m"]}, rows=3, seed=1)
    >>> made.table.num_rows, made.table.column_names
    (3, ['age', 'sex'])
    """
    if model not in get_args(GeneratorModel):
        raise InputError(f"there is no model {model!r}; there are: {', '.join(get_args(GeneratorModel))}", hint="model")
    if not 0 <= copied <= 1:
        raise InputError(f"the share of copied rows is from 0 to 1; {copied} was given")
    table = read_table(data)
    wanted = table.rows if rows is None else rows
    if not 1 <= wanted < 2**63 or wanted != int(wanted):
        raise InputError(f"the number of rows is a whole number of 1 or more; {number(wanted)} was given")
    names = table.columns if columns is None else table.require(columns)
    require_memory(
        f"making {wanted:,} rows of {len(names):,} columns", _BYTES_A_CELL * wanted * len(names), table.memory
    )
    synthetic = draw_rows(table, names, wanted, model=model, copied=copied, seed=seed)
    attacks = None
    if attacked:
        kinds = kinds_for([secret] if secret else [], synthetic=True)
        attacks = attack_release(
            table, synthetic, secret=secret, holdout=holdout, seed=seed, kinds=kinds, progress=progress
        )
    return Synthetic(synthetic, wanted, model, copied, seed, attacks)


def split_table(
    data: TableLike, *, holdout: float = 0.2, seed: int = 0, person: str | None = None
) -> tuple[pa.Table, pa.Table]:
    """Split a table before a release is made: a part to make it from, and a holdout.

    Args:
        data: the original.
        holdout: the share of people who are kept back.
        seed: seed of the draw.
        person: the column that identifies the person of each record, so that nobody is in both parts.

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
    person_of_row = np.arange(table.rows) if person is None else encode(table, table.require([person]))[0].codes
    people = int(person_of_row.max()) + 1
    size = round(holdout * people) if 0 < holdout < 1 else 0
    if not 0 < size < people:
        raise InputError(f"a holdout of {holdout} of {people:,} people leaves a part without any; give a share between")
    in_holdout = np.zeros(people, dtype=np.bool_)
    in_holdout[np.random.default_rng([require_seed(seed), 0x591]).choice(people, size, replace=False)] = True
    mask = in_holdout[person_of_row]
    whole = table.to_arrow()
    return whole.filter(pa.array(~mask)), whole.filter(pa.array(mask))
