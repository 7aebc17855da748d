"""`incrowd protect`: protect a table, check the file that was written, and show what it cost."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer
from typer import Option

from incrowd._support.addresses import masked
from incrowd.assessment.question import Question
from incrowd.cli import command_files, options, protect_modes, terminal
from incrowd.cli.declared_options import OF_METHODS, read_method_options, read_numbers, takes
from incrowd.cli.hints import words_typed
from incrowd.cli.open_tables import opens_table
from incrowd.cli.prompts import note_missing_codes, suggest_command
from incrowd.cli.protect_text import Made, show, to_json
from incrowd.errors import InputError
from incrowd.protection.method_options import MethodName

if TYPE_CHECKING:
    from incrowd.assessment import Verdict
    from incrowd.assessment.solver import Trial
    from incrowd.protection import Protected
    from incrowd.tables import Table


_IN_QUESTION = frozenset(
    {"table", "qi", "sensitive", "identifier", "drop", "other", "person", "household", "recipient", "highest"}
)  # a household is suggested as --person, which is the same to the methods


@opens_table
@takes(OF_METHODS.values(), after=("hierarchy",))
def protect_table(
    table: options.TablePath,
    out: Annotated[
        str, Option(help="File to write: .parquet, .csv, .csv.gz, .sav, .dta, …"), command_files.STORED_TABLE
    ],
    qi: options.QuasiIdentifiers = None,
    k: Annotated[
        int | None, Option(help="Everybody looks like at least k - 1 others. Default 5, or what --recipient needs.")
    ] = None,
    t: Annotated[
        str | None, Option(help="No class is farther than t from the table; or 'bound': what k allows.")
    ] = None,
    l: Annotated[float | None, Option(help="Every class has l different secrets.")] = None,  # noqa: E741
    beta: Annotated[
        float | None, Option(help="No secret is over 1 + beta times as common in a class as in all.")
    ] = None,
    delta: Annotated[
        float | None, Option(help="No secret is over e^delta times as common, or as rare, in a class.")
    ] = None,
    sensitive: options.Sensitive = None,
    method: Annotated[
        str | None,
        Option(
            help=f"{', '.join(get_args(MethodName))}. Default: partition; for --recipient, the least loss of several."
        ),
    ] = None,
    diversity: Annotated[str, Option(help="Kind of l: distinct, entropy, recursive.")] = "distinct",
    c: Annotated[float, Option(help="For recursive diversity: the commonest value's limit.")] = 3.0,
    person: options.Person = None,
    household: Annotated[
        str | None, Option(help="Column of households, which are kept together: classes of whole households.")
    ] = None,
    key: Annotated[
        str | None,
        Option(help="With --person: file of a secret key; tables under it have the same numbers for people."),
        command_files.Input(address=False),
    ] = None,
    identifier: Annotated[
        list[str] | None, Option(help="Columns that name people, to remove, or 'none'. Default: those that look so.")
    ] = None,
    drop: Annotated[list[str] | None, Option(help="Columns to leave out besides. Commas or repeats.")] = None,
    other: Annotated[
        list[str] | None, Option(help="Columns that nobody outside can know, whatever they look like.")
    ] = None,
    hierarchy: options.Hierarchies = None,
    importance: Annotated[
        list[str] | None, Option(help="What a loss weighs by column: age=3,zip=0. Default 1.")
    ] = None,
    keep: Annotated[
        list[str] | None, Option(help="Columns to know that stay as they are: no class mixes them.")
    ] = None,
    widest: Annotated[list[str] | None, Option(help="Longest range, or largest set, by column: age=10,town=3.")] = None,
    nominal: Annotated[list[str] | None, Option(help="Columns whose numbers are codes: sets, never ranges.")] = None,
    apart: Annotated[
        list[str] | None, Option(help="Kept columns that only some were asked: no class mixes them with the others.")
    ] = None,
    output: Annotated[
        list[str] | None, Option(help="range, bounds, midpoint, mean, mode or label; for all, or age=mean,zip=label.")
    ] = None,
    shuffle: Annotated[
        bool | None,
        Option(
            "--shuffle/--no-shuffle",
            help="Release rows in random order, or as they are. Default: where their order tells something.",
        ),
    ] = None,
    kept_rows: Annotated[
        str | None,
        Option(help="Write which row each released one was made from; attacks need it. Secret."),
        command_files.Output("list of rows", frozenset({".txt"}), ".txt"),
    ] = None,
    codebook: Annotated[
        str | None,
        Option(help="Write what was done to each column: .json or .md."),
        command_files.Output("codebook", frozenset({".json", ".md"}), ".json or .md"),
    ] = None,
    item: Annotated[str | None, Option(help="Instead: sets of items of a person (--person), k^m-anonymity.")] = None,
    known: Annotated[int | None, Option(help="With --item: how many items an attacker knows.")] = None,
    time: Annotated[str | None, Option(help="Instead: points of a person (--person) in time and place.")] = None,
    place: Annotated[list[str] | None, Option(help="With --time: two coordinates, or a column of regions.")] = None,
    amount: Annotated[str | None, Option(help="With --time: a column of amounts.")] = None,
    append: Annotated[
        str | None,
        Option(help="A release whose rows the new ones join, in classes of their own, in --out."),
        command_files.Input(address=False),
    ] = None,
    delay: Annotated[int | None, Option(help="With --append: batches that a record may wait for. Default 3.")] = None,
    aim: Annotated[str | None, Option(help="Loss to keep small: information or granularity.")] = None,
    recipient: Annotated[
        str | None,
        Option("--recipient", "--to", help="For whom: the least protection that assess says yes to; exit 1 if none."),
    ] = None,
    highest: Annotated[
        float | None,
        options.share_option(
            "--highest",
            "The least protection with nobody at a higher risk: 0.05 or 5%; exit 1 if none.",
            "--max-risk",
        ),
    ] = None,
    rows_are_people: Annotated[
        bool, Option("--rows-are-people", help="With --recipient: every row is another person, whatever it looks like.")
    ] = False,
    force: options.Force = False,
    json: options.Json = False,
    **of_method: Any,
) -> None:
    """Protect a table, check the file that was written, and say what it cost."""
    typed = {name: value for name, value in locals().items() if name != "of_method"} | of_method
    declared = inspect.signature(protect_table).parameters
    if append is not None:
        protect_modes.refuse_other_options(typed, declared, protect_modes.OF_APPENDING)
        wishes = _read_arguments(typed, table.columns)
        protect_modes.append(table, append, out, delay, person, wishes, recipient, force=force, json=json)
        return
    if delay is not None:
        raise InputError("--delay is for records that join a release; add --append")
    if item is not None or time is not None:
        columns = {"item": item, "time": time, "place": options.names(place, table.columns) or None, "amount": amount}
        protect_modes.refuse_other_options(typed, declared, protect_modes.OF_SETS)
        protect_modes.protect_sets(
            table, out, person, columns, known, k, options.rules(hierarchy), force=force, json=json
        )
        return
    if known is not None or place or amount is not None:
        raise InputError("--known, --place and --amount are for sets of items and points; add --item or --time")
    if household is not None and person is not None:
        raise InputError("a class is made of whole households or of whole histories; give --household or --person")
    if codebook or kept_rows:
        table.backend.require_local("writing a codebook or the kept rows", "leave out --codebook and --kept-rows")
    arguments = _read_arguments(typed, table.columns) | read_method_options(of_method)
    if not qi:
        _suggest_roles(table, arguments, recipient, highest, words_typed(typed, declared, besides=_IN_QUESTION))
    arguments["quasi_identifiers"] = options.quasi_identifiers(qi, table)
    note_missing_codes(table, [*arguments["quasi_identifiers"], *(arguments["sensitive"] or ())])
    question = _read_question(arguments, recipient, highest, rows_are_people=rows_are_people)
    any_method = method is None and not read_method_options(of_method)
    made = _protect_and_write(
        table, question, arguments, k, out, codebook, kept_rows, any_method=any_method, force=force
    )
    if json:
        terminal.as_json(to_json(made, masked(out)))
    else:
        show(made, masked(out))
    _note_dialect(table, made.safe, out)
    if made.verdict is not None and made.verdict.decision != "within":
        raise typer.Exit(1)


def _note_dialect(table: Table, safe: Protected, out: str) -> None:
    """Say how a text file was written, where the table came with a dialect of its own."""
    import pyarrow as pa

    from incrowd.tables.write import describe_text

    if isinstance(safe.table, pa.Table) and (said := describe_text(safe.table, Path(out), table.codebook)):
        terminal.note(f"{masked(out)} has {said}")


def _read_arguments(typed: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """The arguments of `protect` from what was typed, but for the quasi-identifiers, k and the options of methods."""
    numbers = {name: typed[name] for name in ("importance", "widest") if typed[name]}
    return {
        "method": typed["method"] or "partition",
        **{name: typed[name] for name in ("diversity", "aim", "l", "beta", "delta", "c")},
        **{name: read_numbers(f"--{name}", texts) for name, texts in numbers.items()},
        **{name: options.names(typed[name], columns) for name in ("keep", "nominal", "apart")},
        **{name: options.names(typed[name], columns) or None for name in ("sensitive", "other")},
        "output": _read_output(typed["output"]),
        "shuffle": typed["shuffle"],
        "t": _read_t(typed["t"]),
        "person": typed["person"] or typed["household"],
        "key": typed["key"],
        "identifiers": _read_identifiers(typed["identifier"], columns),
        "leave_out": options.names(typed["drop"], columns),
        "hierarchies": options.rules(typed["hierarchy"]),
    }


def _suggest_roles(
    table: Table, arguments: Mapping[str, Any], recipient: str | None, highest: float | None, typed: Sequence[str]
) -> None:
    """Refuse to protect what nobody named, with the command that names what the columns suggest, if they do."""
    from incrowd.assessment import propose_roles

    roles = propose_roles(table)
    if roles.quasi_identifiers:
        named = {"person": arguments["person"], "drop": arguments["leave_out"]}
        named |= {"recipient": recipient, "highest": highest}
        named |= {name: arguments[name] for name in ("sensitive", "other", "identifiers")}
        question = Question().with_given(**named)
        told = suggest_command(table, question, roles, *typed, verb="protect")
        raise InputError(f"say what others may know about a person (--qi), and what the other columns are. {told}")


def _read_question(
    arguments: Mapping[str, Any], recipient: str | None, highest: float | None, *, rows_are_people: bool
) -> Question | None:
    """The question of `assess` about the release, where it is for somebody or within a limit."""
    if recipient is None and highest is None:
        if rows_are_people:
            raise InputError("--rows-are-people tells a verdict what a row is; add --recipient")
        return None
    question = Question(
        quasi_identifiers=arguments["quasi_identifiers"],
        sensitive=arguments["sensitive"] or [],
        person=arguments["person"],
        other=arguments["other"] or [],
        recipient=recipient,
        highest=highest,
        rows_are_people=rows_are_people,
    )
    _ = question.limits  # refuses a recipient that is not known, or a limit that makes no sense, before any work
    return question


def _protect_and_write(
    table: Table,
    question: Question | None,
    arguments: dict[str, Any],
    k: int | None,
    out: str,
    codebook: str | None,
    kept_rows: str | None,
    *,
    any_method: bool,
    force: bool,
) -> Made:
    """Protect the table, for a recipient with the least protection that passes; write and judge it."""
    from incrowd.assessment import METHODS_TO_TRY, find_release
    from incrowd.protection import make_codebook, protect, write_kept_rows, write_protected

    target, in_cluster = command_files.place_of(out), not table.backend.rows_are_local
    with terminal.working("protecting", lines=in_cluster) as progress:
        trials: Sequence[Trial] = ()
        if question is not None and k is None and not in_cluster:
            methods = METHODS_TO_TRY if any_method else ()
            solution = find_release(table, question, methods=methods, progress=progress, **arguments)
            safe, trials = solution.protected, solution.trials
        else:
            arguments |= {"k": 5 if k is None else k, "out": target if in_cluster else None, "force": force}
            safe = protect(table, progress=progress, **arguments)
        cost = linkage = None
        if not in_cluster:
            progress("measuring what it cost", 0.9)
            cost = safe.evaluate()
            linkage = safe.attack() if safe.guarantee.perturbed else None
            write_protected(safe, out, force=force, progress=progress)
            if codebook is not None:
                make_codebook(safe).write(codebook, force=force)
            if kept_rows is not None:
                write_kept_rows(safe, kept_rows, force=force)
        return Made(safe, cost, linkage, trials, None if question is None else _judge(safe, out, question))


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
