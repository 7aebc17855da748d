"""The project file (.incrowd), decisions with name, date and note, and the audit trail."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from incrowd.web.fields import WHOLE, Id, JobKind, Limit, Model, Short
from incrowd.web.models import Reading, SettingsState, TableSettings
from incrowd.web.protection_models import ProtectionRequest

MOST_DECISIONS = 1_000  # about one table
FORMAT: Literal["incrowd project"] = "incrowd project"
Text = Annotated[str, StringConstraints(max_length=5_000)]
Sentence = Annotated[str, StringConstraints(max_length=1_000_000)]  # one that may name every column
Count = Annotated[int, Field(ge=0, le=10**15), WHOLE]
_DEEPEST = 20  # lists and objects within each other


def _is_plain(value: Any, deepest: int) -> bool:
    if isinstance(value, dict | list):
        return deepest > 0 and all(
            _is_plain(one, deepest - 1) for one in (value.values() if isinstance(value, dict) else value)
        )
    return not isinstance(value, float) or math.isfinite(value)


def _require_plain(details: dict[str, Any]) -> dict[str, Any]:
    """Refuse what cannot be written again as JSON: numbers that are not finite, and lists within lists without end."""
    if not _is_plain(details, _DEEPEST):
        raise ValueError(f"it must hold finite numbers, and nothing more than {_DEEPEST} lists deep")
    return details


Details = Annotated[dict[str, Any], Field(max_length=200), AfterValidator(_require_plain)]


class TrailEntry(Model):
    """Something that was done, and when (UTC)."""

    at: Short
    what: Text
    details: Details = Field(default_factory=dict)


class NewDecision(Model):
    """Decision of a person; `candidate` is the protected table that it is about, none if it is the table itself."""

    decision: Literal["release", "refuse", "later"]
    by: Short
    note: Text = ""
    candidate: Id | None = None


class ProjectColumn(Model):
    """A column as it was."""

    name: str
    type: str
    distinct: Count | None
    nulls: Count
    reason: str


class ProjectTable(Model):
    """The table that the project is about; no cells. The oldest projects do not say how it was read."""

    name: str
    rows: Count
    columns: Annotated[list[ProjectColumn], Field(max_length=20_000)]
    reading: Reading | None = None


class AcceptedRisk(Model):
    """The limits that were set: for the person at highest risk, and for the average where there is one."""

    highest: Limit
    average: Limit | None


class DecidedNumbers(Model):
    """The numbers of a table that a decision rests on; those that were not counted are null.

    `risk` and `highest` are those of the verdict, about the people of its `basis`: the table, or a population.
    `correctness` is the average risk within the table, `detail` that of the quasi-identifiers which is kept,
    `conditions` are what a yes rests on, `careful` what stands beside the verdict of a candidate.
    """

    decision: Short | None = None
    headline: Text | None = None
    recommendation: Text | None = None
    conditions: Annotated[list[Sentence], Field(max_length=1_000)] = []
    careful: Annotated[list[Sentence], Field(max_length=1_000)] = []
    risk: float | None = None
    highest: float | None = None
    basis: Short | None = None
    people: Count | None = None
    k: Count | None = None
    uniqueness: float | None = None
    correctness: float | None = None
    detail: float | None = None
    rows_left_out: Count | None = None


class RecordedDecision(Model):
    """A decision with all that it was made on, so that its record says the same whatever is changed later.

    `before` are numbers of the table, `after` those of the `candidate` that was made by `protection`. The settings are
    those by which they were judged; values that somebody named in them are left out. `files` are those that the
    candidate is downloaded as, with their SHA-256; the table itself may be guessed by its hash, so it has none.
    """

    at: Short
    decision: Literal["release", "refuse", "later"]
    by: Short
    note: Text = ""
    table: ProjectTable
    settings: TableSettings
    accepted: AcceptedRisk
    before: DecidedNumbers | None = None
    after: DecidedNumbers | None = None
    candidate: Text | None = None
    protection: ProtectionRequest | None = None
    files: Annotated[dict[Text, Short], Field(max_length=10)] = {}

    @property
    def is_against_verdict(self) -> bool:
        """True if a table goes out whose verdict is not yes, or is not known."""
        judged = self.before if self.candidate is None else self.after
        return self.decision == "release" and (judged is None or judged.decision != "within")


class ListedDecision(RecordedDecision):
    """A decision beside the table that is open: whether it is about that one, or about another of its project."""

    on_this_table: bool


class ProjectRun(Model):
    """Work that was done: what was asked, what came out in a few numbers, and how long it took.

    `protection` is what makes a candidate again, but for hierarchies that list values where it `lacks_values`. An
    `outdated` run was about other roles, scales or limits than those that were saved with it.
    """

    kind: JobKind
    at: Short
    name: Text = ""
    question: Details
    summary: Details
    seconds: Annotated[float, Field(ge=0)] = 0.0
    protection: ProtectionRequest | None = None
    lacks_values: bool = False
    outdated: bool = False


class ReopenedProject(Model):
    """The project that a table goes on with: when it was saved, of which table, what differs, and its work."""

    saved: Short
    of: str
    rows: Count
    changed: list[str]
    runs: list[ProjectRun]


class SavedHistory(Model):
    """The settings of a table with the steps back, its audit trail and decisions, as they are kept over a restart."""

    steps: Annotated[list[TableSettings], Field(min_length=1)]
    now: Count
    version: Count
    trail: list[TrailEntry]
    decisions: list[RecordedDecision]
    reopened: ReopenedProject | None = None


class Project(Model):
    """All that is needed to go on tomorrow, or with next year's file. `left_out` says what was not saved."""

    format: Literal["incrowd project"]
    version: Literal[1]
    made_with: Short
    saved: Short
    table: ProjectTable
    settings: TableSettings
    runs: Annotated[list[ProjectRun], Field(max_length=1_000)] = Field(default_factory=list)
    decisions: Annotated[list[RecordedDecision], Field(max_length=MOST_DECISIONS)] = Field(default_factory=list)
    trail: Annotated[list[TrailEntry], Field(max_length=10_000)] = Field(default_factory=list)
    left_out: Annotated[list[Text], Field(max_length=100)] = Field(default_factory=list)


class SavedCandidate(ProjectRun):
    """A candidate of a reopened project that is not made again yet.

    `cannot` says why it cannot be made again as it was; `is_quick` that this takes a few seconds, with those before it.
    """

    is_quick: bool
    cannot: str | None


class SavedWork(Model):
    """Content of a reopened project: what differs in this table, its verdict, and candidates to be made again."""

    saved: str
    of: str
    changed: list[str]
    assessment: Details | None
    candidates: list[SavedCandidate]


class Loaded(Model):
    """A project on this table: the settings now, what is different from the saved table, and the work to do again."""

    settings: SettingsState
    changed: list[str]
    replay: list[ProjectRun]
