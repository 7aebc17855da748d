"""`incrowd profile`: the columns of a table, and a suggested role for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from incrowd.cli import options, terminal
from incrowd.cli.hints import null_flags, with_flags
from incrowd.cli.open_tables import opens_table
from incrowd.cli.question_file import note_how_to_judge
from incrowd.wording import counted, display_names, percent

if TYPE_CHECKING:
    from incrowd.tables import SuggestedRole, Table

_MAX_ONE_BY_ONE = 20  # columns; more are grouped by role


@opens_table
def profile_table(table: options.TablePath, json: options.Json = False) -> None:
    """Look at the columns and suggest a role for each, with the reason."""
    from incrowd.tables import suggest_roles
    from incrowd.tables.roles.unread_values import advise_on_unread

    with terminal.show_progress("looking at the columns"):
        roles = _name_panel_key(table, suggest_roles(table))
        suggested = _suggest_reading(table, roles)
    if json:
        columns = [{**one.to_dict(), **_reading(table, one.column)} for one in roles]
        terminal.print_json({"rows": table.rows, "columns": columns, **suggested})
        return
    terminal.heading(
        f"{table.name}: {counted(table.rows, 'row', 'rows')}, {counted(len(table.columns), 'column', 'columns')}"
    )
    _show_roles(table, roles)
    _show_reading(table, **suggested)
    for advice in advise_on_unread(one.unread for one in roles if one.unread is not None):
        terminal.line(f"{with_flags(advice.sentence, advice.hint)}.")
    terminal.line(
        "These are suggestions from names and counts, and no answers: you know your data. What others may know"
    )
    terminal.line("is a quasi-identifier, whatever it is called. To say what each column is:")
    note_how_to_judge(table, as_note=False)
    if table.backend.needs_credentials:
        terminal.line("User and password are not written here; they come from PGUSER and PGPASSWORD, or ~/.pgpass.")


def _name_panel_key(table: Table, roles: Sequence[SuggestedRole]) -> Sequence[SuggestedRole]:
    """The suggested roles, with the key of a panel as the person column if it has no other suggestion."""
    from incrowd.tables import describe_rows

    rows = describe_rows(table, roles)
    return [
        replace(one, role="person", reason=rows.reason, confidence=rows.confidence)
        if rows.kind == "panel" and (one.column, one.role) == (rows.person, "other")
        else one
        for one in roles
    ]


def _reading(table: Table, column: str) -> dict[str, object]:
    """How a column is read: its scale, its labels and why cells are missing."""
    book = table.codebook
    return {
        "scale": table.scale_of(column),
        "description": book.descriptions.get(column, ""),
        "labels": list(book.value_labels.get(column, {}).values()),
        "missing": dict(book.missing.get(column, {})),
    }


def _suggest_reading(table: Table, roles: Sequence[SuggestedRole]) -> dict[str, Any]:
    """Guesses about scales, missing values, dates and spellings, by key in JSON."""
    from incrowd.tables.guess_scales import apply_scales
    from incrowd.tables.suggest_reading import (
        find_spellings,
        suggest_scales,
        suspect_missing_codes,
        suspect_serial_dates,
    )

    apply_scales(table, table.columns)
    return {
        "suggested_scales": suggest_scales(table, roles),
        "suspected_missing": {name: list(codes) for name, codes in suspect_missing_codes(table).items()},
        "suspected_serial_dates": suspect_serial_dates(table, roles),
        "spellings": find_spellings(table, roles),
    }


def _show_reading(
    table: Table,
    suggested_scales: Mapping[str, str],
    suspected_missing: Mapping[str, Sequence[int]],
    suspected_serial_dates: Sequence[str],
    spellings: Mapping[str, int],
) -> None:
    """Print why cells are missing, what was assumed, and options that may correct how the table is read."""
    for column, kinds in table.codebook.missing.items():
        reasons = ", ".join(f"{kind} ({times:,})" for kind, times in kinds.items())
        terminal.line(f"Missing in {column}: {reasons}.")
    if table.guessed_scales:
        taken = [column for column in table.columns if column in table.guessed_scales]
        terminal.line(f"Taken as codes, not quantities, by their names: {', '.join(taken)}. To say otherwise:")
        terminal.line(f"  --scale {','.join(f'{column}=numeric' for column in taken)}")
    if suggested_scales:
        stated = ",".join(f"{column}={scale}" for column, scale in suggested_scales.items())
        terminal.line("Columns that look like codes; to say so:")
        terminal.line(f"  --scale {stated}")
    if suspected_missing:
        terminal.line(f"Codes that may stand for missing values in {', '.join(suspected_missing)}; to say so:")
        terminal.line(f"  {null_flags(suspected_missing, table.place)}")
    if suspected_serial_dates:
        terminal.line("Whole numbers that look like Excel's dates; to say so:")
        terminal.line(f"  --serial-dates {','.join(suspected_serial_dates)}")
    if spellings:
        told = ", ".join(f"{column} ({times:,})" for column, times in spellings.items())
        terminal.line(f"Values that differ from others only in case, blanks or Unicode form: {told}. To join them:")
        terminal.line("  --fold")


def _show_roles(table: Table, roles: Sequence[SuggestedRole]) -> None:
    """List every column with its role; many columns are grouped by role and reason."""
    shown = display_names(one.column for one in roles)
    named = [(shown.get(one.column, one.column), _holds(table, one), f"{one.role}: {one.reason}") for one in roles]
    if len(roles) <= _MAX_ONE_BY_ONE:
        terminal.table(("column", "holds", "suggested role"), named)
        return
    for role in dict.fromkeys(why for _, _, why in named):
        terminal.heading(role)
        terminal.table(("column", "holds"), [(name, holds) for name, holds, why in named if why == role])


def _holds(table: Table, column: SuggestedRole) -> str:
    """Scale, type, number of values and share of missing ones of a column."""
    kind = "generalised text" if column.generalised else column.kind
    if column.column in table.scales:
        kind = f"{table.scale_of(column.column)} {kind}"
    if column.column in table.codebook.value_labels:
        kind += " by labels"
    values = "" if column.distinct < 0 else f", {counted(column.distinct, 'value', 'values')}"
    missing = f", {percent(column.nulls / column.rows)} missing" if column.nulls else ""
    return kind + values + missing
