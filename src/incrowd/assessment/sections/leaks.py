"""Section "leaks": what happens if part of the table is stolen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from incrowd.assessment.sections.section import AssessmentState, Section
from incrowd.classes import ClassSizes
from incrowd.leaks import LargestLeak, LeakRisk, LeakTable, largest_leak, leak_risk, leak_table, share_of
from incrowd.results import Result, Statement
from incrowd.wording import chosen_percent, percent
from incrowd.wording import people as people_in_words

SHARES = (0.01, 0.05, 0.1, 0.3, 1.0)
TARGETS = (1, 5, 15)
KS = (3, 5, 10)


@dataclass(frozen=True, slots=True)
class Leaks(Result):
    """The chance that an attacker who holds a leak names the people they look for.

    `risks` are the chances for this table, for every share and number of targets; `largest` is the largest leak within
    the threshold; `planned` are the chances for a table whose classes all have k people.
    """

    risks: tuple[LeakRisk, ...]
    largest: LargestLeak
    planned: LeakTable | None

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The chance that one person is named from each leak, and the largest leak that is accepted."""
        random = "every part of that size is equally likely to leak; the attacker knows all quasi-identifiers"
        chances = [
            Statement(
                "leaks",
                f"{chosen_percent(risk.share_leaked)} leaks",
                risk.probability,
                percent(risk.probability),
                f"The average chance ({risk.odds}) that a person is named from a leak of "
                f"{people_in_words(risk.leaked)}; that of the person at highest risk is {percent(risk.judged)}.",
                "exact",
                random,
            )
            for risk in self.risks
            if risk.targets == 1
        ]
        largest, accepted = self.largest, chosen_percent(self.largest.at_most)
        within = Statement(
            "leaks",
            "largest leak within the threshold",
            largest.share,
            f"{people_in_words(largest.leaked)} ({percent(largest.share)})",
            f"A larger leak names the person at highest risk with a chance above {accepted}."
            if largest.share < 1
            else f"Even if all of it leaks, everybody is named with a chance of at most {accepted}.",
            "exact",
            random,
        )
        return (*chances, within)


def leak_risks(sizes: ClassSizes, targets: int = 1) -> Iterator[LeakRisk]:
    """The chance that all targets are named, for every share that may leak."""
    for leaked in dict.fromkeys(share_of(part, sizes.people) for part in SHARES):  # small tables have equal sizes
        yield leak_risk(sizes, leaked, targets=targets)


def assess_leaks(work: AssessmentState) -> Leaks:
    """The exact chances for a few leaks, one target and several."""
    work.part(SECTION)("working out leaks", 0.0)
    sizes, threshold = work.answers["facts"].sizes, work.question.limits.highest
    people = sizes.people
    risks = tuple(risk for targets in TARGETS if targets <= people for risk in leak_risks(sizes, targets))
    ks = [k for k in KS if k <= people]
    planned = leak_table(people=people, ks=ks, shares=SHARES) if ks else None
    return Leaks(risks, largest_leak(sizes, at_most=threshold), planned)


SECTION = Section("leaks", assess_leaks, is_first=True)
