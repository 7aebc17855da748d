"""Questions about a table beyond its risk: does the law fit, how identifying are sets of items, how do curves go on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from incrowd.web.fields import WHOLE, Columns, Id, Model, Name, People, Seed
from incrowd.web.models import ForecastQuestion

Known = Annotated[int, Field(ge=1, le=20), WHOLE]


class CheckQuestion(Model):
    """Draw samples from the fitted law and compare; with `sticks` as published, by stick-breaking."""

    draws: Annotated[int, Field(ge=20, le=1_000), WHOLE] = 100
    sticks: bool = False
    seed: Seed = 0


class ItemsQuestion(Model):
    """k^m-anonymity of a table with a row for each item of a person: the attacker knows up to `known` items."""

    person: Name
    item: Name
    known: Annotated[int, Field(ge=1, le=6), WHOLE] = 2


class SparseQuestion(ForecastQuestion):
    """An attacker knows a few points of a person, drawn at random: a row for each point."""

    person: Name
    item: Annotated[Columns, Field(min_length=1, max_length=20)]
    known: Known = 4
    draws: Annotated[int, Field(ge=1, le=50), WHOLE] = 5


class RanksQuestion(ForecastQuestion):
    """A row for each probe with the rank of its true match; `ties` counts entries with the same score."""

    ranks: Name
    ties: Name | None = None
    gallery: People | None = None


class RobustQuestion(ForecastQuestion):
    """Vectors of probes in this table and of known people in another: row i is the same person in both."""

    gallery: Id
    columns: Annotated[Columns, Field(min_length=1)] | None = None
    metric: Literal["cosine", "euclidean", "dot"] = "cosine"
