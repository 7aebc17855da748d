"""`incrowd profile`: what is in a table, and what each column is to an attacker."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from incrowd.cli import options, show

if TYPE_CHECKING:
    from incrowd.table import SuggestedRole


@options.opens_table
def profile_table(table: options.TablePath, json: options.Json = False) -> None:
    """Look at the columns and suggest a role for each, with the reason."""
    from incrowd.table import suggest_roles

    with show.working("looking at the columns"):
        found = suggest_roles(table)
    if json:
        show.as_json({"rows": table.rows, "columns": [column.to_dict() for column in found]})
        return
    show.heading(f"{table.name}: {table.rows:,} rows, {len(table.columns):,} columns")
    show.table(
        ("column", "holds", "suggested role"),
        [(column.column, _holds(column), f"{column.role}: {column.reason}") for column in found],
    )
    show.line("These are suggestions from names and counts; you know your data.")
    by_role = {
        option: [column.column for column in found if column.role == role]
        for option, role in (("--qi", "quasi-identifier"), ("--sensitive", "sensitive"), ("--person", "person"))
    }
    if not by_role["--qi"]:
        show.line("To measure, name the columns others may know: incrowd measure TABLE --qi …")
        return
    command = f"incrowd measure {shlex.join(table.named)}"
    for option, columns in by_role.items():
        taken = columns[:1] if option == "--person" else columns
        plain = [column for column in taken if "," not in column]
        if plain:
            command += f" {option} {shlex.quote(','.join(plain))}"
        command += "".join(f" {option} {shlex.quote(column)}" for column in taken if "," in column)
    show.line("To measure with them:")
    show.line(f"  {command}")
    if table.engine == "database" and table.source is None:
        show.line("User and password are not written here; they come from PGUSER and PGPASSWORD, or ~/.pgpass.")


def _holds(column: SuggestedRole) -> str:
    """What a column holds, in words; never a value of it."""
    kind = "generalised text" if column.generalised else column.kind
    values = "" if column.distinct < 0 else f", {column.distinct:,} value{'' if column.distinct == 1 else 's'}"
    missing = f", {column.nulls / column.rows:.1%} missing" if column.nulls else ""
    return kind + values + missing
