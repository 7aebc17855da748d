"""The question about an open table, and the people its risk refers to: those in the table, or a population."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from incrowd.assessment import Assessment, Question
from incrowd.assessment.sections.protection import risk_of_large_classes
from incrowd.assessment.sections.section import PENDING
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.populations.sample import read_sample
from incrowd.web.session_table import OpenTable


@dataclass(frozen=True, slots=True)
class Basis:
    """The people a risk refers to: a `population`, or None for the table; with the risk there before protection."""

    population: int | None
    before: float | None
    highest_before: float | None

    def after(self, sizes: ClassSizes, *, in_population: bool) -> dict[str, Any]:
        """The average risk after protection, on this basis if the verdict is `in_population` too.

        It is None if somebody is still unique: that needs a new model of the population, which an assessment of the
        protected table fits.
        """
        if self.population is None or not in_population:
            return {"basis": "table", "risk": sizes.correctness, "population": None, "highest_before": None}
        risk = None if sizes.uniques else risk_of_large_classes(sizes, self.population)
        return {
            "basis": "population",
            "risk": risk,
            "population": {"people": self.population, "before": self.before, "after": risk},
            "highest_before": self.highest_before,
        }


def population_question(table: OpenTable) -> Question:
    """The question about the risk in the population, by the decided roles; without any, by the suggested ones."""
    return Question(
        quasi_identifiers=table.decided_as("quasi-identifier") or table.with_role("quasi-identifier"),
        person=next(iter(table.decided_as("person")), None),
        weights=next(iter(table.decided_as("weight")), None),
        population=table.settings.population,
        strata=table.settings.strata,
        cluster=table.settings.cluster,
    )


def decided_question(table: OpenTable) -> Question:
    """The question of the table's current settings, with decided roles only."""
    settings = table.settings
    return replace(
        population_question(table),
        quasi_identifiers=table.decided_as("quasi-identifier") or None,
        sensitive=table.decided_as("sensitive") or None,
        identifiers=table.decided_as("identifier"),
        drop=table.decided_as("drop"),
        other=table.decided_as("other"),
        recipient=settings.recipient,
        threshold=settings.threshold,
        highest=settings.highest,
        secrets=settings.secrets,
        tolerate=settings.tolerate,
        certain=settings.certain,
        rows_are_people=settings.rows_are_people,
        groups=settings.groups,
    )


def basis_of(table: OpenTable, question: Question) -> Basis:
    """The basis for a question, with the risk before protection if an assessment has answered the question."""
    answered, found, highest = table.assessed or (None, None, None)
    if answered == question:
        return Basis(None, None, None) if found is None else Basis(found.population, found.overall, highest)
    return Basis(_population(table, question), None, None)


def remember(table: OpenTable, question: Question, found: Assessment) -> None:
    """Store the risk in the population that an assessment found with the table, once that section is done."""
    if str(found.skipped.get("population")) != PENDING:
        highest = found.verdict.highest if found.verdict.basis == "population" else None
        table.assessed = (question, found.population, highest)


def _population(table: OpenTable, question: Question) -> int | None:
    """The size of the population that the table was drawn from, as stated or by its weights; None if not known."""
    known, person = question.quasi_identifiers or (), question.person
    weights = question.weights if person is None else None
    if question.population is None and weights is None:
        return None
    try:
        sample = read_sample(
            table.table,
            population=question.population,
            quasi_identifiers=known,
            weights=weights,
            person=person,
            sizes=table.count(known, person),
        )
    except (InputError, UnsupportedError):
        return None  # an assessment reports the error; the risk within the table is larger, so no risk is hidden
    return sample.population
