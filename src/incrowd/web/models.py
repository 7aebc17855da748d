"""Requests and responses of the REST API; the OpenAPI document is built from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from incrowd.assessment.question import MOST_TOLERATED
from incrowd.attacks import KINDS as ATTACK_KINDS
from incrowd.attacks import AttackKind
from incrowd.evaluation.method_frontier import FRONTIER_METHODS, FrontierMethod
from incrowd.web.fields import (
    WHOLE,
    ChosenRole,
    ClassSize,
    Columns,
    Encoding,
    Id,
    JobKind,
    Limit,
    MissingCodes,
    Model,
    Name,
    OneOf,
    People,
    Recipient,
    Secret,
    Seed,
    Separator,
    Share,
    Short,
    State,
)
from incrowd.web.protection_models import ProtectionRequest

ComparedMethod = Annotated[FrontierMethod, OneOf(tuple(FRONTIER_METHODS))]
_DEMANDS = ("l", "leave_out", "importance", "hierarchies")  # options that a comparison gives to every method


class ErrorAnswer(Model):
    """Why a request is refused; `choices` are the sheets or files of which one must be named."""

    error: str
    choices: list[str] = []


class Version(Model):
    """Version of the server."""

    name: Literal["incrowd"]
    version: str


class SessionInfo(Model):
    """The folder that keeps the session when the server ends, and tables that could not be loaded again."""

    kept_in: str | None
    lost: list[str]


class KeptSession(Model):
    """A session in the folder that keeps work: when it was used last and how much it holds, without any content.

    `in_use`: a page of it is open, or work of it is under way; it cannot be deleted.
    """

    name: Id
    used: datetime
    tables: int
    bytes: int
    in_use: bool = False


class ServerLimits(Model):
    """Limits of this server; tables in `folders` can be opened by their path."""

    max_bytes: int
    max_rows: int
    max_columns: int
    max_demo_rows: int
    max_tables: int
    max_jobs: int
    folders: list[str]
    endings: list[str]
    kept_in: str | None


DateOrder = Literal["day-first", "month-first"]


class Reading(Model):
    """Reading options of a file that cannot be detected in it.

    `null` are texts that mean a missing value, in all columns or in one: "NA,-9;age=97-99".
    `scales` are the scales of columns: {"race": "nominal", "pain": "low<middle<high"}. `fold` joins texts that differ
    only in case, blanks or Unicode form; `dates` says what comes first in dates where no day is above 12.
    """

    separator: Separator | None = None
    encoding: Encoding | None = None
    null: MissingCodes | None = None
    sheet: Short | None = None
    skip_bad_lines: bool = False
    fold: bool = False
    dates: DateOrder | None = None
    scales: Annotated[dict[Name, Secret], Field(max_length=2_000)] = {}

    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return self.model_dump(exclude_defaults=True)


class OpenPath(Model):
    """A file on the server's machine."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    reading: Reading = Reading()


class Demo(Model):
    """A generated table."""

    rows: Annotated[int, Field(ge=1, le=5_000_000), WHOLE] = 100_000
    seed: Seed = 0


class ColumnInfo(Model):
    """A column: its kind, its role, whether a user decided the role, and why one was suggested."""

    name: str
    type: str
    distinct: int | None
    nulls: int
    role: ChosenRole
    decided: bool
    suggested: ChosenRole
    reason: str


class TableInfo(Model):
    """An open table, without cells. `sheets` are the names of the tables in its file, if there are several.

    `conditions` are those of the protection that made the table, if one did.
    """

    id: str
    name: str
    source: Literal["upload", "path", "demo", "protection"]
    rows: int
    columns: list[ColumnInfo]
    notes: list[str]
    sheets: list[str]
    sheet: str | None
    reading: Reading
    conditions: list[str]


class Preview(Model):
    """The first rows. A masked cell tells only the kind of its value."""

    columns: list[str]
    rows: list[list[str]]
    masked: bool


class TableSettings(Model):
    """Roles of the columns and the question. Columns without a role here have the suggested one.

    `decided` are the columns whose role a user gave or confirmed; a request without it decides those in `roles`. A
    suggested role is no decision, and a yes needs a decision on every column. `threshold` replaces the limit on the
    average risk, `highest` that on the person at highest risk. `tolerate` is the share of records whose secret may be
    certain; a secret is certain if the share `certain` of its class has one value. Columns of the role "drop" are
    left out. `strata` and `cluster` are columns that say how people were sampled; they may have any role.
    """

    roles: Annotated[dict[Name, ChosenRole], Field(max_length=5_000)] = {}
    decided: Annotated[list[Name], Field(max_length=5_000)] = []
    population: People | None = None
    strata: Name | None = None
    cluster: Name | None = None
    recipient: Recipient = "public"
    threshold: Limit | None = None
    highest: Limit | None = None
    secrets: Annotated[list[Secret], Field(max_length=200)] = []
    tolerate: Annotated[float, Field(ge=0, le=MOST_TOLERATED)] | None = None
    certain: Annotated[float, Field(gt=0.5, le=1)] | None = None
    rows_are_people: bool = False
    groups: Annotated[dict[Name, Columns], Field(max_length=17)] = {}
    protection: ProtectionRequest = ProtectionRequest()


class SettingsState(Model):
    """The settings, and whether undo and redo are possible."""

    settings: TableSettings
    can_undo: bool
    can_redo: bool


class LiveQuestion(Model):
    """Count classes by these columns, and by these groups of columns."""

    quasi_identifiers: Columns
    person: Name | None = None
    groups: Annotated[dict[Name, Columns], Field(max_length=17)] = {}


class GroupCount(Model):
    """Risk from an attacker who knows the columns of one group."""

    label: str
    columns: list[str]
    k: int
    uniques: int
    uniqueness: float
    correctness: float


class Live(Model):
    """Counts, not estimates. Without quasi-identifiers all people are in one class."""

    k: int
    people: int
    classes: int
    uniques: int
    uniqueness: float
    correctness: float
    below_5: float
    groups: list[GroupCount]
    seconds: float
    sentence: str


class AssessmentQuestion(Model):
    """Assess the table by its settings; `protection` includes what protection would cost."""

    protection: bool = True
    seed: Seed = 0


class ForecastQuestion(Model):
    """Populations by size or name (city, us, eu, world)."""

    at: Annotated[list[People | Literal["city", "us", "eu", "world"]], Field(min_length=1, max_length=200)] = [
        "city",
        "us",
        "world",
    ]
    k: Annotated[list[Annotated[int, Field(ge=2, le=100), WHOLE]], Field(max_length=5)] = []
    seed: Seed = 0


class CurveQuestion(ForecastQuestion):
    """The forecast of a curve; `compare` adds forecasts by other curves than the scaling law."""

    compare: bool = False


class Point(Model):
    """A measured point: the share of people named correctly in a gallery of `n` people."""

    n: People
    correctness: Annotated[float, Field(ge=0, le=1)]


class PointsQuestion(CurveQuestion):
    """A forecast from measured points; `people` is the number of people tested, if it is known."""

    points: Annotated[list[Point], Field(min_length=2, max_length=500)]
    people: People | None = None


class PointsText(Model):
    """Measured points as pasted text."""

    text: Annotated[str, StringConstraints(max_length=100_000)]


class LeakQuestion(Model):
    """A leak of a number of people, or of a share of them; `k` adds the chances if all classes had k people."""

    leaked: Annotated[int, Field(ge=0, le=10**12), WHOLE] | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    targets: Annotated[list[Annotated[int, Field(ge=1, le=1_000), WHOLE]], Field(min_length=1, max_length=6)] = [1]
    k: ClassSize | None = None
    at_most: Limit | None = None


class SimulationQuestion(Model):
    """Simulated leaks. Targets are drawn from the `table`, or from the people in the `leak`.

    `records_leaked` is the share of each person's records that leak, `records_known` the number of a target's records
    that the attacker knows, `error_rate` the chance of a wrong value; each of them needs a person column.
    """

    leaked: Annotated[int, Field(ge=0, le=10**12), WHOLE] | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    targets: Annotated[int, Field(ge=1, le=100), WHOLE] = 1
    targets_from: Literal["table", "leak"] = "table"
    trials: Annotated[int, Field(ge=100, le=100_000), WHOLE] = 2_000
    records_leaked: Share | None = None
    records_known: Annotated[int, Field(ge=1, le=1_000), WHOLE] | None = None
    error_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    seed: Seed = 0

    @property
    def in_part(self) -> bool:
        """True if only part of a person's records leak or are known, or values may be wrong."""
        return (self.records_leaked, self.records_known, self.error_rate) != (None, None, None)


class LeakCurveQuestion(Model):
    """The chance against the size of the leak: a line for each number of targets."""

    targets: Annotated[list[Annotated[int, Field(ge=1, le=1_000), WHOLE]], Field(min_length=1, max_length=6)] = [1]


class ProtectionQuestion(Model):
    """Protect the table by its settings, or by `protection`."""

    protection: ProtectionRequest | None = None


class SolutionQuestion(Model):
    """Search for the protection with the least loss that passes. The search chooses k and l; other options are kept."""

    protection: ProtectionRequest | None = None
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 120


class FrontierQuestion(Model):
    """Protect the table with several methods and measure each.

    `protection` has demands on every method that supports them: `l`, `leave_out`, `importance`, `hierarchies`.
    """

    k: Annotated[list[ClassSize], Field(min_length=1, max_length=10)] | None = None
    methods: Annotated[list[ComparedMethod], Field(min_length=1, max_length=len(FRONTIER_METHODS))] | None = None
    sensitive: Name | Annotated[Columns, Field(min_length=1)] | None = None
    protection: ProtectionRequest = Field(default_factory=ProtectionRequest)

    @property
    def secrets(self) -> list[str]:
        """The sensitive columns, as a list."""
        return [self.sensitive] if isinstance(self.sensitive, str) else list(self.sensitive or [])

    @property
    def demands(self) -> dict[str, Any]:
        """The demands on every method, as the request has them."""
        given = {name: getattr(self.protection, name) for name in _DEMANDS}
        return {name: value for name, value in given.items() if value}


class AttackQuestion(Model):
    """Attack a release: `released` is a candidate of the table or another table, `holdout` a table of other people.

    Without `known` the attackers know each group of columns of the settings, or all quasi-identifiers. `by` is a column
    whose groups are compared by how often their people are found. `noise` (the error of what attackers know), `missing`
    (the share of cells they do not know) and `population` are options of linkage.
    """

    released: Id
    kinds: Annotated[list[AttackKind], Field(min_length=1, max_length=len(ATTACK_KINDS))] | None = None
    known: Columns | Annotated[dict[Name, Columns], Field(max_length=17)] | None = None
    secret: Name | None = None
    holdout: Id | None = None
    targets: Annotated[int, Field(ge=10, le=100_000), WHOLE] = 2_000
    by: Name | None = None
    noise: Annotated[dict[Name, Annotated[float, Field(ge=0)]], Field(max_length=100)] = {}
    missing: Annotated[float, Field(ge=0, lt=1)] = 0.0
    population: People | None = None
    seed: Seed = 0


class JobInfo(Model):
    """A job. `has_result`: a result can be shown; it is complete once the state is done.

    `stages` counts the results so far, so that a page knows when to draw again. `question_changed`: roles, scales, the
    recipient or other settings have changed since the start. `stale`: these, or the protection of a protection job,
    have changed. `question`: the request.
    """

    id: str
    kind: JobKind
    table: str | None
    state: State
    progress: float | None
    stage: str
    message: str
    has_result: bool
    stages: int
    stale: bool
    question_changed: bool
    created: str
    seconds: float
    question: dict[str, Any]
    name: str


class Latest(Model):
    """The newest finished job of every kind, and the jobs that wait or run, the newest first."""

    whole: dict[JobKind, JobInfo]
    running: list[JobInfo]


class FigureTable(Model):
    """The numbers of a figure."""

    caption: str
    columns: list[str]
    rows: list[list[Any]]


class FigureInfo(Model):
    """A figure as Vega-Lite, with its numbers, a sentence on them and how to read it."""

    title: str
    sentence: str
    means: str
    spec: dict[str, Any]
    table: FigureTable


class Equivalent(Model):
    """The command and the Python script that do what a job does."""

    cli: str
    python: str
