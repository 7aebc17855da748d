"""`incrowd protect`: protect a table, check the file that was written, and show what it cost."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from incrowd._support.addresses import masked
from incrowd.assessment.question import Question
from incrowd.cli import method_options, options, outputs, terminal
from incrowd.cli.evaluate import show_tables
from incrowd.cli.protect_sets import protect_sets, refuse_options_of_tables
from incrowd.errors import InputError
from incrowd.protection.method_options import MethodName
from incrowd.wording import listed, number, percent

if TYPE_CHECKING:
    from incrowd.assessment import Verdict
    from incrowd.assessment.solver import Trial
    from incrowd.attacks import AttackRisk
    from incrowd.evaluation import Evaluation
    from incrowd.protection import Protected


@options.opens_table
@method_options.takes_method_options(after="hierarchy")
def protect_table(
    table: options.TablePath,
    out: Annotated[
        str,
        typer.Option("--out", help="File to write: .parquet, .csv, .csv.gz, .sav, .dta, …", show_default=False),
        outputs.STORED_TABLE,
    ],
    qi: options.QuasiIdentifiers = None,
    k: Annotated[
        int | None,
        typer.Option("--k", help="Everybody looks like at least k - 1 others. Default 5, or what --recipient needs."),
    ] = None,
    t: Annotated[
        str | None, typer.Option("--t", help="No class is farther than t from the table; or 'bound': what k allows.")
    ] = None,
    l: Annotated[float | None, typer.Option("--l", help="Every class has l different secrets.")] = None,  # noqa: E741
    beta: Annotated[
        float | None,
        typer.Option("--beta", help="No secret is over 1 + beta times as common in a class as in all."),
    ] = None,
    delta: Annotated[
        float | None, typer.Option("--delta", help="No secret is over e^delta times as common, or as rare, in a class.")
    ] = None,
    sensitive: options.Sensitive = None,
    method: Annotated[str, typer.Option("--method", help=f"{', '.join(get_args(MethodName))}.")] = "partition",
    diversity: Annotated[
        str, typer.Option("--diversity", help="Kind of l: distinct, entropy, recursive.")
    ] = "distinct",
    c: Annotated[float, typer.Option("--c", help="For recursive diversity: the commonest value's limit.")] = 3.0,
    person: options.Person = None,
    household: Annotated[
        str | None,
        typer.Option("--household", help="Column of households, which are kept together: classes of whole households."),
    ] = None,
    identifier: Annotated[
        list[str] | None,
        typer.Option(
            "--identifier", help="Columns that name people, to remove, or 'none'. Default: those that look so."
        ),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", help="Columns to leave out besides. Commas or repeats.")
    ] = None,
    other: Annotated[
        list[str] | None,
        typer.Option("--other", help="Columns that nobody outside can know, whatever they look like."),
    ] = None,
    hierarchy: options.Hierarchies = None,
    importance: Annotated[
        list[str] | None, typer.Option("--importance", help="What a loss weighs by column: age=3,zip=0. Default 1.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option("--keep", help="Columns to know that stay as they are: no class mixes them.")
    ] = None,
    widest: Annotated[
        list[str] | None, typer.Option("--widest", help="Longest range, or largest set, by column: age=10,town=3.")
    ] = None,
    nominal: Annotated[
        list[str] | None, typer.Option("--nominal", help="Columns whose numbers are codes: sets, never ranges.")
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", help="range, bounds, midpoint, mean, mode or label; for all, or age=mean,zip=label."),
    ] = None,
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--no-shuffle",
            help="Write rows in random order, or as they are. Default: where their order tells something.",
            show_default=False,
        ),
    ] = None,
    codebook: Annotated[
        str | None,
        typer.Option("--codebook", help="Write what was done to each column: .json or .md."),
        outputs.Output("codebook", frozenset({".json", ".md"}), ".json or .md"),
    ] = None,
    item: Annotated[
        str | None, typer.Option("--item", help="Instead: sets of items of a person (--person), k^m-anonymity.")
    ] = None,
    known: Annotated[int | None, typer.Option("--known", help="With --item: how many items an attacker knows.")] = None,
    time: Annotated[
        str | None, typer.Option("--time", help="Instead: points of a person (--person) in time and place.")
    ] = None,
    place: Annotated[
        list[str] | None, typer.Option("--place", help="With --time: two coordinates, or a column of regions.")
    ] = None,
    amount: Annotated[str | None, typer.Option("--amount", help="With --time: a column of amounts.")] = None,
    aim: Annotated[str | None, typer.Option("--aim", help="Loss to keep small: information or granularity.")] = None,
    recipient: Annotated[
        str | None,
        typer.Option("--recipient", help="For whom: the least protection that assess says yes to; exit 1 if none."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
    **of_method: Any,
) -> None:
    """Protect a table, check the file that was written, and say what it cost."""
    typed = {name: value for name, value in locals().items() if name != "of_method"} | of_method
    from incrowd.assessment import find_release
    from incrowd.protection import make_codebook, protect, write_protected

    if item is not None or time is not None:
        columns = {"item": item, "time": time, "place": options.names(place, table.columns) or None, "amount": amount}
        refuse_options_of_tables(typed, inspect.signature(protect_table).parameters)
        protect_sets(table, out, person, columns, known, k, options.rules(hierarchy), force=force, json=json)
        return
    if known is not None or place or amount is not None:
        raise InputError("--known, --place and --amount are for sets of items and points; add --item or --time")
    if household is not None and person is not None:
        raise InputError("a class is made of whole households or of whole histories; give --household or --person")
    person = person or household
    target = outputs.place_of(out)
    question = None
    if recipient is not None:
        question = Question(
            quasi_identifiers=options.quasi_identifiers(qi, table),
            sensitive=options.names(sensitive, table.columns),
            person=person,
            other=options.names(other, table.columns),
            recipient=recipient,
        )
        _ = question.limits  # refuses a recipient that is not known before any work
    given: dict[str, Any] = {"method": method, "diversity": diversity, "aim": aim}  # checked by protect
    given |= method_options.read(of_method)
    given |= {
        name: method_options.read_numbers(f"--{name}", texts)
        for name, texts in (("importance", importance), ("widest", widest))
        if texts
    }
    given |= {"keep": options.names(keep, table.columns), "nominal": options.names(nominal, table.columns)}
    given |= {"output": _read_output(output), "shuffle": shuffle}
    wanted = options.quasi_identifiers(qi, table)
    in_cluster = not table.backend.rows_are_local
    if codebook is not None and in_cluster:
        raise InputError("--codebook is for tables that are protected on this machine")
    with terminal.working("protecting", lines=in_cluster) as progress:
        given |= {
            "quasi_identifiers": wanted,
            "t": _read_t(t),
            "l": l,
            "beta": beta,
            "delta": delta,
            "sensitive": options.names(sensitive, table.columns) or None,
            "c": c,
            "person": person,
            "identifiers": _read_identifiers(identifier, table.columns),
            "leave_out": options.names(drop, table.columns),
            "other": options.names(other, table.columns) or None,
            "hierarchies": options.rules(hierarchy),
        }
        trials: Sequence[Trial] = ()
        if question is not None and k is None and not in_cluster:
            solution = find_release(table, question, progress=progress, **given)
            safe, trials = solution.protected, solution.trials
        else:
            given |= {"k": 5 if k is None else k, "out": target if in_cluster else None, "force": force}
            safe = protect(table, progress=progress, **given)
        cost = linkage = None
        if not in_cluster:
            progress("measuring what it cost", 0.9)
            cost = safe.evaluate()
            linkage = safe.attack() if safe.guarantee.perturbed else None
            write_protected(safe, out, force=force, progress=progress)
            if codebook is not None:
                make_codebook(safe).write(codebook, force=force)
        verdict = None if question is None else _judge(safe, out, question)
    if json:
        found = {"file": masked(out), **safe.to_dict(), "evaluation": cost.to_dict() if cost else None}
        if linkage is not None:
            found["linkage"] = linkage.to_dict()
        if trials:
            found["trials"] = [trial.to_dict() for trial in trials]
        terminal.as_json(found if verdict is None else {**found, "verdict": verdict.to_dict()})
    else:
        for trial in trials:
            values = f", {trial.l:g} values of every secret" if trial.l else ""
            gone = f", {', '.join(trial.left_out)} left out" if trial.left_out else ""
            terminal.note(f"tried classes of {trial.k:,}{values}{gone}: {trial.decision}")
        _show(safe, cost, masked(out), linkage)
        for text in () if verdict is None else (verdict.recommendation, verdict.sentence, *verdict.exposures):
            terminal.line(text)
    if table.written and Path(out).suffix.lower() in {".csv", ".tsv"}:
        parted = "tabs" if out.lower().endswith(".tsv") else "commas"
        terminal.note(
            f"the table has {table.written}; {masked(out)} has cells parted by {parted}, decimal points, and dates as "
            "2001-12-31: say so where it is opened"
        )
    if verdict is not None and verdict.decision != "within":
        raise typer.Exit(1)


def _judge(safe: Protected, out: str, question: Question) -> Verdict:
    """The verdict of `assess` on the protected table as it was written, with the roles that were named here."""
    from incrowd.assessment import judge_protected
    from incrowd.tables import read_table

    return judge_protected(safe, question, read_table(safe.table if "://" in out else out))


def _read_t(given: str | None) -> float | Literal["bound"] | None:
    if given is None:
        return None
    if given == "bound":
        return "bound"
    try:
        return float(given)
    except ValueError:
        raise InputError(f"--t {given!r} is not a number; give one above 0 and at most 1, or 'bound'") from None


def _read_identifiers(given: Sequence[str] | None, columns: Sequence[str]) -> list[str] | None:
    names = options.names(given, columns)
    return [] if names == ["none"] else names or None


def _read_output(given: Sequence[str] | None) -> str | dict[str, str] | None:
    """What columns are written as: one word for all, or age=mean,zip=label."""
    parts = options.names(given)
    if len(parts) == 1 and "=" not in parts[0]:
        return parts[0]
    if not all("=" in part for part in parts):
        raise InputError("--output takes one word for all columns, or a word for each: age=mean,zip=label")
    return {name.strip(): kind.strip() for name, _, kind in (part.partition("=") for part in parts)} or None


def _show(safe: Protected, cost: Evaluation | None, out: str, linkage: AttackRisk | None) -> None:
    from incrowd.protection.original_facts import mark_of

    terminal.heading(f"{out}: {safe.guarantee.sentence}")
    changed = [(name, percent(cells / safe.rows)) for name, cells in safe.changed_cells.items()]
    if linkage is None:
        terminal.line(f"Counted by the quasi-identifiers {listed(safe.quasi_identifiers)}.")
    else:
        terminal.line(f"Attacked by whoever knows {listed(safe.quasi_identifiers)}: {linkage.sentence}")
        terminal.line(f"For other attacks: incrowd attack ORIGINAL {out} --known {','.join(safe.quasi_identifiers)}")
    if linkage is not None:
        terminal.table(("column", "cells changed"), changed)
        if cost is not None and cost.correlation_change is not None:
            mean, most = cost.correlation_change
            terminal.line(
                f"Correlations of quasi-identifiers moved by {number(mean)} on average, {number(most)} at most."
            )
    elif cost is None:
        terminal.table(
            ("", "", "what it means"),
            [
                ("smallest class (k)", f"{safe.guarantee.k:,}", "records with the same values"),
                (
                    "average risk (κ)",
                    percent(safe.classes.correctness),
                    "chance that a guess within the class is right",
                ),
            ],
        )
        terminal.table(("column", "cells changed"), changed)
    else:
        show_tables(cost)
    if safe.removed:
        terminal.note(f"left out: {', '.join(safe.removed)}")
    if safe.pseudonymised:
        terminal.note(f"replaced by random numbers that cannot be traced back: {', '.join(safe.pseudonymised)}")
    if safe.unchanged:
        terminal.line(f"Passed on unchanged: {', '.join(safe.unchanged)}.")
    for text in safe.notes:
        terminal.note(text)
    again = "" if linkage is not None else "Counted again on the file itself. "
    terminal.line(f"{again}Written to {out}.")
    if cost is not None:
        terminal.note(f"{mark_of(Path(out))} tells the next assess what the original tells; keep it beside the file")
