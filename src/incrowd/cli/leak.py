"""`incrowd leak`: the chance that an attacker names people from a leak of part of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd.cli import command_files, options, terminal
from incrowd.cli.leak_text import LeakAnswer, SecretsAnswer, plain, show
from incrowd.cli.open_tables import opens_table
from incrowd.errors import InputError, UnsupportedError
from incrowd.recipients import is_within
from incrowd.wording import counted

if TYPE_CHECKING:
    from incrowd._support.progress import Progress
    from incrowd.classes import ClassSizes
    from incrowd.leaks import LeakRisk, NamedPeople
    from incrowd.leaks.partial_leak import PartialLeak
    from incrowd.leaks.result import LeakMethod
    from incrowd.tables import Table


@opens_table
def leak_attack(
    table: options.TablePath = None,
    qi: options.QuasiIdentifiers = None,
    person: options.Person = None,
    people: Annotated[str | None, Option(help="Instead of a table: how many people it will hold.")] = None,
    k: Annotated[int | None, Option(help="Instead of a table: the size of every class.")] = None,
    leaked: Annotated[str | None, Option(help="People in the leak: 4000, or a share such as 10%.")] = None,
    targets: Annotated[str, Option(help="How many people the attacker looks for at once; several: 1,5,15.")] = "1",
    at_most: Annotated[
        float | None,
        options.share_option(
            "--at-most", "Largest chance you accept: exit 1 if it is exceeded; says what would keep it."
        ),
    ] = None,
    compare: Annotated[bool, Option("--compare", help="Show the published recursion beside the answer.")] = False,
    simulate: Annotated[int, Option(help="Also simulate this many leaks.")] = 0,
    targets_from: Annotated[
        str, Option(help="Simulated targets are people of the table, or known to be in the leak: table or leak.")
    ] = "table",
    records_leaked: Annotated[
        float | None,
        options.share_option("--records-leaked", "With --person: only this share of a leaked person's records leaks."),
    ] = None,
    records_known: Annotated[
        int | None, Option(help="With --person: the attacker knows this many records of a person, not all.")
    ] = None,
    error_rate: Annotated[
        float | None, options.share_option("--error-rate", "With --person: chance that the attacker has a wrong value.")
    ] = None,
    sensitive: options.Sensitive = None,
    secret_known: Annotated[
        float | None,
        options.share_option("--secret-known", "With --sensitive: chance that the attacker knows a secret rightly."),
    ] = None,
    plan: Annotated[bool, Option("--plan", help="Show the risk for other k and other leaks.")] = False,
    seed: options.Seed = 0,
    json: options.Json = False,
    plot: options.Plot = None,
    force: options.Force = False,
) -> None:
    """How likely is it that an attacker names the people they look for from a leak of part of the table?

    Every part of that size is assumed to be equally likely to leak.
    The attacker knows the quasi-identifiers and guesses among those who look alike.

    [bold]incrowd leak patients.csv --qi age,sex,zip --leaked 10% --targets 1,5,15[/bold]

    [bold]incrowd leak patients.csv --qi age,sex,zip --leaked 10% --sensitive illness[/bold]

    [bold]incrowd leak --people 10000 --k 5 --leaked 4000[/bold]
    """
    target_counts = _read_targets(targets)
    if targets_from != "table" and not simulate:
        raise InputError("--targets-from is about simulated attacks; say how many with --simulate")
    sizes = _sizes(table, qi, person, people, k)
    number = parse_leak_size(leaked, sizes.people)
    answer = _answer(
        sizes, number, target_counts, at_most=at_most, compare=compare, trials=simulate, plan=plan, seed=seed,
        targets_from=targets_from,
    )  # fmt: skip
    in_part = {"share_of_records": records_leaked, "known_records": records_known, "error_rate": error_rate}
    in_part = {name: value for name, value in in_part.items() if value is not None}
    if in_part:
        if table is None or person is None:
            raise InputError("partial leaks and partial knowledge are about histories: name a table and --person")
        known = options.quasi_identifiers(qi, table)
        how: dict[str, Any] = {"person": person, "seed": seed, **in_part, **({"trials": simulate} if simulate else {})}
        answer = replace(answer, partial=_simulate_in_part(table, number, known, how))
    answer = replace(answer, secrets=_secrets(table, number, sensitive, qi, person, secret_known))
    if json:
        terminal.print_json(plain(answer))
    else:
        show(answer)
    if plot is not None:
        command_files.save_figure(_chart(answer), plot, force=force)
    if at_most is not None and not all(is_within(chance, at_most) for chance in answer.judged):
        raise typer.Exit(1)


def _secrets(
    table: Table | None,
    leaked: int,
    sensitive: Sequence[str] | None,
    qi: Sequence[str] | None,
    person: str | None,
    known: float | None,
) -> list[SecretsAnswer]:
    """What the leak tells about each sensitive column; with partial knowledge of it, also the chance of naming."""
    from incrowd.leaks import SharedSecrets, learnt_secrets, named_by_secret

    if table is None or not sensitive:
        if sensitive or known is not None:
            raise InputError("secrets are in a table: name it and its columns with --sensitive")
        return []
    columns: dict[str, Any] = {"quasi_identifiers": options.quasi_identifiers(qi, table), "person": person}
    answers = []
    with terminal.show_progress("counting secrets that people share"):
        for name in options.parse_names(sensitive, table.columns):
            shared = SharedSecrets.from_table(table, sensitive=name, **columns)
            named = None if known is None else named_by_secret(shared, leaked, known)
            answers.append(SecretsAnswer(learnt_secrets(shared, leaked, sensitive=name), known, named))
    return answers


def _simulate_in_part(table: Table, leaked: int, known: Sequence[str], how: Mapping[str, Any]) -> PartialLeak:
    """Simulate leaks of part of everybody's records."""
    from incrowd.leaks import simulate_partial_leak

    with terminal.show_progress("simulating partial leaks") as progress:
        return simulate_partial_leak(table, leaked, quasi_identifiers=known, progress=progress, **how)


def _answer(
    sizes: ClassSizes,
    leaked: int,
    target_counts: list[int],
    *,
    at_most: float | None,
    compare: bool,
    trials: int,
    plan: bool,
    seed: int,
    targets_from: Any,
) -> LeakAnswer:
    from incrowd.leaks import leak_risk, leak_table, simulate_leak
    from incrowd.leaks.planning import plan_leak

    methods: tuple[LeakMethod, ...] = ("recursion", "recursion_by_people") if compare else ()
    with terminal.show_progress("counting the people named") as progress:
        return LeakAnswer(
            sizes=sizes,
            leaked=leaked,
            risks=[leak_risk(sizes, leaked, targets=each) for each in target_counts],
            named=_named(sizes, leaked, seed, progress),
            simulated=[
                simulate_leak(
                    sizes, leaked, targets=each, trials=trials, seed=seed, targets_from=targets_from, progress=progress
                )
                for each in target_counts
                if trials and each <= leaked
            ],
            recursions={name: [_recursion(sizes, leaked, each, name) for each in target_counts] for name in methods},
            plan=None if at_most is None else plan_leak(sizes, leaked, targets=min(target_counts), at_most=at_most),
            table=leak_table(people=sizes.people, targets=min(target_counts)) if plan else None,
        )


def _named(sizes: ClassSizes, leaked: int, seed: int, progress: Progress) -> NamedPeople | None:
    """The number of people named; None, with a note, if counting them would take minutes."""
    from incrowd.leaks import named_people

    try:
        return named_people(sizes, leaked, seed=seed, progress=progress)
    except UnsupportedError:
        terminal.note(
            "how many people are named when everybody is guessed is left out: with so many or so large classes it "
            "takes minutes to count (incrowd.leaks.named_people in Python does, with method='exact')"
        )
        return None


def _recursion(sizes: ClassSizes, leaked: int, targets: int, method: LeakMethod) -> LeakRisk | str:
    """The number of the published recursion, or why it cannot be computed, which does not stop the command."""
    from incrowd.leaks import leak_risk

    try:
        return leak_risk(sizes, leaked, targets=targets, method=method)
    except UnsupportedError as error:
        return str(error)


def _read_targets(targets: str) -> list[int]:
    """Parse `--targets 1,5,5` into [1, 5]."""
    counts = [options.parse_count(entry, "--targets", like="1,5,15") for entry in options.parse_names([targets])]
    if not counts:
        raise InputError("say how many people the attacker looks for with --targets, such as 1,5,15")
    return list(dict.fromkeys(counts))


def parse_leak_size(text: str | None, people: int) -> int:
    """The size of a leak in people, from 4000, 4e3, 10% or 0.1.

    >>> [parse_leak_size(text, 10_005) for text in ("10%", "0.1", "4e3", "0")]
    [1001, 1001, 4000, 0]
    """
    from incrowd.leaks import share_of

    if text is None:
        raise InputError("say how much leaks with --leaked: a number of people, or a share such as 10%")
    share = text.strip().endswith("%")
    value = options.parse_decimal(text.strip().removesuffix("%"), "a leak of", "4000 or 10%")
    if share:
        return share_of(Fraction(value) / 100, people)
    if 0 < value < 1:
        return share_of(Fraction(value), people)
    if value != int(value) or value < 0:
        raise InputError(f"a leak of {text!r} people; give a whole number, or a share such as 10%")
    if value == 1 and "." in text:
        raise InputError(f"{text!r} may be one person or the whole table; write 1 or 100%")
    return int(value)


def _sizes(
    table: Table | None, qi: Sequence[str] | None, person: str | None, people: str | None, k: int | None
) -> ClassSizes:
    from incrowd.classes import ClassSizes
    from incrowd.leaks import uniform_sizes

    if table is not None:
        if people is not None or k is not None:
            raise InputError("--people and --k describe a table that does not exist yet; leave them out, or the table")
        known = options.quasi_identifiers(qi, table)
        with terminal.show_progress("counting people who look alike"):
            return ClassSizes.from_table(table, quasi_identifiers=known, person=person)
    if people is None or k is None:
        raise InputError("give a table with --qi, or --people and --k to plan for one")
    if qi or person:
        raise InputError("--qi and --person need a table to count in")
    return uniform_sizes(options.parse_count(people, "people"), k)


def _chart(answer: LeakAnswer) -> Any:
    from incrowd.figures.leak_charts import against_leak, leaks_to_draw
    from incrowd.leaks import leak_risk
    from incrowd.leaks.planning import limits_on_a_person

    sizes, leaked = answer.sizes, answer.leaked
    labels = {risk.targets: counted(risk.targets, "target", "targets") for risk in answer.risks}
    usual = list(limits_on_a_person()) if list(labels) == [1] else []
    bounds = [answer.plan.at_most] if answer.plan else usual
    lines: dict[str, list[LeakRisk]] = {}
    with terminal.show_progress("drawing") as progress:
        for index, (targets, label) in enumerate(labels.items()):
            progress("drawing", index / len(labels))
            steps = leaks_to_draw(targets, leaked, sizes.people)
            lines[label] = [leak_risk(sizes, step, targets=targets) for step in steps]
    return against_leak(
        lines,
        simulations={labels[one.targets]: [one] for one in answer.simulated},
        thresholds=bounds,
        leaked=leaked,
        subtitle=f"{counted(sizes.people, 'person', 'people')} in {counted(sizes.classes, 'class', 'classes')}; "
        f"the upright line is a leak of {leaked:,}",
    )
