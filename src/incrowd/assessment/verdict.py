"""May it go out? The risk against the threshold of whoever is to receive the table, in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from incrowd.assessment.column_warnings import advice_by_columns, doubts_by_columns, exposed_by_columns
from incrowd.assessment.disclosures import (
    alone_among_all,
    certain_secrets,
    findable_inside,
    secrets_given_away,
    share_certain,
)
from incrowd.recipients import RECIPIENTS, in_words
from incrowd.results import Result
from incrowd.wording import listed, share

if TYPE_CHECKING:
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.knowledge import Knowledge
    from incrowd.assessment.sections.protection import Protection
    from incrowd.measures import Measurement
    from incrowd.populations import PopulationRisk

Decision = Literal["within", "exposed", "borderline", "over"]
_WORDS: Mapping[Decision, str] = {
    "within": "Within the threshold",
    "exposed": "Low on average, but not for everybody",
    "borderline": "Too close to call",
    "over": "Not as it is",
}
_LISTS = ("exposures", "reasons", "actions", "inside_reasons", "inside_actions")


@dataclass(frozen=True, slots=True)
class Verdict(Result):
    """The decision and what it rests on.

    - "over": the average risk is above the threshold; "borderline": the threshold is inside the risk's interval.
    - "exposed": the average is not above it, but somebody can be found, or a secret known, for certain; `exposures`
      say who. An average hides them, so this is no yes. A column that names people, or a secret that is certain, counts
      even where the average is too close to call. Where the population is known, a secret counts that is certain for
      a larger share of the people than the threshold, unless nearly everybody has the same value anyway.
    - "within": the average is within the threshold and nobody is exposed.

    `risk` is the number held against `threshold`, `interval` what it may be, `basis` what kind of risk it is: "table"
    (the attacker knows that the person is in the table) or "population" (the attacker does not). What is `inside` would
    help an attacker and stays inside the house. `condition` is what a yes depends on besides the assumptions.
    """

    decision: Decision
    recipient: str
    threshold: float
    risk: float
    interval: tuple[float, float] | None
    basis: Literal["table", "population"]
    exposures: tuple[str, ...]
    reasons: tuple[str, ...]
    actions: tuple[str, ...]
    inside_reasons: tuple[str, ...] = ()
    inside_actions: tuple[str, ...] = ()
    condition: str | None = None

    @property
    def headline(self) -> str:
        """The decision in a few words."""
        return "Not for everybody, whatever the average" if self._close_but_exposed else _WORDS[self.decision]

    @property
    def _close_but_exposed(self) -> bool:
        return self.decision == "exposed" and _close(self.interval, self.threshold)

    @property
    def recommendation(self) -> str:
        """May it go out? In a sentence."""
        if self.decision == "within":
            also = f" and {self.condition}" if self.condition else ""
            return f"By the risk of being named it may go to {self.whom}, if the assumptions hold{also}."
        first = {
            "exposed": "protect those whom the average hides first",
            "borderline": "the estimate cannot tell whether the risk is low enough",
            "over": "the risk is too high",
        }[self.decision]
        return f"Do not give it to {self.whom} as it is: {first}."

    @property
    def sentence(self) -> str:
        """The risk against the threshold in a sentence."""
        usual = "that is usually accepted" if self.threshold in RECIPIENTS.values() else "that was chosen"
        risk = f"The average risk {'in the population' if self.basis == 'population' else 'within the table'}"
        accepted = f"the {100 * self.threshold:.3g}% {usual} for {self.whom}"
        if (self.decision == "borderline" or self._close_but_exposed) and self.interval is not None:
            low, high = self.interval
            return (
                f"{risk} is {share(self.risk)}, and may be from {share(low)} to {share(high)}: {accepted} is between."
            )
        comparison = "above" if self.decision == "over" else "at or below"
        return f"{risk} is {share(self.risk)}, {comparison} {accepted}."

    @property
    def whom(self) -> str:
        """The recipient in words."""
        return in_words(self.recipient)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON types."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        return plain | {
            "interval": list(self.interval) if self.interval else None,
            **{name: list(getattr(self, name)) for name in _LISTS},
            "headline": self.headline,
            "recommendation": self.recommendation,
            "sentence": self.sentence,
        }


def decide(
    recipient: str,
    threshold: float,
    facts: Measurement,
    population: PopulationRisk | None,
    knowledge: Knowledge,
    protection: Protection | None,
    roles: Roles,
    *,
    pending: bool = False,
    given: bool = True,
) -> Verdict:
    """Hold the risk against the threshold, and say what to do.

    `pending`: the population is still being estimated; `given`: it was said, and not taken from the weights.
    """
    risk = facts.correctness if population is None else population.overall
    interval = None if population is None else population.interval
    by_columns = tuple(exposed_by_columns(roles, facts, knowledge))
    secrets = tuple(certain_secrets(facts, population, threshold))
    exposures = (*by_columns, *alone_among_all(facts, population), *secrets)
    decision: Decision = "over" if risk > threshold else "exposed" if exposures else "within"
    if _close(interval, threshold):
        decision = "exposed" if by_columns or secrets else "borderline"
    return Verdict(
        decision,
        recipient,
        threshold,
        risk,
        interval,
        "table" if population is None else "population",
        exposures,
        tuple(_reasons(facts, population, pending, None if given else roles.weight)),
        (*advice_by_columns(roles), *_actions(decision, threshold, risk, facts, protection)),
        (*findable_inside(facts, population), *secrets_given_away(facts), *doubts_by_columns(roles, facts, knowledge)),
        () if decision == "within" else tuple(_drivers(knowledge)),
        f"nobody outside knows {listed(roles.unnamed)}" if roles.unnamed else None,
    )


def _close(interval: tuple[float, float] | None, threshold: float) -> bool:
    """Whether the threshold is inside the interval."""
    return interval is not None and interval[0] <= threshold < interval[1]


def _all(attributes: int) -> str:
    return "the attribute" if attributes == 1 else f"all {attributes} attributes"


def _reasons(facts: Measurement, population: PopulationRisk | None, pending: bool, weight: str | None) -> list[str]:
    """What the decision rests on."""
    found = []
    if population is None:
        found.append(
            f"Somebody who knows {_all(len(facts.quasi_identifiers))} of a person in this table names the right "
            f"{'person' if facts.person else 'record'} {share(facts.correctness)} of the time."
        )
        found.append(
            "The population is still being estimated; until then the attacker is taken to know that the person is in "
            "the table."
            if pending
            else "No population was given, so the attacker is taken to know that the person is in the table; if the "
            "table is a sample the true risk is lower."
        )
    else:
        summed = "" if weight is None else f" (population = sum of {weight})"
        found.append(
            f"Among {population.population:,} people{summed}, of whom {population.people:,} are in the table, a record "
            f"is matched with the right person {share(population.overall)} of the time."
        )
    if not facts.uniques:
        found.append(f"Nobody is alone: everybody looks like at least {facts.k - 1:,} others.")
    return found


def _drivers(knowledge: Knowledge) -> list[str]:
    """Which attribute to begin with."""
    ranked = knowledge.contributions.ranked
    if len(ranked) < 2 or ranked[0].correctness <= 0:
        return []
    return [
        f"{ranked[0].column} adds most to the risk ({knowledge.contributions.share(ranked[0]):.0%} of it): make it "
        "coarser or leave it out, and assess again."
    ]


def _actions(
    decision: Decision, threshold: float, risk: float, facts: Measurement, protection: Protection | None
) -> Iterator[str]:
    """What to do next, the most useful first."""
    if decision == "within":
        if share_certain(facts):
            yield (
                "A sensitive value is given away to whoever knows that a person is in the table: keep that secret, or "
                "protect it with different values in every class (--l 2)."
            )
        yield "Write down who gets it and on what terms; assess again when rows or columns are added."
        return
    yield from _protect(threshold, risk, facts, protection)
    if decision == "exposed":
        yield (
            "If it must go as it is, then only to somebody bound not to look for people, and with a note of why those "
            "who are exposed would not be harmed."
        )
    if decision == "borderline":
        yield "The threshold lies inside the interval of the estimate: a better known population would decide."


def _protect(threshold: float, risk: float, facts: Measurement, protection: Protection | None) -> Iterator[str]:
    """The cheapest protection that was tried and is enough, and what it leaves of the secrets."""
    if protection is None or not protection.costs:
        yield "Protect it (`incrowd protect`) and assess the result."
        return
    enough = protection.enough(threshold)
    if enough is None:
        most = protection.costs[-1]
        yield (
            f"Even classes of {most.k} leave an average risk of {share(most.risk)}; ask for a larger k, or "
            "give it to a recipient with a higher threshold."
        )
        return
    if facts.k >= enough.k:
        if share_certain(facts):
            yield (
                "Protect it with different values in every class (--l 2), or with classes that look like the table: "
                "k alone does not hide what everybody in a class has."
            )
        return
    falls = f"the average risk in the table falls from {share(facts.correctness)} to {share(enough.correctness)}"
    if enough.population_risk is not None:
        falls = (
            f"the average risk in the population falls from {share(risk)} to {share(enough.population_risk)} (in the "
            f"table from {share(facts.correctness)} to {share(enough.correctness)})"
        )
    yield (
        f"Protect it so that everybody shares their values with at least {enough.k - 1} others (k = {enough.k}): "
        f"{falls}, nobody stands alone, and {share(enough.granularity)} of the detail is kept."
    )
    if enough.given_away:
        yield (
            f"That leaves a sensitive value certain for {share(enough.given_away)} of the records: ask for different "
            "values in every class as well (l = 2), or for classes that look like the table (t)."
        )
