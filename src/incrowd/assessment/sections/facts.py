"""Section "facts": counts of the table, and the disclosure of sensitive columns by its classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from incrowd.assessment.sections.section import AssessmentState, Section, Statement
from incrowd.measures import Measurement, measure

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment


def _measure(work: AssessmentState) -> Measurement:
    return measure(
        work.table,
        quasi_identifiers=work.roles.quasi_identifiers,
        sensitive=work.roles.sensitive,
        person=work.roles.person,
        progress=work.part(SECTION),
    )


def _statements(assessment: Assessment) -> Iterator[Statement]:
    people, *others = assessment.facts.statements
    if assessment.roles.counts_households:
        people = replace(people, meaning=people.meaning.replace("People", "Households"))
    yield people
    yield from others


SECTION = Section("facts", _measure, _statements, weight=4, is_first=True, is_needed=True)
