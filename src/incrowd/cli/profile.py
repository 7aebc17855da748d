"""`incrowd profile`: what is in a table, and what each column is to an attacker."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from incrowd.cli import options, terminal

if TYPE_CHECKING:
    from incrowd.tables import SuggestedRole

_FEW = 20  # columns that are shown one by one


@options.opens_table
def profile_table(table: options.TablePath, json: options.Json = False) -> None:
    """Look at the columns and suggest a role for each, with the reason."""
    from incrowd.tables import suggest_roles

    with terminal.working("looking at the columns"):
        found = suggest_roles(table)
    if json:
        terminal.as_json({"rows": table.rows, "columns": [column.to_dict() for column in found]})
        return
    terminal.heading(f"{table.name}: {_number(table.rows, 'row')}, {_number(len(table.columns), 'column')}")
    _show_roles(found)
    terminal.line("These are suggestions from names and counts; you know your data. What others may know is a")
    terminal.line("quasi-identifier, whatever it is called.")
    by_role = {
        option: [column.column for column in found if column.role == role]
        for option, role in (("--qi", "quasi-identifier"), ("--sensitive", "sensitive"), ("--person", "person"))
    }
    if not by_role["--qi"]:
        terminal.line("To measure, name the columns others may know: incrowd measure TABLE --qi …")
        return
    from incrowd.reports.command import each

    by_role["--person"] = by_role["--person"][:1]
    words = [word for option, columns in by_role.items() for word in each(option, columns)]
    command = shlex.join(["incrowd", "measure", *table.named, *words])
    terminal.line("To measure with them:")
    terminal.line(f"  {command}")
    if table.backend.needs_credentials:
        terminal.line("User and password are not written here; they come from PGUSER and PGPASSWORD, or ~/.pgpass.")


def _show_roles(found: Sequence[SuggestedRole]) -> None:
    """Every column with its role; of many columns those with the same role and reason together."""
    from incrowd.wording import display_names

    shown = display_names(one.column for one in found)
    named = [(shown.get(one.column, one.column), _holds(one), f"{one.role}: {one.reason}") for one in found]
    if len(found) <= _FEW:
        terminal.table(("column", "holds", "suggested role"), named)
        return
    for role in dict.fromkeys(why for _, _, why in named):
        terminal.heading(role)
        terminal.table(("column", "holds"), [(name, holds) for name, holds, why in named if why == role])


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _holds(column: SuggestedRole) -> str:
    """What a column holds, in words; never a value of it."""
    kind = "generalised text" if column.generalised else column.kind
    values = "" if column.distinct < 0 else f", {_number(column.distinct, 'value')}"
    missing = f", {column.nulls / column.rows:.1%} missing" if column.nulls else ""
    return kind + values + missing
