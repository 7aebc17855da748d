"""`incrowd evaluate`: compare a protected table with its original."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from incrowd.cli import options, terminal
from incrowd.cli.command_files import Input
from incrowd.cli.open_tables import opens_table
from incrowd.errors import InputError

if TYPE_CHECKING:
    from incrowd.tables import Table

Secret = Annotated[
    str | None, Option("--secret", help="What about it: values with commas, '>100000', '<5' or '10..20' (both ends).")
]


@opens_table
def evaluate_table(
    table: options.TablePath,
    protected: Annotated[str, typer.Argument(metavar="PROTECTED", help="The protected file."), Input()],
    qi: options.QuasiIdentifiers = None,
    sensitive: options.Sensitive = None,
    secret: Secret = None,
    person: options.Person = None,
    hierarchy: options.Hierarchies = None,
    utility: Annotated[
        bool, Option("--utility", help="Also the utility for analysts: marginals, and telling the tables apart.")
    ] = False,
    outcome: Annotated[
        str | None, Option(help="Column that regressions on the others explain, in both tables.")
    ] = None,
    min_k: Annotated[int | None, Option(help="Exit 1 if the smallest class is smaller.")] = None,
    json: options.Json = False,
) -> None:
    """Evaluate a protected table: the remaining risk, and what protection cost."""
    from incrowd.evaluation import changed_columns, evaluate
    from incrowd.protection import Hierarchy
    from incrowd.tables import read_table
    from incrowd.tables.released_values import join_bounds

    secrets = options.parse_names(sensitive, table.columns)
    secret_value = read_secret(secret, secrets, table)
    after = join_bounds(read_table(protected), table.columns)
    quasi_identifiers = options.parse_names(qi, after.columns)
    if not quasi_identifiers and (marked := _columns_of_mark(table, after)):
        quasi_identifiers = marked
        terminal.note(f"comparing the columns that it was protected by: {', '.join(marked)} (for others: --qi)")
    if not quasi_identifiers:
        quasi_identifiers = [name for name in changed_columns(table, after) if name not in {*secrets, person}]
        if not quasi_identifiers:
            raise InputError("no column differs between the two tables; name the columns an attacker knows with --qi")
        terminal.note(f"comparing the columns that differ: {', '.join(quasi_identifiers)} (name them all with --qi)")
    with terminal.show_progress("comparing") as progress:
        evaluation = evaluate(
            table,
            after,
            quasi_identifiers=quasi_identifiers,
            sensitive=secrets or None,
            secret=secret_value,
            person=person,
            hierarchies={name: Hierarchy.parse(rule) for name, rule in options.parse_hierarchies(hierarchy).items()},
            utility=utility,
            outcome=outcome,
            progress=progress,
        )
    if json:
        terminal.print_json(evaluation.to_dict())
    else:
        terminal.heading(f"{after.name}: {evaluation.verdict}")
        terminal.result(evaluation)
        for text in evaluation.notes:
            terminal.note(text)
    if min_k is not None and evaluation.k < min_k:
        options.exit_over_threshold(f"the smallest class has {evaluation.k:,}, at least {min_k:,} were asked for")


def _columns_of_mark(table: Table, after: Table) -> list[str]:
    """The quasi-identifiers in the mark beside a protected file; an empty list without a mark of this file."""
    from incrowd.protection.marks import read_log
    from incrowd.tables.release_marks import mark_of

    file = Path(after.source or "")
    if after.source is None or not mark_of(file).is_file():
        return []
    with suppress(InputError):  # the mark is of other content of the file
        names = read_log(file).quasi_identifiers
        return list(names) if {*names} <= {*table.columns} & {*after.columns} else []
    return []


def read_secret(given: str | None, sensitive: Sequence[str], table: Table) -> Any:
    """Parse a secret of the sensitive column: values, or a range of numbers. Values get the column's type later.

    A text with commas names several values, unless it is itself a value of the column.
    """
    if given is None:
        return None
    if not sensitive:
        raise InputError("--secret says what to keep secret, but not in which column; add --sensitive")
    try:
        if given.startswith(">"):
            return float(given[1:]), None
        if given.startswith("<"):
            return None, float(given[1:])
        if ".." in given:
            low, _, high = given.partition("..")
            return float(low), float(high)
    except ValueError:
        raise InputError("--secret with >, < or .. needs numbers: '>100000', '<5', '10..20'") from None
    if "," not in given:
        return given
    from incrowd.backends import encode

    (column,) = encode(table, sensitive[:1])
    if given in column.values.to_pylist():
        return given
    return [value.strip() for value in given.split(",") if value.strip()]
