"""Requests and responses about candidates: the protected tables of a table, from which one is chosen."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from incrowd.reports.standing import Standing
from incrowd.web.fields import WHOLE, Id, Model, Short
from incrowd.web.protection_models import ProtectionRequest


class CandidateRisk(Model):
    """Smallest class, share of unique people and average risk within a table."""

    k: int
    uniqueness: float
    correctness: float


class ColumnDetail(Model):
    """The share of its detail that a column keeps."""

    column: str
    detail: float


class Candidate(Model):
    """A protected table with the settings that made it, the remaining risk and detail, and the verdict on it.

    `risk` is the average risk among the people of `basis`, `highest` that of the person at highest risk among those of
    `highest_basis`. `reason` is the main reason against a release other than the limits; `conditions` are what a person
    confirms before a yes holds, or warnings; `remarks` the results of attacks; `stands` the colour of the verdict.
    `cells_unchanged` is a share of all cells of the original. `detail_words` say of what `detail` is a share, and what
    is left out: `columns_left_out`, by role or by the request. `columns` counts those of the original; `perturbed`
    columns are changed by chance, and there is no guarantee on classes then. `highest_before` is the highest risk of
    the original on the same basis, None if it is not known; `population_unused` says why a given population does not
    count for the candidate. `least_kept` are the columns that lost most detail; `same_as` names an older candidate
    with the same cells. `when_saved` are its
    numbers in the project that was reopened.
    """

    id: str
    kind: Literal["protection", "solution"]
    name: str
    file_name: str
    created: str
    stale: bool
    question_changed: bool
    protection: ProtectionRequest
    before: CandidateRisk
    after: CandidateRisk
    people: int
    people_before: int
    risk: float | None
    basis: Literal["table", "population"]
    highest: float
    highest_basis: Literal["table", "population", "attacks"]
    highest_before: float | None
    population_unused: str | None
    detail: float
    cells_unchanged: float
    detail_words: str
    least_kept: list[ColumnDetail]
    same_as: str | None
    decision: str
    stands: Standing
    headline: str
    sentence: str
    reason: str | None
    conditions: list[str]
    remarks: list[str]
    recipient: str
    rows: int
    suppressed_rows: int
    columns: int
    columns_left_out: list[str]
    perturbed: list[str]
    when_saved: dict[str, Any] | None


class NewName(Model):
    """The new name of a candidate."""

    name: Short


class PairQuestion(Model):
    """Two candidates of one table."""

    a: Id
    b: Id


class ComparedNumber(Model):
    """A number of both candidates; `better` is the one with less risk or more detail."""

    name: str
    a: float | None
    b: float | None
    better: Literal["a", "b"] | None


class ComparedColumn(Model):
    """Shares of rows by groups of a column's values, in the original and both candidates, and distances between them.

    `distance_a` and `distance_b` are those from the original.
    """

    column: str
    groups: list[str]
    original: list[float]
    a: list[float]
    b: list[float]
    distance_a: float
    distance_b: float


class Pair(Model):
    """Two candidates side by side."""

    a: Candidate
    b: Candidate
    numbers: list[ComparedNumber]
    columns: list[ComparedColumn]


class RowsQuestion(Model):
    """Request for some rows of a protected table and of its original; cells are masked without `show`."""

    start: Annotated[int, Field(ge=0, le=10**10), WHOLE] = 0
    rows: Annotated[int, Field(ge=1, le=200), WHOLE] = 20
    show: bool = False


class RowPair(Model):
    """A record before and after protection; `changed` marks the cells that differ."""

    record: int
    before: list[str]
    after: list[str | None]
    changed: list[bool]


class RowPairs(Model):
    """Rows of the original and the protected table side by side; in removed columns, `after` is null."""

    columns: list[str]
    rows: list[RowPair]
    total: int
    masked: bool
