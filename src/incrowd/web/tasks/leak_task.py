"""The task that computes leak attacks on a table."""

from __future__ import annotations

from functools import partial
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
    leaks = _Leaks(table, question)

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
        bounds = [question.at_most or leaks.accepted]
        figure = partial(_figure, lines, risks, bounds, leaked, leaks.sizes)
        return Outcome(risks, lambda: result, lambda: as_figures([figure()]))

    return run


def leak_at_once(table: OpenTable, question: models.LeakQuestion) -> dict[str, Any]:
    """The numbers of a leak without its figure, for sliders."""
    return _Leaks(table, question).answer()[0]


def leak_curve(table: OpenTable, question: models.LeakCurveQuestion) -> dict[str, Any]:
    """The chance for leaks of every size, a line a number of targets; counted once for each."""
    sizes = _Leaks(table, models.LeakQuestion()).sizes
    lines = [
        table.recent.get(("leaks", sizes, wanted), partial(_curve_line, sizes, wanted))
        for wanted in sorted(set(question.targets))
    ]
    return {"people": sizes.people, "lines": lines}


def _curve_line(sizes: ClassSizes, targets: int) -> dict[str, Any]:
    steps = _few_leaks(targets, sizes.people)
    chances = [leak_risk(sizes, step, targets=targets).probability for step in steps]
    return {"targets": targets, "leaked": steps, "probability": chances}


def _few_leaks(targets: int, people: int) -> list[int]:
    """Sizes of leaks from the smallest possible to the whole table, close together where they are small."""
    rest = max(people - targets, 0)
    sizes = {targets + round((rest + 1) ** (step / 24)) - 1 for step in range(25)}
    return sorted(size for size in sizes if size <= people)


class _Leaks:
    """A leak of a table as its settings are now: the limits are those of the recipient."""

    def __init__(self, table: OpenTable, question: models.LeakQuestion) -> None:
        if question.leaked is not None and question.share is not None:
            raise InputError("a leak is a number of people or a share of them, not both")
        self._table, self._question = table, question
        self._known, self._person = table.with_role("quasi-identifier"), table.one_with_role("person")
        self._recipient = in_words(table.settings.recipient)
        self.accepted = decided_question(table).limits.highest
        self.targets = sorted(set(question.targets))

    @property
    def sizes(self) -> ClassSizes:
        return self._table.count(self._table.table.require(self._known, "quasi-identifiers"), self._person)

    def tables(self) -> dict[str, ClassSizes]:
        """The table, and one of classes of `k` people where that is asked about."""
        sizes, k = self.sizes, self._question.k
        return {"the table": sizes} | ({f"classes of {k:,}": uniform_sizes(sizes.people, k)} if k is not None else {})

    def answer(self) -> tuple[dict[str, Any], dict[str, list[LeakRisk]]]:
        """The result as JSON, and the chances for each table."""
        tables = self.tables()
        leaked = leaked_people(self._question, self.sizes.people)
        risks = {
            name: [leak_risk(sizes, leaked, targets=wanted) for wanted in self.targets]
            for name, sizes in tables.items()
        }
        result = _result(self._question, self.sizes, leaked, self.targets, risks)
        result["accepted"] = {
            "for": self._recipient,
            "at_most": self.accepted,
            "kept": all(judge(risk.probability, self.accepted) == "within" for risk in risks["the table"]),
        }
        return result, risks


def leaked_people(question: models.LeakQuestion | models.SimulationQuestion, people: int) -> int:
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
        means="The line of this table against lines of tables in which everybody looks like k − 1 others. Where a line "
        "is below the limit, a leak of that size is bearable.",
    )
