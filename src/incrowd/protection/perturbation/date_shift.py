"""Date shifting: all dates of a person move by the same number of days, which keeps the time between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from incrowd.backends import Coded
from incrowd.backends.counts import record_without_person
from incrowd.errors import InputError
from incrowd.protection.keys import derive_pseudonyms, read_key
from incrowd.protection.perturbation.step import ColumnsSoFar, Readers, Step, StepOutcome, taken
from incrowd.protection.problem import TICKS
from incrowd.wording import listed

_MOST = 36_525  # days: a hundred years
_FIRST, _LAST = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))


@dataclass(frozen=True, slots=True)
class ShiftDates(Step):
    """All dates of a `person` move by one number of days, drawn evenly from `-days` to `days`.

    Without a person column, every record moves by its own number of days. With a `key` (bytes or a file), a person
    moves by the same number of days in every table under this key. With `multiple=7`, dates move by whole weeks, so
    that weekdays do not change and reveal nothing about the shift.
    """

    days: int
    person: str | None = None
    key: bytes | str | Path | None = field(default=None, repr=False)
    multiple: int = 1
    kind: ClassVar[str] = "shiftdates"
    label: ClassVar[str] = "dates moved together"
    words: ClassVar[str] = (
        "All dates of a record, or of a person, move together; the number is the most days they move."
    )
    usual: ClassVar[str] = "30"
    reads: ClassVar[Readers] = {"days": int, "person": str, "key": Path, "multiple": int}

    def __post_init__(self) -> None:
        if not 1 <= self.days <= _MOST:
            raise InputError(f"dates moved by up to {self.days!r} days; give a whole number from 1 to {_MOST:,}")
        if not 1 <= self.multiple <= self.days:
            raise InputError(
                f"dates moved by multiples of {self.multiple!r} days; give a whole number from 1 to {self.days:,}, by "
                "how many days they move at most"
            )
        if self.key is not None and self.person is None:
            raise InputError("a key makes the dates of a person move alike in several tables; name the person column")
        if self.key is not None:  # read once, before any work
            object.__setattr__(self, "key", read_key(self.key))

    def apply(self, columns: ColumnsSoFar) -> StepOutcome:
        """Move every date; a missing one stays missing."""
        found = columns.coded(self.columns)
        kinds = (pa.types.is_date, pa.types.is_timestamp)
        if wrong := [one.name for one in found if not any(fits(one.values.type) for fits in kinds)]:
            raise InputError(f"{listed(wrong)} to be moved by days, which holds no dates; use noise", hint="step")
        moved = self._draw(columns, found[0].codes.size)
        steps = 2 * (self.days // self.multiple) + 1
        deviation = self.multiple * math.sqrt((steps**2 - 1) / 12)
        unit = "record" if self.person is None else "person"
        multiples = "" if self.multiple == 1 else f"multiples of {self.multiple}, "
        return StepOutcome(
            {column.name: _move(column, moved, self.days) for column in found},
            f"all dates of a {unit} were moved by the same number of days, drawn from "
            f"{multiples}-{self.days} to {self.days}",
            f"the time between two dates of a {unit} is exact; a date by itself, its season and the time to a column "
            f"that was not moved are unbiased, with a standard deviation of {deviation:.3g} days. The shift of "
            f"a {unit} can be found from one known date, from columns that were not moved (an age, a quarter), "
            "from the first and last days that were observed and, unless it is of whole weeks, from weekdays",
            {"days": self.days, "multiple": self.multiple},
            {column.name: _ticks_of_a_day(column.values.type) * deviation for column in found},
        )

    def _draw(self, columns: ColumnsSoFar, rows: int) -> NDArray[np.int64]:
        """The number of days by which every record is moved."""
        most = self.days // self.multiple
        if self.person is None:
            return self.multiple * columns.draws.integers(-most, most, rows, endpoint=True)
        (person,) = columns.coded([self.person])
        if person.has_null:
            raise record_without_person(self.person)
        shifts: NDArray[np.int64]
        if self.key is None:
            shifts = columns.draws.integers(-most, most, person.size, endpoint=True)
        else:
            shifts = derive_pseudonyms(person, read_key(self.key), b"date shift") % (2 * most + 1) - most
        moved: NDArray[np.int64] = self.multiple * shifts[person.codes]
        return moved


def _move(column: Coded, moved: NDArray[np.int64], most: int) -> pa.Array:
    """Move dates by the drawn days, at most `most`, without rounding.

    Raises:
        InputError: a shift of `most` days could leave the years 1 to 9999 or the range of the type. This does not
            depend on the drawn shifts.
    """
    kind, day = column.values.type, _ticks_of_a_day(column.values.type)
    stored = pa.int32() if pa.types.is_date32(kind) else pa.int64()
    ticks = taken(column, column.codes).cast(stored).cast(pa.int64())
    ends = pc.min_max(ticks).as_py()
    lowest, highest = max(_FIRST * day, -(2**63) + 1), min((_LAST + 1) * day, 2**63) - 1
    if ends["min"] is not None and not (lowest <= ends["min"] - most * day and ends["max"] + most * day <= highest):
        raise InputError(
            f"some dates of {column.name!r} may leave the years 1 to 9999, or what its type can hold, when they are "
            f"moved by up to {most:,} days; mark dates that stand for none as missing, or move by fewer days"
        )
    return pc.add(ticks, pa.array(moved * day)).cast(stored).cast(kind)


def _ticks_of_a_day(kind: pa.DataType) -> int:
    """The length of a day in the time unit of a column."""
    if pa.types.is_date32(kind):
        return 1
    return 86_400 * TICKS["ms" if pa.types.is_date64(kind) else kind.unit]
