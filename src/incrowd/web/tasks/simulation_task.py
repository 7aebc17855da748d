"""The task that simulates leaks: people known to have leaked, histories that leak or are known in part."""

from __future__ import annotations

from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.errors import InputError
from incrowd.figures.leak_charts import single_risks
from incrowd.leaks import LeakSimulation, PartialLeak, leak_risk, simulate_leak, simulate_partial_leak
from incrowd.reports import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.leak_task import leaked_people
from incrowd.wording import counted, number_interval, percent

_MEANS = (
    "Every person has their own chance to be named: none outside the leak, and 1 in h for somebody who leaked together "
    "with h − 1 others who look alike. The bars say how many people have which chance."
)


def simulation_task(table: OpenTable, question: models.SimulationQuestion) -> Task:
    """Simulate leaks of a table as its settings are now."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    if question.in_part and person is None:
        raise InputError("part of a history leaks where people have several records: say which column is the person")

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        sizes = table.count(known, person)
        leaked = leaked_people(question, sizes.people)
        simulated = simulate_leak(
            sizes,
            leaked,
            targets=question.targets,
            trials=question.trials,
            seed=question.seed,
            targets_from=question.targets_from,
            progress=part(progress, 0.1, 0.6),
        )
        partly = _in_part(table, question, leaked, part(progress, 0.6, 1.0)) if question.in_part else None
        exact = leak_risk(sizes, leaked, targets=question.targets)
        result: dict[str, Any] = {
            "exact": exact.to_dict(),
            "simulated": simulated.to_dict(),
            "partial": partly.to_dict() if partly else None,
            "sentence": _sentence(simulated, partly),
            "rates": _rates(partly) if partly else [],
        }
        return Outcome(simulated, lambda: result, lambda: as_figures([_figure(simulated)]))

    return run


def _in_part(table: OpenTable, question: models.SimulationQuestion, leaked: int, progress: Progress) -> PartialLeak:
    return simulate_partial_leak(
        table.table,
        leaked,
        quasi_identifiers=table.with_role("quasi-identifier"),
        person=str(table.one_with_role("person")),
        share_of_records=1.0 if question.records_leaked is None else question.records_leaked,
        known_records=question.records_known,
        error_rate=question.error_rate or 0.0,
        trials=question.trials,
        seed=question.seed,
        progress=progress,
    )


def _sentence(simulated: LeakSimulation, partly: PartialLeak | None) -> str:
    """The simulation in words, the chance of partial histories first."""
    one = simulated.targets == 1
    whom = "the person looked for is" if one else f"all {simulated.targets:,} people looked for are"
    known = f", who {'is' if one else 'are'} known to have leaked," if simulated.targets_from == "leak" else ""
    interval = f" (95% interval {number_interval(*simulated.interval)})" if simulated.interval else ""
    text = (
        f"In {simulated.trials:,} simulated leaks of {counted(simulated.leaked, 'person', 'people')}, {whom}{known} "
        f"named with a chance of {percent(simulated.probability)}{interval}."
    )
    if not simulated.enough_trials:
        text += " These are too few leaks for so many people: a few lucky ones decide the mean."
    if partly is None:
        return text
    return (
        f"With histories in part, somebody of the table is named with a chance of {percent(partly.probability)}. {text}"
    )


def _rates(partly: PartialLeak) -> list[dict[str, str]]:
    """True and false positives in words."""
    rates = (
        ("chance to be named", partly.probability, "anybody in the table, whether they leaked or not"),
        ("true positives", partly.true_positive_rate, "of people who leaked: named rightly"),
        ("false positives", partly.false_positive_rate, "of people who did not leak: somebody else is named for them"),
        ("names that are right", partly.precision, "of all names that the attacker gives"),
    )
    return [
        {"name": name, "share": "–" if rate is None else percent(rate), "means": means} for name, rate, means in rates
    ]


def _figure(simulated: LeakSimulation) -> Figure:
    rows = tuple((f"1 in {round(1 / risk):,}" if risk else "none", percent(share)) for risk, share in simulated.risks)
    said = "those who leaked" if simulated.targets_from == "leak" else "all people of the table"
    none = next((share for risk, share in simulated.risks if not risk), 0.0)
    return Figure(
        "simulation",
        "How likely each person is named",
        f"Of {said}, {percent(1 - none)} have a chance to be named; for the others there is none.",
        single_risks({said: simulated}),
        DataTable("People by their chance to be named", ("chance", "share of people"), rows),
        means=_MEANS,
    )
