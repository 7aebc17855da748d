"""What a report is made of: sections of sentences, figures and tables."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from incrowd.assessment import Assessment, Statement
from incrowd.wording import Advice

ROWS = 15  # of a long table that are shown


@dataclass(frozen=True, slots=True)
class DataTable:
    """Numbers in rows, with what they are about."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, what it says in a sentence, and its numbers as a table.

    `means` is how to read it, for somebody who has never seen one.
    """

    name: str
    title: str
    says: str
    chart: Any
    table: DataTable
    means: str


class HowComputed(NamedTuple):
    """How something was computed, and the source."""

    name: str
    how: str
    source: str


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One question and its answer, as a report shows it; `methods` say how the answer was computed."""

    key: str
    title: str
    lead: str
    _: KW_ONLY
    methods: tuple[HowComputed, ...]
    statements: tuple[Statement, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[DataTable, ...] = ()
    notes: tuple[str | Advice, ...] = ()


def statements_of(assessment: Assessment, section: str) -> tuple[Statement, ...]:
    """The statements of one section."""
    return tuple(statement for statement in assessment.statements if statement.section == section)


def why_missing(assessment: Assessment, section: str) -> Advice:
    """Why a section has no answer."""
    reason = assessment.skipped.get(section, Advice("not asked for"))
    return Advice(f"Not answered: {reason}.", reason.hint)
