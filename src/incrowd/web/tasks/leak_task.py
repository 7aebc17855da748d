"""The task that computes leak attacks on a table."""

from __future__ import annotations

from typing import Any

from incrowd._support.progress import Progress
from incrowd.classes import ClassSizes
from incrowd.errors import InputError, UnsupportedError
from incrowd.figures.leak_charts import against_leak, leaks_to_draw
from incrowd.leaks import LeakRisk, largest_leak, leak_risk, share_of, smallest_k, uniform_sizes
from incrowd.leaks.planning import limits_on_a_person
from incrowd.recipients import in_words, judge
from incrowd.reports import DataTable, Figure
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.risk_basis import decided_question
from incrowd.wording import counted

_DEFAULT = 0.1


def leak_task(table: OpenTable, question: models.LeakQuestion) -> Task:
    """Exact chances for a table, and for classes of `k` people where the question has a `k`."""
    known, person = table.with_role("quasi-identifier"), table.one_with_role("person")
    recipient, accepted = in_words(table.settings.recipient), decided_question(table).limits.highest
    if question.leaked is not None and question.share is not None:
        raise InputError("a leak is a number of people or a share of them, not both")

    def run(progress: Progress, publish: Publish) -> Outcome:
        progress("counting people who look alike", 0.0)
        sizes = table.count(table.table.require(known, "quasi-identifiers"), person)
        leaked = leaked_people(question, sizes.people)
        targets = sorted(set(question.targets))
        tables = {"the table": sizes}
        if question.k is not None:
            tables[f"classes of {question.k:,}"] = uniform_sizes(sizes.people, question.k)
        lines: dict[str, list[LeakRisk]] = {}
        for done, (name, one) in enumerate(tables.items()):
            for place, wanted in enumerate(targets):
                progress("computing chances", 0.1 + 0.8 * (done + place / len(targets)) / len(tables))
                label = f"{name}, {counted(wanted, 'target', 'targets')}"
                steps = leaks_to_draw(wanted, leaked, one.people)
                lines[label] = [leak_risk(one, step, targets=wanted) for step in steps]
        risks = {name: [leak_risk(one, leaked, targets=wanted) for wanted in targets] for name, one in tables.items()}
        result = _result(question, sizes, leaked, targets, risks)
        result["accepted"] = {
            "for": recipient,
            "at_most": accepted,
            "kept": all(judge(risk.probability, accepted) == "within" for risk in risks["the table"]),
        }
        bounds = [question.at_most or accepted]
        return Outcome(risks, lambda: result, lambda: as_figures([_figure(lines, risks, bounds, leaked, sizes)]))

    return run


def leaked_people(question: models.LeakQuestion, people: int) -> int:
    """The size of the leak in people."""
    if question.leaked is not None:
        return question.leaked
    return share_of(_DEFAULT if question.share is None else question.share, people)


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
        "planned": [risk.to_dict() for name, found in risks.items() if name != "the table" for risk in found],
        "thresholds": [
            {"at_most": limit, "for": who, "kept": judge(risk.probability, limit) == "within"}
            for risk in risks["the table"]
            if risk.targets == 1
            for limit, who in limits_on_a_person().items()
        ],
        "largest_leak": None,
        "smallest_k": None,
        "no_k": None,
    }
    if question.at_most is not None:
        fewest = targets[0]
        result["largest_leak"] = largest_leak(sizes, targets=fewest, at_most=question.at_most).to_dict()
        try:
            found = smallest_k(people=sizes.people, leaked=leaked, targets=fewest, at_most=question.at_most)
            result["smallest_k"] = found.to_dict()
        except UnsupportedError as reason:
            result["no_k"] = str(reason)
    return result


def _figure(
    lines: dict[str, list[LeakRisk]],
    risks: dict[str, list[LeakRisk]],
    bounds: list[float],
    leaked: int,
    sizes: ClassSizes,
) -> Figure:
    rows = tuple((name, risk.targets, risk.in_digits, risk.odds) for name, found in risks.items() for risk in found)
    subtitle = f"{counted(sizes.people, 'person', 'people')}; the upright line is a leak of {leaked:,}"
    return Figure(
        "leak",
        "How likely a leak names the people looked for",
        f"{risks['the table'][0].in_words[:1].upper()}{risks['the table'][0].in_words[1:]}.",
        against_leak(lines, thresholds=bounds, leaked=leaked, subtitle=subtitle),
        DataTable(f"A leak of {leaked:,} people", ("table", "targets", "chance", "odds"), rows),
    )
