"""`incrowd protect`: protect a table, check the file that was written, and show what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from incrowd._support.addresses import masked
from incrowd._support.lazy_names import literal_names
from incrowd.assessment.question import Question
from incrowd.cli import options, outputs, terminal
from incrowd.cli.evaluate import show_tables
from incrowd.errors import InputError
from incrowd.wording import listed, percent

if TYPE_CHECKING:
    from incrowd.assessment import Verdict
    from incrowd.evaluation import Evaluation
    from incrowd.protection import Protected

_METHODS = ", ".join(literal_names("protection/registry.py", "MethodName"))  # the registry itself is slow to import


@options.opens_table
def protect_table(
    table: options.TablePath,
    out: Annotated[
        str,
        typer.Option("--out", help="File to write: .parquet, .feather, .csv.", show_default=False),
        outputs.STORED_TABLE,
    ],
    qi: options.QuasiIdentifiers = None,
    k: Annotated[int, typer.Option("--k", help="Everybody looks like at least k - 1 others.")] = 5,
    t: Annotated[
        str | None, typer.Option("--t", help="No class is farther than t from the table; or 'bound': what k allows.")
    ] = None,
    l: Annotated[float | None, typer.Option("--l", help="Every class has l different secrets.")] = None,  # noqa: E741
    sensitive: options.Sensitive = None,
    method: Annotated[str, typer.Option("--method", help=f"{_METHODS}.")] = "partition",
    diversity: Annotated[
        str, typer.Option("--diversity", help="Kind of l: distinct, entropy, recursive.")
    ] = "distinct",
    c: Annotated[float, typer.Option("--c", help="For recursive diversity: the commonest value's limit.")] = 3.0,
    person: options.Person = None,
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
    resolution: Annotated[
        str | None, typer.Option("--resolution", help="For coarsen: 16, 1/8, or age=20,zip=1/8.")
    ] = None,
    suppress: Annotated[
        float | None, typer.Option("--suppress", help="For generalise: share of rows that may go.")
    ] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", help="For mask, in order: age:ranges=20 zip:keep=3 sex:*. Repeat.")
    ] = None,
    top: Annotated[
        list[str] | None, typer.Option("--top", help="For mask: values from here on are one range, age=85. Repeat.")
    ] = None,
    bottom: Annotated[
        list[str] | None, typer.Option("--bottom", help="For mask: values up to here are one range, age=18. Repeat.")
    ] = None,
    aim: Annotated[str | None, typer.Option("--aim", help="Loss to keep small: information or granularity.")] = None,
    recipient: Annotated[
        str | None,
        typer.Option("--recipient", help="Also say what assess says of the result for this recipient; exit 1 if no."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Protect a table, check the file that was written, and say what it cost."""
    from incrowd.protection import protect, write_protected

    place = outputs.place_of(out)
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
    given |= _read_options(resolution, suppress, step) | _read_limits(top=top, bottom=bottom)
    wanted = options.quasi_identifiers(qi, table)
    in_cluster = not table.backend.rows_are_local
    with terminal.working("protecting", lines=in_cluster) as progress:
        safe = protect(
            table,
            quasi_identifiers=wanted,
            k=k,
            t=_read_t(t),
            l=l,
            sensitive=options.names(sensitive, table.columns) or None,
            c=c,
            person=person,
            identifiers=_read_identifiers(identifier, table.columns),
            leave_out=options.names(drop, table.columns),
            other=options.names(other, table.columns) or None,
            hierarchies={name: members[0] for name, members in options.groups(hierarchy).items()},
            progress=progress,
            out=place if in_cluster else None,
            force=force,
            **given,
        )
        cost = None
        if not in_cluster:
            progress("measuring what it cost", 0.9)
            cost = safe.evaluate()
            write_protected(safe, out, force=force, progress=progress)
        verdict = None if question is None else _judge(safe, out, question)
    if json:
        found = {"file": masked(out), **safe.to_dict(), "evaluation": cost.to_dict() if cost else None}
        terminal.as_json(found if verdict is None else {**found, "verdict": verdict.to_dict()})
    else:
        _show(safe, cost, masked(out))
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
    from incrowd.assessment import judge_release
    from incrowd.tables import read_table

    released = read_table(safe.table if "://" in out else out)
    return judge_release(released, question.about_release(safe.removed))


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


def _read_options(resolution: str | None, suppress: float | None, step: Sequence[str] | None) -> dict[str, Any]:
    """The options that only one method takes."""
    extra: dict[str, Any] = {}
    if resolution is not None:
        parts = [part.partition("=") for part in options.names([resolution])]
        extra["resolution"] = {a.strip(): b.strip() for a, _, b in parts} if "=" in resolution else resolution
    if suppress is not None:
        extra["suppress"] = suppress
    if step:
        steps = [one.partition(":") for one in step]
        if not all(colon and action for _, colon, action in steps):
            raise InputError("a step is a column, a colon and what to do: age:ranges=20, zip:keep=3, sex:*")
        extra["steps"] = [(name.strip(), action.strip()) for name, _, action in steps]
    return extra


def _read_limits(**given: Sequence[str] | None) -> dict[str, dict[str, float]]:
    """Limits of top and bottom coding, as age=85."""
    found: dict[str, dict[str, float]] = {}
    for which, texts in given.items():
        for name, _, limit in (text.partition("=") for text in options.names(texts)):
            try:
                number = float(limit)
            except ValueError:
                raise InputError(f"--{which} needs a column and a number: age=85") from None
            found.setdefault(which, {})[name.strip()] = int(number) if number.is_integer() else number
    return found


def _show(safe: Protected, cost: Evaluation | None, out: str) -> None:
    terminal.heading(f"{out}: {safe.guarantee.sentence}")
    terminal.line(f"Counted by the quasi-identifiers {listed(safe.quasi_identifiers)}.")
    if cost is None:
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
        terminal.table(
            ("column", "cells changed"),
            [(name, percent(cells / safe.rows)) for name, cells in safe.changed_cells.items()],
        )
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
    terminal.line(f"Counted again on the file itself. Written to {out}.")
