"""The contents of a report, independent of page or terminal."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from incrowd.assessment import Assessment, Statement, Verdict
from incrowd.assessment.result import SECTIONS
from incrowd.figures import assessment_charts as plots
from incrowd.recipients import STANDS, Limits, judge
from incrowd.reports import sections
from incrowd.reports.elements import DataTable, Figure, ReportSection
from incrowd.wording import chosen_percent, percent, percent_interval

_VERDICT = (
    "The upper mark is the person at highest risk, the lower mark is the average. Each dashed line is the highest "
    "accepted risk of a person for one kind of recipient, written as 1 over the smallest class. A mark left of the "
    "line is accepted. A bar around a mark is the interval of an estimate. A tick on the lower line is the limit on "
    "the average."
)


def document(assessment: Assessment, *, external: bool = False) -> tuple[ReportSection, ...]:
    """The sections of a report in order.

    Args:
        assessment: the assessment.
        external: leave out what would help an attacker.
    """
    shown = (section.show(assessment, external) for section in _section_modules())
    return tuple(section for section in shown if section is not None)


@cache
def _section_modules() -> tuple[ModuleType, ...]:
    """The files of `sections` in the order of the page.

    A file shows the section of an assessment with its name, at the position of that section. A file for anything else
    names in `AFTER` the section that it follows.
    """
    order = [section.name for section in SECTIONS]
    placed = []
    for name in (info.name for info in iter_modules(sections.__path__)):
        module = import_module(f"{sections.__name__}.{name}")
        after = getattr(module, "AFTER", None)
        placed.append((order.index(after or name), after is not None, name, module))
    return tuple(module for *_, module in sorted(placed, key=lambda one: one[:3]))


def key_numbers(assessment: Assessment) -> tuple[Statement, ...]:
    """The numbers next to every decision: people, smallest class, highest and average risk.

    For a synthetic release: its rows, and the risk of the worst attack.

    Args:
        assessment: the assessment.

    Returns:
        The numbers with their meaning and certainty; none of them helps an attacker.
    """
    verdict, facts = assessment.verdict, assessment.facts
    if verdict.basis == "attacks":
        return _numbers_of_attacks(assessment)
    if assessment.evidence.if_known is not None:
        return _numbers_while_undecided(assessment)
    in_population = verdict.basis == "population"
    attack = "journalist risk" if in_population else "prosecutor risk"
    where = "among all people of the population" if in_population else "by somebody who knows who is in the table"
    average = verdict.limits.average
    held = "" if average is None else f"; {percent(average)} is accepted"
    unit, name = ("people", "People that the table is about.")
    if assessment.roles.counts_households:
        unit, name = "households", f"Households, by {facts.person}: each counts as one, with all its members."
    return (
        _counted(unit, facts.people, name),
        _counted(
            "smallest class (k)",
            facts.k,
            f"{unit.capitalize()} in the smallest equivalence class: those who look alike.",
        ),
        Statement(
            "verdict",
            "person at highest risk",
            verdict.highest,
            f"{'up to ' if verdict.highest_is_bound else ''}{percent(verdict.highest)}",
            f"Chance of naming them {where} ({attack}); 1/{verdict.limits.class_size} is accepted.",
            _certainty(verdict.highest_interval, in_population),
            "the attacker knows all quasi-identifiers",
        ),
        Statement(
            "verdict",
            "average risk",
            verdict.risk,
            percent(verdict.risk),
            f"Share of people named correctly {where} (marketer risk){held}.",
            _certainty(verdict.interval, in_population),
            "the attacker knows all quasi-identifiers",
        ),
    )


def _numbers_while_undecided(assessment: Assessment) -> tuple[Statement, ...]:
    """The numbers while columns are not judged: each of them counts as known to the attacker."""
    evidence, facts, limits = assessment.evidence, assessment.facts, assessment.verdict.limits
    known = evidence.if_known
    assert known is not None
    who = "somebody who knows every column that may be known"
    alike = "People in the smallest equivalence class"
    smallest = int(known["k"])
    return (
        _counted("people", facts.people, "People that the table is about."),
        _counted("smallest class (k)", smallest, f"{alike} for {who}; {int(known['uniques']):,} people are alone."),
        Statement(
            "verdict",
            "person at highest risk",
            1 / smallest,
            percent(1 / smallest),
            f"Chance of naming them by {who}; 1/{limits.class_size} is accepted.",
            "counted",
            "every column without a role is known to the attacker",
        ),
        Statement(
            "verdict",
            "average risk",
            known["correctness"],
            percent(known["correctness"]),
            f"Share of people named correctly by {who}.",
            "counted",
            "every column without a role is known to the attacker",
        ),
    )


def _numbers_of_attacks(assessment: Assessment) -> tuple[Statement, ...]:
    """The numbers of a synthetic release: its rows, and the attack that succeeds most."""
    verdict, attacks = assessment.verdict, assessment.attacks
    worst = attacks.worst if attacks is not None else None
    return (
        _counted("rows", assessment.facts.records, "Rows of the synthetic release; none was made from one person."),
        Statement(
            "verdict",
            "worst attack",
            verdict.risk,
            percent(verdict.risk),
            f"People exposed by {worst.about if worst else 'an attack'} who would be safe without the release; "
            f"{percent(verdict.threshold)} is accepted.",
            _certainty(verdict.interval, True),
            "the attacker knows all quasi-identifiers",
        ),
    )


def _counted(name: str, value: int, meaning: str) -> Statement:
    return Statement("verdict", name, float(value), f"{value:,}", meaning, "counted", "")


def _certainty(interval: tuple[float, float] | None, estimated: bool) -> str:
    if interval is not None:
        return f"estimated; 95% interval: {percent_interval(*interval)}"
    return "estimated" if estimated else "counted"


def verdict_figure(assessment: Assessment) -> Figure:
    """The highest and the average risk on lines with the limits of every recipient.

    Args:
        assessment: the assessment.
    """
    verdict = assessment.verdict
    return Figure(
        "verdict",
        verdict.sentence,
        plots.risk_against_limits_chart(verdict),
        DataTable(
            "Limits by recipient",
            ("recipient", "smallest class", "highest risk", "this table is", "average risk", "this table is "),
            tuple(_limit_row(name, limits, verdict) for name, limits in plots.limits_shown(verdict)),
        ),
        means=_VERDICT,
    )


def _limit_row(name: str, limits: Limits, verdict: Verdict) -> tuple[str | int, ...]:
    highest = judge(verdict.highest, limits.highest, verdict.highest_interval)
    average = judge(verdict.risk, limits.of_average, verdict.interval)
    return (
        name,
        limits.class_size,
        chosen_percent(limits.highest),
        STANDS[highest],
        "–" if limits.average is None else chosen_percent(limits.average),
        "–" if limits.average is None else STANDS[average],
    )
