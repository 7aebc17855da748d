"""Base class of perturbation steps, and the state of the columns between steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.backends import Coded, encode
from incrowd.errors import InputError
from incrowd.protection.outputs import from_positions, positions_with_gaps
from incrowd.protection.problem import Problem, check_values
from incrowd.special import Floats
from incrowd.tables import Table, read_table
from incrowd.tables.released_values import offset_of


@dataclass(frozen=True, slots=True, eq=False)
class StepOutcome:
    """Result of a step: the new columns, and its documentation for analysts."""

    columns: dict[str, pa.Array]  # by name, the column after the step
    treatment: str  # what was done, with its parameters, in words
    correction: str  # how to correct an analysis for the step, in words
    published: Mapping[str, Any] = field(default_factory=dict)  # further parameters that analysts need, by name
    # by column, the standard deviation of the added noise; it is published, so an attacker knows it too
    spread: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what the step could not do


@dataclass(slots=True, eq=False)
class ColumnsSoFar:
    """The columns of a table after the steps so far."""

    table: Table
    problem: Problem
    draws: np.random.Generator
    changed: dict[str, pa.Array] = field(default_factory=dict)

    def coded(self, names: Sequence[str]) -> list[Coded]:
        """Dictionary-encoded columns by name."""
        wanted = self.table.require(names, "columns of a step") if names else []
        scales = {name: scale for name, scale in self.table.scales.items() if name in self.changed}
        changed_table = read_table(pa.table(self.changed), scales=scales) if self.changed else self.table
        return [encode(changed_table if name in self.changed else self.table, [name])[0] for name in wanted]

    def numbers(self, names: Sequence[str]) -> list[tuple[Coded, Floats]]:
        """Columns of numbers or dates with the position of every record's value; NaN if it is missing."""
        columns = self.coded(names)
        for column in columns:
            if not column.has_distances:
                raise InputError(f"{column.name!r} holds categories, and this step needs numbers or dates", hint="step")
        check_values(columns)
        return [(column, positions_with_gaps(column)[column.codes]) for column in columns]


def as_values(column: Coded, positions: Floats) -> pa.Array:
    """Convert positions to values of the column's own type, or of a wider type if they do not fit."""
    kind = column.values.type
    if pa.types.is_integer(kind):
        limits = np.iinfo(str(kind))
        filled = positions[~np.isnan(positions)] + offset_of(column)
        if filled.size and not (limits.min <= np.rint(filled.min()) and np.rint(filled.max()) <= limits.max):
            column = Coded(column.name, column.codes, column.values.cast(pa.int64()), column.stated)
    try:
        return from_positions(column, positions)
    except (OverflowError, ArithmeticError, pa.ArrowInvalid):
        raise InputError(f"{column.name!r} would get values that its type cannot hold; change it by less") from None


def taken(column: Coded, codes: NDArray[np.integer[Any]]) -> pa.Array:
    """Values of a column by their codes."""
    return column.values.take(pa.array(codes.astype(np.int64)))


Readers = Mapping[str, Callable[[str], Any]]


@dataclass(frozen=True, slots=True)
class Step:
    """Base class of a perturbation step, applied to some columns.

    - `kind` is the name of the class of steps in text, `label` its name in a form.
    - `reads` maps each further field to its parser: `kind=…` sets the first field, `name=…` any other. A parser that
      returns a `Path` names a file that the step reads.
    - `is_random`: values change at random, so that people in a class of equal values are not really alike.
    - `words` say in a form what the step does and what its first field is; `usual` is the text that a form begins with,
      empty where it depends on the column.
    """

    columns: tuple[str, ...]
    kind: ClassVar[str]
    label: ClassVar[str]
    words: ClassVar[str]
    usual: ClassVar[str] = ""
    reads: ClassVar[Readers] = {}
    is_random: ClassVar[bool] = True

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Change the columns."""
        raise NotImplementedError


def read_names(text: str) -> tuple[str, ...]:
    """Names of columns, joined by plus signs."""
    return tuple(text.split("+"))


def read_number_or_file(text: str) -> float | Path:
    """A number, or else the path of a file."""
    try:
        return float(text)
    except ValueError:
        return Path(text)
