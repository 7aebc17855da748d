"""The task that compares methods of protection on a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from incrowd._support.progress import Progress, part
from incrowd.assessment import Question, judge_protected
from incrowd.assessment.verdict import Decision
from incrowd.evaluation import frontier
from incrowd.evaluation.method_frontier import (
    FRONTIER_METHODS,
    Frontier,
    FrontierPoint,
    sizes_to_compare,
    worth_choosing,
)
from incrowd.figures.protection_charts import ANSWERS, NAMES, frontier_chart
from incrowd.protection import PROTECTION_METHODS, protect
from incrowd.recipients import in_words, judge
from incrowd.reports import DataTable, Figure
from incrowd.reports.standing import standing_of
from incrowd.web import models
from incrowd.web.jobs import Outcome, Publish, Task
from incrowd.web.protection_models import ProtectionRequest
from incrowd.web.session_table import OpenTable
from incrowd.web.tasks.assess_task import summary_of
from incrowd.web.tasks.figure_json import as_figures
from incrowd.web.tasks.protect_task import options_of, read_hierarchy
from incrowd.web.tasks.table_question import decided_question
from incrowd.wording import number, people, percent


def frontier_task(table: OpenTable, question: models.FrontierQuestion) -> Task:
    """Protect a table with every method; each point has the settings that make it and the verdict on the result."""
    gone, person = question.protection.leave_out, table.one_with_role("person")
    known = [name for name in table.with_role("quasi-identifier") if name not in gone]
    asked = decided_question(table)
    limits = asked.limits

    def run(progress: Progress, publish: Publish) -> Outcome:
        in_table = table.count(known, person).people
        measured = frontier(
            table.table,
            quasi_identifiers=known,
            methods=question.methods,
            k=question.k or sizes_to_compare(limits, in_table),
            sensitive=question.secrets or None,
            person=person,
            demands=demands_of(question),
            progress=part(progress, 0.0, 0.6),
        )
        judged = _judge(table, measured, question, asked, part(progress, 0.6, 1.0))
        decisions = [one.decision for one in judged]
        best = worth_choosing(measured, decisions)
        result = {
            "records": measured.records,
            "recipient": in_words(table.settings.recipient),
            "limits": limits.to_dict(),
            "not_compared": [] if question.methods else _not_compared(measured, question, person),
            "points": [
                {
                    **point.to_dict(),
                    "words": NAMES[point.method],
                    **asdict(one),
                    "best": point in best,
                    "protection": _request_of(point, question),
                }
                for point, one in zip(measured.points, judged, strict=True)
            ],
        }
        return Outcome(measured, lambda: result, lambda: as_figures([_frontier_figure(measured, judged, best)]))

    return run


def _not_compared(found: Frontier, question: models.FrontierQuestion, person: str | None) -> list[dict[str, str]]:
    """The methods without a point, with the reason in words."""
    compared, left = {point.method for point in found.points}, []
    for name, method in FRONTIER_METHODS.items():
        reasons = {
            "it needs a hierarchy for every column": method.entry.needs_hierarchies,
            "it cannot keep the records of one person together": person is not None
            and (method.entry.run_by_person is None or method.is_t_close),
            "it needs exactly one column that is kept secret": method.needs_secret and len(question.secrets) != 1,
        }
        why = next((reason for reason, holds in reasons.items() if holds), "it made no table")
        left += [] if name in compared else [{"words": NAMES[name], "why": why}]
    chosen = [
        {"words": entry.label, "why": "it does what is said for each column, so there is nothing to compare"}
        for entry in PROTECTION_METHODS.values()
        if entry.compared_by is None
    ]
    return [*left, *chosen]


def demands_of(question: models.FrontierQuestion) -> dict[str, Any]:
    """The demands on every method, as `frontier` takes them."""
    demands = question.demands
    if "hierarchies" in demands:
        demands["hierarchies"] = {name: read_hierarchy(given) for name, given in demands["hierarchies"].items()}
    return demands


@dataclass(frozen=True, slots=True)
class _Judged:
    """The decision on a point, the main reason against a release, and what a yes depends on."""

    decision: Decision
    reason: str | None
    conditions: Sequence[str] = ()


def _judge(
    table: OpenTable, found: Frontier, question: models.FrontierQuestion, asked: Question, progress: Progress
) -> list[_Judged]:
    """The verdict on every point, in the same way as on a candidate.

    If the risk refers to the table alone, a point whose smallest class is too small is judged without protecting again.
    """
    is_within_table = asked.population is None and asked.weights is None
    judged: list[_Judged] = []
    least = asked.limits.class_size
    for done, point in enumerate(found.points):
        report = _progress_of(f"judging {NAMES[point.method]}, {point.setting}", done, len(found.points), progress)
        report("", 0.0)
        if is_within_table and judge(1 / point.k, asked.limits.highest) == "over":
            over = judge(point.correctness, asked.limits.of_average) == "over"
            reason = f"The smallest class has {people(point.k)}; {least:,} are needed."
            judged.append(_Judged("over" if over else "exposed", reason))
            continue
        options = options_of(ProtectionRequest(**_request_of(point, question)), table)
        safe = protect(table.table, **options, warn=False, progress=part(report, 0.0, 0.5))
        verdict = judge_protected(safe, asked, progress=part(report, 0.5, 1.0))
        against = None if verdict.decision == "within" else next(iter(verdict.exposures), verdict.recommendation)
        judged.append(_Judged(verdict.decision, against, summary_of(verdict)["conditions"]))
    return judged


def _progress_of(stage: str, place: int, of: int, progress: Progress) -> Progress:
    """The progress of one point of several, all of it under one name of the stage."""
    return lambda _, share: progress(stage, (place + share) / of)


def _request_of(point: FrontierPoint, question: models.FrontierQuestion) -> dict[str, Any]:
    """The request to /protections that makes a point."""
    compared = FRONTIER_METHODS[point.method]
    request: dict[str, Any] = {"method": compared.method, "sensitive": question.sensitive}
    request |= compared.taken_demands(question.demands)
    if compared.entry.compared_by == "resolution":
        return request | {"resolution": int(point.setting.removeprefix("1/"))}
    request["k"] = int(point.setting.removeprefix("k=").partition(",")[0])
    if compared.is_t_close:
        request["t"] = "bound"
    if "suppress" in compared.entry.inputs:
        request["suppress"] = 0.02
    return request


def _frontier_figure(measured: Frontier, judged: Sequence[_Judged], best: list[FrontierPoint]) -> Figure:
    decisions = [one.decision for one in judged]
    words = dict(zip(("no", "if", "yes"), ANSWERS, strict=True))
    answers = [words[standing_of(one.decision, one.conditions)] for one in judged]
    rows = tuple(
        (
            f"{NAMES[point.method]}, {point.setting}",
            percent(point.correctness),
            percent(point.uniqueness),
            percent(point.granularity),
            "–" if point.information_loss is None else number(point.information_loss),
            decision,
        )
        for point, decision in zip(measured.points, decisions, strict=True)
    )
    named = "; ".join(f"{NAMES[point.method]}, {point.setting}" for point in best)
    if best:
        says = f"May go out, and not beaten in both risk and detail: {named}."
    elif "undecided" in decisions:
        says = "None of these ways may go out yet: confirm what the columns are."
    else:
        says = "None of these ways may go out: the risk is above the limits, or something kept gives it away."
    return Figure(
        "frontier",
        says,
        frontier_chart(measured, answers=answers),
        DataTable("Every way", ("method", "named", "unique", "detail kept", "information loss", "decision"), rows),
        means="Every point is the same table protected in another way. Down is safer, left has lost less. A cross "
        "still has people who stand alone. A hollow point may not go out. Of the others, those that no other beats on "
        "both sides are the ones to choose from.",
    )
