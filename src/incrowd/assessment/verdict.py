"""The verdict: the decision on a question, from the facts and estimates.

A yes needs all of this:

- a person has judged every column;
- the highest and the average risk are within the recipient's limits;
- no secret is certain and news;
- no column names people;
- an attacker who learns from kept columns and the row order finds nobody more often than accepted, and no secret;
- if a release is to be attacked, every attack was run and is within the limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from incrowd.assessment.internal_reasons import list_internal_reasons
from incrowd.assessment.reasons import Findings, describe_highest_risk, highest_risk, is_upper_bound, list_reasons
from incrowd.assessment.sections.attacks import AttackJudgement, judge_attacks, reasons_from_attacks
from incrowd.recipients import COMPARED, Limits, in_words, judge, limits_of
from incrowd.results import Result
from incrowd.wording import Advice, counted, listed, people, percent

if TYPE_CHECKING:
    from incrowd.assessment.open_columns import UndecidedColumn
    from incrowd.assessment.question import Question
    from incrowd.assessment.roles import Roles
    from incrowd.assessment.sections.evidence import Evidence
    from incrowd.attacks import AttackRisk, ReleaseAttacks
    from incrowd.measures import Measurement
    from incrowd.populations import PopulationRisk

Decision = Literal["within", "undecided", "borderline", "exposed", "over"]
_WORDS: Mapping[Decision, str] = {
    "within": "Yes: within the limits",
    "undecided": "Undecided: not everything is judged",
    "borderline": "Too close to call",
    "exposed": "No: somebody is found, or a secret is known",
    "over": "No: the risk is too high",
}
YES_ON_CONDITIONS = "Yes, on conditions: within the limits"


@dataclass(frozen=True, slots=True)
class Action(Result):
    """One thing to do.

    Attributes:
        sentence: what to do, and why.
        hint: the parameters that the sentence is about.
        commands: the commands to type, in order; TABLE stands for an unknown file name.
        expected: the result of the last command: the decision, the smallest class, the detail kept.
        protection: the parameters of `protect` in the first command; None if it does not protect.
        on_commands: what the commands do and how to use them, for where they are shown; the app has buttons instead.
    """

    sentence: str
    hint: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    expected: dict[str, Any] | None = None
    protection: dict[str, Any] | None = None
    on_commands: str = ""

    def __str__(self) -> str:
        return f"{self.sentence} {self.on_commands}".strip()


@dataclass(frozen=True, slots=True)
class Verdict(Result):
    """The decision and its reasons.

    - "over": the average risk is above its limit.
    - "exposed": the average risk is within its limit, but there are `exposures`: the highest risk is above its limit, a
      secret is certain and news, a column names people, or an attack succeeds.
    - "borderline": a limit lies inside the interval of an estimate.
    - "undecided": it would be a yes, but something open can change that: columns that nobody judged, roles that nobody
      confirmed, rows that may not be people, or attacks on a release that could not be run.
    - "within": the only yes.

    Attributes:
        decision: one of the five.
        recipient: who is to get the table.
        limits: the accepted risks.
        risk: the average risk (marketer risk); `interval` is its interval.
        highest: the risk of the person at highest risk; `highest_interval` is its interval.
        highest_is_bound: True if that is 1 because somebody may be unique in the population, though fewer than one
            person is expected to be.
        basis: "table" if the attacker may know who is in the table (prosecutor risk), "population" if not (journalist
            risk), "attacks" for a synthetic release, where both risks are the risk of the worst attack.
        exposures: reasons for a no at any average risk.
        reasons: facts and assumptions of the decision.
        undecided: the columns that nobody judged and that can change the decision, the most harmful first.
        declared: columns that a person declared unknown to everybody outside.
        found_if_declared: for a yes, the number of people who are unique to an attacker who also knows the declared
            columns.
        disclosed: sensitive columns in which more values are certain and news than are tolerated.
        blamed: kept columns by which an attacker finds more people than accepted, the one that tells most first.
        learnt: sensitive columns that an attacker learns from kept columns.
        linking: kept columns that link the people of a household, if each person is counted.
        attacks_not_run: attacks on a release that could not be run, so they may succeed.
        actions: what to do next, the most useful first.
        internal_reasons: reasons that stay with the holder of the table, because they would help an attacker.
        unanswered: the internal reasons about what could not be counted.
    """

    _hidden: ClassVar[frozenset[str]] = frozenset({"unanswered", "linking", "highest_is_bound"})
    _renamed: ClassVar[Mapping[str, str]] = {"internal_reasons": "inside_reasons"}
    _derived: ClassVar[tuple[str, ...]] = (*("headline", "recommendation", "sentence", "threshold", "why"),)

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
    attacks_not_run: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    internal_reasons: tuple[Advice, ...] = ()
    unanswered: tuple[Advice, ...] = ()
    found_if_declared: int = 0
    blamed: tuple[str, ...] = ()
    learnt: tuple[str, ...] = ()
    linking: tuple[str, ...] = ()
    highest_is_bound: bool = False

    @property
    def threshold(self) -> float:
        """The limit on the average risk."""
        return self.limits.of_average

    @property
    def row_question(self) -> Advice | None:
        """The question about rows that may not be people, which must be settled before anything is protected."""
        return next((one for one in self.internal_reasons if "rows_are_people" in one.hint), None)

    @property
    def open_points(self) -> tuple[Advice, ...]:
        """What has to be settled before an undecided table is judged, besides columns; empty for other decisions."""
        asks = self.row_question if self.decision == "undecided" else None
        return self.unanswered if asks is None else (*self.unanswered, asks)

    @property
    def conditions(self) -> tuple[Advice, ...]:
        """The conditions of a yes, to be shown together with it; empty for any other decision."""
        return self.internal_reasons if self.decision == "within" else ()

    @property
    def headline(self) -> str:
        """The decision in a few words."""
        if self.decision == "undecided" and self.attacks_not_run and not self.undecided:
            return "Undecided: attacks that were not run"
        if self.conditions:
            return YES_ON_CONDITIONS
        return _WORDS[self.decision]

    @property
    def whom(self) -> str:
        """The recipient in words."""
        return in_words(self.recipient)

    @property
    def recommendation(self) -> str:
        """Whether the table may be released, in a sentence."""
        if self.decision == "within":
            declared = f", and nobody outside knows {listed(self.declared)}, as you said" if self.declared else ""
            if declared and self.found_if_declared:
                them = "them" if len(self.declared) > 1 else "it"
                declared += f" (an attacker who knows {them} finds {people(self.found_if_declared)} alone)"
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
        if self.row_question is not None:
            return "nobody has said whether every row is another person, or which column tells whose record it is"
        return "nobody has confirmed what the columns are"

    @property
    def sentence(self) -> str:
        """The risks against their limits in a sentence."""
        if self.basis == "attacks":
            return self._sentence_on_attacks
        place = "in the population" if self.basis == "population" else "in the table"
        compared = COMPARED[judge(self.highest, self.limits.highest, self.highest_interval)]
        size = self.limits.class_size
        named = "may be named with a chance of up to" if self.highest_is_bound else "is named with a chance of"
        text = (
            f"The person at highest risk {place} {named} {percent(self.highest)}, {compared} the 1/{size} "
            f"{self._accepted} (classes of at least {size})"
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

    @property
    def why(self) -> tuple[str, ...]:
        """The exposures and the risks against their limits, what decides first: every page shows this order."""
        return order_reasons(self.decision, self.sentence, self.exposures)


def order_reasons(decision: Decision, sentence: str, exposures: Iterable[str]) -> tuple[str, ...]:
    """The risks against their limits in a `sentence`, and exposures, in the order in which they decide."""
    return (sentence, *exposures) if decision == "over" else (*exposures, sentence)


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
    """Compare the risks with the limits and decide, with the reasons.

    Args:
        question: the settled question: with the roles that are used and every default filled in.
        roles: the columns by role.
        facts: counts of the table.
        evidence: undecided columns, secrets, columns that give others back, the unit of a row. For a perturbed table it
            holds a linkage attack. The attack then replaces the classes and the population, and there is no yes,
            because the highest risk is not known.
        population: the risk in the population, if it is known.
        attacks: the attacks on a release, if the question names one; without them there is no yes.
        pending: whether the population is still being estimated.
        others: answers of sections that the decision does not use.
    """
    # rows of a synthetic table are not people, so attacks replace its classes; without attacks, classes are used
    worst = attacks.worst if attacks is not None and question.synthetic else None
    linkage, limits = evidence.linkage, question.limits
    findings = Findings(
        *(question, roles, facts, evidence),
        population=population if linkage is None else None,
        by_classes=linkage is None and worst is None,
    )
    risks = _risks(findings, worst)
    attacked = judge_attacks(question, attacks)
    exposures = (*findings.find_exposures(), *attacked.over)
    if findings.by_classes and judge(risks.highest, limits.highest, risks.highest_interval) == "over":
        exposures = (*exposures, describe_highest_risk(facts, findings.population, limits))
    decision = _choose_decision(findings, risks, attacked, exposed=bool(exposures))
    is_undecided = decision == "undecided"
    return Verdict(
        decision=decision,
        recipient=question.recipient or "public",
        limits=limits,
        **risks._asdict(),
        basis="attacks" if worst else "table" if findings.population is None else "population",
        exposures=exposures,
        reasons=(*list_reasons(findings, pending=pending), *reasons_from_attacks(question, attacks)),
        undecided=evidence.undecided if is_undecided else (),
        declared=tuple(name for name in roles.stated if roles.role(name) == "other"),
        disclosed=tuple(column.column for column in findings.disclosed_columns()),
        blamed=_blamed_for_a_no(findings),
        learnt=tuple(secret.column for secret in findings.learnt_secrets()),
        linking=evidence.linking,
        highest_is_bound=findings.by_classes and is_upper_bound(facts.sizes, findings.population),
        attacks_not_run=attacked.not_run,
        internal_reasons=tuple(list_internal_reasons(findings)),
        unanswered=evidence.unanswered if is_undecided else (),
    )


def list_exposures(
    question: Question, roles: Roles, *, facts: Measurement, evidence: Evidence, **others: Any
) -> tuple[str, ...]:
    """Exposures, each a reason for a no at any average risk and population; a verdict lists them first.

    Args:
        question: the settled question.
        roles: the columns by role.
        facts: counts of the table.
        evidence: secrets, columns that give others back, the unit of a row.
        others: answers of sections that exposures do not use.
    """
    return tuple(Findings(question, roles, facts, evidence).find_exposures())


def _blamed_for_a_no(findings: Findings) -> tuple[str, ...]:
    """The kept columns that make a no: finer quasi-identifiers, and those to which the attack owes most.

    Secrets that are learnt beyond the limit are the same attack's.
    """
    finer = [fact.column for fact in findings.finer_columns()]
    attack = findings.evidence.attack
    if attack is not None and attack.looks and (findings.exceeds(attack) or findings.learnt_secrets()):
        finer += findings.blamed
    return tuple(dict.fromkeys(finer))


class _Risks(NamedTuple):
    """The average and the highest risk, each with its interval if it is an estimate."""

    risk: float
    interval: tuple[float, float] | None
    highest: float
    highest_interval: tuple[float, float] | None


def _risks(findings: Findings, worst: AttackRisk | None) -> _Risks:
    """The risks by classes; by an attack if it replaces the classes."""
    facts, population, linkage = findings.facts, findings.population, findings.evidence.linkage
    if worst is not None:
        interval = worst.risk.low, worst.risk.high
        return _Risks(worst.risk.value, interval, worst.risk.value, interval)
    if linkage is not None:
        return _Risks(linkage.risk, (linkage.low, linkage.high), linkage.highest, (linkage.low, 1.0))
    if population is None:
        return _Risks(facts.correctness, None, *highest_risk(facts.sizes, None))
    return _Risks(population.overall, population.overall_interval, *highest_risk(facts.sizes, population))


def _choose_decision(findings: Findings, risks: _Risks, attacked: AttackJudgement, *, exposed: bool) -> Decision:
    """The first of the five decisions that applies, from the clearest no to the only yes."""
    limits = findings.question.limits
    of_average = judge(risks.risk, limits.of_average, risks.interval)
    of_highest = judge(risks.highest, limits.highest, risks.highest_interval)
    if of_average == "over":
        return "over"
    if exposed:
        return "exposed"
    if "borderline" in (of_average, of_highest) or findings.evidence.linkage is not None:
        return "borderline"
    if attacked.not_run or findings.is_open:
        return "undecided"
    return "borderline" if attacked.borderline else "within"
