"""Tasks that compute the chances of leak attacks on a table, and simulate leaks."""

from __future__ import annotations

from functools import partial
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.classes import ClassSizes
from incrowd.errors import InputError
from incrowd.figures.leak_charts import against_leak, leaks_to_draw, single_risks
from incrowd.leaks import (
    LeakRisk,
    LeakSimulation,
    PartialLeak,
    leak_risk,
    share_of,
    simulate_leak,
    simulate_partial_leak,
    uniform_sizes,
)
from incrowd.leaks.planning import few_leaks, limits_on_a_person, plan_leak
from incrowd.recipients import in_words, judge
from incrowd.reports import DataTable, Figure
from incrowd.results import as_json
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.table_question import decided_question
from incrowd.wording import counted, number_interval, percent

_DEFAULT_SHARE = 0.1  # of the people, who leak
_SIMULATED_MEANS = (
    "Every person has their own chance to be named: none outside the leak, and 1 in h for somebody who leaked together "
    "with h − 1 others who look alike. The bars say how many people have which chance."
)


def leak_task(table: OpenTable, question: models.LeakQuestion) -> Task:
    """Exact chances for a table, and for classes of `k` people if the question has a `k`."""
    leaks = _TableLeak(table, question)

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        result, risks = leaks.answer()
        leaked, lines = result["leaked"], {}
        for done, (name, sizes) in enumerate(leaks.tables().items()):
            for place, wanted in enumerate(leaks.targets):
                progress("computing chances", 0.1 + 0.8 * (done + place / len(leaks.targets)) / len(risks))
                label = f"{name}, {counted(wanted, 'target', 'targets')}"
                steps = leaks_to_draw(wanted, leaked, sizes.people)
                lines[label] = [leak_risk(sizes, step, targets=wanted) for step in steps]
        asked = question.at_most or leaks.accepted
        bounds = {asked: leaks.recipient if asked == leaks.accepted else "the highest accepted"}
        figure = partial(_figure, lines, risks, bounds, leaked, leaks.sizes)
        return Outcome(risks, lambda: result, lambda: as_figures([figure()]))

    return run


def leak_at_once(table: OpenTable, question: models.LeakQuestion) -> dict[str, Any]:
    """The result of `leak_task` without its figure, for sliders."""
    return _TableLeak(table, question).answer()[0]


def leak_curve(table: OpenTable, question: models.LeakCurveQuestion) -> dict[str, Any]:
    """The chance against the size of the leak, one line for each number of targets; cached."""
    sizes = _TableLeak(table, models.LeakQuestion()).sizes
    lines = [
        table.cache.get(("leaks", sizes, wanted), partial(_curve_line, sizes, wanted))
        for wanted in sorted(set(question.targets))
    ]
    return {"people": sizes.people, "lines": lines}


def _curve_line(sizes: ClassSizes, targets: int) -> dict[str, Any]:
    steps = few_leaks(sizes.people, targets)
    chances = [leak_risk(sizes, step, targets=targets).probability for step in steps]
    return {"targets": targets, "leaked": steps, "probability": chances}


class _TableLeak:
    """A leak of a table by its current settings, judged by the limits of the recipient."""

    def __init__(self, table: OpenTable, question: models.LeakQuestion) -> None:
        if question.leaked is not None and question.share is not None:
            raise InputError("a leak is a number of people or a share of them, not both")
        self._table, self._question = table, question
        self._known, self._person = table.known_and_person
        self.recipient = in_words(table.settings.recipient)
        self._limits = decided_question(table).limits
        self.accepted = self._limits.highest
        self.targets = sorted(set(question.targets))

    @property
    def sizes(self) -> ClassSizes:
        return self._table.count(self._table.table.require(self._known, "quasi-identifiers"), self._person)

    def tables(self) -> dict[str, ClassSizes]:
        """Class sizes of the table, and of equal classes of `k` people if the question has a `k`, by name."""
        sizes, k = self.sizes, self._question.k
        return {"the table": sizes} | ({f"classes of {k:,}": uniform_sizes(sizes.people, k)} if k is not None else {})

    def answer(self) -> tuple[dict[str, Any], dict[str, list[LeakRisk]]]:
        """The result as JSON, and the chances by the names of `tables`."""
        tables = self.tables()
        leaked = leaked_people(self._question, self.sizes.people)
        risks = {
            name: [leak_risk(sizes, leaked, targets=wanted) for wanted in self.targets]
            for name, sizes in tables.items()
        }
        result = _result(self._question, self.sizes, leaked, self.targets, risks)
        result["accepted"] = self._judge(leak_risk(self.sizes, leaked))
        return result, risks

    def _judge(self, risk: LeakRisk) -> dict[str, Any]:
        """The chance of one person beside the recipient's limits: at highest risk, and on average if that has one."""
        limits = self._limits
        of_highest, of_average = judge(risk.judged, limits.highest), judge(risk.probability, limits.of_average)
        return {
            "for": self.recipient,
            "at_most": limits.highest,
            "class_size": limits.class_size,
            "on_average": limits.average,
            "highest": risk.judged,
            "average": risk.probability,
            "smallest_class": self.sizes.smallest,
            "kept_by_highest": of_highest == "within",
            "kept_on_average": of_average == "within",
            "kept": (of_highest, of_average) == ("within", "within"),
        }


def leaked_people(question: models.LeakQuestion | models.SimulationQuestion, people: int) -> int:
    """The size of the leak in people."""
    if question.leaked is not None:
        return question.leaked
    return share_of(_DEFAULT_SHARE if question.share is None else question.share, people)


def _result(
    question: models.LeakQuestion,
    sizes: ClassSizes,
    leaked: int,
    targets: list[int],
    risks: dict[str, list[LeakRisk]],
) -> dict[str, Any]:
    result: dict[str, Any] = {
        "people": sizes.people,
        "leaked": leaked,
        "k": question.k,
        "share_leaked": leaked / sizes.people,
        "risks": [risk.to_dict() for risk in risks["the table"]],
        "planned": [risk.to_dict() for name, planned in risks.items() if name != "the table" for risk in planned],
        "thresholds": [
            {"at_most": limit, "for": who, "kept": judge(risk.judged, limit) == "within"}
            for risk in risks["the table"]
            if risk.targets == 1
            for limit, who in limits_on_a_person().items()
        ],
    }
    plan = None
    if question.at_most is not None:
        plan = plan_leak(sizes, leaked, targets=targets[0], at_most=question.at_most)
    return result | {name: as_json(getattr(plan, name, None)) for name in ("largest_leak", "smallest_k", "no_k")}


def _figure(
    lines: dict[str, list[LeakRisk]],
    risks: dict[str, list[LeakRisk]],
    bounds: dict[float, str],
    leaked: int,
    sizes: ClassSizes,
) -> Figure:
    rows = tuple((name, risk.targets, risk.in_digits, risk.odds) for name, found in risks.items() for risk in found)
    subtitle = f"{counted(sizes.people, 'person', 'people')}; the upright line is a leak of {leaked:,}"
    return Figure(
        "leak",
        f"{risks['the table'][0].in_words[:1].upper()}{risks['the table'][0].in_words[1:]}.",
        against_leak(lines, thresholds=bounds, leaked=leaked, subtitle=subtitle),
        DataTable(f"A leak of {leaked:,} people", ("table", "targets", "chance", "odds"), rows),
        means="The line of this table against lines of tables in which everybody looks like k − 1 others. Where a line "
        "is below the limit, a leak of that size is bearable.",
    )


def simulation_task(table: OpenTable, question: models.SimulationQuestion) -> Task:
    """Simulate leaks of a table by its current settings."""
    known, person = table.known_and_person
    if question.in_part and person is None:
        raise InputError("part of a history leaks where people have several records: say which column is the person")

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        sizes = table.count(known, person)
        leaked = leaked_people(question, sizes.people)
        simulated = simulate_leak(sizes, leaked, **whole_options(question), progress=part(progress, 0.1, 0.6))
        partly = _simulate_partial(table, question, leaked, part(progress, 0.6, 1.0)) if question.in_part else None
        exact = leak_risk(sizes, leaked, targets=question.targets)
        result: dict[str, Any] = {
            "exact": exact.to_dict(),
            "simulated": simulated.to_dict(),
            "partial": partly.to_dict() if partly else None,
            "sentence": _sentence(simulated, partly),
            "rates": [{"name": rate.name, "share": rate.shown, "means": rate.meaning} for rate in partly.statements]
            if partly
            else [],
        }
        return Outcome(simulated, lambda: result, lambda: as_figures([_simulated_figure(simulated)]))

    return run


def _simulate_partial(
    table: OpenTable, question: models.SimulationQuestion, leaked: int, progress: Progress
) -> PartialLeak:
    known, person = table.known_and_person
    options = {"quasi_identifiers": known, "person": str(person), **partial_options(question)}
    return simulate_partial_leak(table.table, leaked, **options, progress=progress)


def whole_options(question: models.SimulationQuestion) -> dict[str, Any]:
    """The arguments of `simulate_leak`."""
    return question.model_dump(include={"targets", "targets_from", "trials", "seed"})


def partial_options(question: models.SimulationQuestion) -> dict[str, Any]:
    """The arguments of `simulate_partial_leak`."""
    return {
        "share_of_records": 1.0 if question.records_leaked is None else question.records_leaked,
        "known_records": question.records_known,
        "error_rate": question.error_rate or 0.0,
        **question.model_dump(include={"trials", "seed"}),
    }


def _sentence(simulated: LeakSimulation, partly: PartialLeak | None) -> str:
    """The simulation in words, that of partial histories first."""
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


def _simulated_figure(simulated: LeakSimulation) -> Figure:
    rows = tuple((f"1 in {round(1 / risk):,}" if risk else "none", percent(share)) for risk, share in simulated.risks)
    whom = "those who leaked" if simulated.targets_from == "leak" else "all people of the table"
    none = next((share for risk, share in simulated.risks if not risk), 0.0)
    return Figure(
        "simulation",
        f"Of {whom}, {percent(1 - none)} have a chance to be named; for the others there is none.",
        single_risks({whom: simulated}),
        DataTable("People by their chance to be named", ("chance", "share of people"), rows),
        means=_SIMULATED_MEANS,
    )
