"""Output of `incrowd leak`: tables and sentences, or plain types for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from incrowd.cli import terminal
from incrowd.recipients import smallest_class
from incrowd.results import as_json
from incrowd.wording import (
    chosen_percent,
    counted,
    number,
    number_interval,
    one_decimal,
    people,
    percent,
    probability_digits,
)

if TYPE_CHECKING:
    from incrowd.classes import ClassSizes
    from incrowd.leaks import LeakRisk, LeakSimulation, LeakTable, LearntSecrets, NamedPeople, PartialLeak
    from incrowd.leaks.planning import LeakPlan


@dataclass(frozen=True, slots=True)
class SecretsAnswer:
    """What a leak tells about a sensitive column, and the chance of naming by what is known of it."""

    learnt: LearntSecrets
    known: float | None
    named: float | None

    def to_dict(self) -> dict[str, Any]:
        """The numbers in plain JSON types."""
        naming = {"known": self.known, "probability": self.named}
        return self.learnt.to_dict() | ({"named": naming} if self.known is not None else {})


@dataclass(frozen=True, slots=True)
class LeakAnswer:
    """All results about one leak.

    `named` is None if counting would take too long; a recursion that cannot be computed is a text with the reason.
    """

    sizes: ClassSizes
    leaked: int
    risks: list[LeakRisk]
    named: NamedPeople | None
    simulated: list[LeakSimulation]
    recursions: dict[str, list[LeakRisk | str]]
    plan: LeakPlan | None  # with --at-most: of the fewest targets, who are the easiest to name
    table: LeakTable | None
    partial: PartialLeak | None = None
    secrets: Sequence[SecretsAnswer] = ()

    @property
    def judged(self) -> list[float]:
        """The chances that limits are compared with: of naming, and of learning a secret."""
        return [*(risk.judged for risk in self.risks), *(answer.learnt.highest for answer in self.secrets)]


def plain(answer: LeakAnswer) -> dict[str, Any]:
    """The results in plain JSON types."""
    sizes = answer.sizes
    parts = {
        "recursions": {
            name: [{"refused": risk} if isinstance(risk, str) else risk for risk in row]
            for name, row in answer.recursions.items()
        },
        "simulations": answer.simulated,
        "plan": answer.plan,
        "table": answer.table,
        "partial": answer.partial,
        "secrets": [secret.to_dict() for secret in answer.secrets],
    }
    return {
        "people": sizes.people,
        "records": sizes.records,
        "classes": sizes.classes,
        "smallest_class": sizes.smallest,
        "risks": as_json(answer.risks),
        "people_named": as_json(answer.named),
        **{name: as_json(part) for name, part in parts.items() if part},
    }


def show(answer: LeakAnswer) -> None:
    """Print the results in tables and sentences."""
    sizes, leaked = answer.sizes, answer.leaked
    terminal.line(
        f"{people(sizes.people)} in {counted(sizes.classes, 'class', 'classes')}, the smallest of {sizes.smallest:,}; "
        f"{leaked:,} leaked ({percent(leaked / sizes.people)} of the table)."
    )
    terminal.table(
        ["targets", "chance all are named", "odds"],
        [[risk.targets, _chance(risk), risk.odds] for risk in answer.risks],
    )
    terminal.line("The chance is an average over everybody in the table, whether they leaked or not.")
    highest = next((risk.highest for risk in answer.risks if risk.highest is not None), None)
    if highest is not None:
        terminal.line(
            f"The person at highest risk, in a class of {sizes.smallest:,}, is named with a chance of "
            f"{percent(highest)}."
        )
    for risk in answer.risks:
        if risk.targets > leaked:
            terminal.line(f"{counted(risk.targets, 'target', 'targets')}: {risk.in_words}.")
    if answer.named:
        _show_named(answer.named)
    if answer.recursions:
        _show_recursions(answer)
    if answer.simulated:
        _show_simulated(answer.simulated)
    if answer.partial:
        _show_partial(answer.partial)
    for secret in answer.secrets:
        _show_secrets(secret, answer.plan)
    if answer.plan:
        _show_plan(answer.plan, answer.leaked)
    if answer.table:
        _show_table(answer.table)


def _show_named(named: NamedPeople) -> None:
    how = "" if named.method == "exact" else f", in {named.trials:,} simulated leaks with seed {named.seed}"
    if not named.leaked:
        return
    terminal.line(
        f"If the attacker guesses once for everybody in the leak, {one_decimal(named.mean)} of the {named.leaked:,} "
        f"who leaked ({percent(named.share_of_leak)}) are named on average, and at most "
        f"{named.upper_95:,} with a chance of 95%{how}."
    )


def _show_recursions(answer: LeakAnswer) -> None:
    from incrowd.leaks.result import RECURSION, RECURSION_BY_PEOPLE

    rows = zip(answer.risks, *answer.recursions.values(), strict=True)
    terminal.heading("Beside the published recursion")
    terminal.table(
        ["targets", "exact", "as published", "by people"],
        [[row[0].targets, *(None if isinstance(risk, str) else _chance(risk) for risk in row)] for row in rows],
    )
    terminal.line(f"As published: {RECURSION.partition(': ')[2]}.")
    terminal.line(f"By people: {RECURSION_BY_PEOPLE}.")
    refused = [risk for row in answer.recursions.values() for risk in row if isinstance(risk, str)]
    if refused:
        terminal.line(f"–: {refused[0]}.")


def _show_simulated(simulated: list[LeakSimulation]) -> None:
    from incrowd.leaks.simulation import TOO_FEW_TRIALS

    whom = ", targets known to have leaked" if simulated[0].targets_from == "leak" else ""
    terminal.heading(f"In {simulated[0].trials:,} simulated leaks, seed {simulated[0].seed}{whom}")
    terminal.table(
        ["targets", "chance all are named", "95% interval"],
        [[one.targets, _chance(one), number_interval(*one.interval) if one.interval else None] for one in simulated],
    )
    if not all(one.enough_trials for one in simulated):
        terminal.line(f"–: {TOO_FEW_TRIALS}. A few lucky ones decide the mean, which is as a rule too small then.")


def _show_partial(part: PartialLeak) -> None:
    """Print the rates of an attacker who has part of the records, or wrong values."""
    known = "all their records" if part.known_records is None else counted(part.known_records, "record", "records")
    terminal.heading(f"In part, in {part.trials:,} simulated leaks, seed {part.seed}")
    terminal.line(
        f"Of each leaked person {percent(part.share_of_records)} of the records leak; of the person looked for the "
        f"attacker knows {known}, each value wrong with a chance of {percent(part.error_rate)}."
    )
    terminal.table(["", "", "what it means"], part.rates_in_words)


def _show_secrets(answer: SecretsAnswer, plan: LeakPlan | None) -> None:
    """Print what a leak tells without naming anybody."""
    from incrowd.leaks import smallest_l

    learnt = answer.learnt
    terminal.heading(f"Secrets in {learnt.column}: an attacker who sees one secret only in a class is sure of it")
    facts = [
        ("everybody", percent(learnt.learnt), "their secret is learnt, whether they leaked or not"),
        ("who leaked", percent(learnt.learnt_if_leaked), "their secret is learnt"),
        ("highest risk", percent(learnt.highest), "the person whose secret is learnt most often"),
        ("misled", percent(learnt.wrong), "the attacker is sure of a secret that is not theirs"),
    ]
    if answer.known is not None and answer.named is not None:
        known = f"named by an attacker who knows the secret rightly with {percent(answer.known)}"
        facts.append(("named", percent(answer.named), known))
    terminal.table(["", "chance", "what it means"], facts)
    terminal.line(
        f"Most is learnt about everybody from a leak of {learnt.worst_leaked:,} "
        f"({percent(learnt.worst_leaked / learnt.people)}): {percent(learnt.worst_learnt)}."
    )
    if learnt.largest_share < 1.0:
        terminal.line(
            f"No secret has more than {percent(learnt.largest_share)} of a class: in a large table no leak tells "
            f"anybody's secret with a chance above {percent(learnt.bound)}."
        )
    else:
        terminal.line("In at least one class everybody has the same secret: any leak of the class tells it.")
    if plan is not None:
        diverse = smallest_l(plan.at_most)
        room = 1.0 / diverse - learnt.commonest
        t = f" (t-closeness with t up to {number(room)})" if room > 0 else ""
        terminal.line(
            f"To keep that at {number(plan.at_most)} or less for leaks of any size, no secret may have more than "
            f"1/{diverse} of a class{t}."
        )


def _show_plan(plan: LeakPlan, leaked: int) -> None:
    most, choice = plan.largest_leak, plan.smallest_k
    whom = "the person at highest risk" if plan.targets == 1 else _who(plan.targets)
    bound = f"the chance of naming {whom} at {number(plan.at_most)} or less"
    share = percent(most.share)
    if leaked <= most.leaked:
        terminal.line(f"This leak keeps {bound}; up to {people(most.leaked)} ({share} of the table) would.")
        return
    terminal.line(f"To keep {bound}:")
    terminal.line(f"  · no more than {people(most.leaked)} ({share} of the table) may leak;")
    terminal.line(f"  · or every class needs {people(choice.k)}." if choice else f"  · {plan.no_k}.")


def _show_table(table: LeakTable) -> None:
    from incrowd.leaks.planning import limits_on_a_person

    limits = limits_on_a_person()
    marks: dict[float | None, str] = {None: "", **{limit: "*" * stars for stars, limit in enumerate(limits, start=1)}}
    rows = [
        [k, *(f"{number(one.probability, digits=3)}{marks[table.meets(row, at)]}" for at, one in enumerate(risks))]
        for row, (k, risks) in enumerate(zip(table.ks, table.risks, strict=True))
    ]
    terminal.heading(f"Chance of naming {_who(table.targets)}, by k and by the share that leaks")
    terminal.table(["k", *(chosen_percent(share) for share in table.shares)], rows)
    accepted = {limit: f"1/{smallest_class(limit)}" for limit in limits}
    if table.targets > 1:
        shown = ", ".join(f"{accepted[limit]} for {who}" for limit, who in limits.items())
        terminal.line(f"The limits, {shown}, are for naming one person, so none is marked; see --targets 1.")
        return
    for limit, who in limits.items():
        terminal.line(f"{marks[limit]:>{len(limits)}} {accepted[limit]} or less: {who}")


def _chance(answer: LeakRisk | LeakSimulation) -> float | str:
    """The probability, or its digits as text if it is too small for a float."""
    return probability_digits(answer.log_probability) if answer.log_probability < -600 else answer.probability


def _who(targets: int) -> str:
    return "one person" if targets == 1 else f"all of {targets:,} people"
