"""Types of fields that several requests and responses have, and the base of all models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import core_schema

from incrowd.recipients import RECIPIENTS, SMALLEST_LIMIT

ChosenRole = Literal["identifier", "quasi-identifier", "sensitive", "both", "person", "weight", "other", "drop"]
"""The role of a column in the app; "both" is a quasi-identifier that is sensitive as well."""
ROLE_WORDS: dict[ChosenRole, str] = {  # the words of the app, and those of the library and the API
    "quasi-identifier": "known to others (quasi-identifier)",
    "sensitive": "secret (sensitive)",
    "both": "known to others and secret (both)",
    "identifier": "names the person (identifier)",
    "other": "neither known nor secret (other)",
    "drop": "left out (drop)",
    "person": "whose record it is (person)",
    "weight": "sampling weight (weight)",
}
State = Literal["waiting", "running", "done", "failed", "cancelled"]
JobKind = Literal[
    "assessment",
    "forecast",
    "leak",
    "protection",
    "frontier",
    "points",
    "solution",
    "release",
    "attack",
    "check",
    "itemsets",
    "sets",
    "curve",
    "techniques",
    "masked",
    "regeneration",
    "simulation",
]


Separator = Literal[",", ";", "\t", "|", " "]
Encoding = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,40}$")]
Id = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=100)]
MissingCodes = Annotated[str, StringConstraints(min_length=1, max_length=10_000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Columns = Annotated[list[Name], Field(max_length=2_000)]


@dataclass(frozen=True)
class OneOf:
    """A choice of names that the library lists; checked and documented as a `Literal` of them."""

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.literal_schema(list(self.names))


Recipient = Annotated[str, OneOf(tuple(kind.name for kind in RECIPIENTS))]


WHOLE = BeforeValidator(lambda value: int(value) if isinstance(value, float) and value.is_integer() else value)
"""In JSON 75.0 is a whole number like 75."""
People = Annotated[int, Field(ge=1, le=10**12), WHOLE]
Share = Annotated[float, Field(gt=0, le=1)]
Limit = Annotated[float, Field(ge=SMALLEST_LIMIT, le=1)]
ClassSize = Annotated[int, Field(ge=1, le=10**9), WHOLE]
Seed = Annotated[int, Field(ge=0, le=2**32), WHOLE]


class Model(BaseModel):
    """Base of all models: unknown fields, NaN, and numbers in place of true and false are refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)
