"""The verdict: the risk against the limit of the recipient, the people whom an average hides, and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from incrowd.assessment.column_warnings import column_advice, column_doubts, column_exposures
from incrowd.assessment.disclosures import (
    certain_columns,
    certain_secrets,
    share_certain,
    unique_in_table,
    unique_people,
)
from incrowd.recipients import RECIPIENTS, in_words, judge
from incrowd.results import Result
from incrowd.wording import Advice, listed, share

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
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
_IN_JSON = {"internal_reasons": "inside_reasons", "internal_actions": "inside_actions"}


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
    (the attacker knows that the person is in the table) or "population" (the attacker does not). What is `internal`
    would help an attacker and stays with the holder of the table. `condition` is what a yes depends on besides the
    assumptions.
    """

    _derived: ClassVar[tuple[str, ...]] = ("headline", "recommendation", "sentence")

    decision: Decision
    recipient: str
    threshold: float
    risk: float
    interval: tuple[float, float] | None
    basis: Literal["table", "population"]
    exposures: tuple[str, ...]
    reasons: tuple[str, ...]
    actions: tuple[Advice, ...]
    internal_reasons: tuple[Advice, ...] = ()
    internal_actions: tuple[Advice, ...] = ()
    condition: str | None = None

    @property
    def headline(self) -> str:
        """The decision in a few words."""
        return "Not for everybody, whatever the average" if self._close_but_exposed else _WORDS[self.decision]

    @property
    def _close_but_exposed(self) -> bool:
        return self.decision == "exposed" and judge(self.risk, self.threshold, self.interval) == "borderline"

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
        """The result in plain JSON types."""
        return {_IN_JSON.get(name, name): value for name, value in Result.to_dict(self).items()}


def decide(
    question: Question,
    roles: Roles,
    *,
    facts: Measurement,
    knowledge: Knowledge,
    population: PopulationRisk | None,
    protection: Protection | None,
    pending: bool = False,
    **others: Any,
) -> Verdict:
    """Hold the risk against the limit, and say what to do.

    Args:
        question: what is asked, settled: with the roles that are used and every default filled in.
        roles: the columns by role.
        facts: what is counted in the table.
        knowledge: what attackers with less than all attributes can do.
        population: the risk in the population, where it is known.
        protection: what protection would cost, where it was tried.
        pending: whether the population is still being estimated.
        others: answers of sections that the decision does not rest on.
    """
    limit = question.limit
    risk = facts.correctness if population is None else population.overall
    interval = None if population is None else population.interval
    by_columns = tuple(column_exposures(roles, facts, knowledge))
    secrets = tuple(certain_secrets(facts, population, limit))
    exposures = (*by_columns, *unique_people(facts, population), *secrets)
    judgement = judge(risk, limit, interval)
    decision: Decision = judgement
    if judgement == "borderline":
        decision = "exposed" if by_columns or secrets else "borderline"
    elif judgement == "within" and exposures:
        decision = "exposed"
    overlooked = roles.overlooked_quasi_identifiers
    in_table = (*unique_in_table(facts, population), *certain_columns(facts))
    return Verdict(
        decision=decision,
        recipient=question.recipient or "public",
        threshold=limit,
        risk=risk,
        interval=interval,
        basis="table" if population is None else "population",
        exposures=exposures,
        reasons=tuple(_reasons(facts, population, pending, roles.weight if question.population is None else None)),
        actions=(*column_advice(roles), *_actions(decision, limit, risk, facts, protection)),
        internal_reasons=(*map(Advice, in_table), *column_doubts(roles, facts, knowledge)),
        internal_actions=() if decision == "within" else tuple(_drivers(knowledge)),
        condition=f"nobody outside knows {listed(overlooked)}" if overlooked else None,
    )


def _all_attributes(attributes: int) -> str:
    return "the attribute" if attributes == 1 else f"all {attributes} attributes"


def _reasons(facts: Measurement, population: PopulationRisk | None, pending: bool, weight: str | None) -> list[str]:
    """What the decision rests on."""
    found = []
    if population is None:
        found.append(
            f"Somebody who knows {_all_attributes(len(facts.quasi_identifiers))} of a person in this table names the "
            f"right {'person' if facts.person else 'record'} {share(facts.correctness)} of the time."
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


def _drivers(knowledge: Knowledge) -> Iterator[Advice]:
    """Which attribute to begin with."""
    ranked = knowledge.contributions.ranked
    if len(ranked) >= 2 and ranked[0].correctness > 0:
        yield Advice(
            f"{ranked[0].column} adds most to the risk ({knowledge.contributions.share(ranked[0]):.0%} of it): make it "
            "coarser or leave it out, and assess again."
        )


def _actions(
    decision: Decision, threshold: float, risk: float, facts: Measurement, protection: Protection | None
) -> Iterator[Advice]:
    """What to do next, the most useful first."""
    if decision == "within":
        if share_certain(facts):
            yield Advice(
                "A sensitive value is given away to whoever knows that a person is in the table: keep that secret, or "
                "protect it with different values in every class.",
                ("l=2",),
            )
        yield Advice("Write down who gets it and on what terms; assess again when rows or columns are added.")
        return
    yield from _protect(threshold, risk, facts, protection)
    if decision == "exposed":
        yield Advice(
            "If it must go as it is, then only to somebody bound not to look for people, and with a note of why those "
            "who are exposed would not be harmed."
        )
    if decision == "borderline":
        yield Advice("The threshold lies inside the interval of the estimate: a better known population would decide.")


def _protect(threshold: float, risk: float, facts: Measurement, protection: Protection | None) -> Iterator[Advice]:
    """The cheapest protection that was tried and is enough, and what it leaves of the secrets."""
    if protection is None or not protection.costs:
        yield Advice("Protect it (`incrowd protect`) and assess the result.")
        return
    enough = protection.enough(threshold)
    if enough is None:
        most = protection.costs[-1]
        yield Advice(
            f"Even classes of {most.k} leave an average risk of {share(most.risk)}; ask for a larger k, or "
            "give it to a recipient with a higher threshold."
        )
        return
    if facts.k >= enough.k:
        if share_certain(facts):
            yield Advice(
                "Protect it with different values in every class, or with classes that look like the table: k alone "
                "does not hide what everybody in a class has.",
                ("l=2",),
            )
        return
    falls = f"the average risk in the table falls from {share(facts.correctness)} to {share(enough.correctness)}"
    if enough.population_risk is not None:
        falls = (
            f"the average risk in the population falls from {share(risk)} to {share(enough.population_risk)} (in the "
            f"table from {share(facts.correctness)} to {share(enough.correctness)})"
        )
    yield Advice(
        f"Protect it so that everybody shares their values with at least {enough.k - 1} others (k = {enough.k}): "
        f"{falls}, nobody stands alone, and {share(enough.granularity)} of the detail is kept."
    )
    if enough.given_away:
        yield Advice(
            f"That leaves a sensitive value certain for {share(enough.given_away)} of the records: ask for different "
            "values in every class as well (l = 2), or for classes that look like the table (t)."
        )
