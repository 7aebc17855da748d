"""`incrowd leak`: how many people does a stolen extract name?"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli import options, show
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.classes import ClassSizes
    from incrowd.leak import LeakRisk, LeakSimulation, LeakTable, NamedPeople
    from incrowd.leak.result import Method
    from incrowd.table import Table

_SHARES = (0.01, 0.05, 0.1, 0.3, 1.0)


@options.opens_table
def leak_attack(
    table: options.TablePath = None,
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    people: Annotated[str | None, typer.Option(help="Instead of a table: how many people it will hold.")] = None,
    k: Annotated[int | None, typer.Option(help="Instead of a table: the size of every class.")] = None,
    leaked: Annotated[str | None, typer.Option(help="People in the leak: 4000, or a share such as 10%.")] = None,
    targets: Annotated[
        str, typer.Option(help="How many people the attacker looks for at once; several: 1,5,15.")
    ] = "1",
    at_most: Annotated[
        float | None, typer.Option(help="Largest chance you accept: exit 1 if it is exceeded; says what would keep it.")
    ] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Show the published recursion beside the answer.")] = False,
    simulate: Annotated[int, typer.Option(help="Also simulate so many leaks.")] = 0,
    plan: Annotated[bool, typer.Option("--plan", help="Show the risk for other k and other leaks.")] = False,
    seed: options.Seed = 0,
    json: options.Json = False,
    plot: options.Plot = None,
    force: options.Force = False,
) -> None:
    """How likely does a leak of part of the table name the people somebody looks for?

    Every part of that size is taken as equally likely to leak.
    The attacker knows the quasi-identifiers and guesses among those who look alike.

    [bold]incrowd leak patients.csv --qi age,sex,zip --leaked 10% --targets 1,5,15[/bold]

    [bold]incrowd leak --people 10000 --k 5 --leaked 4000[/bold]
    """
    sizes = _sizes(table, options.names(qi), person, people, k)
    number = how_many(leaked, sizes.people)
    wanted = [options.count(entry, "targets") for entry in options.names([targets])]
    if not wanted:
        raise InputError("say how many people the attacker looks for with --targets, such as 1,5,15")
    answer = _answer(sizes, number, wanted, at_most=at_most, compare=compare, trials=simulate, plan=plan, seed=seed)
    if json:
        show.as_json(_plain(answer))
    else:
        _print(answer)
    if plot is not None:
        show.note(f"figure written to {_plot(answer, plot, force)}")
    if at_most is not None and any(risk.probability > at_most for risk in answer.risks):
        raise typer.Exit(1)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Everything that was asked about one leak."""

    sizes: ClassSizes
    leaked: int
    risks: list[LeakRisk]
    named: NamedPeople
    simulated: list[LeakSimulation]
    recursions: dict[str, list[LeakRisk]]
    planned: dict[str, Any]
    table: LeakTable | None


def _answer(
    sizes: ClassSizes,
    leaked: int,
    wanted: list[int],
    *,
    at_most: float | None,
    compare: bool,
    trials: int,
    plan: bool,
    seed: int,
) -> _Answer:
    from incrowd.leak import distribution, leak_risk, leak_table, simulate_leak

    methods: tuple[Method, ...] = ("recursion", "recursion_by_people") if compare else ()
    with show.working("counting the people named") as progress:
        return _Answer(
            sizes=sizes,
            leaked=leaked,
            risks=[leak_risk(sizes, leaked, targets=each) for each in wanted],
            named=distribution(sizes, leaked, seed=seed, progress=progress),
            simulated=[
                simulate_leak(sizes, leaked, targets=each, trials=trials, seed=seed, progress=progress)
                for each in wanted
                if trials and each <= leaked
            ],
            recursions={
                name: [leak_risk(sizes, leaked, targets=each, method=name) for each in wanted] for name in methods
            },
            planned=_planned(sizes, leaked, min(wanted), at_most),
            table=leak_table(people=sizes.people, ks=_ks(sizes), shares=_SHARES, targets=wanted[0]) if plan else None,
        )


def how_many(text: str | None, people: int) -> int:
    """A leak as users write it, in people: 4000, 4e3, 10%, 0.1.

    >>> how_many("10%", 48_842), how_many("0.1", 1_000), how_many("4e3", 10_000), how_many("0", 10)
    (4885, 100, 4000, 0)
    """
    from incrowd.leak import share_of

    if text is None:
        raise InputError("say how much leaks with --leaked: a number of people, or a share such as 10%")
    try:
        value = Decimal(text.strip().rstrip("%").replace("_", "").replace(",", ""))
    except InvalidOperation:
        raise InputError(f"a leak of {text!r} is not a number; write it like 4000 or 10%") from None
    if not value.is_finite():
        raise InputError(f"a leak of {text!r} is not a number of people; write it like 4000 or 10%")
    if "%" in text:
        return share_of(Fraction(value) / 100, people)
    if 0 < value < 1:
        return share_of(Fraction(value), people)
    if value != int(value) or value < 0:
        raise InputError(f"a leak of {text!r} people; give a whole number, or a share such as 10%")
    if value == 1 and "." in text:
        raise InputError(f"{text!r} may be one person or the whole table; write 1 or 100%")
    return int(value)


def _sizes(table: Table | None, qi: list[str], person: str | None, people: str | None, k: int | None) -> ClassSizes:
    from incrowd.classes import ClassSizes
    from incrowd.leak import uniform_sizes

    if table is not None:
        if people is not None or k is not None:
            raise InputError("--people and --k describe a table that does not exist yet; leave them out, or the table")
        if not qi:
            existing = ", ".join(table.columns)
            raise InputError(f"name the columns an attacker may know with --qi; the table has: {existing}")
        with show.working("counting people who look alike"):
            return ClassSizes.from_table(table, quasi_identifiers=qi, person=person)
    if people is None or k is None:
        raise InputError("give a table with --qi, or --people and --k to plan for one")
    if qi or person:
        raise InputError("--qi and --person need a table to count in")
    return uniform_sizes(options.count(people, "people"), k)


def _planned(sizes: ClassSizes, leaked: int, fewest: int, at_most: float | None) -> dict[str, Any]:
    """What would keep the bound for the fewest targets, who are the easiest to name."""
    from incrowd.errors import UnsupportedError
    from incrowd.leak import largest_leak, smallest_k

    if at_most is None:
        return {}
    result: dict[str, Any] = {
        "at_most": at_most,
        "targets": fewest,
        "largest_leak": largest_leak(sizes, targets=fewest, at_most=at_most),
    }
    try:
        result["smallest_k"] = smallest_k(people=sizes.people, leaked=leaked, targets=fewest, at_most=at_most)
    except UnsupportedError as error:
        result["no_k"] = str(error)
    return result


def _plain(answer: _Answer) -> dict[str, Any]:
    sizes = answer.sizes
    result: dict[str, Any] = {
        "people": sizes.people,
        "records": sizes.records,
        "classes": sizes.classes,
        "smallest_class": sizes.smallest,
        "risks": [risk.to_dict() for risk in answer.risks],
        "people_named": answer.named.to_dict(),
    }
    if answer.recursions:
        result["recursions"] = {name: [risk.to_dict() for risk in row] for name, row in answer.recursions.items()}
    if answer.simulated:
        result["simulations"] = [one.to_dict() for one in answer.simulated]
    if answer.planned:
        result["plan"] = {
            name: part.to_dict() if hasattr(part, "to_dict") else part for name, part in answer.planned.items()
        }
    if answer.table:
        result["table"] = answer.table.to_dict()
    return result


def _print(answer: _Answer) -> None:
    sizes, leaked, named = answer.sizes, answer.leaked, answer.named
    show.line(
        f"{sizes.people:,} people in {sizes.classes:,} classes, the smallest of {sizes.smallest:,}; "
        f"{leaked:,} leaked ({leaked / sizes.people:.3g} of the table)."
    )
    show.table(
        ["targets", "chance all are named", "odds"],
        [[risk.targets, risk.probability, risk.odds] for risk in answer.risks],
    )
    for risk in answer.risks:
        if risk.targets > leaked:
            show.line(f"{risk.targets:,} targets: {risk.in_words}.")
    how = "" if named.method == "exact" else f", in {named.trials:,} simulated leaks with seed {named.seed}"
    show.line(
        f"If the attacker guesses once for everybody in the leak, {named.mean:,.1f} people are named on average "
        f"and at most {named.upper:,} with a chance of 95 %{how}."
    )
    _print_comparison(answer)
    _print_plan(answer)


def _print_comparison(answer: _Answer) -> None:
    from incrowd.leak.result import RECURSION, RECURSION_BY_PEOPLE

    recursions, simulated = answer.recursions, answer.simulated
    if recursions:
        rows = zip(answer.risks, recursions["recursion"], recursions["recursion_by_people"], strict=True)
        show.heading("Beside the published recursion")
        show.table(
            ["targets", "exact", "as published", "by people"],
            [[row[0].targets, *(risk.probability for risk in row)] for row in rows],
        )
        show.line(f"As published: {RECURSION.partition(': ')[2]}.")
        show.line(f"By people: {RECURSION_BY_PEOPLE}.")
    if simulated:
        show.heading(f"In {simulated[0].trials:,} simulated leaks, seed {simulated[0].seed}")
        show.table(
            ["targets", "chance all are named", "± 95 %"],
            [[one.targets, one.probability, one.interval[1] - one.probability] for one in simulated],
        )


def _print_plan(answer: _Answer) -> None:
    from incrowd.leak import THRESHOLDS

    planned, table = answer.planned, answer.table
    if planned:
        most, choice = planned["largest_leak"], planned.get("smallest_k")
        bound = f"the chance of naming {_who(planned['targets'])} at {planned['at_most']:g} or less"
        if answer.leaked <= most.leaked:
            show.line(f"This leak keeps {bound}; up to {most.leaked:,} people ({most.share:.3g} of the table) would.")
        else:
            show.line(f"To keep {bound}:")
            show.line(f"  · no more than {most.leaked:,} people ({most.share:.3g} of the table) may leak;")
            show.line(f"  · or every class needs {choice.k:,} people." if choice else f"  · {planned['no_k']}.")
    if table is None:
        return
    marks = {0.33: "*", 0.09: "**", 0.05: "***", None: ""}
    rows = [
        [k, *(f"{risk.probability:.3g}{marks[table.meets(row, at)]}" for at, risk in enumerate(table.risks[row]))]
        for row, k in enumerate(table.ks)
    ]
    show.heading(f"Chance of naming {_who(table.targets)}, by k and by the share that leaks")
    show.table(["k", *(f"{share:.0%}" for share in table.shares)], rows)
    for threshold, recipient in THRESHOLDS.items():
        show.line(f"{marks[threshold]:>3} {threshold:g} or less: {recipient}")


def _who(targets: int) -> str:
    return "one person" if targets == 1 else f"{targets:,} people"


def _ks(sizes: ClassSizes) -> list[int]:
    """Class sizes worth comparing, as far as the people reach."""
    return [k for k in (2, 3, 5, 10, 15, 20, 50) if k <= sizes.people] or [1]


def _plot(answer: _Answer, path: Path, force: bool) -> Path:
    from incrowd.leak import THRESHOLDS, leak_risk
    from incrowd.plots.leak import against_leak
    from incrowd.plots.look import save

    sizes, leaked = answer.sizes, answer.leaked
    steps = sorted({max(1, round(sizes.people * step / 40)) for step in range(1, 41)} | {leaked} - {0})
    labels = {n: "1 target" if n == 1 else f"{n:,} targets" for n in (risk.targets for risk in answer.risks)}
    bounds = [answer.planned["at_most"]] if answer.planned else list(THRESHOLDS) if list(labels) == [1] else []
    chart = against_leak(
        {label: [leak_risk(sizes, step, targets=n) for step in steps] for n, label in labels.items()},
        simulations={labels[one.targets]: [one] for one in answer.simulated},
        thresholds=bounds,
        leaked=leaked,
        subtitle=f"{sizes.people:,} people in {sizes.classes:,} classes; the upright line is a leak of {leaked:,}",
    )
    return save(chart, path, force=force)
