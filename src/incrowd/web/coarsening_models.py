"""Requests and responses about how a single column is made coarser, as it is edited."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from incrowd.web.fields import Model, Name, Short
from incrowd.web.protection_models import HierarchyRows, HierarchyRule

Cell = Annotated[str, StringConstraints(max_length=2_000)]


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
