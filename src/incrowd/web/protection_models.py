"""How a table is protected, as the API takes it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from incrowd.protection import MethodName
from incrowd.protection.mask import parse_action
from incrowd.protection.outputs import OutputKind
from incrowd.protection.perturbation import columns_of_step, parse_step
from incrowd.protection.perturbation.step import read_names
from incrowd.protection.problem import DiversityKind
from incrowd.web.fields import WHOLE, ClassSize, Columns, Model, Name, Seed, Share

HierarchyRule = Annotated[
    str,
    StringConstraints(
        pattern=r"^(auto|dates|prefix:[0-9]{1,3}(,[0-9]{1,3}){0,20}|quantiles:[0-9]{1,6}"
        r"|[0-9]{1,12}(\.[0-9]{1,6})?(,[0-9]{1,12}(\.[0-9]{1,6})?){0,20})$"
    ),
]
HierarchyRow = Annotated[list[Annotated[str, StringConstraints(max_length=2_000)]], Field(min_length=2, max_length=20)]
HierarchyRows = Annotated[list[HierarchyRow], Field(min_length=1, max_length=20_000)]
Amounts = Annotated[dict[Name, Annotated[float, Field(ge=0, le=1e12)]], Field(max_length=2_000)]


class Step(Model):
    """One step of masking (ranges=20, keep=3, *) or perturbation (noise=0.1): a column, and what to do with it.

    Perturbation may change several columns together, joined by plus signs: age+income.
    """

    column: Name
    action: Annotated[str, StringConstraints(max_length=1_000)]


class Protection(Model):
    """How a table is protected. `resolution`, `top`, `bottom` and `steps` are limits of single columns.

    `hierarchies` say how a column is made coarser: by a rule ("5,10,20", "prefix:3,1", "quantiles:10", "dates" or
    "auto"), or by rows of a value and its label at each level. `importance`, `keep` and `widest` are wishes.
    """

    k: Annotated[int, Field(ge=2, le=10**9), WHOLE] = 5
    t: Share | Literal["bound"] | None = None
    l: Annotated[float, Field(ge=1, le=10**6)] | None = None  # noqa: E741
    sensitive: Name | Annotated[Columns, Field(min_length=1)] | None = None
    diversity: DiversityKind = "distinct"
    c: Annotated[float, Field(gt=0, le=1e6)] = 3.0
    beta: Annotated[float, Field(gt=0, le=1e6)] | None = None
    delta: Annotated[float, Field(gt=0, le=700)] | None = None
    leave_out: Columns = []
    method: MethodName = "partition"
    aim: Literal["information", "granularity"] | None = None
    resolution: (
        Annotated[int, Field(ge=1, le=10**6), WHOLE] | Annotated[dict[Name, ClassSize], Field(max_length=2_000)] | None
    ) = None
    suppress: Annotated[float, Field(ge=0, lt=1)] | None = None
    steps: Annotated[list[Step], Field(max_length=1_000)] = []
    top: Annotated[dict[Name, float], Field(max_length=2_000)] = {}
    bottom: Annotated[dict[Name, float], Field(max_length=2_000)] = {}
    importance: Amounts = {}
    keep: Columns = []
    widest: Amounts = {}
    nominal: Columns = []
    output: OutputKind | None = None
    wildcards: bool = False
    subsets: Annotated[int, Field(ge=1, le=20), WHOLE] | None = None
    seed: Seed | None = None
    hierarchies: Annotated[dict[Name, HierarchyRule | HierarchyRows], Field(max_length=2_000)] = {}

    @property
    def secrets(self) -> list[str]:
        """The sensitive columns, as a list."""
        return [self.sensitive] if isinstance(self.sensitive, str) else list(self.sensitive or [])

    @model_validator(mode="after")
    def _read_steps(self) -> Self:
        """Refuse a step that the method does not know, or that reads a file of the server."""
        for step in self.steps:
            if self.method == "mask":
                parse_action(step.column, step.action)
            if self.method == "perturb":
                parse_step(read_names(step.column), step.action, files=False)
        return self

    def named(self, columns: Collection[str]) -> list[str]:
        """Every column that is named, of a table with these columns."""
        resolution = self.resolution if isinstance(self.resolution, dict) else {}
        by_column = (resolution, self.top, self.bottom, self.importance, self.widest, self.hierarchies)
        listed = (self.leave_out, self.keep, self.nominal, self.secrets)
        in_steps = [name for step in self.steps for name in columns_of_step(step.column, columns)]
        return [name for names in (*by_column, *listed, in_steps) for name in names]
