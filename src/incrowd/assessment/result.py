"""`Assessment`: the answers to one question about one table, section by section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from incrowd._support.services import provided
from incrowd.assessment.sections import attacks, evidence, facts, forecast, knowledge, leaks, population, protection
from incrowd.results import Result

if TYPE_CHECKING:
    from incrowd.assessment.provenance import Provenance
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.evidence import Evidence
    from incrowd.assessment.sections.knowledge import Knowledge
    from incrowd.assessment.sections.leaks import Leaks
    from incrowd.assessment.sections.protection import Protection
    from incrowd.assessment.sections.section import Section, Statement
    from incrowd.assessment.verdict import Verdict
    from incrowd.attacks import ReleaseAttacks
    from incrowd.forecasts import Forecast
    from incrowd.measures import Measurement
    from incrowd.populations import PopulationRisk
    from incrowd.wording import Advice

SCHEMA = "incrowd/assessment/2"
"""Name and version of the JSON schema; the number changes if a field is removed or changes its meaning."""

SECTIONS: tuple[Section, ...] = (
    facts.SECTION,
    evidence.SECTION,
    knowledge.SECTION,
    population.SECTION,
    forecast.SECTION,
    leaks.SECTION,
    attacks.SECTION,
    protection.SECTION,
)
"""The sections in the order of the report; each is a field of `Assessment`. Sections with `is_first` are answered
first, then the others in this order, so that each is answered after the sections that it reads."""


@dataclass(frozen=True, eq=False)
class Assessment(Result):
    """A table from facts to a decision. A section that could not be answered is None, and `skipped` says why.

    `to_dict()` gives JSON by the published schema; `to_html()` one self-contained page.
    """

    _derived: ClassVar[tuple[str, ...]] = ("statements",)

    verdict: Verdict
    roles: Roles
    facts: Measurement
    evidence: Evidence
    knowledge: Knowledge
    population: PopulationRisk | None
    forecast: Forecast | None
    leaks: Leaks
    attacks: ReleaseAttacks | None
    protection: Protection | None
    skipped: Mapping[str, Advice]
    notes: tuple[Advice, ...]
    provenance: Provenance

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """Every number with its meaning, certainty and assumptions, in the order of the sections."""
        return tuple(statement for section in SECTIONS for statement in section.statements(self))

    @property
    def passed(self) -> bool:
        """True if the answer is yes."""
        return self.verdict.decision == "within"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, by the published schema."""
        return {"schema": SCHEMA, **Result.to_dict(self)}

    def _repr_html_(self) -> str:
        """The decision and its numbers, for notebooks."""
        rows = "".join(
            f"<tr><th>{escape(one.name)}</th><td>{escape(one.shown)}</td><td>{escape(one.meaning)}</td>"
            f"<td>{escape(one.sure)}</td></tr>"
            for one in self.statements
        )
        verdict = self.verdict
        lines = (verdict.sentence, *verdict.exposures, verdict.recommendation, *map(str, verdict.conditions))
        decision = "".join(f"<p>{escape(line)}</p>" for line in lines)
        return f"<h3>{verdict.headline}</h3>{decision}<table>{rows}</table>"

    def to_html(self, path: str | Path | None = None, *, external: bool = False, force: bool = False) -> str:
        """The report as one self-contained HTML page.

        Args:
            path: a file to write the page to as well.
            external: leave out what would help an attacker.
            force: replace an existing file.

        Returns:
            The page.

        Raises:
            InputError: the file exists and may not be replaced.
        """
        return str(provided("report")(self, path, external=external, force=force))
