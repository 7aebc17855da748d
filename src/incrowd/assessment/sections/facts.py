"""Section "facts": counts of the table, and the disclosure of sensitive columns by its classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from incrowd.assessment.sections.section import COUNTED, AssessmentState, Section, Statement
from incrowd.measures import Diversity, Measurement, measure
from incrowd.wording import people, percent

if TYPE_CHECKING:
    from incrowd.assessment.result import Assessment

_ALL_KNOWN = (
    "the attacker knows every quasi-identifier, and that the person is in the table; a missing value is a value, so "
    "that two people without an age look alike"
)


def _measure(work: AssessmentState) -> Measurement:
    return measure(
        work.table,
        quasi_identifiers=work.roles.quasi_identifiers,
        sensitive=work.roles.sensitive,
        person=work.roles.person,
        progress=work.part(SECTION),
    )


def _statements(assessment: Assessment) -> Iterator[Statement]:
    facts = assessment.facts
    histories = "; of somebody with several records all of them, and how many" if facts.person else ""

    def fact(name: str, value: float, shown: str, meaning: str) -> Statement:
        return Statement("facts", name, value, shown, meaning, COUNTED, f"{_ALL_KNOWN}{histories}")

    records = f"in {facts.records:,} records" if facts.person else "one record each"
    unit = "Households" if assessment.roles.counts_households else "People"
    yield fact("people", facts.people, f"{facts.people:,}", f"{unit} in the table, {records}.")
    yield fact("classes", facts.classes, f"{facts.classes:,}", "Groups of people who share all quasi-identifiers.")
    crowd = "Somebody stands alone." if facts.k == 1 else f"Everybody looks like at least {facts.k - 1:,} others."
    yield fact("smallest class (k)", facts.k, f"{facts.k:,}", crowd)
    unique = f"{facts.uniques:,} ({percent(facts.uniqueness)})"
    yield fact("unique", facts.uniqueness, unique, "People nobody else in the table looks like.")
    yield fact(
        "average risk within the table (κ)",
        facts.correctness,
        percent(facts.correctness),
        f"Guessing for everybody, an attacker names {people(facts.expected_reidentifications)} correctly.",
    )
    highest = "The chance of naming the person easiest to name."
    yield fact("highest risk", facts.maximum_risk, percent(facts.maximum_risk), highest)
    for k in (3, 5, 10):
        below = facts.share_below(k)
        yield fact(f"in classes below {k}", below, percent(below), f"People with fewer than {k - 1} look-alikes.")
    for column in facts.sensitive:
        yield from _secrets(column)


def _secrets(column: Diversity) -> Iterator[Statement]:
    distance = "values by rank" if column.ordered_t is not None else "all values equally far"

    def secret(name: str, value: float, shown: str, meaning: str) -> Statement:
        return Statement("secrets", f"{column.column}: {name}", value, shown, meaning, COUNTED, _ALL_KNOWN)

    yield secret(
        "one value in the whole class",
        column.given_away,
        percent(column.given_away),
        "Records in homogeneous classes: all who look alike have the same value, be it missing or common.",
    )
    filled = "" if column.filled_distinct == column.distinct else f" ({column.filled_distinct} without missing values)"
    fewest = f"Fewest different values among people who look alike{filled}."
    yield secret("l", column.distinct, f"{column.distinct:,}", fewest)
    yield secret(
        "t",
        column.t,
        f"{column.t:.3f}",
        f"How far the most unusual class is from the whole table ({distance}): 0 tells no more than the whole table "
        "does, 1 everything.",
    )


SECTION = Section("facts", _measure, _statements, weight=4, is_first=True, is_needed=True)
