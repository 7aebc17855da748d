"""May it go out? The risk against the threshold of whoever is to receive the table, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from incrowd.assess.statements import share
from incrowd.notebook import Shown
from incrowd.recipients import in_words

if TYPE_CHECKING:
    from incrowd.assess.knowledge import Knowledge
    from incrowd.assess.protection import Protection
    from incrowd.measure import Measurement
    from incrowd.population import PopulationRisk

Decision = Literal["within", "borderline", "over"]
_WORDS: Mapping[Decision, str] = {
    "within": "Within the threshold",
    "borderline": "Too close to call",
    "over": "Not as it is",
}


@dataclass(frozen=True, slots=True)
class Verdict(Shown):
    """The decision and what it rests on.

    `risk` is the number held against `threshold`, `interval` what it may be, `basis` what kind of risk it is: "table"
    (the attacker knows that the person is in the table) or "population" (the attacker does not). What is `inside` would
    help an attacker and stays inside the house.
    """

    decision: Decision
    recipient: str
    threshold: float
    risk: float
    interval: tuple[float, float] | None
    basis: Literal["table", "population"]
    reasons: tuple[str, ...]
    actions: tuple[str, ...]
    inside_reasons: tuple[str, ...] = ()
    inside_actions: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The decision in a few words."""
        return _WORDS[self.decision]

    @property
    def sentence(self) -> str:
        """The decision in a sentence."""
        accepted = f"the {self.threshold:.3g} that is usually accepted for {self.whom}"
        if self.decision == "borderline" and self.interval is not None:
            low, high = self.interval
            return (
                f"The average risk is {self.risk:.3g}, and may be from {low:.3g} to {high:.3g}: {accepted} is between."
            )
        comparison = "at or below" if self.decision == "within" else "above"
        return f"The average risk is {self.risk:.3g}, {comparison} {accepted}."

    @property
    def whom(self) -> str:
        """The recipient in words."""
        return in_words(self.recipient)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {
            "interval": list(self.interval) if self.interval else None,
            **{name: list(getattr(self, name)) for name in ("reasons", "actions", "inside_reasons", "inside_actions")},
            "headline": self.headline,
            "sentence": self.sentence,
        }


def decide(
    recipient: str,
    threshold: float,
    facts: Measurement,
    population: PopulationRisk | None,
    knowledge: Knowledge,
    protection: Protection | None,
) -> Verdict:
    """Hold the risk against the threshold, and say what to do."""
    risk = facts.correctness if population is None else population.overall
    interval = None if population is None else population.interval
    decision: Decision = "over" if risk > threshold else "within"
    if interval is not None and interval[0] <= threshold < interval[1]:
        decision = "borderline"
    return Verdict(
        decision,
        recipient,
        threshold,
        risk,
        interval,
        "table" if population is None else "population",
        tuple(_reasons(facts, population)),
        tuple(_actions(decision, threshold, facts, protection)),
        tuple(_given_away(facts)),
        () if decision == "within" else tuple(_drivers(knowledge)),
    )


def _reasons(facts: Measurement, population: PopulationRisk | None) -> list[str]:
    """What the decision rests on."""
    found = []
    if population is None:
        found.append(
            f"Somebody who knows all {len(facts.quasi_identifiers)} attributes of a person in this table names the "
            f"right record {share(facts.correctness)} of the time."
        )
        found.append(
            "No population was given, so the attacker is taken to know that the person is in the table; if the table "
            "is a sample the true risk is lower."
        )
    else:
        found.append(
            f"Among {population.population:,} people, of whom {population.people:,} are in the table, a record is "
            f"matched with the right person {share(population.overall)} of the time."
        )
    if facts.uniques:
        found.append(f"{facts.uniques:,} people ({share(facts.uniqueness)}) look like nobody else in the table.")
    else:
        found.append(f"Nobody is alone: everybody looks like at least {facts.k - 1:,} others.")
    return found


def _given_away(facts: Measurement) -> list[str]:
    """Which secrets whoever finds a class knows for certain."""
    return [
        f"{column.column}: known for certain for {share(column.given_away)} of the records, because everybody who "
        "looks alike has the same value."
        for column in facts.sensitive
        if column.homogeneous
    ]


def _drivers(knowledge: Knowledge) -> list[str]:
    """Which attribute to begin with."""
    ranked = knowledge.contributions.ranked
    if len(ranked) < 2 or ranked[0].correctness <= 0:
        return []
    return [
        f"{ranked[0].column} adds most to the risk ({knowledge.contributions.share(ranked[0]):.0%} of it): make it "
        "coarser or leave it out, and assess again."
    ]


def _actions(decision: Decision, threshold: float, facts: Measurement, protection: Protection | None) -> list[str]:
    """What to do next, the most useful first."""
    if decision == "within":
        done = ["It may go to this recipient by the usual threshold, if the assumptions below hold."]
        if facts.uniques:
            done.append(
                f"{facts.uniques:,} people are still unique in the table; a low average does not protect them. Protect "
                "the table where a single person's discovery would matter."
            )
        return done
    done = []
    enough = protection.enough(threshold) if protection is not None else None
    if enough is not None:
        done.append(
            f"Protect it so that everybody shares their values with at least {enough.k - 1} others (k = {enough.k}): "
            f"the average risk falls to {enough.correctness:.1%} and {enough.granularity:.0%} of the detail is kept."
        )
    elif protection is not None and protection.costs:
        most = protection.costs[-1]
        done.append(
            f"Even classes of {most.k} leave an average risk of {most.correctness:.1%}; ask for a larger k, or give it "
            "to a recipient with a higher threshold."
        )
    if decision == "borderline":
        done.append("The threshold lies inside the interval of the estimate: a better known population would decide.")
    return done
