"""`assess`: every question in order, each answered or refused with a reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from incrowd.assess.knowledge import Knowledge, assess_knowledge, glance_at_knowledge
from incrowd.assess.leaks import Leaks, assess_leaks
from incrowd.assess.protection import Protection, assess_protection
from incrowd.assess.provenance import note_provenance
from incrowd.assess.result import Assessment
from incrowd.assess.roles import Roles, settle_roles
from incrowd.assess.verdict import decide
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecast import POPULATIONS, Forecast, forecast
from incrowd.measure import Measurement, measure
from incrowd.pitmanyor import fit_class_sizes
from incrowd.population import PopulationRisk, population_risk
from incrowd.progress import Progress, part, silent
from incrowd.recipients import settle_threshold
from incrowd.table import Table, read_table

_CURVE = 24  # points of the forecast that are drawn
_PENDING = "still being worked on"
_Answer = TypeVar("_Answer")


def assess(
    data: Any,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    population: int | None = None,
    recipient: str = "public",
    threshold: float | None = None,
    groups: Mapping[str, Sequence[str]] | None = None,
    protection: bool = True,
    seed: int = 0,
    progress: Progress = silent,
    partial: Callable[[Assessment], None] | None = None,
) -> Assessment:
    """From a table to a decision: facts, what attackers know, the population, forecasts, leaks, what protection costs.

    Without `quasi_identifiers` the roles that the columns suggest are used, and the result says that nobody confirmed
    them. `population` is how many people the table was drawn from; a `weight` column tells it too. The `recipient` is
    "trusted", "restricted" or "public" and sets the threshold, unless a `threshold` is given. `groups` are attributes
    that attackers know together. A section the data cannot support is left out, with the reason in `skipped`.
    `partial` is called with what is known so far, each time that is more; what is not says so in `skipped`.

    >>> from incrowd import demo_table
    >>> found = assess(demo_table(2_000), quasi_identifiers=["age_yrs", "sex", "patcnty"], recipient="trusted")
    >>> found.verdict.decision, found.facts.people
    ('over', 2000)
    """
    bound = settle_threshold(recipient, threshold)
    table = read_table(data)
    clock = _Clock()
    with clock.timed("roles"):
        progress("looking at the columns", 0.0)
        roles = settle_roles(table, quasi_identifiers, sensitive, person, weight)
    options = {
        "quasi_identifiers": list(roles.quasi_identifiers),
        "sensitive": list(roles.sensitive),
        "person": roles.person,
        "weight": roles.weight,
        "population": population,
        "recipient": recipient,
        "threshold": bound,
        "groups": {label: list(members) for label, members in (groups or {}).items()},
    }
    journey = _Journey(table, roles, bound, seed, clock, progress)
    facts = journey.facts()
    sampled = population is not None or roles.weight is not None
    pending = {name: _PENDING for name, wanted in (("population", sampled), ("protection", protection)) if wanted}

    def known(knowledge: Knowledge, leaks: Leaks, **found: Any) -> Assessment:
        """What is known by now; a section that is not there and was not refused is still being worked on."""
        waiting = {name: why for name, why in pending.items() if name not in found}
        risk, costs = found.get("population"), found.get("protection")
        return Assessment(
            verdict=decide(recipient, bound, facts, risk, knowledge, costs, pending="population" in waiting),
            roles=roles,
            facts=facts,
            knowledge=knowledge,
            population=risk,
            forecast=found.get("forecast"),
            leaks=leaks,
            protection=costs,
            skipped={**waiting, **journey.skipped},
            notes=tuple(_notes(roles, facts)),
            provenance=note_provenance(table, options, seed, clock.seconds, hashed=not waiting),
        )

    leaks = journey.leaks(facts.sizes)
    early = journey.forecast(facts.sizes, None) if partial is not None else None
    if partial is not None and (glance := journey.glance()) is not None:
        partial(known(glance, leaks, forecast=early))
    knowledge = journey.knowledge(groups or {})
    if partial is not None and pending:
        partial(known(knowledge, leaks, forecast=early))
    risk = journey.population(facts, population)
    law = journey.forecast(facts.sizes, None if risk is None else risk.population)
    if partial is not None and protection:
        partial(known(knowledge, leaks, population=risk, forecast=law))
    costs = journey.protection() if protection else None
    if not protection:
        journey.skipped["protection"] = "not asked for"
    progress("writing it down", 0.99)
    return known(knowledge, leaks, population=risk, forecast=law, protection=costs)


class _Clock:
    """How long each part took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, name: str) -> Any:
        started = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - started


class _Journey:
    """The sections of one assessment, and why some are missing."""

    def __init__(
        self, table: Table, roles: Roles, threshold: float, seed: int, clock: _Clock, progress: Progress
    ) -> None:
        self.table, self.roles, self.threshold, self.seed = table, roles, threshold, seed
        self.clock, self.progress = clock, progress
        self.skipped: dict[str, str] = {}

    def facts(self) -> Measurement:
        with self.clock.timed("facts"):
            return measure(
                self.table,
                quasi_identifiers=self.roles.quasi_identifiers,
                sensitive=self.roles.sensitive,
                person=self.roles.person,
                progress=part(self.progress, 0.02, 0.1),
            )

    def glance(self) -> Knowledge | None:
        """What can be said quickly; None where nothing can."""
        if self.roles.person is not None or self.table.engine == "cluster":
            return None
        with self.clock.timed("glance"):
            return glance_at_knowledge(self.table, self.roles.quasi_identifiers, part(self.progress, 0.1, 0.15))

    def knowledge(self, groups: Mapping[str, Sequence[str]]) -> Knowledge:
        names = self.roles.quasi_identifiers
        with self.clock.timed("knowledge"):
            return assess_knowledge(
                self.table, names, groups, self.roles.person, self.seed, part(self.progress, 0.15, 0.4)
            )

    def population(self, facts: Measurement, given: int | None) -> PopulationRisk | None:
        if given is None and self.roles.weight is None:
            self.skipped["population"] = (
                "the population was not given; say how many people the table was drawn from (--population)"
            )
            return None
        if given is not None and given < facts.people:
            raise InputError(
                f"a population of {given:,} is smaller than the table, which holds {facts.people:,} people"
            )
        return self._tried(
            "population",
            lambda: population_risk(
                self.table,
                population=given,
                quasi_identifiers=self.roles.quasi_identifiers,
                weights=self.roles.weight if self.roles.person is None else None,
                person=self.roles.person,
                seed=self.seed,
                progress=part(self.progress, 0.4, 0.6),
            ),
        )

    def forecast(self, sizes: ClassSizes, population: int | None) -> Forecast | None:
        people = sizes.people
        named = [name for name, size in POPULATIONS.items() if size > people]
        largest = max(POPULATIONS["world"], people)
        curve = np.unique(np.geomspace(people, largest, _CURVE).round())
        asked = [population] if population is not None and population not in curve else []
        return self._tried(
            "forecast",
            lambda: forecast(
                fit_class_sizes(sizes), at=[*named, *asked, *(int(size) for size in curve)], seed=self.seed
            ),
        )

    def leaks(self, sizes: ClassSizes) -> Leaks:
        with self.clock.timed("leaks"):
            self.progress("computing leaks", 0.1)
            return assess_leaks(sizes, self.threshold)

    def protection(self) -> Protection | None:
        return self._tried(
            "protection",
            lambda: assess_protection(
                self.table,
                self.roles.quasi_identifiers,
                sensitive=self.roles.sensitive,
                person=self.roles.person,
                threshold=self.threshold,
                seed=self.seed,
                progress=part(self.progress, 0.65, 0.98),
            ),
        )

    def _tried(self, section: str, question: Callable[[], _Answer]) -> _Answer | None:
        """The answer, or None and the reason where the data cannot support one."""
        with self.clock.timed(section):
            try:
                return question()
            except UnsupportedError as reason:
                self.skipped[section] = str(reason)
                return None


def _notes(roles: Roles, facts: Measurement) -> list[str]:
    """What a reader should know before believing the numbers."""
    notes = list(facts.notes)
    if not roles.confirmed:
        notes.append("the roles of the columns were guessed from names and values, and nobody confirmed them")
    unnamed = [
        one.column for one in roles.suggested if one.role == "quasi-identifier" and roles.role(one.column) == "other"
    ]
    if unnamed:
        notes.append(
            f"these columns look like something others may know, and were not counted: {', '.join(unnamed)}; leave "
            "them out of the table, or name them too"
        )
    if roles.identifiers:
        notes.append(
            f"these columns look like names or numbers of people and must go before the table does: "
            f"{', '.join(roles.identifiers)}"
        )
    return notes
