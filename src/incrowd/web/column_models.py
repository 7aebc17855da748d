"""Requests and responses about single columns: what they are, what they add, how their values are spread."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from incrowd.tables.roles.suggest import Confidence
from incrowd.web.crowd_models import CrowdQuestion
from incrowd.web.fields import WHOLE, Columns, Model, Name, Role
from incrowd.web.models import Reading


class TriageColumn(Model):
    """A column to be decided about.

    `scale_suggested` is another scale that fits better; `missing_codes` are numbers that may stand for missing values.
    """

    name: str
    type: str
    distinct: int | None
    nulls: int
    role: Role
    decided: bool
    suggested: Role
    reason: str
    confidence: Confidence
    topic: str
    scale: str
    scale_suggested: str | None
    missing_codes: list[int]


class Triage(Model):
    """All columns, and how many of them a person has decided about."""

    decided: int
    columns: list[TriageColumn]


class AddsQuestion(CrowdQuestion):
    """What each of these columns adds, if others knew it besides those that they know."""

    columns: Annotated[Columns, Field(min_length=1)]


class Added(Model):
    """A column with what is counted once it is known; of one that is known already, without it."""

    column: str
    known: bool
    uniques: int
    correctness: float
    added_uniques: int
    added_correctness: float


class Adds(Model):
    """What is counted by the known columns alone, and what each of the others adds."""

    people: int
    uniques: int
    correctness: float
    columns: list[Added]


class HistogramQuestion(Model):
    """The spread of a column's values; the values themselves only if they are to be shown."""

    column: Name
    bins: Annotated[int, Field(ge=1, le=200), WHOLE] = 30
    show: bool = False


class Histogram(Model):
    """Rows by ranges of equal length (`edges` has one more than `counts`), or by value, the most common first."""

    column: str
    kind: Literal["ranges", "values"]
    counts: list[int]
    edges: list[float | str] | None
    labels: list[str] | None
    missing: int
    others: int
    masked: bool


class NewReading(Model):
    """Read the file of a table again in another way."""

    reading: Reading
