"""What a yes about a protected table depends on: one list for cards, views, records and tables made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incrowd.web.jobs import Job


def judge_candidate(candidate: Job) -> dict[str, Any]:
    """The verdict on a candidate as JSON, with the attacks on it: one that is above the limit makes a yes a no."""
    result = candidate.answer().to_json()
    verdict: dict[str, Any] = result["verdict"]
    above = list(dict.fromkeys(line for attack in _attacks_on(candidate) for line in attack.get("above_limit", ())))
    if not above:
        return verdict
    verdict = verdict | {"exposures": [*above, *verdict["exposures"]]}
    if verdict["decision"] != "within":
        return verdict
    recommendation = f"Do not give it to {result['recipient']} as it is: an attack on it is above the limit."
    return verdict | {
        "decision": "exposed",
        "headline": "No: an attack on it succeeds",
        "recommendation": recommendation,
    }


def list_conditions(candidate: Job) -> list[str]:
    """What a yes about a candidate depends on: results of attacks, warnings, and the conditions of its verdict."""
    result, verdict = candidate.answer().to_json(), judge_candidate(candidate)
    attacked = dict.fromkeys(f"It was attacked. {attack.get('sentence')}" for attack in _attacks_on(candidate))
    return [*attacked, *warnings_of(result), *(verdict["inside_reasons"] if verdict["decision"] == "within" else [])]


def warnings_of(result: Mapping[str, Any]) -> list[str]:
    """Warnings about the result of a protection: columns that undo it, and unchanged columns that name people."""
    warnings = [] if result["verdict"]["giving_back"] else [f"Careful: {note}." for note in result["undone"]]
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


def _attacks_on(candidate: Job) -> list[dict[str, Any]]:
    """What the audit trail, which outlives the jobs, tells of the attacks on a candidate; the newest first."""
    trail = candidate.source.current.history.trail if candidate.source else []
    attacks = (entry.details for entry in reversed(trail) if entry.what == "attack done")
    return [details for details in attacks if details.get("released") == candidate.id]
