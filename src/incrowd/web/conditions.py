"""What a yes about a protected table depends on: one list for cards, views, records and tables made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.assessment.verdict import YES_ON_CONDITIONS, order_reasons
from incrowd.web.attack_results import attacks_before, attacks_on, list_successes
from incrowd.web.jobs import Job

_BEFORE = "The same protection was attacked before, and its rows may differ from these."


def judge_candidate(candidate: Job) -> dict[str, Any]:
    """The verdict on a candidate as JSON, with the attacks on it: one that is above the limit makes a yes a no."""
    verdict = _judge_with_attacks(candidate)
    if verdict["decision"] == "within" and _list_conditions(candidate, verdict):
        return verdict | {"headline": YES_ON_CONDITIONS}
    return verdict


def _judge_with_attacks(candidate: Job) -> dict[str, Any]:
    result = candidate.answer().to_json()
    verdict: dict[str, Any] = result["verdict"]
    limit, recipient = result["threshold"], result["recipient"]
    above = list_successes(attacks_on(candidate), limit)
    before = [] if above else list_successes(attacks_before(candidate), limit)
    if not above and not before:
        return verdict
    exposures = [*above, *(f"{_BEFORE} {line}" for line in before), *verdict["exposures"]]
    why = order_reasons(verdict["decision"], verdict["sentence"], exposures)
    verdict = verdict | {"exposures": exposures, "why": list(why)}
    if above and verdict["decision"] in ("within", "borderline", "undecided"):
        advice = f"Do not give it to {recipient} as it is: an attack on it is above the limit."
        return verdict | {"decision": "exposed", "headline": "No: an attack on it succeeds", "recommendation": advice}
    if above or verdict["decision"] != "within":
        return verdict
    return verdict | {
        "decision": "undecided",
        "headline": "Undecided: attacked before with result No, attack it again",
        "recommendation": f"Do not give it to {recipient} yet: an attack on the same protection succeeded before. "
        "Attack it again.",
        "attack_again": True,
    }


def list_conditions(candidate: Job) -> list[str]:
    """What a yes about a candidate depends on: results of attacks, warnings, and the conditions of its verdict."""
    return _list_conditions(candidate, _judge_with_attacks(candidate))


def _list_conditions(candidate: Job, verdict: Mapping[str, Any]) -> list[str]:
    attacked = dict.fromkeys(f"It was attacked. {attack.in_words}" for attack in attacks_on(candidate))
    earlier = dict.fromkeys(f"{_BEFORE} {attack.in_words}" for attack in attacks_before(candidate))
    return [
        *attacked,
        *earlier,
        *warnings_of(candidate.answer().to_json()),
        *(verdict["inside_reasons"] if verdict["decision"] == "within" else []),
    ]


def warnings_of(result: Mapping[str, Any]) -> list[str]:
    """Warnings about the result of a protection: columns that undo it, and unchanged columns that name people."""
    warnings = [] if result["verdict"]["blamed"] else [f"Careful: {note}." for note in result["undone"]]
    naming = [one for one in result["unchanged"] if one["nearly_unique"]]
    if not naming:
        return warnings
    rows = f"{naming[0]['rows']:,} rows"
    if len(naming) == 1:
        (one,) = naming
        known = "it"
        what = f"{one['column']} is passed on unchanged and has {one['distinct']:,} different values in {rows}"
    else:
        known = "one of them"
        names = ", ".join(f"{one['column']} ({one['distinct']:,})" for one in naming)
        what = (
            f"{len(naming):,} columns are passed on unchanged and have a different value in most of the {rows}: {names}"
        )
    return [*warnings, f"Careful: {what}. An attacker who knows {known} from elsewhere finds the person."]
