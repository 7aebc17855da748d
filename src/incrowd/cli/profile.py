"""`incrowd profile`: what is in a table, and what each column is to an attacker."""

from __future__ import annotations

from incrowd.cli import options, show


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
        ("column", "type", "distinct", "missing", "suggested role", "why"),
        [
            (
                column.column,
                column.kind + (" (generalised)" if column.generalised else ""),
                column.distinct if column.distinct >= 0 else None,
                f"{column.nulls / column.rows:.1%}" if column.rows else "–",
                column.role,
                column.reason,
            )
            for column in found
        ],
    )
    known = [column.column for column in found if column.role == "quasi-identifier"]
    if known:
        show.line("These are suggestions from names and counts; you know your data. To measure with them:")
        show.line(f"  incrowd measure {table.source} --qi {','.join(known)}")
