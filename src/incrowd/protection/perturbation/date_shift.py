"""Date shifting: all dates of a person move by the same number of days, so that the time between them stays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from incrowd.errors import InputError
from incrowd.protection.keys import number_people
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, as_values
from incrowd.protection.problem import TICKS
from incrowd.wording import listed

_MOST = 36_525  # days: a hundred years


@dataclass(frozen=True, slots=True)
class ShiftDates(Step):
    """All dates of a `person` move by one number of days, drawn evenly from `-days` to `days`.

    Without a person column every record moves by itself, its dates together. With a `key`, bytes or a file, people
    move by the same days in every table that is shifted under it.
    """

    days: int
    person: str | None = None
    key: bytes | str | Path | None = None
    kind: ClassVar[str] = "shiftdates"
    reads: ClassVar[Readers] = {"days": int, "person": str, "key": Path}

    def __post_init__(self) -> None:
        if not 1 <= self.days <= _MOST:
            raise InputError(f"dates moved by up to {self.days!r} days; give a whole number from 1 to {_MOST:,}")
        if self.key is not None and self.person is None:
            raise InputError("a key makes the dates of a person move alike in several tables; name the person column")

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Move every date; a missing one stays missing."""
        found = columns.numbers(self.columns)
        if wrong := [column.name for column, _ in found if not pa.types.is_temporal(column.values.type)]:
            raise InputError(f"{listed(wrong)} to be moved by days, which holds no dates; use noise", hint="step")
        moved = self._draw(columns, found[0][1].size)
        shifted, spread = {}, {}
        for column, was in found:
            day = _ticks_of_a_day(column.values.type)
            shifted[column.name] = as_values(column, was + moved * day)
            spread[column.name] = day * math.sqrt(((2 * self.days + 1) ** 2 - 1) / 12)
        whose = "record" if self.person is None else "person"
        return StepOutcome(
            shifted,
            f"all dates of a {whose} were moved by the same number of days, drawn from -{self.days} to {self.days}",
            f"the time between two dates of a {whose} is exact; a date by itself, its season and the time to a column "
            "that was not moved are unbiased, with a standard deviation of "
            f"{math.sqrt(((2 * self.days + 1) ** 2 - 1) / 12):.3g} days",
            {"days": self.days},
            spread,
        )

    def _draw(self, columns: ColumnsSoFar, rows: int) -> NDArray[np.int64]:
        """The days by which every record is moved."""
        if self.person is None:
            return columns.draws.integers(-self.days, self.days, rows, endpoint=True)
        (person,) = columns.coded([self.person])
        if person.has_null:
            raise InputError(
                f"some records have no value in the person column {self.person!r}; fill it or leave them out"
            )
        days: NDArray[np.int64]
        if self.key is None:
            days = columns.draws.integers(-self.days, self.days, person.size, endpoint=True)
        else:
            days = number_people(person, self.key, b"date shift") % (2 * self.days + 1) - self.days
        moved: NDArray[np.int64] = days[person.codes]
        return moved


def _ticks_of_a_day(kind: pa.DataType) -> int:
    """A day in the unit in which a column counts time."""
    if pa.types.is_date32(kind):
        return 1
    return 86_400 * TICKS["ms" if pa.types.is_date64(kind) else kind.unit]
