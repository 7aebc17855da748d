"""Requests and responses about the crowd: class sizes, marks to draw, the records at highest risk, one record."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from incrowd.web.fields import WHOLE, Columns, Id, Model, Name

Record = Annotated[int, Field(ge=0, le=10**10), WHOLE]


class CrowdQuestion(Model):
    """Group people by these columns; without `quasi_identifiers`, by those known to others or not judged."""

    quasi_identifiers: Columns | None = None
    person: Name | None = None


class CrowdOfQuestion(CrowdQuestion):
    """The crowd of the table, or of a protected table (`candidate`), which is counted by its own classes."""

    candidate: Id | None = None


class Marks(Model):
    """Marks to draw: one for each person, each class, or each share of the people in classes of one size.

    Mark i stands for `people[i]` people in classes of `size[i]`. If every person has a mark, `class_of` has the class
    of each, and mark i is the same person for every choice of columns.
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
    """Counts, not estimates: `counts[i]` classes have `sizes[i]` people.

    Of a candidate, `left_out` people of the original are not in it; with a mark for each person they have size 0.
    """

    people: int
    records: int
    classes: int
    sizes: list[int]
    counts: list[int]
    marks: Marks
    limits: CrowdLimits
    seconds: float
    sentence: str
    left_out: int = 0


class RiskiestQuestion(CrowdQuestion):
    """Request for the records that are easiest to find; cells are masked without `show`."""

    rows: Annotated[int, Field(ge=1, le=1_000), WHOLE] = 20
    show: bool = False


class RiskyRecord(Model):
    """A record, how many people are like it, and how many would be if the columns were independent."""

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
    """Request for one record: how an attacker finds it, and what protections (`candidates`) change in it."""

    record: Record
    show: bool = False
    candidates: Annotated[list[Id], Field(max_length=10)] = Field(default_factory=list)


class Attribute(Model):
    """A column of the record: how many people have its value, and how many are like the record without it."""

    column: str
    cell: str
    alike_by_it_alone: int
    alike_without_it: int


class LearnedCell(Model):
    """A cell that an attacker learns once the record is found."""

    column: str
    cell: str
    secret: bool


class FindingStep(Model):
    """A column that an attacker knows as well, and how many people are left then."""

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
    """How an attacker finds a record: `found_by` are columns that suffice, each with the people left after it.

    `learned` are the other cells, which the attacker then reads, the secrets first.
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
