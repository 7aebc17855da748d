"""The elements of a report: sections with sentences, figures and tables."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

from incrowd.assessment import Assessment
from incrowd.results import DataTable as DataTable
from incrowd.results import Statement
from incrowd.wording import Advice

ROWS = 15  # rows that are shown of a long table


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, its statement in a sentence, and its numbers as a table.

    `means` explains how to read the chart, for a first-time reader.
    """

    name: str
    says: str
    chart: Any
    table: DataTable
    means: str

    @property
    def title(self) -> str:
        """The title of the chart."""
        return str(self.chart.title.text)


class HowComputed(NamedTuple):
    """A method of computation, and its source."""

    name: str
    how: str
    source: str


@dataclass(frozen=True, slots=True)
class ReportSection:
    """One question and its answer in a report; `methods` describe the computation."""

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
    """The statements of one section, without details."""
    return tuple(one for one in assessment.statements if one.section == section and not one.is_detail)


def unanswered_section(assessment: Assessment, key: str, title: str, lead: str) -> ReportSection:
    """A section without an answer, with the reason."""
    reason = assessment.skipped.get(key, Advice("not asked for"))
    return ReportSection(key, title, lead, notes=(Advice(f"Not answered: {reason}.", reason.hint),), methods=())
