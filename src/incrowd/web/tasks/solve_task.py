"""The task that searches for the protection with the least loss that passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.assessment import find_release
from incrowd.assessment.solution import Solution, why_chosen
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.protect_task import OutcomeMaker, in_population_of, options_of
from incrowd.wording import listed, number


def solve_task(table: OpenTable, question: models.SolutionQuestion, folder: Path, everybody: Any = None) -> Task:
    """Search for the protection with the least loss that passes, and write its table to a file in `folder`."""
    asked = in_population_of(question.protection or table.settings.protection, table)
    options, make_outcome = solver_options(asked, table, everybody), OutcomeMaker(table, asked, folder)

    def run(progress: Progress, publish: Publish) -> Outcome:
        found = find_release(
            table.table, make_outcome.question, seconds=question.seconds, progress=part(progress, 0.0, 0.7), **options
        )
        outcome = make_outcome(found.protected, found.verdict, part(progress, 0.7, 1.0))
        result = {
            **outcome.to_json(),
            "passes": found.passes,
            "trials": [trial.to_dict() for trial in found.trials],
            "demands": _demands_in_words(asked, found, options["sensitive"] or ()),
            "protection": _request_of(asked, found, options["sensitive"]).model_dump(mode="json"),
        }
        return replace(outcome, to_json=lambda: result)

    return run


def solver_options(asked: ProtectionRequest, table: OpenTable, everybody: Any = None) -> dict[str, Any]:
    """The arguments of `find_release`: those of `protect` without k, and every sensitive column, which may need l."""
    options = options_of(asked, table, everybody)
    del options["k"]
    known = table.with_role("quasi-identifier")  # made coarser themselves
    secrets = [*(asked.secrets or table.decided_as("sensitive")), *options.get("sensitive", ())]
    secrets = [name for name in secrets if name not in known]
    return options | {"sensitive": list(dict.fromkeys(secrets)) or None}


def _request_of(asked: ProtectionRequest, found: Solution, secrets: list[str] | None) -> ProtectionRequest:
    """The request that makes the found protection again."""
    (trial,) = (trial for trial in found.trials if trial.chosen)
    left_out = list(dict.fromkeys([*asked.leave_out, *trial.left_out]))
    changes: dict[str, Any] = {"k": trial.k, "l": trial.l, "leave_out": left_out}
    if trial.l is not None:
        demand = found.protected.demand
        kept = [name for name in secrets or () if name not in left_out]
        changes |= {"sensitive": kept, "diversity": demand.diversity, "c": demand.c}
        changes["diverse"] = list(trial.diverse) if {*trial.diverse} != {*kept} else []
    return asked.model_copy(update=changes)


def _demands_in_words(asked: ProtectionRequest, found: Solution, secrets: Sequence[str]) -> list[str]:
    """The class size and the demands on sensitive columns that a search chose, with reasons, as sentences."""
    (trial,) = (trial for trial in found.trials if trial.chosen)
    sentences = [f"k = {trial.k:,}: {found.why_this_size}"]
    demand = found.protected.demand
    if trial.l is not None:
        why = "as was asked for" if trial.l == asked.l else "otherwise a class would give it away"
        sentences.append(f"l = {number(trial.l)} for {listed(trial.diverse)}: {why}")
    free = [name for name in secrets if name not in (*trial.diverse, *trial.left_out)]
    if free and (asked.l is None or trial.l is not None):
        why = (
            "no class makes a value nearly certain without it" if found.passes else "no trial came so far as to need it"
        )
        sentences.append(f"No l for {listed(free)}: {why}")
    held = {name: getattr(demand, name) for name in ("l", "t", "beta", "delta")} | {"t": demand.t or demand.asks_t}
    sentences += [
        f"{name} = {getattr(asked, name)} was asked for, of columns that are left out: nothing is left to hold it"
        for name, value in held.items()
        if getattr(asked, name) is not None and value in (None, False)
    ]
    if (reason := why_chosen(found.trials)) is not None:
        sentences.append(reason[0].upper() + reason[1:])
    return [one if one.endswith(".") else f"{one}." for one in sentences]
