"""The verdict: one function from what was counted and estimated, and the question, to a decision.

A yes needs every column judged by a person, the person at highest risk and the average within the recipient's limits,
no secret that is news, no column that names people or gives back what was made coarser, no order of a release's rows
that does so, and of a release that is to be attacked every attack run and within the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from incrowd.assessment.reasons import (
    describe_highest_risk,
    describe_linkage,
    find_exposures,
    highest_risk,
    list_internal_reasons,
    list_reasons,
)
from incrowd.assessment.sections.attacks import judge_attacks, reasons_from_attacks
from incrowd.recipients import COMPARED, Limits, in_words, judge, limits_of
from incrowd.results import Result
from incrowd.wording import Advice, counted, listed, people, percent

if TYPE_CHECKING:
    from incrowd.assessment.question import Question
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.evidence import Evidence, UndecidedColumn
    from incrowd.attacks import AttackRisk, ReleaseAttacks
    from incrowd.measures import Measurement
    from incrowd.measures.disclosed_secrets import DisclosedColumn
    from incrowd.measures.recovering_columns import RecoveringColumn
    from incrowd.populations import PopulationRisk
    from incrowd.protection.marks import Linkage

Decision = Literal["within", "undecided", "borderline", "exposed", "over"]
_WORDS: Mapping[Decision, str] = {
    "within": "Yes: within the limits",
    "undecided": "Undecided: not everything is judged",
    "borderline": "Too close to call",
    "exposed": "No: low on average, but not for everybody",
    "over": "No: the risk is too high",
}
_IN_JSON = {"internal_reasons": "inside_reasons"}


@dataclass(frozen=True, slots=True)
class Action(Result):
    """One thing to do.

    Attributes:
        sentence: what and why.
        hint: parameters that the sentence speaks of.
        commands: what to type, one after the other; a file name that is not known is TABLE.
        expected: what the last command then says: the decision, the smallest class, the detail kept.
        protection: what the first command asks of `protect`, by its parameters; None where it protects nothing.
    """

    sentence: str
    hint: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    expected: dict[str, Any] | None = None
    protection: dict[str, Any] | None = None

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True)
class Verdict(Result):
    """The decision and what it rests on.

    - "over": the average risk is above its limit.
    - "exposed": the average is within it, but the person at highest risk is not, a secret is certain and news, or a
      column names people or gives back what was made coarser, or an attack on a release succeeds; `exposures` say who
      and by what.
    - "borderline": a limit lies inside the interval of an estimate.
    - "undecided": by the named columns it would be a yes, but columns that nobody judged, roles that nobody confirmed
      rows that may not be people, or attacks on a release that could not be run can change that.
    - "within": the only yes.

    Attributes:
        decision: one of the five.
        recipient: who is to get the table.
        limits: the risks that are accepted.
        risk: the average risk (marketer risk), and `interval` what it may be.
        highest: the risk of the person at highest risk, and `highest_interval` what it may be.
        basis: "table" where the attacker may know who is in the table (prosecutor risk), "population" where they may
            not (journalist risk), "attacks" for a synthetic release, where both risks are that of the worst attack.
        exposures: what makes it a no although the average is low.
        reasons: what the decision rests on.
        undecided: the columns that nobody judged and that can change the decision, the most harmful first.
        declared: columns of which a person said that nobody outside can know them.
        found_if_declared: of a yes, the people whom whoever knows these columns too finds alone.
        disclosed: sensitive columns of which more values are certain and news than are tolerated.
        giving_back: kept columns that give back what was made coarser.
        not_asked: of these, the columns that do so by their missing cells alone (skip patterns).
        given_back: how each column of `giving_back` does so.
        linking: kept columns that link the people of a household, where each person is counted.
        attacks_not_run: attacks on a release that could not be run; none of them is known to fail.
        actions: what to do next, the most useful first.
        internal_reasons: reasons that would help an attacker and stay with the holder of the table.
        unanswered: the internal reasons that are about what could not be counted.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"unanswered", "not_asked", "given_back", "linking"})
    _derived: ClassVar[tuple[str, ...]] = ("headline", "recommendation", "sentence", "threshold")

    decision: Decision
    recipient: str
    limits: Limits
    risk: float
    interval: tuple[float, float] | None
    highest: float
    highest_interval: tuple[float, float] | None
    basis: Literal["table", "population", "attacks"]
    exposures: tuple[str, ...]
    reasons: tuple[str, ...]
    undecided: tuple[UndecidedColumn, ...] = ()
    declared: tuple[str, ...] = ()
    disclosed: tuple[str, ...] = ()
    giving_back: tuple[str, ...] = ()
    attacks_not_run: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    internal_reasons: tuple[Advice, ...] = ()
    unanswered: tuple[Advice, ...] = ()
    found_if_declared: int = 0
    not_asked: tuple[str, ...] = ()
    given_back: tuple[RecoveringColumn, ...] = ()
    linking: tuple[str, ...] = ()

    @property
    def threshold(self) -> float:
        """The limit that the average is held against."""
        return self.limits.of_average

    @property
    def headline(self) -> str:
        """The decision in a few words."""
        if self.decision == "undecided" and self.attacks_not_run and not self.undecided:
            return "Undecided: attacks that were not run"
        return _WORDS[self.decision]

    @property
    def whom(self) -> str:
        """The recipient in words."""
        return in_words(self.recipient)

    @property
    def recommendation(self) -> str:
        """May it go out? In a sentence."""
        if self.decision == "within":
            declared = f", and nobody outside knows {listed(self.declared)}, as you said" if self.declared else ""
            if declared and self.found_if_declared:
                them = "them" if len(self.declared) > 1 else "it"
                declared += f" (whoever knows {them} finds {people(self.found_if_declared)} alone)"
            return f"It may go to {self.whom}, if the assumptions hold{declared}."
        if self.decision == "undecided":
            return f"Do not give it to {self.whom} yet: {self._what_is_open}."
        first = {
            "exposed": "somebody is found, or a secret known, whatever the average",
            "borderline": "the estimate cannot tell whether the risk is low enough",
            "over": "the risk is too high",
        }[self.decision]
        return f"Do not give it to {self.whom} as it is: {first}."

    @property
    def _accepted(self) -> str:
        usual = limits_of(self.recipient)
        return f"accepted for {self.whom}" if self.limits == usual else f"that you accept for {self.whom}"

    @property
    def _what_is_open(self) -> str:
        if self.undecided:
            names = listed([one.column for one in self.undecided])
            return f"nobody has judged {counted(len(self.undecided), 'column', 'columns')} ({names})"
        if self.attacks_not_run:
            return f"not every attack on it was run ({listed(self.attacks_not_run)})"
        if self.unanswered:
            return "what was not counted can change the answer"
        return "nobody has confirmed what the columns and rows are"

    @property
    def sentence(self) -> str:
        """The risks against their limits in a sentence."""
        if self.basis == "attacks":
            return self._sentence_on_attacks
        place = "in the population" if self.basis == "population" else "in the table"
        compared = COMPARED[judge(self.highest, self.limits.highest, self.highest_interval)]
        size = self.limits.class_size
        text = (
            f"The person at highest risk {place} is named with a chance of {percent(self.highest)}, {compared} the "
            f"1/{size} {self._accepted} (classes of at least {size})"
        )
        average = f"the average risk is {percent(self.risk)}"
        if self.interval is not None and self.decision == "borderline":
            average += f" and may be from {percent(self.interval[0])} to {percent(self.interval[1])}"
        if self.limits.average is not None:
            compared = COMPARED[judge(self.risk, self.limits.average, self.interval)]
            average += f", {compared} the {percent(self.limits.average)} accepted on average"
        return f"{text}; {average}."

    @property
    def _sentence_on_attacks(self) -> str:
        low, high = self.interval or (self.risk, self.risk)
        compared = COMPARED[judge(self.risk, self.limits.of_average, self.interval)]
        return (
            f"The worst attack exposes {percent(self.risk)} of the people who are safe without the release, "
            f"and may expose {percent(low)} to {percent(high)}, {compared} the {percent(self.limits.of_average)} "
            f"{self._accepted}."
        )

    def to_dict(self) -> dict[str, Any]:
        """The result in plain JSON types."""
        return {_IN_JSON.get(name, name): value for name, value in Result.to_dict(self).items()}


def decide(
    question: Question,
    roles: Roles,
    *,
    facts: Measurement,
    evidence: Evidence,
    population: PopulationRisk | None,
    attacks: ReleaseAttacks | None = None,
    pending: bool = False,
    **others: Any,
) -> Verdict:
    """Hold the risks against the limits, count every column nobody judged as known, and say why.

    Args:
        question: what is asked, settled: with the roles that are used and every default filled in.
        roles: the columns by role.
        facts: what is counted in the table.
        evidence: undecided columns, secrets, columns that give others back, what a row is; of a perturbed table, how
            often an attacker finds the right record: its classes are then not looked at, nor the population, and as
            the highest risk is not known there is no yes.
        population: the risk in the population, where it is known.
        attacks: the attacks on a release, where the question names one; not having them is no yes.
        pending: whether the population is still being estimated.
        others: answers of sections that the decision does not rest on.
    """
    limits, linkage = question.limits, evidence.linkage
    population = None if linkage is not None else population
    attacked = judge_attacks(question, attacks)
    # of a synthetic table no row is a person, so its classes say nothing; without attacks they are all there is
    worst = attacks.worst if attacks is not None and question.synthetic else None
    by_classes = linkage is None and worst is None
    risk, interval, highest, highest_interval = _risks(facts, population, worst, linkage)
    of_average = judge(risk, limits.of_average, interval)
    of_highest = judge(highest, limits.highest, highest_interval)
    disclosed = _disclosed_columns(question, evidence) if by_classes else ()
    exposures = (*find_exposures(question, roles, facts, evidence, disclosed), *attacked.over)
    if of_highest == "over" and by_classes:
        exposures = (*exposures, describe_highest_risk(facts, population, limits))
    decision: Decision
    if of_average == "over":
        decision = "over"
    elif exposures:
        decision = "exposed"
    elif "borderline" in (of_average, of_highest) or linkage is not None:
        decision = "borderline"
    elif attacked.not_run or _is_undecided(question, roles, evidence):
        decision = "undecided"
    elif attacked.borderline:
        decision = "borderline"
    else:
        decision = "within"
    reasons: Iterable[str] = ()
    if linkage is not None:
        reasons = (describe_linkage(linkage),)
    elif by_classes:
        reasons = list_reasons(facts, population, pending, roles.weight if question.population is None else None)
    return Verdict(
        decision=decision,
        recipient=question.recipient or "public",
        limits=limits,
        risk=risk,
        interval=interval,
        highest=highest,
        highest_interval=highest_interval,
        basis="attacks" if worst else "table" if population is None else "population",
        exposures=exposures,
        reasons=(*reasons, *reasons_from_attacks(question, attacks)),
        undecided=evidence.undecided if decision == "undecided" else (),
        declared=tuple(name for name in roles.stated if roles.role(name) == "other"),
        disclosed=tuple(column.column for column in disclosed),
        giving_back=tuple(one.column for one in evidence.given_back),
        not_asked=_not_asked(evidence),
        given_back=evidence.given_back,
        linking=evidence.linking,
        attacks_not_run=attacked.not_run,
        internal_reasons=tuple(list_internal_reasons(question, roles, facts, evidence, population)),
        unanswered=evidence.unanswered if decision == "undecided" else (),
    )


def list_exposures(
    question: Question, roles: Roles, *, facts: Measurement, evidence: Evidence, **others: Any
) -> tuple[str, ...]:
    """Exposures that make it a no whatever the average and the population are; a verdict lists them first.

    Args:
        question: what is asked, settled.
        roles: the columns by role.
        facts: what is counted in the table.
        evidence: secrets, columns that give others back, what a row is.
        others: answers of sections that no exposure rests on.
    """
    return tuple(find_exposures(question, roles, facts, evidence, _disclosed_columns(question, evidence)))


def _risks(
    facts: Measurement, population: PopulationRisk | None, worst: AttackRisk | None, linkage: Linkage | None
) -> tuple[float, tuple[float, float] | None, float, tuple[float, float] | None]:
    """The average and the highest risk, each with its interval, by an attack where one stands for classes."""
    if worst is not None:
        interval = worst.risk.low, worst.risk.high
        return worst.risk.value, interval, worst.risk.value, interval
    if linkage is not None:
        return linkage.risk, (linkage.low, linkage.high), linkage.highest, (linkage.low, 1.0)
    if population is None:
        return facts.correctness, None, *highest_risk(facts.sizes, None)
    return population.overall, population.overall_interval, *highest_risk(facts.sizes, population)


def _is_undecided(question: Question, roles: Roles, evidence: Evidence) -> bool:
    """True if something is left that nobody judged: a column, what a row is, or what could not be counted."""
    open_points = evidence.undecided or evidence.unanswered
    return not roles.confirmed or bool(open_points) or asks_about_rows(question, roles, evidence)


def asks_about_rows(question: Question, roles: Roles, evidence: Evidence) -> bool:
    """True if rows look like something else than people, or a column like whose they are, and nobody said what is."""
    settled = question.rows_are_people or roles.person is not None
    return not settled and (evidence.rows.kind != "people" or roles.unused_person is not None)


def _not_asked(evidence: Evidence) -> tuple[str, ...]:
    """The columns that give something back by who was not asked alone."""
    otherwise = {one.column for one in evidence.given_back if not one.missing}
    return tuple(one.column for one in evidence.given_back if one.column not in otherwise)


def _disclosed_columns(question: Question, evidence: Evidence) -> tuple[DisclosedColumn, ...]:
    """The sensitive columns of which more is certain and news than is tolerated.

    A large population does not hide a secret from those who know that a person is in the table, so it changes nothing.
    """
    columns = evidence.secrets.columns if evidence.secrets else ()
    return tuple(column for column in columns if judge(column.news_share, question.tolerated) != "within")
