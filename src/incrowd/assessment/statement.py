"""`Statement`: one number of an assessment with what it means, how sure it is and what it assumes."""

from __future__ import annotations

from dataclasses import dataclass

from incrowd.results import Result

COUNTED = "counted, exact for this table"


@dataclass(frozen=True, slots=True)
class Statement(Result):
    """One number: its name, how it is written, what it means, how sure it is and what was assumed."""

    section: str
    name: str
    value: float | None
    shown: str
    meaning: str
    sure: str
    assumed: str
