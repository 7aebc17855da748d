"""`assess`: every question in order, each answered or refused with a reason."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from incrowd._support.progress import Progress, part, silent
from incrowd.assessment.provenance import note_provenance
from incrowd.assessment.result import Assessment
from incrowd.assessment.roles import Roles, settle_roles
from incrowd.assessment.sections.knowledge import Knowledge, assess_knowledge, glance_at_knowledge
from incrowd.assessment.sections.leaks import Leaks, assess_leaks
from incrowd.assessment.sections.protection import Protection, assess_protection
from incrowd.assessment.verdict import decide
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.forecasts import Forecast
from incrowd.forecasts.table_forecast import forecast_from_risks, forecast_sizes
from incrowd.measures import Measurement, measure
from incrowd.populations import PopulationRisk
from incrowd.populations.estimators import estimate_risks
from incrowd.populations.sample import Sample, read_sample
from incrowd.recipients import settle_threshold
from incrowd.tables import Table, read_table

PENDING = "still being worked on"
_Answer = TypeVar("_Answer")


def assess(
    data: Any,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    person: str | None = None,
    weight: str | None = None,
    identifiers: Sequence[str] = (),
    other: Sequence[str] = (),
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
    them. `identifiers` are columns that name people, besides those that look so; `other` columns have no part in it,
    whatever they look like. `population` is how many people the table was drawn from; a `weight` column tells it too.
    The `recipient` is "trusted", "restricted" or "public" and sets the threshold, unless a `threshold` is given.
    `groups` are attributes that attackers know together. A section the data cannot support is left out, with the reason
    in `skipped`. `partial` is called with what is known so far, each time that is more; what is not says so there too.

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
        roles = settle_roles(table, quasi_identifiers, sensitive, person, weight, identifiers, other)
    options = {
        "quasi_identifiers": list(roles.quasi_identifiers),
        "sensitive": list(roles.sensitive),
        "person": roles.person,
        "weight": roles.weight,
        "identifiers": list(roles.identifiers),
        "other": list(other),
        "population": population,
        "recipient": recipient,
        "threshold": bound,
        "groups": {label: list(members) for label, members in (groups or {}).items()},
        "protection": protection,
    }
    journey = _Journey(table, roles, options, seed, clock, progress)
    wanted = {"population": population is not None or roles.weight is not None, "protection": protection}
    journey.pending = {name for name, asked in wanted.items() if asked}
    return journey.whole(protection, partial or (lambda early: None), staged=partial is not None)


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
        self, table: Table, roles: Roles, options: Mapping[str, Any], seed: int, clock: _Clock, progress: Progress
    ) -> None:
        self.table, self.roles, self.options, self.seed = table, roles, options, seed
        self.clock, self.progress = clock, progress
        self.threshold: float = options["threshold"]
        self.skipped: dict[str, str] = {}
        self.pending: set[str] = set()  # sections that take long and are not there yet

    def whole(self, protection: bool, partial: Callable[[Assessment], None], *, staged: bool) -> Assessment:
        """Every section in turn; where it is `staged`, what is quick comes first and is told as it comes."""
        facts = self.facts()
        leaks = self.leaks(facts.sizes)
        early = self.early(facts.sizes) if staged else None
        if staged and (glance := self.glance()) is not None:
            partial(self.known(facts, glance, leaks, forecast=early))
        knowledge = self.knowledge(self.options["groups"])
        if staged and self.pending:
            partial(self.known(facts, knowledge, leaks, forecast=early))
        risk, law = self.beyond(facts, self.options["population"])
        self.pending.discard("population")
        if staged and protection:
            partial(self.known(facts, knowledge, leaks, population=risk, forecast=law))
        costs = self.protection(None if risk is None else risk.population) if protection else None
        self.pending.discard("protection")
        if not protection:
            self.skipped["protection"] = "not asked for"
        self.progress("writing it down", 0.99)
        return self.known(facts, knowledge, leaks, population=risk, forecast=law, protection=costs)

    def known(self, facts: Measurement, knowledge: Knowledge, leaks: Leaks, **found: Any) -> Assessment:
        """What is known by now; a section that is still to come says so."""
        risk, costs = found.get("population"), found.get("protection")
        recipient = self.options["recipient"]
        return Assessment(
            verdict=decide(
                recipient,
                self.threshold,
                facts,
                risk,
                knowledge,
                costs,
                self.roles,
                pending="population" in self.pending,
                given=self.options["population"] is not None,
            ),
            roles=self.roles,
            facts=facts,
            knowledge=knowledge,
            population=risk,
            forecast=found["forecast"],
            leaks=leaks,
            protection=costs,
            skipped={**dict.fromkeys(sorted(self.pending), PENDING), **self.skipped},
            notes=tuple(_notes(self.roles, facts, self.options["population"])),
            provenance=note_provenance(
                self.table, self.options, self.seed, self.clock.seconds, hashed=not self.pending
            ),
        )

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
        if self.roles.person is not None or not self.table.backend.rows_are_local:
            return None
        with self.clock.timed("glance"):
            return glance_at_knowledge(self.table, self.roles.quasi_identifiers, part(self.progress, 0.1, 0.15))

    def knowledge(self, groups: Mapping[str, Sequence[str]]) -> Knowledge:
        names = self.roles.quasi_identifiers
        with self.clock.timed("knowledge"):
            return assess_knowledge(
                self.table,
                names,
                groups,
                self.roles.person,
                self.seed,
                part(self.progress, 0.15, 0.4),
                unnamed=self.roles.unnamed,
            )

    def early(self, sizes: ClassSizes) -> Forecast | None:
        """The forecast by the class sizes alone, which takes no time."""
        at = forecast_sizes(sizes.people, None)
        alone = Sample(sizes, sizes.people)
        return self._tried(
            "forecast",
            lambda: forecast_from_risks(alone, estimate_risks(alone, at, seed=self.seed), seed=self.seed),
        )

    def beyond(self, facts: Measurement, given: int | None) -> tuple[PopulationRisk | None, Forecast | None]:
        """The risk in the population, if it is known, and in larger ones: one estimate along all of them."""
        sample = self._sample(facts, given)
        asked = None if "population" in self.skipped else sample.population
        at = forecast_sizes(facts.people, asked)
        step, most = part(self.progress, 0.4, 0.6), max(asked or 0, 4 * facts.people)
        risks = self._tried("population", lambda: estimate_risks(sample, at, seed=self.seed, drawn=most, progress=step))
        if risks is None:
            self.skipped["forecast"] = self.skipped["population"]
            return None, None
        law = self._tried("forecast", lambda: forecast_from_risks(sample, risks, seed=self.seed))
        return next((risk for risk in risks if risk.population == asked), None), law

    def _sample(self, facts: Measurement, given: int | None) -> Sample:
        """The table as a sample: of the population that was given or that its weights say, or of itself."""
        if given is not None and given < facts.people:
            raise InputError(
                f"a population of {given:,} is smaller than the table, which holds {facts.people:,} people"
            )
        weight = self.roles.weight if self.roles.person is None else None
        if given is None and weight is None:
            self.skipped["population"] = (
                "the population was not given; say how many people the table was drawn from (--population)"
            )
        return read_sample(
            self.table,
            population=facts.people if given is None and weight is None else given,
            quasi_identifiers=self.roles.quasi_identifiers,
            weights=weight,
            person=self.roles.person,
            sizes=facts.sizes,
        )

    def leaks(self, sizes: ClassSizes) -> Leaks:
        with self.clock.timed("leaks"):
            self.progress("working out leaks", 0.1)
            return assess_leaks(sizes, self.threshold)

    def protection(self, population: int | None) -> Protection | None:
        return self._tried(
            "protection",
            lambda: assess_protection(
                self.table,
                self.roles.quasi_identifiers,
                sensitive=self.roles.sensitive,
                person=self.roles.person,
                threshold=self.threshold,
                population=population,
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


def _notes(roles: Roles, facts: Measurement, population: int | None) -> list[str]:
    """What a reader should know before believing the numbers."""
    notes = list(facts.notes)
    if population is None and roles.unused_weight is not None:
        notes.append(
            f"{roles.unused_weight} looks like a sampling weight; name it as the weight (--weight) to take its sum as "
            "the population"
        )
    if not roles.confirmed:
        notes.append("the roles of the columns were guessed from names and values, and nobody confirmed them")
    return notes
