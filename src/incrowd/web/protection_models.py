"""How a table is protected, as the API takes it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, create_model, model_validator

from incrowd._support.option import Option, OptionKind
from incrowd.protection.mask import parse_action
from incrowd.protection.method_options import OPTIONS, MethodName
from incrowd.protection.outputs import OutputKind
from incrowd.protection.perturbation import columns_of_step, parse_step
from incrowd.protection.perturbation.step import read_names
from incrowd.protection.problem import DiversityKind
from incrowd.web.fields import WHOLE, ClassSize, Columns, Id, Model, Name, People, Share, Short

_POINT = r"(-?[0-9]{1,15}(\.[0-9]{1,9})?|[0-9]{4}-[0-9]{2}-[0-9]{2})"
_POINTS = rf"{_POINT}(,{_POINT}){{0,99}}"
HierarchyRule = Annotated[
    str,
    StringConstraints(
        pattern=r"^(auto|dates|places|prefix:[0-9]{1,3}(,[0-9]{1,3}){0,20}|quantiles:[0-9]{1,6}"
        rf"|cuts:{_POINTS}(/{_POINTS}){{0,9}}"
        r"|[0-9]{1,12}(\.[0-9]{1,6})?(,[0-9]{1,12}(\.[0-9]{1,6})?){0,20})$"
    ),
]
HierarchyRow = Annotated[list[Annotated[str, StringConstraints(max_length=2_000)]], Field(min_length=2, max_length=20)]
HierarchyRows = Annotated[list[HierarchyRow], Field(min_length=1, max_length=20_000)]
Amounts = Annotated[dict[Name, Annotated[float, Field(ge=0, le=1e12)]], Field(max_length=2_000)]


class ColumnStep(Model):
    """One step of masking (ranges=20, keep=3, *) or perturbation (noise=0.1): a column, and what to do with it.

    Perturbation may change several columns together, joined by plus signs: age+income.
    """

    column: Name
    action: Annotated[str, StringConstraints(max_length=1_000)]


Limits = Annotated[dict[Name, float], Field(max_length=2_000)]
Parts = Annotated[dict[Name, ClassSize], Field(max_length=2_000)]


def _field(option: Option) -> tuple[Any, Any]:
    """Type and default of an option of a method in a request."""
    if option.kind == "steps":
        return Annotated[list[ColumnStep], Field(max_length=1_000)], []
    if option.kind == "numbers":
        return Limits, {}
    if option.kind == "switch":
        return bool, option.default
    kinds: dict[str, Any] = {
        "resolution": Annotated[int, Field(ge=1, le=10**6), WHOLE] | Parts,
        "share": Annotated[float, Field(ge=0, lt=1)],
        "whole": Annotated[int, Field(ge=option.lowest, le=2**32), WHOLE],
        "number": float,
        "people": People,
        "file": Id,
        "text": Short,
    }
    return kinds[option.kind] | None, None


METHOD_OPTIONS = {name: option for name, option in OPTIONS.items() if option.flag is not None}
"""The options of single methods that a request has; a file is another table of the session, by its id."""

if TYPE_CHECKING:
    _WithMethodOptions = Model
else:
    _WithMethodOptions = create_model(
        "WithMethodOptions", __base__=Model, **{name: _field(option) for name, option in METHOD_OPTIONS.items()}
    )


class ProtectionRequest(_WithMethodOptions):
    """How a table is protected. `resolution`, `top`, `bottom` and `steps` are limits of single columns.

    `hierarchies` say how a column is made coarser: by a rule ("5,10,20", "cuts:18,65", "prefix:3,1", "quantiles:10",
    "dates", "places" or "auto"), or by rows of a value and its label at each level. `importance`, `keep`, `widest`
    and `apart` are wishes. `k_map` counts people of another table of the session, `population_table`, or by an estimate
    those of a `population`, which is that of the table's settings where neither is given.
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
    importance: Amounts = {}
    keep: Columns = []
    widest: Amounts = {}
    nominal: Columns = []
    apart: Columns = []
    output: OutputKind | None = None
    hierarchies: Annotated[dict[Name, HierarchyRule | HierarchyRows], Field(max_length=2_000)] = {}

    @property
    def secrets(self) -> list[str]:
        """The sensitive columns, as a list."""
        return [self.sensitive] if isinstance(self.sensitive, str) else list(self.sensitive or [])

    def of_method(self, kind: OptionKind | None = None) -> dict[str, Any]:
        """The options of single methods that were given, of one kind or of all."""
        return {
            name: value
            for name, option in METHOD_OPTIONS.items()
            if kind in (None, option.kind) and (value := getattr(self, name)) not in (None, [], {}, option.default)
        }

    @property
    def all_steps(self) -> list[ColumnStep]:
        """The steps, in order."""
        return [step for steps in self.of_method("steps").values() for step in steps]

    @model_validator(mode="after")
    def _read_steps(self) -> Self:
        """Refuse a step that the method does not know, or that reads a file of the server."""
        for step in self.all_steps:
            if self.method == "mask":
                parse_action(step.column, step.action)
            if self.method == "perturb":
                parse_step(read_names(step.column), step.action, files=False)
        return self

    def named(self, columns: Collection[str]) -> list[str]:
        """Every column that is named, of a table with these columns."""
        by_column = [one for one in self.of_method().values() if isinstance(one, dict)]
        wishes = (self.importance, self.widest, self.keep, self.nominal, self.apart)
        listed = (*wishes, self.hierarchies, self.leave_out, self.secrets)
        in_steps = [name for step in self.all_steps for name in columns_of_step(step.column, columns)]
        return [name for names in (*by_column, *listed, in_steps) for name in names]
