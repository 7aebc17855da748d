"""Requests and responses about single columns: roles, added risk, distributions, reading options and hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from incrowd.tables.roles.column_role import Confidence
from incrowd.web.crowd_models import CrowdQuestion
from incrowd.web.fields import WHOLE, Columns, MissingCodes, Model, Name, Secret, Short
from incrowd.web.models import ColumnInfo, DateOrder, Reading
from incrowd.web.protection_models import HierarchyRows, HierarchyRule

Cell = Annotated[str, StringConstraints(max_length=2_000)]


class TriageColumn(ColumnInfo):
    """A column with the facts that help to decide its role.

    `scale` is the current scale of its values, `scale_stated` the one that a user set, and `scale_suggested` another
    that fits better. `missing_codes` are numbers that may mean a missing value.
    """

    confidence: Confidence
    topic: str
    scale: str
    scale_stated: str | None
    scale_suggested: str | None
    missing_codes: list[int]


class Triage(Model):
    """All columns, the number of decided ones, and the reading options of the file.

    `takes_null`: texts that mean a missing value can be named, for all columns or for one.
    """

    decided: int
    reading: Reading
    takes_null: bool
    columns: list[TriageColumn]


class AddsQuestion(CrowdQuestion):
    """Request for the people that each of these columns singles out, alone and together with others."""

    columns: Annotated[Columns, Field(min_length=1)]


class Added(Model):
    """The people who stand out by a column: by it `alone`, and `together` with the most telling `others`."""

    column: str
    alone: int
    together: int
    others: list[str]


class Adds(Model):
    """The people of the table, and those who stand out by each column."""

    people: int
    columns: list[Added]


class HistogramQuestion(Model):
    """Request for the distribution of a column; its values only with `show`.

    A `round_axis` has round numbers or months as edges. They are always shown, since its outer ranges hold eleven rows
    or more.
    """

    column: Name
    bins: Annotated[int, Field(ge=1, le=200), WHOLE] = 30
    show: bool = False
    round_axis: bool = False


class Histogram(Model):
    """Rows by ranges of equal length (`edges` is one longer than `counts`), or by value, the most common first."""

    column: str
    kind: Literal["ranges", "values"]
    counts: list[int]
    edges: list[float | str] | None
    labels: list[str] | None
    missing: int
    others: int
    masked: bool


class NewReading(Model):
    """Request to read the file of a table again with other options."""

    reading: Reading


class ReadingChanges(Model):
    """Changes of some reading options; null restores the default of an option or a scale."""

    null: MissingCodes | None = None
    sheet: Short | None = None
    fold: bool | None = None
    dates: DateOrder | None = None
    scales: Annotated[dict[Name, Secret | None], Field(max_length=2_000)] = {}

    def applied_to(self, how: Mapping[str, Any]) -> Reading:
        """The reading options with these changes."""
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

    Values in no group get the label `rest`, or stay as they are. With `csv` the response has the hierarchy as the text
    of a file, with every value.
    """

    column: Name
    hierarchy: HierarchyRule | HierarchyRows | None = None
    groups: Annotated[list[ValueGroup], Field(min_length=1, max_length=2_000)] | None = None
    rest: Short | None = None
    text: Annotated[str, StringConstraints(max_length=5_000_000)] | None = None
    show: bool = False
    csv: bool = False


class LevelPart(Model):
    """The number of rows with one label of a level; the label only with `show`."""

    label: str | None
    rows: int


class HierarchyLevel(Model):
    """A level: the number of its parts, the rows of the smallest part, and the first parts in the order of values."""

    parts: int
    smallest: int
    first: list[LevelPart]


class GroupedValue(Model):
    """A value with its rows and its label at the first level; both texts only with `show`."""

    value: str | None
    label: str | None
    rows: int


class LabelledValues(Model):
    """The values that have one label at the first level."""

    name: str
    values: list[str]


class HierarchyView(Model):
    """A hierarchy as `protection` takes it, and the rows at each level, without the last level `*`.

    `values` are the most common ones; `other_values` further ones with `other_rows` rows are not listed. `groups` are
    all values to which a hierarchy by rows gives another label, by label; only with `show`.
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
