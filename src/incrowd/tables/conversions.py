"""Conversion of stored cells to their values, in Arrow and in SQL: labels, whole numbers, dates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

Temporal = Literal["date", "timestamp", "time"]


@dataclass(frozen=True, slots=True)
class LabelConversion:
    """Codes converted to their labels; a code without a label keeps its own text.

    `labels` holds the label of each code that occurs, without duplicates; `stored` is the type of the codes in the
    file.
    """

    labels: Mapping[Any, str]
    stored: pa.DataType

    @property
    def type(self) -> pa.DataType:
        """Text, by dictionary."""
        return pa.dictionary(pa.int32(), pa.string())

    def convert(self, stored: pa.Array) -> pa.Array:
        """Codes as labels."""
        codes = pa.array(list(self.labels), self.stored)
        places = pc.index_in(stored.cast(self.stored), value_set=codes)
        return pa.DictionaryArray.from_arrays(places, pa.array(list(self.labels.values()), pa.string()))

    def in_sql(self, column: str) -> str:
        """A CASE over the codes."""
        cases = " ".join(f"WHEN {_literal(code)} THEN {_literal(label)}" for code, label in self.labels.items())
        return f"CASE {column} {cases} END"


@dataclass(frozen=True, slots=True)
class WholeConversion:
    """Doubles converted to integers, if all of them are whole numbers."""

    type: pa.DataType = field(default_factory=pa.int64)

    def convert(self, stored: pa.Array) -> pa.Array:
        """Doubles as whole numbers."""
        return stored.cast(self.type)

    def in_sql(self, column: str) -> str:
        """SQL that casts a stored column."""
        return f"CAST({column} AS BIGINT)"


@dataclass(frozen=True, slots=True)
class TemporalConversion:
    """Numbers that count units of time from an origin, converted to dates, timestamps or times of day."""

    kind: Temporal
    seconds: float
    origin: date

    @property
    def type(self) -> pa.DataType:
        """The Arrow type."""
        return {"date": pa.date32(), "timestamp": pa.timestamp("us"), "time": pa.time64("us")}[self.kind]

    @property
    def _days(self) -> int:
        """Days from the origin to 1970."""
        return 0 if self.kind == "time" else (date(1970, 1, 1) - self.origin).days

    def convert(self, stored: pa.Array) -> pa.Array:
        """Numbers as dates."""
        if self.kind == "date":
            days = pc.subtract(pc.floor(pc.multiply(stored, self.seconds / 86_400)), float(self._days))
            return days.cast(pa.int32()).cast(pa.date32())
        ticks = pc.round(pc.multiply(stored, self.seconds * 1e6))
        ticks = pc.subtract(ticks.cast(pa.int64()), self._days * 86_400_000_000)
        return ticks.cast(self.type)

    def in_sql(self, column: str) -> str:
        """SQL that converts a stored column, given as SQL."""
        if self.kind == "date":
            days = f"CAST(floor({column} * {self.seconds / 86_400!r}) AS INTEGER) - {self._days}"
            return f"(DATE '1970-01-01' + ({days}))"
        ticks = f"CAST(round({column} * {self.seconds * 1e6!r}) AS BIGINT) - {self._days * 86_400_000_000}"
        return f"make_timestamp({ticks})" + ("::TIME" if self.kind == "time" else "")

    def fits(self, low: float, high: float) -> bool:
        """True if the smallest and the largest number are within the calendar, or within a day."""
        if self.kind == "time":
            return low >= 0 and high * self.seconds < 86_400
        first, last = ((day - self.origin).days * 86_400 / self.seconds for day in (date.min, date.max))
        return first <= low and high <= last


def _literal(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(float(value))
