"""What an estimate of the risk in the population says, and to whom data of that risk may go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from incrowd.recipients import RECIPIENTS, judge, usual_threshold
from incrowd.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationRisk(Result):
    """How often a record of the sample, matched against the population, is named correctly.

    `B` is the estimate and `interval` holds it with 95 % probability; it is none for a method that has none.
    `population_uniques` is the expected number of people alone in their class in the whole population, `still_unique`
    P(unique in the population | unique in the sample), none where nobody is unique in the sample, and
    `still_unique_interval` holds it with 95 % probability.
    `parts` are the estimates a combination was made of.
    """

    people: int
    classes: int
    uniques: int
    population: int
    B: float
    interval: tuple[float, float] | None
    population_uniques: float | None
    still_unique: float | None
    method: str
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    still_unique_interval: tuple[float, float] | None = None
    seed: int | None = None
    seconds: float = 0.0

    @property
    def A(self) -> float:  # noqa: N802
        """Population → sample: the share of the population named correctly in the sample, exactly known."""
        return self.classes / self.population

    @property
    def overall(self) -> float:
        """The larger of A and B: the risk to report."""
        return max(self.A, self.B)

    @property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.people / self.population

    def fits(self, recipient: str) -> bool:
        """Whether the risk is at or below the threshold for this recipient, one of `RECIPIENTS`."""
        return judge(self.overall, usual_threshold(recipient)) == "within"

    @property
    def recipients(self) -> tuple[str, ...]:
        """To whom data of this risk may go by the usual thresholds."""
        return tuple(name for name in RECIPIENTS if self.fits(name))

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Those of `recipients` for whom the interval reaches above the threshold: the risk may be too high."""
        high = self.overall if self.interval is None else max(self.A, self.interval[1])
        return tuple(name for name in self.recipients if judge(high, RECIPIENTS[name]) == "over")

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        return {
            "method": self.method,
            "people": self.people,
            "classes": self.classes,
            "uniques": self.uniques,
            "population": self.population,
            "fraction": self.fraction,
            "A": self.A,
            "B": self.B,
            "overall": self.overall,
            "interval": None if self.interval is None else list(self.interval),
            "population_uniques": self.population_uniques,
            "still_unique": self.still_unique,
            "still_unique_interval": None if self.still_unique_interval is None else list(self.still_unique_interval),
            "thresholds": dict(RECIPIENTS),
            "recipients": list(self.recipients),
            "doubtful": list(self.doubtful),
            "parts": dict(self.parts),
            "assumptions": list(self.assumptions),
            "notes": list(self.notes),
            "seed": self.seed,
            "seconds": self.seconds,
        }
