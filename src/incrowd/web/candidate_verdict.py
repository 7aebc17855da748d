"""The verdict on a candidate: that of the library, and what the attacks on the candidate add to it.

One immutable object for cards, views, decisions, projects and tables that are made from the candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from incrowd.assessment.verdict import YES_ON_CONDITIONS, Decision, order_reasons
from incrowd.reports.standing import Standing, standing_of
from incrowd.web.attack_results import AttackResults, attacks_before, attacks_on, list_successes
from incrowd.web.jobs import Job
from incrowd.wording import counted, people

_BEFORE = "The same protection was attacked before, and its rows may differ from these."


@dataclass(frozen=True, slots=True)
class CandidateVerdict:
    """The decision on a candidate with its reasons.

    Attributes:
        decision: as in the verdict of the library.
        headline: the decision in a few words.
        recommendation: whether it may be released, in a sentence.
        why: the risks against their limits and the exposures, what decides first.
        exposures: reasons for a no at any average risk.
        reasons: facts and assumptions.
        undecided: the columns that nobody judged.
        conditions: what a person has to confirm before a yes holds; warnings, if it is no yes.
        remarks: the results of attacks on it.
        risk: the average risk, about the people of the `basis`.
        highest: the risk of the person at highest risk.
        basis: the people whom the risks are about.
        attack_again: True if an attack on the same protection succeeded before, with other rows.
    """

    decision: Decision
    headline: str
    recommendation: str
    why: tuple[str, ...]
    exposures: tuple[str, ...]
    reasons: tuple[str, ...]
    undecided: tuple[str, ...]
    conditions: tuple[str, ...]
    remarks: tuple[str, ...]
    risk: float
    highest: float
    basis: str
    attack_again: bool = False

    @property
    def stands(self) -> Standing:
        """The standing, which has one colour and one shape on every page."""
        return standing_of(self.decision, self.conditions)

    @property
    def summary(self) -> dict[str, Any]:
        """The parts that a decision and a project file record."""
        return {
            "decision": self.decision,
            "headline": self.headline,
            "recommendation": self.recommendation,
            "conditions": list(self.conditions),
            "remarks": list(self.remarks),
        }


def judge_candidate(candidate: Job) -> CandidateVerdict:
    """The verdict on a candidate; an attack that is above the limit makes a yes a no."""
    result = candidate.answer().to_json()
    attacks, earlier = attacks_on(candidate), attacks_before(candidate)
    verdict = _of_library(result, attacks, earlier)
    above = list_successes(attacks, result["threshold"])
    before = [] if above else [f"{_BEFORE} {line}" for line in list_successes(earlier, result["threshold"])]
    if above or before:
        verdict = _taken_back(verdict, above, before, result["recipient"])
    if verdict.decision != "within":
        return replace(verdict, conditions=(*_not_tried(attacks), *_warnings(result)))
    return replace(verdict, headline=YES_ON_CONDITIONS) if verdict.conditions else verdict


def _of_library(
    result: Mapping[str, Any], attacks: Sequence[AttackResults], earlier: Sequence[AttackResults]
) -> CandidateVerdict:
    """The verdict that the library gave, with the conditions that warnings and attacks add."""
    found = result["verdict"]
    attacked = dict.fromkeys(f"It was attacked. {attack.in_words}" for attack in attacks)
    before = dict.fromkeys(f"{_BEFORE} {attack.in_words}" for attack in earlier)
    return CandidateVerdict(
        decision=found["decision"],
        headline=found["headline"],
        recommendation=found["recommendation"],
        why=tuple(found["why"]),
        exposures=tuple(found["exposures"]),
        reasons=tuple(found["reasons"]),
        undecided=tuple(one["column"] for one in found["undecided"]),
        conditions=(*_not_tried(attacks), *_warnings(result), *found["inside_reasons"]),
        remarks=(*attacked, *before),
        risk=found["risk"],
        highest=found["highest"],
        basis=found["basis"],
    )


def _taken_back(
    verdict: CandidateVerdict, above: Sequence[str], before: Sequence[str], recipient: str
) -> CandidateVerdict:
    """The verdict after attacks that are above the limit: now, or before with other rows."""
    exposures = (*above, *before, *verdict.exposures)
    sentence = next((line for line in verdict.why if line not in verdict.exposures), "")
    verdict = replace(verdict, exposures=exposures, why=order_reasons(verdict.decision, sentence, exposures))
    if above and verdict.decision in ("within", "borderline", "undecided"):
        return replace(
            verdict,
            decision="exposed",
            headline="No: an attack on it succeeds",
            recommendation=f"Do not give it to {recipient} as it is: an attack on it is above the limit.",
        )
    if above or verdict.decision != "within":
        return verdict
    return replace(
        verdict,
        decision="undecided",
        headline="Undecided: attacked before with result No, attack it again",
        recommendation=f"Do not give it to {recipient} yet: an attack on the same protection succeeded before. "
        "Attack it again.",
        attack_again=True,
    )


def _not_tried(attacks: Sequence[AttackResults]) -> list[str]:
    """The attacks that could not be run: nobody knows whether they fail."""
    left = {name: reason for attack in attacks for name, reason in attack.not_run.items()}
    if not left:
        return []
    named = ", ".join(f"{name} ({reason})" for name, reason in left.items())
    return [f"Attacks that were not run would fail: {named}."]


def _warnings(result: Mapping[str, Any]) -> list[str]:
    """Warnings about columns that are passed on unchanged: those that name people, and the sampling weight."""
    warnings = []
    naming = [one for one in result["unchanged"] if one["nearly_unique"]]
    rows = f"{naming[0]['rows']:,} rows" if naming else ""
    if len(naming) == 1:
        (one,) = naming
        warnings.append(
            f"Careful: {one['column']} is passed on unchanged and has {one['distinct']:,} different values in {rows}. "
            "An attacker who knows it from elsewhere finds the person."
        )
    elif naming:
        names = ", ".join(f"{one['column']} ({one['distinct']:,})" for one in naming)
        warnings.append(
            f"Careful: {len(naming):,} columns are passed on unchanged and have a different value in most of the "
            f"{rows}: {names}. An attacker who knows one of them from elsewhere finds the person."
        )
    weight = result.get("weight_if_known")
    if weight and weight["in_small"]:
        alone = f"{people(weight['unique'])} alone, and " if weight["unique"] else ""
        warnings.append(
            f"This yes holds while nobody outside knows the weight {weight['column']}: an attacker who knows it too "
            f"finds {alone}{people(weight['in_small'])} of {counted(weight['people'], 'person', 'people')} in classes "
            f"smaller than {weight['least']}."
        )
    return warnings
