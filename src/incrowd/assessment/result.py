"""`Assessment`: everything found about one table, section by section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from incrowd.assessment.statements import Statement, statements
from incrowd.results import Result, provided

if TYPE_CHECKING:
    from incrowd.assessment.provenance import Provenance
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.knowledge import Knowledge
    from incrowd.assessment.sections.leaks import Leaks
    from incrowd.assessment.sections.protection import Protection
    from incrowd.assessment.verdict import Verdict
    from incrowd.forecasts import Forecast
    from incrowd.measures import Measurement
    from incrowd.populations import PopulationRisk

SCHEMA = "incrowd/assessment/1"
"""Name and version of the JSON this becomes; the number changes when a field changes its meaning or goes."""


@dataclass(frozen=True, slots=True, eq=False)
class Assessment(Result):
    """A table from facts to a decision. A section that could not be answered is None, and `skipped` says why.

    `to_dict()` gives JSON by the published schema; `to_html()` one self-contained page.
    """

    verdict: Verdict
    roles: Roles
    facts: Measurement
    knowledge: Knowledge
    population: PopulationRisk | None
    forecast: Forecast | None
    leaks: Leaks
    protection: Protection | None
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
    provenance: Provenance

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Every number with what it means, how sure it is and what it assumes."""
        return statements(self)

    @property
    def passed(self) -> bool:
        """Whether the risk is within the threshold, with its whole interval, and nobody is exposed."""
        return self.verdict.decision == "within"

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types, by the published schema."""
        return {
            "schema": SCHEMA,
            "verdict": self.verdict.to_dict(),
            "roles": self.roles.to_dict(),
            "facts": self.facts.to_dict(),
            "knowledge": self.knowledge.to_dict(),
            "population": self.population.to_dict() if self.population else None,
            "forecast": self.forecast.to_dict() if self.forecast else None,
            "leaks": self.leaks.to_dict(),
            "protection": self.protection.to_dict() if self.protection else None,
            "statements": [statement.to_dict() for statement in self.statements],
            "skipped": dict(self.skipped),
            "notes": list(self.notes),
            "provenance": self.provenance.to_dict(),
        }

    def _repr_html_(self) -> str:
        """The decision and its numbers, for notebooks."""
        rows = "".join(
            f"<tr><th>{escape(one.name)}</th><td>{escape(one.shown)}</td><td>{escape(one.meaning)}</td>"
            f"<td>{escape(one.sure)}</td></tr>"
            for one in self.statements
        )
        verdict = self.verdict
        said = "".join(
            f"<p>{escape(text)}</p>" for text in (verdict.sentence, *verdict.exposures, verdict.recommendation)
        )
        return f"<h3>{verdict.headline}</h3>{said}<table>{rows}</table>"

    def to_html(self, path: str | Path | None = None, *, external: bool = False, force: bool = False) -> str:
        """The report as one page that needs nothing else; also written to `path` where one is given.

        `external` leaves out what would help an attacker.
        """
        return str(provided("report")(self, path, external=external, force=force))
