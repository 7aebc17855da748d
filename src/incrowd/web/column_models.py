"""Requests and responses about single columns: what they are, what they add, how values spread and are made coarser."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from incrowd.tables.roles.column_role import Confidence
from incrowd.web.crowd_models import CrowdQuestion
from incrowd.web.fields import WHOLE, Columns, MissingCodes, Model, Name, Secret, Short
from incrowd.web.models import ColumnInfo, Reading
from incrowd.web.protection_models import HierarchyRows, HierarchyRule

Cell = Annotated[str, StringConstraints(max_length=2_000)]


class TriageColumn(ColumnInfo):
    """A column to be decided about.

    `scale` is how its values compare, `scale_stated` what somebody said it is, and `scale_suggested` another that fits
    better; `missing_codes` are numbers that may stand for missing values.
    """

    confidence: Confidence
    topic: str
    scale: str
    scale_stated: str | None
    scale_suggested: str | None
    missing_codes: list[int]


class Triage(Model):
    """All columns, how many of them a person has decided about, and how the file is read.

    `takes_null`: texts that stand for missing values can be named, for every column of the file or for one.
    """

    decided: int
    reading: Reading
    takes_null: bool
    columns: list[TriageColumn]


class AddsQuestion(CrowdQuestion):
    """Request for the risk that each of these columns adds to the known ones."""

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
    """Counts by the known columns alone, and the risk that each of the others adds."""

    people: int
    uniques: int
    correctness: float
    columns: list[Added]


class HistogramQuestion(Model):
    """The spread of a column's values; the values themselves only if they are to be shown.

    The edges of a `round_axis` are round numbers or months and always shown: the outer ranges hold eleven rows or more.
    """

    column: Name
    bins: Annotated[int, Field(ge=1, le=200), WHOLE] = 30
    show: bool = False
    round_axis: bool = False


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


class ReadingChanges(Model):
    """Changes of the reading options; the others stay, and a null value or scale restores the default."""

    null: MissingCodes | None = None
    sheet: Short | None = None
    scales: Annotated[dict[Name, Secret | None], Field(max_length=2_000)] = {}

    def applied_to(self, how: Mapping[str, Any]) -> Reading:
        """The reading with these changes."""
        changes = self.model_dump(exclude_unset=True)
        scales = {**how.get("scales", {}), **changes.pop("scales", {})}
        stated = {name: scale for name, scale in scales.items() if scale is not None}
        merged = {**how, **changes, "scales": stated}
        return Reading(**{name: value for name, value in merged.items() if value is not None})


class ValueGroup(Model):
    """Values that get one label."""

    name: Short
    values: Annotated[list[Cell], Field(min_length=1, max_length=20_000)]


class HierarchyQuestion(Model):
    """A hierarchy of a column: by a rule or by rows, by groups of its values, or as the text of a file (ARX's layout).

    Values in no group get the label `rest`, or stay as they are. `csv`: also as the text of a file, with every value.
    """

    column: Name
    hierarchy: HierarchyRule | HierarchyRows | None = None
    groups: Annotated[list[ValueGroup], Field(min_length=1, max_length=2_000)] | None = None
    rest: Short | None = None
    text: Annotated[str, StringConstraints(max_length=5_000_000)] | None = None
    show: bool = False
    csv: bool = False


class LevelPart(Model):
    """The rows that have one label at a level; the label only if values are to be shown."""

    label: str | None
    rows: int


class HierarchyLevel(Model):
    """A level: into how many parts it puts the rows, the rows of the smallest, and the parts in the order of values."""

    parts: int
    smallest: int
    first: list[LevelPart]


class GroupedValue(Model):
    """A value with its rows and its label at the first level; both texts only if they are to be shown."""

    value: str | None
    label: str | None
    rows: int


class LabelledValues(Model):
    """The values that have one label at the first level."""

    name: str
    values: list[str]


class HierarchyView(Model):
    """A hierarchy as `protection` takes it, and what it makes of the rows; `*` above the last level is left out.

    `values` are the most common ones; `other_values` of them, with `other_rows`, are not listed. `groups` are all
    values that rows give another label, by that label; only if they are to be shown.
    """

    column: str
    hierarchy: HierarchyRule | HierarchyRows | None
    levels: list[HierarchyLevel]
    values: list[GroupedValue]
    other_values: int
    other_rows: int
    groups: list[LabelledValues]
    csv: str | None
    masked: bool
