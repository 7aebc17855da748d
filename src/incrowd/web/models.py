"""Requests and responses of the REST API; the OpenAPI document is built from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetCoreSchemaHandler, StringConstraints
from pydantic_core import core_schema

from incrowd.attacks import KINDS as ATTACKS
from incrowd.attacks import Kind as AttackKind
from incrowd.evaluation.frontier import FRONTIER_METHODS, FrontierMethod
from incrowd.protection import MethodName
from incrowd.protection.outputs import OutputKind
from incrowd.protection.problem import DiversityKind
from incrowd.recipients import KINDS, SMALLEST_LIMIT

Role = Literal["identifier", "quasi-identifier", "sensitive", "person", "weight", "other", "drop"]
State = Literal["waiting", "running", "done", "failed", "cancelled"]
Kind = Literal["assessment", "forecast", "leak", "protection", "frontier", "points", "solution", "release", "attack"]


Separator = Literal[",", ";", "\t", "|", " "]
Encoding = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,40}$")]
Id = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Short = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
Columns = Annotated[list[Name], Field(max_length=2_000)]


@dataclass(frozen=True)
class _OneOf:
    """A choice of names that another room lists; checked and documented as a `Literal` of them."""

    names: tuple[str, ...]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.literal_schema(list(self.names))


Recipient = Annotated[str, _OneOf(tuple(kind.name for kind in KINDS))]
ComparedMethod = Annotated[FrontierMethod, _OneOf(tuple(FRONTIER_METHODS))]


def _is_whole(value: Any) -> bool:
    """In JSON 75.0 is a whole number like 75."""
    return isinstance(value, float) and value.is_integer()


_WHOLE = BeforeValidator(lambda value: int(value) if _is_whole(value) else value)
People = Annotated[int, Field(ge=1, le=10**12), _WHOLE]
Share = Annotated[float, Field(gt=0, le=1)]
Limit = Annotated[float, Field(ge=SMALLEST_LIMIT, le=1)]
ClassSize = Annotated[int, Field(ge=1, le=10**9), _WHOLE]
Seed = Annotated[int, Field(ge=0, le=2**32), _WHOLE]


class Model(BaseModel):
    """No unknown fields, no NaN, and a yes is not a 1."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, strict=True)


class Problem(Model):
    """Why there is no answer; `choices` are the sheets or files of which one has to be named."""

    error: str
    choices: list[str] = []


class Version(Model):
    """Which version answers."""

    name: Literal["incrowd"]
    version: str


class SessionInfo(Model):
    """Where the work of the session is kept when the server ends, and tables of it that could not be loaded again."""

    kept_in: str | None
    lost: list[str]


class Limits(Model):
    """What this server takes on; `folders` are where tables may be opened by their path."""

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
    """How a file is read, where that is not found by looking at it; `null` are texts that stand for nothing.

    `scales` say what numbers are: {"race": "nominal", "pain": "low<middle<high"}.
    """

    separator: Separator | None = None
    encoding: Encoding | None = None
    null: Short | None = None
    sheet: Short | None = None
    skip_bad_lines: bool = False
    scales: Annotated[dict[Name, Secret], Field(max_length=2_000)] = {}

    def options(self) -> dict[str, Any]:
        """What is not as usual."""
        return self.model_dump(exclude_defaults=True)


class Path(Model):
    """A file on the server's machine."""

    path: Annotated[str, StringConstraints(min_length=1, max_length=4_000)]
    reading: Reading = Reading()


class Demo(Model):
    """An invented table."""

    rows: Annotated[int, Field(ge=1, le=5_000_000), _WHOLE] = 100_000
    seed: Seed = 0


class Column(Model):
    """A column: what it looks like, its role now, whether a person decided it, and why one was suggested."""

    name: str
    type: str
    distinct: int | None
    nulls: int
    role: Role
    decided: bool
    suggested: Role
    reason: str


class TableInfo(Model):
    """An open table. Cells are not part of it. `sheets` are the tables that its file holds, where it holds several."""

    id: str
    name: str
    source: Literal["upload", "path", "demo", "protection"]
    rows: int
    columns: list[Column]
    notes: list[str]
    sheets: list[str]
    sheet: str | None


class Preview(Model):
    """The first rows. Masked cells tell the kind of a value only."""

    columns: list[str]
    rows: list[list[str]]
    masked: bool


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


class Protection(Model):
    """How a table is protected. `resolution`, `top`, `bottom` and `steps` are limits of single columns.

    `hierarchies` say how a column is made coarser: by a rule ("5,10,20", "prefix:3,1", "quantiles:10", "dates" or
    "auto"), or by rows of a value and its label at each level. `importance`, `keep` and `widest` are wishes.
    """

    k: Annotated[int, Field(ge=2, le=10**9), _WHOLE] = 5
    t: Share | Literal["bound"] | None = None
    l: Annotated[float, Field(ge=1, le=10**6)] | None = None  # noqa: E741
    sensitive: Name | Annotated[Columns, Field(min_length=1)] | None = None
    diversity: DiversityKind = "distinct"
    c: Annotated[float, Field(gt=0, le=1e6)] = 3.0
    leave_out: Columns = []
    method: MethodName = "partition"
    aim: Literal["information", "granularity"] | None = None
    resolution: (
        Annotated[int, Field(ge=1, le=10**6), _WHOLE] | Annotated[dict[Name, ClassSize], Field(max_length=2_000)] | None
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
    hierarchies: Annotated[dict[Name, HierarchyRule | HierarchyRows], Field(max_length=2_000)] = {}

    @property
    def secrets(self) -> list[str]:
        """The sensitive columns, as a list."""
        return [self.sensitive] if isinstance(self.sensitive, str) else list(self.sensitive or [])

    @property
    def named(self) -> list[str]:
        """Every column that is named."""
        resolution = self.resolution if isinstance(self.resolution, dict) else {}
        by_column = (resolution, self.top, self.bottom, self.importance, self.widest, self.hierarchies)
        steps = [step.column for step in self.steps]
        listed = (self.leave_out, self.keep, self.nominal, self.secrets, steps)
        return [name for names in (*by_column, *listed) for name in names]


class Step(Model):
    """One step of masking: a column, and what to do with it (ranges=20, keep=3, *)."""

    column: Name
    action: Annotated[str, StringConstraints(pattern=r"^(\*|suppress|(ranges|keep)=[0-9]{1,9})$")]


class TableSettings(Model):
    """What the columns are and what is asked. Columns that are not named have the role that was suggested.

    `decided` are the columns whose role a person gave or confirmed. Where it is not sent, those in `roles` are; a role
    that was only suggested is no decision, and a yes needs one for every column. `threshold` is another limit on the
    average risk, `highest` on the person at highest risk, `tolerate` the share of records whose secret may be certain,
    and `certain` the share of a class with one value from which on it is. The role "drop" is to be left out.
    """

    roles: Annotated[dict[Name, Role], Field(max_length=5_000)] = {}
    decided: Annotated[list[Name], Field(max_length=5_000)] = []
    population: People | None = None
    recipient: Recipient = "public"
    threshold: Limit | None = None
    highest: Limit | None = None
    secrets: Annotated[list[Secret], Field(max_length=200)] = []
    tolerate: Share | None = None
    certain: Annotated[float, Field(gt=0.5, le=1)] | None = None
    rows_are_people: bool = False
    groups: Annotated[dict[Name, Columns], Field(max_length=17)] = {}
    protection: Protection = Protection()


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
    """What somebody who knows the columns of one group can do."""

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
    k: Annotated[list[Annotated[int, Field(ge=2, le=100), _WHOLE]], Field(max_length=5)] = []
    seed: Seed = 0


class Point(Model):
    """A measured point: in a gallery of `n` people this share was named correctly."""

    n: People
    correctness: Annotated[float, Field(ge=0, le=1)]


class PointsQuestion(ForecastQuestion):
    """Measured points instead of a table; `people` is how many were tested, if it is known."""

    points: Annotated[list[Point], Field(min_length=2, max_length=500)]
    people: People | None = None


class PointsText(Model):
    """Points as they were pasted."""

    text: Annotated[str, StringConstraints(max_length=100_000)]


class LeakQuestion(Model):
    """A leak of so many people, or of a share of them; `k` asks what classes of that size would make of it."""

    leaked: Annotated[int, Field(ge=0, le=10**12), _WHOLE] | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    targets: Annotated[list[Annotated[int, Field(ge=1, le=1_000), _WHOLE]], Field(min_length=1, max_length=6)] = [1]
    k: ClassSize | None = None
    at_most: Limit | None = None


class LeakCurveQuestion(Model):
    """A line for each number of people looked for."""

    targets: Annotated[list[Annotated[int, Field(ge=1, le=1_000), _WHOLE]], Field(min_length=1, max_length=6)] = [1]


class ProtectionQuestion(Model):
    """Protect the table as its settings say, or as is said here."""

    protection: Protection | None = None


class SolutionQuestion(Model):
    """Search for the least loss that passes, in so many seconds; class sizes and l are found, the rest is as given."""

    protection: Protection | None = None
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 120


class FrontierQuestion(Model):
    """Protect in every way and measure each."""

    k: Annotated[list[ClassSize], Field(min_length=1, max_length=10)] | None = None
    methods: Annotated[list[ComparedMethod], Field(min_length=1, max_length=len(FRONTIER_METHODS))] | None = None
    sensitive: Name | None = None


class AttackQuestion(Model):
    """Attack a release: `released` is a candidate of the table or another table, `holdout` a table of other people.

    Without `known` each group of columns that attackers know together attacks, or all quasi-identifiers.
    """

    released: Id
    kinds: Annotated[list[AttackKind], Field(min_length=1, max_length=len(ATTACKS))] | None = None
    known: Columns | Annotated[dict[Name, Columns], Field(max_length=17)] | None = None
    secret: Name | None = None
    holdout: Id | None = None
    targets: Annotated[int, Field(ge=10, le=100_000), _WHOLE] = 2_000
    seed: Seed = 0


class JobInfo(Model):
    """Work in the background. `has_result`: something can be shown already, all of it once the state is done.

    `stages` counts how often there was more to show, so that a page knows when to draw again.
    `stale`: the settings of the table have changed since it was started; `question`: what was asked.
    """

    id: str
    kind: Kind
    table: str | None
    state: State
    progress: float | None
    stage: str
    message: str
    has_result: bool
    stages: int
    stale: bool
    created: str
    seconds: float
    question: dict[str, Any]
    name: str


class Latest(Model):
    """The newest whole result of every kind, and the work that waits or runs, the newest first."""

    whole: dict[Kind, JobInfo]
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
    spec: dict[str, Any]
    table: FigureTable


class Equivalent(Model):
    """The command and the Python script that do what a job does."""

    cli: str
    python: str


Protection.model_rebuild()
