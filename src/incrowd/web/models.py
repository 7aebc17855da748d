"""Requests and responses of the REST API; the OpenAPI document is built from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from incrowd.attacks import KINDS as ATTACKS
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
_OF_EVERY_WAY = ("l", "apart", "leave_out", "importance", "hierarchies")  # that is compared


class ErrorAnswer(Model):
    """Why there is no answer; `choices` are the sheets or files of which one has to be named."""

    error: str
    choices: list[str] = []


class Version(Model):
    """Version of the server."""

    name: Literal["incrowd"]
    version: str


class SessionInfo(Model):
    """Folder that keeps the work of the session when the server ends, and tables that could not be loaded again."""

    kept_in: str | None
    lost: list[str]


class ServerLimits(Model):
    """Limits of this server; tables may be opened by their path in `folders`."""

    max_bytes: int
    max_rows: int
    max_columns: int
    max_demo_rows: int
    max_tables: int
    max_jobs: int
    folders: list[str]
    endings: list[str]
    kept_in: str | None


class Reading(Model):
    """Reading options of a file that cannot be found by looking at it.

    `null` are texts that stand for a missing value, in every column or in single ones: "NA,-9;age=97-99".
    `scales` say what numbers are: {"race": "nominal", "pain": "low<middle<high"}.
    """

    separator: Separator | None = None
    encoding: Encoding | None = None
    null: MissingCodes | None = None
    sheet: Short | None = None
    skip_bad_lines: bool = False
    scales: Annotated[dict[Name, Secret], Field(max_length=2_000)] = {}

    def options(self) -> dict[str, Any]:
        """The options that differ from their defaults."""
        return self.model_dump(exclude_defaults=True)


class OpenPath(Model):
    """A file on the server's machine."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    reading: Reading = Reading()


class Demo(Model):
    """An invented table."""

    rows: Annotated[int, Field(ge=1, le=5_000_000), WHOLE] = 100_000
    seed: Seed = 0


class ColumnInfo(Model):
    """A column: what it looks like, its role now, whether a person decided it, and why one was suggested."""

    name: str
    type: str
    distinct: int | None
    nulls: int
    role: ChosenRole
    decided: bool
    suggested: ChosenRole
    reason: str


class TableInfo(Model):
    """An open table. Cells are not part of it. `sheets` are the tables that its file holds, where it holds several."""

    id: str
    name: str
    source: Literal["upload", "path", "demo", "protection"]
    rows: int
    columns: list[ColumnInfo]
    notes: list[str]
    sheets: list[str]
    sheet: str | None
    reading: Reading


class Preview(Model):
    """The first rows. Masked cells tell the kind of a value only."""

    columns: list[str]
    rows: list[list[str]]
    masked: bool


class TableSettings(Model):
    """Roles of the columns and the question. Columns that are not named have the suggested role.

    `decided` are the columns whose role a person gave or confirmed. Where it is not sent, those in `roles` are; a role
    that was only suggested is no decision, and a yes needs one for every column. `threshold` is another limit on the
    average risk, `highest` on the person at highest risk, `tolerate` the share of records whose secret may be certain,
    and `certain` the share of a class with one value from which on it is. The role "drop" is to be left out. `strata`
    and `cluster` are columns that say how the people were drawn; they may have any role.
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
    tolerate: Share | None = None
    certain: Annotated[float, Field(gt=0.5, le=1)] | None = None
    rows_are_people: bool = False
    groups: Annotated[dict[Name, Columns], Field(max_length=17)] = {}
    protection: ProtectionRequest = ProtectionRequest()


class SettingsState(Model):
    """The settings, and whether there is a step back or forward."""

    settings: TableSettings
    can_undo: bool
    can_redo: bool


class LiveQuestion(Model):
    """Count by these columns, and by these groups of them."""

    quasi_identifiers: Columns
    person: Name | None = None
    groups: Annotated[dict[Name, Columns], Field(max_length=17)] = {}


class GroupCount(Model):
    """Risk from somebody who knows the columns of one group."""

    label: str
    columns: list[str]
    k: int
    uniques: int
    uniqueness: float
    correctness: float


class Live(Model):
    """Counts, not estimates. Without quasi-identifiers everybody looks alike."""

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
    """Assess the table by its settings; without `protection` what that would cost is left out."""

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
    """The forecast of a curve; `compare` also asks what other curves than the scaling law say."""

    compare: bool = False


class Point(Model):
    """A measured point: in a gallery of `n` people this share was named correctly."""

    n: People
    correctness: Annotated[float, Field(ge=0, le=1)]


class PointsQuestion(CurveQuestion):
    """Measured points instead of a table; `people` is how many were tested, if it is known."""

    points: Annotated[list[Point], Field(min_length=2, max_length=500)]
    people: People | None = None


class PointsText(Model):
    """Points as they were pasted."""

    text: Annotated[str, StringConstraints(max_length=100_000)]


class LeakQuestion(Model):
    """A leak of so many people, or of a share of them; `k` asks what classes of that size would make of it."""

    leaked: Annotated[int, Field(ge=0, le=10**12), WHOLE] | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    targets: Annotated[list[Annotated[int, Field(ge=1, le=1_000), WHOLE]], Field(min_length=1, max_length=6)] = [1]
    k: ClassSize | None = None
    at_most: Limit | None = None


class SimulationQuestion(Model):
    """Simulated leaks: of people looked for who may not have leaked (`table`) or are known to have (`leak`).

    With any of the last three, part of the records of each person leak (`records_leaked`), or the attacker knows so
    many records of the person looked for, or has a wrong value with a chance; the table then needs a person column.
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
        """True if histories leak, or are known, in part only."""
        return (self.records_leaked, self.records_known, self.error_rate) != (None, None, None)


class LeakCurveQuestion(Model):
    """A line for each number of people looked for."""

    targets: Annotated[list[Annotated[int, Field(ge=1, le=1_000), WHOLE]], Field(min_length=1, max_length=6)] = [1]


class ProtectionQuestion(Model):
    """Protect the table as its settings say, or as is said here."""

    protection: ProtectionRequest | None = None


class SolutionQuestion(Model):
    """Search for the least loss that passes, in so many seconds; class sizes and l are found, the rest is as given."""

    protection: ProtectionRequest | None = None
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 120


class FrontierQuestion(Model):
    """Protect in every way and measure each.

    `protection` is what is asked of every way that can give it: `l`, `apart`, `leave_out`, `importance`, `hierarchies`.
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
        """Settings for every method, as requests have them."""
        given = {name: getattr(self.protection, name) for name in _OF_EVERY_WAY}
        return {name: value for name, value in given.items() if value}


class AttackQuestion(Model):
    """Attack a release: `released` is a candidate of the table or another table, `holdout` a table of other people.

    Without `known` each group of columns that attackers know together attacks, or all quasi-identifiers. `by` is a
    column of groups, of whom it is told how often each is found; `noise` (how far off knowledge is), `missing` (the
    share of cells not known) and `population` are about linkage.
    """

    released: Id
    kinds: Annotated[list[AttackKind], Field(min_length=1, max_length=len(ATTACKS))] | None = None
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
    """Work in the background. `has_result`: something can be shown already, all of it once the state is done.

    `stages` counts how often there was more to show, so that a page knows when to draw again.
    `question_changed`: roles, scales, the recipient or the like have changed since it was started. `stale`: that, or
    for a protection also how the table is to be protected. `question`: what was asked.
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
    """The newest whole result of every kind, and the work that waits or runs, the newest first."""

    whole: dict[JobKind, JobInfo]
    running: list[JobInfo]


class FigureTable(Model):
    """The numbers of a figure."""

    caption: str
    columns: list[str]
    rows: list[list[Any]]


class FigureInfo(Model):
    """A figure as Vega-Lite, with its numbers and what it says."""

    title: str
    sentence: str
    means: str
    spec: dict[str, Any]
    table: FigureTable


class Equivalent(Model):
    """The command and the Python script that do what a job does."""

    cli: str
    python: str
