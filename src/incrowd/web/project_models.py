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
_MAX_DEPTH = 20  # of nested lists and objects


def _is_plain(value: Any, depth: int) -> bool:
    """True if a value holds finite numbers only, in lists and objects nested at most `depth` deep."""
    if isinstance(value, dict | list):
        return depth > 0 and all(
            _is_plain(one, depth - 1) for one in (value.values() if isinstance(value, dict) else value)
        )
    return not isinstance(value, float) or math.isfinite(value)


def _require_plain(details: dict[str, Any]) -> dict[str, Any]:
    """Refuse what cannot be written again as JSON: numbers that are not finite, and very deep nesting."""
    if not _is_plain(details, _MAX_DEPTH):
        raise ValueError(f"it must hold finite numbers, and nothing more than {_MAX_DEPTH} lists deep")
    return details


Details = Annotated[dict[str, Any], Field(max_length=200), AfterValidator(_require_plain)]


class TrailEntry(Model):
    """An entry of the audit trail: what was done, and when (UTC)."""

    at: Short
    what: Text
    details: Details = Field(default_factory=dict)


class NewDecision(Model):
    """A decision to record. `candidate` is the protected table that it is about; null for the table itself."""

    decision: Literal["release", "refuse", "later"]
    by: Short
    note: Text = ""
    candidate: Id | None = None


class ProjectColumn(Model):
    """A column when the project was saved."""

    name: str
    type: str
    distinct: Count | None
    nulls: Count
    reason: str


class ProjectTable(Model):
    """The table of a project, without cells. `reading` is null in projects of the first versions."""

    name: str
    rows: Count
    columns: Annotated[list[ProjectColumn], Field(max_length=20_000)]
    reading: Reading | None = None


class AcceptedRisk(Model):
    """The accepted risks: of the person at highest risk, and on average; null without a limit on the average."""

    highest: Limit
    average: Limit | None


class DecidedNumbers(Model):
    """The numbers of a table that a decision rests on; null if they were not computed.

    `risk` and `highest` are the average and the highest risk of the verdict, about the people of its `basis`: the
    table, or a population. `correctness` is the average risk within the table, `detail` the share of the
    quasi-identifiers' detail that protection kept. `conditions` are what a yes depends on, with warnings about a
    candidate; `careful` are those in decisions of the first versions.
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
    """A decision with everything it rests on, so that later changes do not change its record.

    `before` are numbers of the table, `after` those of the `candidate` that `protection` made. `settings` are those at
    the time, without cell values that they name. `files` are the candidate's downloads with their SHA-256; the original
    table has no hash here, since its content could be guessed by it.
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
        """True if a table is released whose verdict is not yes, or unknown."""
        judged = self.before if self.candidate is None else self.after
        return self.decision == "release" and (judged is None or judged.decision != "within")


class ListedDecision(RecordedDecision):
    """A decision, and whether it is about the open table or about an earlier table of its project."""

    on_this_table: bool


class ProjectRun(Model):
    """A finished job: its question, a summary of its result, and how long it took.

    `protection` are the settings that make a candidate again; with `lacks_values` they lack hierarchies that list
    values. An `outdated` run had other roles, scales or limits than the saved settings. `job` is the id that attacks
    name it by in the trail; null in projects of the first versions.
    """

    kind: JobKind
    job: Id | None = None
    at: Short
    name: Text = ""
    question: Details
    summary: Details
    seconds: Annotated[float, Field(ge=0)] = 0.0
    protection: ProtectionRequest | None = None
    lacks_values: bool = False
    outdated: bool = False


class ReopenedProject(Model):
    """The project that a table continues: when it was saved, of which table, what differs, and its runs."""

    saved: Short
    of: str
    rows: Count
    changed: list[str]
    runs: list[ProjectRun]


class SavedHistory(Model):
    """The settings of a table with their undo steps, its audit trail and decisions, as saved for a restart."""

    steps: Annotated[list[TableSettings], Field(min_length=1)]
    now: Count
    version: Count
    trail: list[TrailEntry]
    decisions: list[RecordedDecision]
    reopened: ReopenedProject | None = None


class Project(Model):
    """A project file: all that is needed to continue later, or with a newer table. `left_out`: what was not saved.

    In projects of version 1 a column has one role, which does not answer both whether others can know it and whether it
    is sensitive.
    """

    format: Literal["incrowd project"]
    version: Literal[1, 2]
    made_with: Short
    saved: Short
    table: ProjectTable
    settings: TableSettings
    runs: Annotated[list[ProjectRun], Field(max_length=1_000)] = Field(default_factory=list)
    decisions: Annotated[list[RecordedDecision], Field(max_length=MOST_DECISIONS)] = Field(default_factory=list)
    trail: Annotated[list[TrailEntry], Field(max_length=10_000)] = Field(default_factory=list)
    left_out: Annotated[list[Text], Field(max_length=100)] = Field(default_factory=list)


class SavedCandidate(ProjectRun):
    """A candidate of a reopened project that was not made again yet.

    `cannot` says why it cannot be made again; `is_quick`: it and those before it take a few seconds together.
    """

    is_quick: bool
    cannot: str | None


class SavedWork(Model):
    """A reopened project: what differs in this table, its verdict, and candidates that can be made again."""

    saved: str
    of: str
    changed: list[str]
    assessment: Details | None
    candidates: list[SavedCandidate]


class Loaded(Model):
    """The effect of loading a project: the settings, differences from the saved table, and runs to repeat."""

    settings: SettingsState
    changed: list[str]
    replay: list[ProjectRun]
