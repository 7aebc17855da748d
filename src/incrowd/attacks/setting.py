"""The common setting of all attacks: tables on one scale, targets, and the attacker's knowledge."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from incrowd._support.memory import require_memory
from incrowd._support.progress import Progress, silent
from incrowd._support.seed import require_seed
from incrowd.attacks.encoding import EncodedTables, ScaledColumn, encode_tables
from incrowd.attacks.gallery import Gallery, Probes
from incrowd.attacks.result import AttackKind, AttackRisk, Rate, excess, wilson
from incrowd.backends import Coded, class_numbers, pack
from incrowd.errors import InputError, UnsupportedError
from incrowd.special import Floats
from incrowd.tables import Table
from incrowd.wording import counted, listed, percent

ORIGINAL, RELEASED, HOLDOUT = 0, 1, 2
Found = TypeVar("Found")
_FEWEST_ROWS = 2
_BYTES_A_RECORD, _BYTES_A_CELL = 60, 50  # measured memory
_OVERLAP = 0.05  # share of the holdout that may equal original records, in addition to the share of duplicates there
_ERRORS_APART = 3.0  # number of standard errors by which this share may be higher by chance


@dataclass(frozen=True, slots=True)
class AttackOptions:
    """Options of single attacks; see `attack`."""

    noise: Mapping[str, float] = field(default_factory=dict)
    missing: float = 0.0
    spread: Mapping[str, float] = field(default_factory=dict)
    populations: tuple[int, ...] = ()
    kept_rows: Sequence[int] | str | os.PathLike[str] | None = None
    others: tuple[str, ...] = ()
    tolerance: float = 0.05
    width: int = 3


@dataclass(frozen=True, eq=False)
class Setting:
    """One attacker against one release."""

    encoded: EncodedTables
    known: tuple[str, ...]
    secret: str | None
    targets: NDArray[np.int64]
    controls: NDArray[np.int64]
    seed: int
    options: AttackOptions
    notes: tuple[str, ...] = ()
    progress: Progress = silent
    tables: tuple[Table, ...] = ()
    galleries: dict[Any, Gallery] = field(default_factory=dict)

    @property
    def has_holdout(self) -> bool:
        """True if there are people who are not in the data behind the release."""
        return len(self.encoded.rows) > HOLDOUT

    def random(self, kind: str) -> np.random.Generator:
        """The random generator of one kind of attack."""
        return np.random.default_rng([self.seed, *kind.encode()])

    def gallery(self, names: Sequence[str], side: int, probes_side: int) -> Gallery:
        """All rows of a table by some columns; cached."""
        some = self.encoded.only(names)
        sets = any(column.has_sets for column in some.columns)
        key = (tuple(names), side, probes_side if sets else None)
        if key not in self.galleries:
            self.galleries[key] = Gallery(some, side, probes_side)
        return self.galleries[key]

    def probes(self, names: Sequence[str], side: int, rows: NDArray[np.int64]) -> Probes:
        """Unchanged rows of a table by some columns."""
        return Probes.of(self.encoded.only(names), side, rows)

    def with_control(self, attack: Callable[[int, NDArray[np.int64]], Found]) -> tuple[Found, Found | None]:
        """Attack the targets, and the people of the holdout if there is one; `attack` takes a table and its rows."""
        control = attack(HOLDOUT, self.controls) if self.has_holdout else None
        return attack(ORIGINAL, self.targets), control

    def result(
        self,
        kind: AttackKind,
        successes: Floats,
        control: Floats | None,
        *,
        method: str = "",
        chance: float | None = None,
        rows: NDArray[np.int64] | None = None,
        secret: Sequence[str] = (),
        notes: Sequence[str] = (),
        attack: Rate | None = None,
        risk: Rate | None = None,
        measures: Mapping[str, float | None] | None = None,
    ) -> AttackRisk:
        """The result of attacks with successes and failures, and of the same attacks on people of the holdout.

        `attack` and `risk` are those of the successes unless they are given.
        """
        rate = attack or wilson(float(successes.sum()), successes.size)
        base = None if control is None else wilson(float(control.sum()), control.size)
        if risk is None and base is not None:
            risk = excess(rate, base)
        elif risk is None:  # the effect of the release is between the excess over a guess and the whole success
            over_chance = rate if chance is None else excess(rate, wilson(chance * successes.size, successes.size))
            risk = over_chance._replace(high=rate.high)
        all_notes = [*self.notes, *notes]
        if base is None and kind not in ("linkage", "membership"):
            all_notes.append(WITHOUT_HOLDOUT)
        elif base is not None and base.value >= 1.0:
            all_notes.append("the control always succeeds, so the effect of the release cannot be measured")
        return AttackRisk(
            kind,
            method,
            self.known,
            tuple(secret),
            int(successes.size),
            rate,
            base,
            chance,
            risk,
            self.seed,
            measures or {},
            notes=tuple(all_notes),
            rows=self.targets if rows is None else rows,
            successes=np.asarray(successes, dtype=np.float64),
        )


WITHOUT_HOLDOUT = (
    "without a holdout, the success may come from these people's data or from what is true of everybody; so the risk "
    "is what exceeds a guess, and its interval reaches up to the success; split the original before the release is "
    "made, and attack with the part that was kept back"
)


def prepare(
    tables: Sequence[Table],
    known: Sequence[str] | None,
    secrets: Sequence[str],
    *,
    targets: int,
    seed: int,
    options: AttackOptions,
    progress: Progress = silent,
) -> Setting:
    """Check the tables and columns, encode them on one scale and draw the targets.

    Args:
        tables: the original, the released table and maybe the holdout.
        known: the columns that the attacker knows; by default all columns that the tables share, except the secrets.
        secrets: the columns that the attacker wants to know; `Setting.secret` is the first.
        targets: number of people to attack.

    Raises:
        InputError: the tables have no columns or values in common, or the holdout overlaps the original.
        UnsupportedError: there are too few rows, or more than the memory limit holds.
    """
    names = _known_columns(tables, known, secrets, options.others)
    _check_sizes(tables, targets)
    progress("reading", 0.0)
    wanted = list(dict.fromkeys([*names, *options.others, *secrets]))
    rows = sum(table.rows for table in tables)
    needed = rows * (_BYTES_A_RECORD + _BYTES_A_CELL * len(wanted))
    require_memory(f"attacking tables of {rows:,} records by {len(wanted):,} columns", needed, tables[ORIGINAL].memory)
    encoded = encode_tables(tables, wanted)
    notes = list(_check_columns(encoded))
    if len(tables) > HOLDOUT:
        _check_holdout(encoded)
    if known is None:
        notes.append(f"the attacker is taken to know every column that the tables share: {listed(names)}")
    draws = np.random.default_rng([require_seed(seed), 0xA77AC])

    def draw(side: int) -> NDArray[np.int64]:
        return np.sort(draws.choice(encoded.rows[side], min(targets, encoded.rows[side]), replace=False))

    people, controls = draw(ORIGINAL), draw(HOLDOUT) if len(tables) > HOLDOUT else np.empty(0, dtype=np.int64)
    secret = next(iter(secrets), None)
    return Setting(
        encoded, tuple(names), secret, people, controls, seed, options, tuple(notes), progress, tuple(tables)
    )


def _known_columns(
    tables: Sequence[Table], known: Sequence[str] | None, secrets: Sequence[str], others: Sequence[str]
) -> list[str]:
    for table in tables:
        table.require_order()
    original, released = tables[0], tables[1]
    if known is None:
        shared = [name for name in original.columns if all(name in table.columns for table in tables)]
        names = [name for name in shared if name not in secrets and name not in others]
        if not names:
            raise InputError(
                f"{original.name} and {released.name} have no columns in common that an attacker could know; "
                "columns are compared by their names"
            )
    else:
        names = original.require(known, "known columns")
    for secret in secrets:
        if secret in others:
            raise InputError(f"the secret {secret!r} is among the columns of the second part; take it out of them")
    if set(others) & set(names):
        raise InputError(
            f"known on both sides: {listed(sorted(set(others) & set(names)))}; each part has its own columns"
        )
    for table in tables:
        table.require(list(dict.fromkeys([*names, *others, *secrets])), f"columns of {table.name}")
    return names


def _check_sizes(tables: Sequence[Table], targets: int) -> None:
    if targets < 1 or targets != int(targets):
        raise InputError(f"the number of targets is a whole number of 1 or more; {targets} was given")
    for table in tables:
        if table.rows < _FEWEST_ROWS:
            raise UnsupportedError(
                f"{table.name} has {counted(table.rows, 'row', 'rows')}; an attack needs {_FEWEST_ROWS} at least"
            )


def _check_columns(encoded: EncodedTables) -> list[str]:
    """Notes on columns without information; an error if no column has any."""
    constant = [column.name for column in encoded.columns if column.is_constant]
    disjoint = [column.name for column in encoded.columns if not column.is_constant and not column.overlap()]
    useful = len(encoded.columns) - len(constant)
    if not useful:
        raise InputError(f"every column has one value only ({listed(constant)}), so there is nothing to attack by")
    if len(disjoint) == useful:
        raise InputError(
            f"no value of the original occurs in the release, in any of {listed(disjoint)}; are these the same "
            "columns, in the same units and codes?"
        )
    notes = []
    if constant:
        notes.append(f"columns with one value only, which carry no information: {listed(constant)}")
    if disjoint:
        notes.append(f"no value of the original occurs in the release: {listed(disjoint)}; other units or codes?")
    return notes


def _check_holdout(encoded: EncodedTables) -> None:
    """Refuse a holdout that shares more records with the original than the original has duplicates."""
    numbers, _ = class_numbers(pack(_joined(column) for column in encoded.columns))
    rows = encoded.rows[ORIGINAL]
    classes = np.bincount(numbers[:rows], minlength=int(numbers.max()) + 1)
    duplicates = float(np.mean(classes[numbers[:rows]] > 1))
    shared = float(np.mean(classes[numbers[rows:]] > 0))
    pooled = (duplicates * rows + shared * (numbers.size - rows)) / numbers.size
    error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / rows + 1.0 / (numbers.size - rows)))
    if shared > duplicates + _OVERLAP + _ERRORS_APART * error:
        raise InputError(
            f"{percent(shared)} of the holdout's records are in the original as well, by the columns compared (of the "
            f"original's own records {percent(duplicates)} occur twice); a holdout holds people who are not in the "
            "original"
        )


def _joined(column: ScaledColumn) -> Coded:
    """A column of original and holdout with common codes."""
    sides = [column.labels[side] for side in (ORIGINAL, HOLDOUT)]
    if all(one.is_exact for one in sides):  # many times faster than by both ends
        values, number = np.unique(np.concatenate([one.low for one in sides]), return_inverse=True)
    else:
        ends = np.concatenate([np.stack([one.low, one.high], axis=1) for one in sides])
        values, number = np.unique(ends, axis=0, return_inverse=True)
    first = sides[0].low.size
    codes = np.concatenate([number[:first][sides[0].codes], number[first:][sides[1].codes]])
    return Coded(column.name, codes, values)
