"""Requests for checks of the law, sets of items, correctness curves, techniques and masked values."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from incrowd.errors import InputError
from incrowd.web.fields import WHOLE, Columns, Id, Model, Name, People, Seed, Short
from incrowd.web.models import CurveQuestion, ForecastQuestion, Point

Known = Annotated[int, Field(ge=1, le=20), WHOLE]


class CheckQuestion(Model):
    """Compare the table with samples of the fitted law; with `sticks` drawn by stick-breaking, as published."""

    draws: Annotated[int, Field(ge=20, le=1_000), WHOLE] = 100
    sticks: bool = False
    seed: Seed = 0


class RegenerationQuestion(Model):
    """Fill masked cells from published counts, a table with the columns column, value and count."""

    counts: Id
    seed: Seed = 0


class ItemsQuestion(Model):
    """k^m-anonymity of a table with a row for each item of a person: the attacker knows up to `known` items."""

    person: Name
    item: Name
    known: Annotated[int, Field(ge=1, le=6), WHOLE] = 2


class SetsQuestion(Model):
    """Protect a table with a row for each item of a person (`item`), or for each point (`time`, `place`, `amount`).

    Any `known` items or points of a person then fit k people. The default is 2 items or 1 point.
    """

    person: Name
    item: Name | None = None
    time: Name | None = None
    place: Annotated[Columns, Field(max_length=2)] = []
    amount: Name | None = None
    known: Annotated[int, Field(ge=1, le=6), WHOLE] | None = None
    k: Annotated[int, Field(ge=2, le=10**9), WHOLE] = 5

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        """Refuse a request for both items and points, or for neither."""
        of_points = [self.time, *self.place, self.amount]
        if self.item is not None and any(of_points):
            raise InputError("items have no time, place or amount; ask for items or for points")
        if self.item is None and not (self.time and self.place):
            raise InputError("name the column of the items, or those of time and place")
        return self

    def given(self) -> dict[str, Any]:
        """The arguments of `protect_items` or `protect_trajectories`."""
        return {name: value for name, value in self.model_dump().items() if value not in (None, [])}


class ExactQuestion(CurveQuestion):
    """The curve of exact matching by columns (default: those known to others), continued by the scaling law alone."""

    quasi_identifiers: Annotated[Columns, Field(min_length=1)] | None = None


class SparseQuestion(CurveQuestion):
    """The curve of an attacker who knows a few random points of a person; the table has a row for each point."""

    person: Name
    item: Annotated[Columns, Field(min_length=1, max_length=20)]
    known: Known = 4
    draws: Annotated[int, Field(ge=1, le=50), WHOLE] = 5


class RanksQuestion(CurveQuestion):
    """The curve of a matcher from the rank of each probe's true match: a column, or the ranks themselves.

    `ties` counts entries of the same score. `group` and `confidence` are columns by which the accuracy is split.
    """

    ranks: Name | Annotated[list[Annotated[int, Field(ge=1, le=10**9), WHOLE]], Field(min_length=2, max_length=20_000)]
    ties: Name | None = None
    gallery: People | None = None
    group: Name | None = None
    confidence: Name | None = None


class RobustQuestion(CurveQuestion):
    """The curve of matching vectors: probes in this table, known people in `gallery`; row i is one person in both."""

    gallery: Id
    columns: Annotated[Columns, Field(min_length=1)] | None = None
    metric: Literal["cosine", "euclidean", "dot"] = "cosine"


class Technique(Model):
    """An identification technique: the points of its curve, or the job that measured it."""

    name: Short
    points: Annotated[list[Point], Field(min_length=2, max_length=500)] | None = None
    people: People | None = None
    job: Id | None = None


class TechniquesQuestion(ForecastQuestion):
    """Several identification techniques side by side, each with its own name."""

    techniques: Annotated[list[Technique], Field(min_length=2, max_length=8)]


class MaskedQuestion(Model):
    """Count unique records by the values that masked cells cover (default: in the columns known to others)."""

    quasi_identifiers: Annotated[Columns, Field(min_length=1)] | None = None
