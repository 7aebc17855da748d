"""Requests and responses about the crowd: class sizes, marks to draw, the riskiest records, one record."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from incrowd.web.fields import WHOLE, Columns, Id, Model, Name

Record = Annotated[int, Field(ge=0, le=10**10), WHOLE]


class CrowdQuestion(Model):
    """Group people by these columns; without `quasi_identifiers` by those that have this role now."""

    quasi_identifiers: Columns | None = None
    person: Name | None = None


class Marks(Model):
    """Marks to draw: one for each person, each class, or each share of the people in classes of one size.

    Mark i stands for `people[i]` people in classes of `size[i]`. `class_of` is there where every person has a mark:
    person i is the same person whatever the columns are.
    """

    each: Literal["person", "class", "share"]
    size: list[int]
    people: list[int]
    class_of: list[int] | None = None


class CrowdLimits(Model):
    """Limits of the recipient, and the smallest class that they require."""

    highest: float
    average: float | None
    class_size: int


class Crowd(Model):
    """Counts, not estimates: `counts[i]` classes have `sizes[i]` people. All that depends on k follows from these."""

    people: int
    records: int
    classes: int
    sizes: list[int]
    counts: list[int]
    marks: Marks
    limits: CrowdLimits
    seconds: float
    sentence: str


class RiskiestQuestion(CrowdQuestion):
    """The records that are easiest to find; cells are masked unless they are to be shown."""

    rows: Annotated[int, Field(ge=1, le=1_000), WHOLE] = 20
    show: bool = False


class RiskyRecord(Model):
    """A record, how many people look like it, and how many would be expected to if columns were independent."""

    record: int
    alike: int
    expected: float
    cells: list[str]


class Riskiest(Model):
    """The records in the smallest classes, those with the rarest values first."""

    columns: list[str]
    rows: list[RiskyRecord]
    masked: bool


class PersonQuestion(CrowdQuestion):
    """One record as others see it, and what protections made of it."""

    record: Record
    show: bool = False
    candidates: Annotated[list[Id], Field(max_length=10)] = Field(default_factory=list)


class Attribute(Model):
    """A column of the record: how many people have its value, and how many look like the record without it."""

    column: str
    cell: str
    alike_by_it_alone: int
    alike_without_it: int


class LearnedCell(Model):
    """A column that whoever finds the record reads: nobody needs to know it to find the record."""

    column: str
    cell: str
    secret: bool


class FindingStep(Model):
    """A column that becomes known, and how many people are left then."""

    column: str
    left: int


class CellAfter(Model):
    """Effect of a protection on a cell."""

    column: str
    change: Literal["kept", "coarser", "removed"]
    cell: str


class RecordAfter(Model):
    """A record in a protected table; one that was left out has no cells."""

    candidate: str
    released: bool
    alike: int | None
    cells: list[CellAfter]


class PersonView(Model):
    """By what a record is found: `found_by` are the columns that suffice, in the order in which they become known.

    `learned` is what whoever finds the record reads besides, the secrets first.
    """

    record: int
    alike: int
    people: int
    attributes: list[Attribute]
    learned: list[LearnedCell]
    found_by: list[FindingStep]
    after: list[RecordAfter]
    masked: bool
    sentence: str
