"""Models of protection requests to the API."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, create_model, model_validator

from incrowd._support.option import Option
from incrowd.protection.mask import parse_action
from incrowd.protection.perturbation import columns_of_step, parse_step
from incrowd.protection.perturbation.step import read_names
from incrowd.protection.protect_options import OPTIONS
from incrowd.web.fields import WHOLE, ClassSize, Columns, Id, Model, Name, People, Short

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


class ColumnStep(Model):
    """One step of masking (ranges=20, keep=3, *) or perturbation (noise=0.1) of a column.

    Perturbation may change several columns together, joined by plus signs: age+income.
    """

    column: Name
    action: Annotated[str, StringConstraints(max_length=1_000)]


Parts = Annotated[dict[Name, ClassSize], Field(max_length=2_000)]


def _field(option: Option) -> tuple[Any, Any]:
    """Type and default of an option in a request; an option without a default is null."""
    limits = {"ge": option.lowest, "gt": option.above, "le": option.highest}
    bounds: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    number: Any = Annotated[float, Field(**bounds)]
    several: dict[str, tuple[Any, Any]] = {
        "columns": (Columns, []),
        "steps": (Annotated[list[ColumnStep], Field(max_length=1_000)], []),
        "numbers": (Annotated[dict[Name, number], Field(max_length=2_000)], {}),
        "hierarchies": (Annotated[dict[Name, HierarchyRule | HierarchyRows], Field(max_length=2_000)], {}),
        "switch": (bool, option.default),
    }
    if option.kind in several:
        return several[option.kind]
    word: Any = Literal[option.choices] if option.choices else Short
    kinds: dict[str, Any] = {
        "resolution": Annotated[int, Field(ge=1, le=10**6), WHOLE] | Parts,
        "share": Annotated[float, Field(ge=0, lt=1)],
        "whole": Annotated[int, Field(**{"ge": 0, "le": 2**32} | bounds), WHOLE],
        "number": number | word if option.choices else number,
        "people": People,
        "file": Id,
        "text": word,
        "words": word | Annotated[dict[Name, word], Field(max_length=2_000)],
    }
    return (kinds[option.kind] if option.default else kinds[option.kind] | None), option.default or None


_NOTASKED = ("quasi_identifiers", "shuffle", "key")
_TABLES = ("population_table",)
ASKED = {
    name: option
    for name, option in OPTIONS.items()
    if option.flag is not None and not option.by_role and name not in _NOTASKED
    if option.kind != "file" or name in _TABLES
}
"""The options of a request. None of them is a file of the server; a table is one of the session, by its id."""
_OWN_FIELDS = {"k", "method", "sensitive", "l", "t", "hierarchies", "importance", "output", "leave_out"}
_OWN_FIELDS |= {"resolution", "k_map", "population_table", "population", "steps", "top", "bottom"}
FURTHER = {name: option for name, option in ASKED.items() if name not in _OWN_FIELDS}
"""The options without a field of their own in the app's form, which makes their fields from the declarations."""

_ABOUT_SECRETS = [name for name, option in ASKED.items() if {"l", "t"} & {*option.inputs}]


def _in_words(name: str, value: Any) -> str:
    """An option of a request with its value, for a name or a record."""
    if value is True:
        return name
    if not isinstance(value, list | dict):
        return f"{name} = {value}"
    return f"{name}: {', '.join(f'{one}={value[one]:g}' if isinstance(value, dict) else one for one in value)}"


if TYPE_CHECKING:

    class _Declared(Model):
        k: int = 5

        def __getattr__(self, name: str) -> Any: ...

else:
    _Declared = create_model("Declared", __base__=Model, **{name: _field(option) for name, option in ASKED.items()})


class ProtectionRequest(_Declared):
    """Request to protect a table. `resolution`, `top`, `bottom` and `steps` are limits of single columns.

    `hierarchies` say how a column is made coarser: by a rule ("5,10,20", "cuts:18,65", "prefix:3,1", "quantiles:10",
    "dates", "places" or "auto"), or by rows of a value and its label at each level. `importance`, `keep` and
    `widest` are wishes. `k_map` counts the people of another table of the session (`population_table`), or estimates
    those of a `population`; the default is the population of the table's settings.
    """

    sensitive: Name | Annotated[Columns, Field(min_length=1)] | None = None

    @property
    def secrets(self) -> list[str]:
        """The sensitive columns, as a list."""
        return [self.sensitive] if isinstance(self.sensitive, str) else list(self.sensitive or [])

    def released_secrets(self, left_out: Collection[str]) -> list[str]:
        """The sensitive columns that are kept secret within a release: one that is left out is not in it."""
        return [name for name in self.secrets if name not in left_out]

    def given_options(self) -> dict[str, Any]:
        """The options that differ from their defaults, as `protect` takes them; a table is an id."""
        values = {name: getattr(self, name) for name in ASKED}
        values |= {
            name: int(value) for name, value in values.items() if isinstance(value, float) and value.is_integer()
        }
        values |= {"sensitive": self.secrets, "steps": [(step.column, step.action) for step in self.steps]}
        return {name: value for name, value in values.items() if value not in (None, [], {}, ASKED[name].default)}

    def further_in_words(self) -> list[str]:
        """The options without a field of their own that are asked for, except the seed, by which draws are undone.

        >>> ProtectionRequest(beta=0.5, keep=["sex"], widest={"age": 10}, seed=7, method="partition").further_in_words()
        ['beta = 0.5', 'keep: sex', 'widest: age=10']
        """
        given = self.given_options()
        return [_in_words(name, given[name]) for name in FURTHER if name in given and name != "seed"]

    @model_validator(mode="after")
    def _read_steps(self) -> Self:
        """Refuse a step that the method does not have, or that reads a file of the server."""
        for step in self.steps:
            if self.method == "mask":
                parse_action(step.column, step.action)
            if self.method == "perturb":
                parse_step(read_names(step.column), step.action, files=False)
        return self

    def without_columns(self, gone: Collection[str]) -> ProtectionRequest:
        """The request without what it asks of some columns; without a sensitive column, demands on it go too."""
        kept: dict[str, Any] = {"sensitive": [name for name in self.secrets if name not in gone] or None}
        for name, option in ASKED.items():
            value = getattr(self, name)
            if option.kind == "columns" and name != "sensitive":
                kept[name] = [one for one in value if one not in gone]
            elif isinstance(value, dict):
                kept[name] = {one: given for one, given in value.items() if one not in gone}
        kept["steps"] = [step for step in self.steps if not {*columns_of_step(step.column, gone)} & {*gone}]
        if self.secrets and kept["sensitive"] is None:
            kept |= {name: _field(ASKED[name])[1] for name in _ABOUT_SECRETS}
        return self.model_copy(update=kept)

    def named(self, columns: Collection[str]) -> list[str]:
        """Every column that the request names, for a table with these columns."""
        given = [(ASKED[name].kind, value) for name, value in self.given_options().items()]
        named = [value for kind, value in given if kind == "columns" or isinstance(value, dict)]
        in_steps = [name for step in self.steps for name in columns_of_step(step.column, columns)]
        return [name for names in (*named, in_steps) for name in names]
