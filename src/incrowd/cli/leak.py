"""`incrowd leak`: how many people does a stolen extract name?"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incrowd.cli import options, show
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.classes import ClassSizes
    from incrowd.leak import LeakRisk, LeakSimulation, NamedPeople


def leak(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="The table the extract was stolen from.", show_default=False)
    ] = None,
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

    Every part of that size is taken as equally likely to leak; the attacker knows everybody's quasi-identifiers and
    guesses among those who look alike.

    [bold]incrowd leak patients.csv --qi age,sex,zip --leaked 10% --targets 1,5,15[/bold]

    [bold]incrowd leak --people 10000 --k 5 --leaked 4000[/bold]
    """
    from incrowd.leak import distribution, leak_risk, simulate_leak

    sizes = _sizes(table, options.names(qi), person, people, k)
    number = how_many(leaked, sizes.people)
    wanted = [options.count(entry, "targets") for entry in options.names([targets])]
    risks = [leak_risk(sizes, number, targets=each) for each in wanted]
    with show.working("counting the people named") as progress:
        named = distribution(sizes, number, seed=seed, progress=progress)
        simulated = [
            simulate_leak(sizes, number, targets=each, trials=simulate, seed=seed, progress=progress)
            for each in wanted
            if simulate and each <= number
        ]
    recursions = _recursions(sizes, number, wanted) if compare else {}
    planned = _planned(sizes, number, wanted, at_most)
    if json:
        show.as_json(_as_dict(sizes, risks, named, simulated, recursions, planned, plan))
    else:
        _print(sizes, number, risks, named, simulated, recursions)
        _print_plan(sizes, number, planned, wanted[0] if plan else 0)
    if plot is not None:
        show.note(f"figure written to {_plot(sizes, number, wanted, simulated, at_most, plot, force)}")
    if at_most is not None and any(risk.probability > at_most for risk in risks):
        raise typer.Exit(1)


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


def _sizes(table: str | None, qi: list[str], person: str | None, people: str | None, k: int | None) -> ClassSizes:
    from incrowd.classes import ClassSizes
    from incrowd.leak import uniform_sizes

    if table is not None:
        if people is not None or k is not None:
            raise InputError("--people and --k describe a table that does not exist yet; leave them out, or the table")
        if not qi:
            raise InputError("name the columns an attacker may know with --qi, separated by commas")
        with show.working("counting people who look alike"):
            return ClassSizes.from_table(table, quasi_identifiers=qi, person=person)
    if people is None or k is None:
        raise InputError("give a table with --qi, or --people and --k to plan for one")
    if qi or person:
        raise InputError("--qi and --person need a table to count in")
    return uniform_sizes(options.count(people, "people"), k)


def _recursions(sizes: ClassSizes, leaked: int, wanted: list[int]) -> dict[str, list[LeakRisk]]:
    from incrowd.leak import leak_risk

    return {
        "recursion": [leak_risk(sizes, leaked, targets=each, method="recursion") for each in wanted],
        "recursion_by_people": [
            leak_risk(sizes, leaked, targets=each, method="recursion_by_people") for each in wanted
        ],
    }


def _planned(sizes: ClassSizes, leaked: int, wanted: list[int], at_most: float | None) -> dict[str, Any]:
    """What would keep the bound for the fewest targets, who are the easiest to name."""
    from incrowd.errors import UnsupportedError
    from incrowd.leak import largest_leak, smallest_k

    if at_most is None:
        return {}
    fewest = min(wanted)
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


def _as_dict(
    sizes: ClassSizes,
    risks: list[LeakRisk],
    named: NamedPeople,
    simulated: list[LeakSimulation],
    recursions: dict[str, list[LeakRisk]],
    planned: dict[str, Any],
    plan: bool,
) -> dict[str, Any]:
    from incrowd.leak import leak_table

    result: dict[str, Any] = {
        "people": sizes.people,
        "records": sizes.records,
        "classes": sizes.classes,
        "smallest_class": sizes.smallest,
        "risks": [risk.to_dict() for risk in risks],
        "people_named": named.to_dict(),
    }
    if recursions:
        result["recursions"] = {name: [risk.to_dict() for risk in series] for name, series in recursions.items()}
    if simulated:
        result["simulations"] = [one.to_dict() for one in simulated]
    if planned:
        result["plan"] = {name: getattr(part, "to_dict", lambda part=part: part)() for name, part in planned.items()}
    if plan:
        result["table"] = leak_table(people=sizes.people, ks=_ks(sizes), targets=risks[0].targets).to_dict()
    return result


def _print(
    sizes: ClassSizes,
    leaked: int,
    risks: list[LeakRisk],
    named: NamedPeople,
    simulated: list[LeakSimulation],
    recursions: dict[str, list[LeakRisk]],
) -> None:
    from incrowd.leak.result import RECURSION, RECURSION_BY_PEOPLE

    show.line(
        f"{sizes.people:,} people in {sizes.classes:,} classes, the smallest of {sizes.smallest:,}; "
        f"{leaked:,} leaked ({leaked / sizes.people:.3g} of the table)."
    )
    columns = ["targets", "chance all are named", "odds"]
    columns += ["as published", "by people"] if recursions else []
    columns += ["simulated, ± 95 %"] if simulated else []
    trials = {one.targets: one for one in simulated}
    rows: list[list[Any]] = []
    for index, risk in enumerate(risks):
        row: list[Any] = [risk.targets, risk.probability, risk.odds]
        row += [series[index].probability for series in recursions.values()]
        if simulated:
            one = trials.get(risk.targets)
            row.append(f"{one.probability:.4g} ± {one.interval[1] - one.probability:.1g}" if one else "–")
        rows.append(row)
    show.table(columns, rows)
    for risk in risks:
        if risk.targets > leaked:
            show.line(f"{risk.targets:,} targets: {risk.in_words}.")
    how = "" if named.method == "exact" else f", in {named.trials:,} simulated leaks with seed {named.seed}"
    show.line(
        f"If the attacker guesses once for everybody in the leak, {named.mean:,.1f} people are named on average "
        f"and at most {named.upper:,} with a chance of 95 %{how}."
    )
    if recursions:
        show.note(f"as published: {RECURSION.partition(': ')[2]}")
        show.note(f"by people: {RECURSION_BY_PEOPLE}")


def _print_plan(sizes: ClassSizes, leaked: int, planned: dict[str, Any], targets: int) -> None:
    from incrowd.leak import THRESHOLDS, leak_table

    if planned:
        most, choice = planned["largest_leak"], planned.get("smallest_k")
        bound = f"the chance of naming {_who(planned['targets'])} at {planned['at_most']:g} or less"
        if leaked <= most.leaked:
            show.line(f"This leak keeps {bound}; up to {most.leaked:,} people ({most.share:.3g} of the table) would.")
        else:
            show.line(f"To keep {bound}:")
            show.line(f"  · no more than {most.leaked:,} people ({most.share:.3g} of the table) may leak;")
            show.line(f"  · or every class needs {choice.k:,} people." if choice else f"  · {planned['no_k']}.")
    if not targets:
        return
    table = leak_table(people=sizes.people, ks=_ks(sizes), targets=targets)
    marks = {0.33: " ·", 0.09: " ··", 0.05: " ···", None: ""}
    rows = [
        [
            k,
            *(f"{risk.probability:.3g}{marks[table.meets(row, at)]}" for at, risk in enumerate(table.risks[row])),
        ]
        for row, k in enumerate(table.ks)
    ]
    title = f"Chance of naming {_who(targets)}, by k and by the share that leaks"
    show.table(["k", *(f"{share:.0%}" for share in table.shares)], rows, title=title)
    for threshold, recipient in THRESHOLDS.items():
        show.line(f"{marks[threshold].strip():>3} {threshold:g} or less: {recipient}")


def _who(targets: int) -> str:
    return "one person" if targets == 1 else f"{targets:,} people"


def _ks(sizes: ClassSizes) -> list[int]:
    """Class sizes worth comparing, as far as the people reach."""
    return [k for k in (2, 3, 5, 10, 15, 20, 50) if k <= sizes.people] or [1]


def _plot(
    sizes: ClassSizes,
    leaked: int,
    wanted: list[int],
    simulated: list[LeakSimulation],
    at_most: float | None,
    path: Any,
    force: bool,
) -> Any:
    from incrowd.leak import THRESHOLDS, leak_risk
    from incrowd.plots.leak import against_leak
    from incrowd.plots.look import save

    steps = sorted({max(1, round(sizes.people * step / 40)) for step in range(1, 41)} | {leaked} - {0})
    labels = {each: "1 target" if each == 1 else f"{each:,} targets" for each in wanted}
    chart = against_leak(
        {labels[each]: [leak_risk(sizes, step, targets=each) for step in steps] for each in wanted},
        simulations={labels[one.targets]: [one] for one in simulated},
        thresholds=(THRESHOLDS if at_most is None else [at_most]) if wanted == [1] or at_most is not None else (),
        leaked=leaked,
        subtitle=f"{sizes.people:,} people in {sizes.classes:,} classes; the upright line is a leak of {leaked:,}",
    )
    return save(chart, path, force=force)
