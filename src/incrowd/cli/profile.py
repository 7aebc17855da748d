"""`incrowd profile`: what is in a table, and what each column is to an attacker."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.cli import options, terminal
from incrowd.wording import counted, display_names, percent

if TYPE_CHECKING:
    from incrowd.tables import SuggestedRole

_FEW = 20  # columns that are shown one by one


@options.opens_table
def profile_table(table: options.TablePath, json: options.Json = False) -> None:
    """Look at the columns and suggest a role for each, with the reason."""
    from incrowd.tables import suggest_roles

    with terminal.working("looking at the columns"):
        roles = suggest_roles(table)
    if json:
        terminal.as_json({"rows": table.rows, "columns": [column.to_dict() for column in roles]})
        return
    terminal.heading(
        f"{table.name}: {counted(table.rows, 'row', 'rows')}, {counted(len(table.columns), 'column', 'columns')}"
    )
    _show_roles(roles)
    terminal.line("These are suggestions from names and counts; you know your data. What others may know is a")
    terminal.line("quasi-identifier, whatever it is called.")
    by_role = {
        option: [column.column for column in roles if column.role == role]
        for option, role in (("--qi", "quasi-identifier"), ("--sensitive", "sensitive"), ("--person", "person"))
    }
    if not by_role["--qi"]:
        terminal.line("To measure, name the columns others may know: incrowd measure TABLE --qi …")
        return
    from incrowd.assessment.command_line import each

    by_role["--person"] = by_role["--person"][:1]
    words = [word for option, columns in by_role.items() for word in each(option, columns)]
    command = shlex.join(["incrowd", "measure", *table.named, *words])
    terminal.line("To measure with them:")
    terminal.line(f"  {command}")
    if table.backend.needs_credentials:
        terminal.line("User and password are not written here; they come from PGUSER and PGPASSWORD, or ~/.pgpass.")


def _show_roles(roles: Sequence[SuggestedRole]) -> None:
    """List every column with its role; many columns are grouped by role and reason."""
    shown = display_names(one.column for one in roles)
    named = [(shown.get(one.column, one.column), _holds(one), f"{one.role}: {one.reason}") for one in roles]
    if len(roles) <= _FEW:
        terminal.table(("column", "holds", "suggested role"), named)
        return
    for role in dict.fromkeys(why for _, _, why in named):
        terminal.heading(role)
        terminal.table(("column", "holds"), [(name, holds) for name, holds, why in named if why == role])


def _holds(column: SuggestedRole) -> str:
    """Type, number of values and share of missing ones of a column."""
    kind = "generalised text" if column.generalised else column.kind
    values = "" if column.distinct < 0 else f", {counted(column.distinct, 'value', 'values')}"
    missing = f", {percent(column.nulls / column.rows)} missing" if column.nulls else ""
    return kind + values + missing
